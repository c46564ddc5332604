/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * From a frame to its caller, by the tables of abi/unwind.h. No hook and no map is named here, so
 * that it can be compiled for the host and tested there. Whoever includes it offers:
 *
 *   unwind_row_at(u32), unwind_page_at(u32), unwind_module_at(u32), unwind_mapping_at(u32): a place
 *   in a table, or NULL; unwind_read(void *to, u32 size, u64 from): 0 if the process's memory could
 *   be read
 *
 * Tables and stacks are somebody else's: every index is checked where it is used, and a stack only
 * grows towards its end, so that no walk goes in circles.
 */
#ifndef DWELL_UNWIND_BPF_H
#define DWELL_UNWIND_BPF_H

#include "order.bpf.h"

#define FRAME_BYTES_MAX (1u << 20) /* more between two frame pointers is none */
#define REGISTER_COUNT	16	   /* as DWARF numbers those of x86-64 */

/* What the kernel saves on the stack for a signal handler, from the sp of the frame on: x86-64. */
#define SIGNAL_FP_AT 120
#define SIGNAL_SP_AT 160
#define SIGNAL_IP_AT 168

struct unwind_walk {
	u64 ip, sp, fp;
	u64 address; /* of the frame that the last step left, inside its calling instruction */
	u64 registers[REGISTER_COUNT]; /* of the innermost frame */
	u32 first, count, generation;  /* the process's mappings */
	u32 mapping;		       /* 1 + place of the last one found: callers are often near */
	u32 module, page;	       /* that the last row was sought in */
	u32 frames;		       /* kept so far */
	u32 is_return;		       /* ip is a return address: it is looked up one byte before */
	u32 stop;		       /* enum stack_stop; STOP_NONE: the walk goes on */
	u64 hash;		       /* of the frames */
};

static __always_inline u64 unwind_mix(u64 hash, u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

static __always_inline u64 unwind_pc(const struct unwind_walk *walk)
{
	return walk->is_return ? walk->ip - 1 : walk->ip;
}

static __always_inline int unwind_end(struct unwind_walk *walk, u32 stop)
{
	walk->stop = stop;
	return 1;
}

/* The last mapping that begins at pc or before. */
static __always_inline struct unwind_mapping *unwind_search_mapping(struct unwind_walk *walk,
								    u64 pc)
{
	u32 low = walk->first, high = walk->first + walk->count;

	for (int i = 0; i <= UNWIND_MAPPINGS_STEPS; i++) {
		u32 middle = low + (high - low) / 2;
		struct unwind_mapping *mapping;

		if (low >= high)
			break;
		mapping = unwind_mapping_at(middle);
		if (!mapping)
			return NULL;
		if (mapping->begin <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	walk->mapping = low;
	return low == walk->first ? NULL : unwind_mapping_at(low - 1);
}

static __always_inline bool unwind_is_in(const struct unwind_mapping *mapping, u64 pc)
{
	return mapping && mapping->begin <= pc && pc < mapping->end;
}

static __always_inline struct unwind_mapping *unwind_find_mapping(struct unwind_walk *walk, u64 pc)
{
	struct unwind_mapping *mapping =
		walk->mapping ? unwind_mapping_at(walk->mapping - 1) : NULL;

	if (unwind_is_in(mapping, pc))
		return mapping;
	return unwind_search_mapping(walk, pc);
}

/* What user space writes at any moment is read once, and for good. */
static __always_inline u64 unwind_run_of(struct unwind_page *page)
{
	return ledger_load_acquire(&page->run);
}

/* The last row of a run that begins at pc or before, copied: false if there is none. */
static __always_inline bool unwind_search_row(u64 run, u32 pc, struct unwind_row *ret_row)
{
	const u32 first = (u32)(run >> UNWIND_RUN_SHIFT);
	u32 low = first, high = first + (u32)(run & UNWIND_RUN_COUNT);
	struct unwind_row *row;

	for (int i = 0; i <= UNWIND_ROWS_STEPS; i++) {
		u32 middle = low + (high - low) / 2;

		if (low >= high)
			break;
		row = unwind_row_at(middle);
		if (!row)
			return false;
		if (row->pc <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	row = low == first ? NULL : unwind_row_at(low - 1);
	if (!row)
		return false;
	*ret_row = *row;
	return true;
}

/* The row that holds at pc, an address of the module's own: STOP_NONE, or why there is none. */
static __always_inline u32 unwind_find_row(struct unwind_walk *walk, u32 module_id, u64 pc,
					   struct unwind_row *ret_row)
{
	struct unwind_module *module = unwind_module_at(module_id);
	struct unwind_page *page;
	bool is_found;
	u64 run;

	if (!module || pc >> UNWIND_PAGE_SHIFT >= module->page_count)
		return STOP_NO_ROW;
	walk->module = module_id;
	walk->page = module->first_page + (u32)(pc >> UNWIND_PAGE_SHIFT);
	page = unwind_page_at(walk->page);
	if (!page)
		return STOP_NO_ROW;
	run = unwind_run_of(page);
	if (!run)
		return STOP_NO_PAGE;
	is_found = unwind_search_row(run, (u32)pc, ret_row);
	if (ledger_load_last(&page->run) != run)
		return STOP_NO_PAGE;
	if (!page->is_used)
		page->is_used = 1;
	return is_found ? STOP_NONE : STOP_NO_ROW;
}

/* Code that no table describes: by the frame pointer, if what it points to can be a frame. */
static __always_inline int unwind_by_fp(struct unwind_walk *walk)
{
	u64 saved[2];

	/* By the ABI, zero marks the outermost frame; in a leaf it is just a register. */
	if (!walk->fp)
		return unwind_end(walk, walk->frames > 1 ? STOP_ZERO : STOP_BAD_FRAME);
	if (walk->fp < walk->sp || walk->fp - walk->sp > FRAME_BYTES_MAX || walk->fp & 7)
		return unwind_end(walk, STOP_BAD_FRAME);
	if (unwind_read(saved, sizeof(saved), walk->fp))
		return unwind_end(walk, STOP_UNREADABLE);
	walk->sp = walk->fp + sizeof(saved);
	walk->fp = saved[0];
	walk->ip = saved[1];
	walk->is_return = 1;
	return walk->ip ? 0 : unwind_end(walk, STOP_ZERO);
}

/* What the signal interrupted, at the very instruction. Nobody called its frame: that is exact,
 * too. */
static __always_inline int unwind_signal(struct unwind_walk *walk)
{
	u64 fp, sp, ip;

	walk->address = walk->ip;
	if (unwind_read(&fp, sizeof(fp), walk->sp + SIGNAL_FP_AT) ||
	    unwind_read(&sp, sizeof(sp), walk->sp + SIGNAL_SP_AT) ||
	    unwind_read(&ip, sizeof(ip), walk->sp + SIGNAL_IP_AT))
		return unwind_end(walk, STOP_UNREADABLE);
	walk->fp = fp;
	walk->sp = sp;
	walk->ip = ip;
	walk->is_return = 0;
	return ip ? 0 : unwind_end(walk, STOP_ZERO);
}

/* Where the stack was before the call: 0, or 1 with the reason. */
static __always_inline int unwind_cfa(struct unwind_walk *walk, u32 kind, u32 field, u64 *ret_cfa)
{
	u64 at = 0;

	switch (kind) {
	case ROW_SP:
		*ret_cfa = walk->sp + 8 * (u64)field;
		return 0;
	case ROW_FP:
		*ret_cfa = walk->fp + 8 * (u64)field;
		return 0;
	case ROW_PLT:
		*ret_cfa = walk->sp + ((walk->ip & 15) >= field ? 16 : 8);
		return 0;
	case ROW_SP_DEREF:
	case ROW_SP_DEREF8:
		at = walk->sp;
		break;
	case ROW_FP_DEREF:
	case ROW_FP_DEREF8:
		at = walk->fp;
		break;
	case ROW_REGISTER:
	case ROW_SP_INDEXED:
		if (walk->is_return)
			return unwind_end(walk, STOP_BAD_ROW);
		at = walk->registers[(field >> 12) & (REGISTER_COUNT - 1)];
		if (kind == ROW_REGISTER) {
			*ret_cfa = at + 8 * (u64)(field & 0xfff);
			return 0;
		}
		at = walk->sp + 8 * at;
		field &= 0xfff;
		break;
	default:
		return unwind_end(walk, STOP_BAD_ROW);
	}
	at += (u64)(8 * (s64)(s16)field);
	if (unwind_read(ret_cfa, sizeof(*ret_cfa), at))
		return unwind_end(walk, STOP_UNREADABLE);
	if (kind == ROW_SP_DEREF8 || kind == ROW_FP_DEREF8 || kind == ROW_SP_INDEXED)
		*ret_cfa += 8;
	return 0;
}

static __always_inline int unwind_by_row(struct unwind_walk *walk, const struct unwind_row *row)
{
	u32 kind = row->kind, field = row->cfa;
	s64 fp_at = 8 * (s64)row->fp;
	u64 cfa = 0, ip, fp = walk->fp;

	if ((kind & ROW_KIND_MASK) == ROW_END)
		return unwind_end(walk, STOP_END);
	if ((kind & ROW_KIND_MASK) == ROW_GAP)
		return unwind_by_fp(walk);
	if ((kind & ROW_KIND_MASK) == ROW_SIGNAL)
		return unwind_signal(walk);
	if (unwind_cfa(walk, kind & ROW_KIND_MASK, field, &cfa))
		return 1;
	if (cfa <= walk->sp)
		return unwind_end(walk, STOP_BAD_FRAME);
	if (unwind_read(&ip, sizeof(ip), cfa - 8))
		return unwind_end(walk, STOP_UNREADABLE);
	if (kind & (ROW_FP_SAVED | ROW_FP_AT_FP)) {
		u64 base = kind & ROW_FP_SAVED ? cfa : walk->fp;

		if (unwind_read(&fp, sizeof(fp), base + (u64)fp_at))
			return unwind_end(walk, STOP_UNREADABLE);
	}
	walk->fp = fp;
	walk->sp = cfa;
	walk->ip = ip;
	walk->is_return = 1;
	return ip ? 0 : unwind_end(walk, STOP_ZERO);
}

/* One frame further: 0, or 1 when the walk is over, and why is in stop. */
static __always_inline int unwind_step(struct unwind_walk *walk)
{
	u64 pc = unwind_pc(walk);
	struct unwind_mapping *mapping;
	struct unwind_row row = {0};
	u64 bias;
	u32 module, stop;

	mapping = unwind_find_mapping(walk, pc);
	/* A return probe puts an address of the kernel's own choice onto the stack. */
	if (!unwind_is_in(mapping, pc) && walk->is_return &&
	    unwind_find_return(walk->sp - 8, &walk->ip)) {
		pc = unwind_pc(walk);
		mapping = unwind_find_mapping(walk, pc);
	}
	walk->address = pc;
	walk->frames++;
	walk->hash = unwind_mix(walk->hash, pc);
	if (!mapping || !unwind_is_in(mapping, pc))
		return unwind_end(walk, STOP_NO_MAPPING);
	module = mapping->module;
	bias = mapping->bias;
	/* A new owner's is 0 before any other word of it is written: all read so far was the old.
	 */
	if (ledger_load_last(&mapping->generation) != walk->generation)
		return unwind_end(walk, STOP_STALE);
	if (module == UNWIND_NO_TABLE)
		return unwind_by_fp(walk);
	stop = unwind_find_row(walk, module, pc - bias, &row);
	if (stop)
		return unwind_end(walk, stop);
	return unwind_by_row(walk, &row);
}

#endif
