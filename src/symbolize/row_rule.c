// SPDX-License-Identifier: Apache-2.0
#include "row_rule.h"

#include <dwarf.h>

/* The offset of breg6 or breg7, which the register is *ret_reg of; it is all that is taken. */
static bool take_base(struct bytes *expression, u64 *ret_reg, s64 *ret_offset)
{
	u64 opcode = bytes_number(expression, 1);

	if (opcode != DW_OP_breg0 + REGISTER_FP && opcode != DW_OP_breg0 + REGISTER_SP)
		return false;
	*ret_reg = opcode - DW_OP_breg0;
	*ret_offset = bytes_sleb(expression);
	return !expression->is_bad;
}

static bool in_words(s64 offset, s64 least, s64 most, s64 *ret_words)
{
	*ret_words = offset / 8;
	return offset % 8 == 0 && *ret_words >= least && *ret_words <= most;
}

/* As linkers write it for the PLT: breg7+8, rip & 15 >= N ? 8 : 0, plus. */
static bool is_plt(const struct bytes *expression, u8 *ret_from)
{
	static const u8 before[] = {DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and};
	static const u8 after[] = {DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
	const u8 *at = expression->at;

	if (bytes_left(expression) != sizeof(before) + 1 + sizeof(after) ||
	    memcmp(at, before, sizeof(before)) ||
	    memcmp(at + sizeof(before) + 1, after, sizeof(after)))
		return false;
	*ret_from = (u8)(at[sizeof(before)] - DW_OP_lit0); /* wraps for what is below */
	return *ret_from < 16;
}

/* As multiplications of big numbers have it: breg7+N, bregM+0, lit8, mul, plus, deref,
 * plus_uconst 8. */
static bool take_indexed(struct bytes expression, struct unwind_row *row)
{
	static const u8 after[] = {DW_OP_lit8,	DW_OP_mul,	   DW_OP_plus,
				   DW_OP_deref, DW_OP_plus_uconst, 8};
	u64 base, index;
	s64 offset, words;

	if (!take_base(&expression, &base, &offset) || base != REGISTER_SP)
		return false;
	index = bytes_number(&expression, 1) - DW_OP_breg0;
	if (index > 15 || bytes_sleb(&expression) || expression.is_bad ||
	    bytes_left(&expression) != sizeof(after) ||
	    memcmp(expression.at, after, sizeof(after)) || !in_words(offset, 0, 0xfff, &words))
		return false;
	row->kind = ROW_SP_INDEXED;
	row->cfa = (u16)(index << 12 | (u64)words);
	return true;
}

static bool take_cfa_register(u64 reg, s64 offset, struct unwind_row *row)
{
	s64 words;

	if (reg == REGISTER_SP || reg == REGISTER_FP) {
		row->kind = reg == REGISTER_SP ? ROW_SP : ROW_FP;
		row->cfa = (u16)(offset / 8);
		return in_words(offset, 0, 0xffff, &words);
	}
	row->kind = ROW_REGISTER;
	row->cfa = (u16)(reg << 12 | ((u64)(offset / 8) & 0xfff));
	return reg < 16 && in_words(offset, 0, 0xfff, &words);
}

static bool take_cfa_expression(struct bytes expression, struct unwind_row *row)
{
	bool is_more = false;
	u64 reg, opcode;
	s64 offset, words;
	u8 from;

	if (is_plt(&expression, &from)) {
		row->kind = ROW_PLT;
		row->cfa = from;
		return true;
	}
	if (take_indexed(expression, row))
		return true;
	if (!take_base(&expression, &reg, &offset))
		return false;
	if (!bytes_left(&expression))
		return take_cfa_register(reg, offset, row);
	opcode = bytes_number(&expression, 1);
	if (opcode != DW_OP_deref || !in_words(offset, -0x8000, 0x7fff, &words))
		return false;
	if (bytes_left(&expression)) {
		is_more = bytes_number(&expression, 1) == DW_OP_plus_uconst &&
			  bytes_uleb(&expression) == 8;
		if (!is_more || expression.is_bad || bytes_left(&expression))
			return false;
	}
	if (reg == REGISTER_SP)
		row->kind = is_more ? ROW_SP_DEREF8 : ROW_SP_DEREF;
	else
		row->kind = is_more ? ROW_FP_DEREF8 : ROW_FP_DEREF;
	row->cfa = (u16)(s16)words;
	return true;
}

static bool take_fp(const struct cfi_rule *rule, struct unwind_row *row)
{
	struct bytes expression = rule->expression;
	s64 offset, words;
	u64 reg;

	switch (rule->kind) {
	case RULE_UNSAID:
	case RULE_UNDEFINED:
	case RULE_SAME:
		return true;
	case RULE_OFFSET:
		if (!in_words(rule->offset, -0x80, 0x7f, &words))
			return false;
		row->kind |= ROW_FP_SAVED;
		row->fp = (s8)words;
		return true;
	case RULE_EXPRESSION:
		if (!take_base(&expression, &reg, &offset) || reg != REGISTER_FP ||
		    bytes_left(&expression) || !in_words(offset, -0x80, 0x7f, &words))
			return false;
		row->kind |= ROW_FP_AT_FP;
		row->fp = (s8)words;
		return true;
	default:
		return false;
	}
}

struct unwind_row row_rule(const struct cfi_state *state)
{
	const struct unwind_row bad = {.kind = ROW_BAD};
	struct unwind_row row = {0};

	if (state->ra.kind == RULE_UNDEFINED || state->ra.kind == RULE_UNSAID)
		return (struct unwind_row){.kind = ROW_END};
	if (state->ra.kind != RULE_OFFSET || state->ra.offset != -8)
		return bad;
	if (state->cfa.kind == CFA_REGISTER) {
		if (!take_cfa_register(state->cfa.reg, state->cfa.offset, &row))
			return bad;
	} else if (state->cfa.kind != CFA_EXPRESSION ||
		   !take_cfa_expression(state->cfa.expression, &row)) {
		return bad;
	}
	/* A frame whose caller's fp is lost would be followed by wrong ones. */
	return take_fp(&state->fp, &row) ? row : bad;
}

bool row_rule_is_valid(const struct unwind_row *row)
{
	u8 fp_bits = row->kind & (ROW_FP_SAVED | ROW_FP_AT_FP), kind = row->kind & ROW_KIND_MASK;

	if ((kind | fp_bits) != row->kind || fp_bits == (ROW_FP_SAVED | ROW_FP_AT_FP) ||
	    (!fp_bits && row->fp))
		return false;
	switch (kind) {
	case ROW_GAP:
	case ROW_END:
	case ROW_SIGNAL:
	case ROW_BAD:
		return !fp_bits && !row->cfa;
	case ROW_PLT:
		return row->cfa < 16;
	default:
		return kind < ROW_BAD;
	}
}
