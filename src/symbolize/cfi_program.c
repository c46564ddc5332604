// SPDX-License-Identifier: Apache-2.0
#include "cfi_program.h"

#include <dwarf.h>

#define OPERAND_MASK 0x3f /* of the three instructions that have one in their own byte */

bool cfi_take_length(struct bytes *bytes, u8 encoding, u64 *ret_value)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		*ret_value = bytes_number(bytes, 8);
		break;
	case DW_EH_PE_udata2:
		*ret_value = bytes_number(bytes, 2);
		break;
	case DW_EH_PE_udata4:
		*ret_value = bytes_number(bytes, 4);
		break;
	case DW_EH_PE_sdata2:
		*ret_value = (u64)bytes_signed(bytes, 2);
		break;
	case DW_EH_PE_sdata4:
		*ret_value = (u64)bytes_signed(bytes, 4);
		break;
	case DW_EH_PE_uleb128:
		*ret_value = bytes_uleb(bytes);
		break;
	case DW_EH_PE_sleb128:
		*ret_value = (u64)bytes_sleb(bytes);
		break;
	default:
		return false;
	}
	return !bytes->is_bad;
}

bool cfi_take_address(struct bytes *bytes, u8 encoding, u64 displacement, u64 *ret_value)
{
	u64 address = (u64)(size_t)bytes->at + displacement;
	u8 relative_to = encoding & 0xf0;

	if (relative_to != 0 && relative_to != DW_EH_PE_pcrel)
		return false;
	if (!cfi_take_length(bytes, encoding, ret_value))
		return false;
	if (relative_to)
		*ret_value += address;
	return true;
}

static void set_rule(struct cfi_state *state, u64 reg, struct cfi_rule rule)
{
	if (reg == REGISTER_FP)
		state->fp = rule;
	else if (reg == REGISTER_RETURN)
		state->ra = rule;
}

static void set_offset(struct cfi_run *run, u64 reg, u64 factored)
{
	s64 offset = (s64)(factored * (u64)run->cie->data_factor);

	set_rule(&run->state, reg, (struct cfi_rule){.kind = RULE_OFFSET, .offset = offset});
}

static void set_kind(struct cfi_run *run, u64 reg, enum cfi_rule_kind kind)
{
	set_rule(&run->state, reg, (struct cfi_rule){.kind = kind});
}

static void restore(struct cfi_run *run, u64 reg)
{
	if (reg == REGISTER_FP)
		run->state.fp = run->cie->initial.fp;
	else if (reg == REGISTER_RETURN)
		run->state.ra = run->cie->initial.ra;
}

static void set_cfa(struct cfi_run *run, u64 reg, u64 offset)
{
	run->state.cfa = (struct cfi_cfa){.kind = CFA_REGISTER, .reg = reg, .offset = (s64)offset};
}

static struct bytes take_block(struct bytes *rest)
{
	u64 size = bytes_uleb(rest);

	return bytes_take(rest, size);
}

/* Instructions that move on: by how much. */
static bool take_advance(struct cfi_run *run, u8 opcode, u64 *ret_by)
{
	u64 factor = run->cie->code_factor;
	struct bytes *rest = &run->rest;

	switch (opcode) {
	case DW_CFA_advance_loc1:
		*ret_by = bytes_number(rest, 1) * factor;
		return true;
	case DW_CFA_advance_loc2:
		*ret_by = bytes_number(rest, 2) * factor;
		return true;
	case DW_CFA_advance_loc4:
		*ret_by = bytes_number(rest, 4) * factor;
		return true;
	case DW_CFA_set_loc:
		if (!cfi_take_address(rest, run->cie->encoding, run->displacement, ret_by) ||
		    *ret_by < run->next)
			return false;
		*ret_by -= run->next;
		return true;
	default:
		return false;
	}
}

static bool change_cfa(struct cfi_run *run, u8 opcode)
{
	struct cfi_cfa *cfa = &run->state.cfa;
	struct bytes *rest = &run->rest;
	u64 reg;

	switch (opcode) {
	case DW_CFA_def_cfa:
		reg = bytes_uleb(rest);
		set_cfa(run, reg, bytes_uleb(rest));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = bytes_uleb(rest);
		set_cfa(run, reg, (u64)bytes_sleb(rest) * (u64)run->cie->data_factor);
		return true;
	case DW_CFA_def_cfa_register:
		cfa->reg = bytes_uleb(rest);
		return cfa->kind == CFA_REGISTER;
	case DW_CFA_def_cfa_offset:
		cfa->offset = (s64)bytes_uleb(rest);
		return cfa->kind == CFA_REGISTER;
	case DW_CFA_def_cfa_offset_sf:
		cfa->offset = (s64)((u64)bytes_sleb(rest) * (u64)run->cie->data_factor);
		return cfa->kind == CFA_REGISTER;
	case DW_CFA_def_cfa_expression:
		*cfa = (struct cfi_cfa){.kind = CFA_EXPRESSION, .expression = take_block(rest)};
		return true;
	default:
		return false;
	}
}

static bool change_rule(struct cfi_run *run, u8 opcode)
{
	struct bytes *rest = &run->rest;
	u64 reg = bytes_uleb(rest);

	switch (opcode) {
	case DW_CFA_undefined:
		set_kind(run, reg, RULE_UNDEFINED);
		return true;
	case DW_CFA_same_value:
		set_kind(run, reg, RULE_SAME);
		return true;
	case DW_CFA_restore_extended:
		restore(run, reg);
		return true;
	case DW_CFA_offset_extended:
		set_offset(run, reg, bytes_uleb(rest));
		return true;
	case DW_CFA_offset_extended_sf:
		set_offset(run, reg, (u64)bytes_sleb(rest));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		set_offset(run, reg, -bytes_uleb(rest));
		return true;
	case DW_CFA_expression:
		set_rule(
			&run->state, reg,
			(struct cfi_rule){.kind = RULE_EXPRESSION, .expression = take_block(rest)});
		return true;
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		bytes_uleb(rest); /* as long, whatever its sign */
		set_kind(run, reg, RULE_OTHER);
		return true;
	case DW_CFA_val_expression:
		take_block(rest);
		set_kind(run, reg, RULE_OTHER);
		return true;
	default:
		return false;
	}
}

/* *ret_by is left alone by those that do not move on. */
static bool execute(struct cfi_run *run, u8 opcode, u64 *ret_by)
{
	u64 operand = opcode & OPERAND_MASK;

	switch (opcode & ~OPERAND_MASK) {
	case DW_CFA_advance_loc:
		*ret_by = operand * run->cie->code_factor;
		return true;
	case DW_CFA_offset:
		set_offset(run, operand, bytes_uleb(&run->rest));
		return true;
	case DW_CFA_restore:
		restore(run, operand);
		return true;
	}
	switch (opcode) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_GNU_args_size:
		bytes_uleb(&run->rest);
		return true;
	case DW_CFA_remember_state:
		if (run->saved_count == CFI_SAVED_MAX)
			return false;
		run->saved[run->saved_count++] = run->state;
		return true;
	case DW_CFA_restore_state:
		if (!run->saved_count)
			return false;
		run->state = run->saved[--run->saved_count];
		return true;
	case DW_CFA_set_loc:
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
		return take_advance(run, opcode, ret_by);
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		return change_cfa(run, opcode);
	default:
		return change_rule(run, opcode);
	}
}

void cfi_run_begin(struct cfi_run *run, const struct cfi_cie *cie, struct bytes program,
		   u64 displacement, u64 begin, u64 end)
{
	run->cie = cie;
	run->rest = program;
	run->displacement = displacement;
	run->pc = run->next = begin;
	run->end = end;
	run->state = cie->initial;
	run->saved_count = 0;
}

bool cfi_run_next(struct cfi_run *run)
{
	run->pc = run->next;
	while (run->rest.at < run->rest.end) {
		u64 by = 0;
		u8 opcode = (u8)bytes_number(&run->rest, 1);

		if (!execute(run, opcode, &by) || run->rest.is_bad)
			return false;
		if (by) {
			run->next = by < run->end - run->pc ? run->pc + by : run->end;
			return true;
		}
	}
	run->next = run->end;
	return true;
}

bool cfi_run_cie(struct cfi_cie *cie, struct bytes program)
{
	struct cfi_run run;

	cie->initial = (struct cfi_state){0};
	cfi_run_begin(&run, cie, program, 0, 0, 1);
	if (!cfi_run_next(&run) || run.rest.at < run.rest.end)
		return false; /* one that moves on has no place here */
	cie->initial = run.state;
	return true;
}
