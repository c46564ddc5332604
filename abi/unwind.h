/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * How to walk a user stack without frame pointers: tables that user space builds from .eh_frame and
 * writes into mmap-able maps, and that the kernel side looks up. The way of an address:
 *
 *   tgid → unwind_processes → its mappings, sorted → module → page of 64 KiB → rows, sorted
 *
 * Pages are loaded one by one: small modules at once, of others those that a walk asks for. A page
 * that was not used for long makes room for others, so that no module takes the room of all.
 *
 * The writer has no privilege, so the reader believes nothing: every index is checked, and a wrong
 * table costs a wrong stack, never more. All addresses in rows are the module's own, as its file
 * has them (link-time); a mapping's bias is what is subtracted from a process's address to get
 * there.
 */
#ifndef DWELL_ABI_UNWIND_H
#define DWELL_ABI_UNWIND_H

#include "types.h"

/* Kinds of rows; the low four bits of unwind_row.kind. CFA: where the stack was before the call. */
enum row_kind {
	ROW_GAP,	/* no function here: the frame pointer, if it makes sense */
	ROW_END,	/* the outermost function: it has no caller */
	ROW_SP,		/* CFA = sp + 8 * cfa */
	ROW_FP,		/* CFA = fp + 8 * cfa */
	ROW_PLT,	/* CFA = sp + 8, and 8 more from byte cfa of each 16 on */
	ROW_SP_DEREF,	/* CFA = *(sp + 8 * (s16)cfa) */
	ROW_SP_DEREF8,	/* CFA = *(sp + 8 * (s16)cfa) + 8 */
	ROW_FP_DEREF,	/* CFA = *(fp + 8 * (s16)cfa) */
	ROW_FP_DEREF8,	/* CFA = *(fp + 8 * (s16)cfa) + 8 */
	ROW_REGISTER,	/* CFA = register number cfa >> 12 (as DWARF has it) + 8 * (cfa & 0xfff):
			   known  for the innermost frame only */
	ROW_SP_INDEXED, /* CFA = *(sp + 8 * (cfa & 0xfff) + 8 * register cfa >> 12) + 8: likewise */
	ROW_SIGNAL,	/* a signal's frame: registers are where the kernel saved them */
	ROW_BAD,	/* a rule that no row can hold */
};

#define ROW_KIND_MASK 0x0f

/* Where the caller's fp is; with neither bit it is still in fp. */
#define ROW_FP_SAVED 0x10 /* at CFA + 8 * the field fp */
#define ROW_FP_AT_FP 0x20 /* at fp + 8 * the field fp, as where the stack was realigned */

/* Holds from pc up to the next row's. The return address is at CFA - 8. */
struct unwind_row {
	u32 pc;
	u16 cfa;
	s8 fp;
	u8 kind; /* enum row_kind, and the bits above */
};

/*
 * The rows of one 64 KiB of a module. The row that holds at its beginning is the first of them.
 * run is written by user space alone, in one store: whoever has used its rows looks at it again,
 * and if it is another by then, they were somebody else's.
 */
struct unwind_page {
	u64 run;     /* the first row << 16 | how many; 0: not loaded */
	u32 is_used; /* set by the walk, cleared by user space: who is not used makes room */
	u32 asked;   /* when a walk has last asked for it, in turns of UNWIND_ASK_SHIFT */
};

#define UNWIND_PAGE_SHIFT 16
#define UNWIND_RUN_SHIFT  16
#define UNWIND_RUN_COUNT  0xffffULL
#define UNWIND_RUN_EMPTY  (1ULL << 63) /* it is known to have no row */
#define UNWIND_ASK_SHIFT  28	       /* ns: a page is asked for once in 268 ms */

struct unwind_module {
	u32 first_page;
	u32 page_count; /* pages from address 0 of the module on */
};

#define UNWIND_NO_TABLE                                                                            \
	0xffffffffU /* as module: code without a table; the frame pointer is tried */

struct unwind_mapping {
	u64 begin;
	u64 end;
	u64 bias;	/* address - bias: the module's own */
	u32 module;	/* or UNWIND_NO_TABLE */
	u32 generation; /* that of the process's entry; another: the place has a new owner */
};

/* Where a process's mappings are. A child has its parent's until either maps something else. */
struct unwind_process {
	u32 first;
	u32 count;
	u32 generation; /* of these mappings; never zero for known ones, and never used twice */
	u32 unused;
	u64 asked_ns; /* when user space was last asked for them */
};

/*
 * The same for programs that can run in NMI and may not use a hash: in an array, in one of a few
 * entries by a hash of the process. One that finds all of them taken takes over another's, which is
 * then asked for again.
 */
struct unwind_range {
	u32 tgid; /* 0: none; written last */
	u32 first;
	u32 count;
	u32 generation;
};

#define UNWIND_RANGES_BITS 15
#define UNWIND_RANGES_MAX  (1u << UNWIND_RANGES_BITS)
#define UNWIND_RANGE_WAYS  4u

static inline __attribute__((always_inline)) u32 unwind_range_place(u32 tgid, u32 way)
{
	u32 hash = tgid * 2654435761u >> (32 - UNWIND_RANGES_BITS);

	return (hash & ~(UNWIND_RANGE_WAYS - 1)) | way;
}

/* Rows, 8 bytes each: unless --unwind-rows says otherwise, and between what. */
#define UNWIND_ROWS_DEFAULT	 (2u << 20)
#define UNWIND_ROWS_DEFAULT_TEXT "2M"
#define UNWIND_ROWS_LEAST	 (16u << 10) /* those of one page */
#define UNWIND_ROWS_MOST	 (64u << 20)

#define UNWIND_PAGES_MAX      (64u << 10)
#define UNWIND_MODULES_MAX    4096
#define UNWIND_MAPPINGS_MAX   (64u << 10)
#define UNWIND_PROCESSES_MAX  8192
#define UNWIND_REQUESTS_BYTES (64u << 10)

/* Of one process: 2^11, and of one page: 2^14, as many as a bounded search can tell apart. */
#define UNWIND_MAPPINGS_STEPS 11
#define UNWIND_ROWS_STEPS     14

#define KERNEL_FRAMES_MAX 127
#define USER_FRAMES_MAX	  255

/* What the kernel side wants of user space, in the ring buffer unwind_requests. */
enum unwind_want {
	UNWIND_WANT_PROCESS, /* its mappings are not known, or no longer: read them */
	UNWIND_WANT_FORKED,  /* tgid has the mappings of generation now, too */
	UNWIND_WANT_GONE,    /* tgid has ended, or become another program: its mappings are free */
	UNWIND_WANT_PAGE,    /* a walk of tgid's stack came to a page that is not loaded */
};

struct unwind_request {
	u32 tgid; /* as dwell's pid namespace numbers it */
	u32 want; /* enum unwind_want */
	union {
		u32 generation; /* of FORKED and GONE; 0: none was known */
		u32 module;	/* of PAGE */
	};
	u32 page; /* of PAGE: its place in unwind_pages */
};

/* Where a walk ended. */
enum stack_stop {
#define STOP(NAME, ...) STOP_##NAME,
#include "stops.def"
#undef STOP
	STOP_COUNT
};

#endif
