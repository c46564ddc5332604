/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of the window that is open, summed up over what they have in common, and those of the
 * window before whose stack had not come yet: another CPU sends it, and may be a moment later.
 */
#ifndef DWELL_SAMPLE_H
#define DWELL_SAMPLE_H

#include "../../abi/records.h"
#include "../../src/base/hash.h"

/* Of one window. The book grows as it is used; full it is 7 MB. */
#define SAMPLE_ROWS_MAX (64u << 10)
#define SAMPLE_HELD_MAX 4096

/* What samples of one row have in common; without holes. */
struct sample_key {
	u64 start_ns;
	u64 thread_start_ns;
	u64 stack; /* keys of the kernel's; 0: none */
	u64 waker_stack;
	u32 tgid;
	u32 tid;
	u32 waker;
	u8 waker_kind;
	u8 kind;
	u8 state;
	u8 mode;
	u64 stop;
};

struct sample_row {
	struct sample_key key;
	u64 window; /* of a held one */
	u64 count;
	u64 weight_ns;
	u64 ns;
	u64 mismatches;
};

struct stack_ids;

struct sample_book {
	struct stack_ids *ids;
	u64 turned_away; /* samples without a place, or without memory for one */
	u64 refused;	 /* samples of no kind, state, mode or end that there is */
	u64 unknown;	 /* samples whose stack did not come */
	struct hash rows;
	struct hash held;
};

#endif
