/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last word on each thread's system calls, as the worker keeps it, and what of it the session
 * has been told. When there is no more room, one that was silent for a while makes place.
 */
#ifndef DWELL_CALLS_H
#define DWELL_CALLS_H

#include "../../abi/records.h"
#include "../../src/base/index.h"

#define CALLS_ROWS_MAX	  8192
#define CALLS_INDEX_MAX	  16384 /* a power of two, and twice the rows */
#define CALLS_ENTRIES_MAX (CALLS_ROWS_MAX * CALLS_MAX)

/* One system call of one thread. Most threads make few: so these are in a pool, lowest first. */
struct calls_entry {
	struct call_cost now, told;
	u32 next; /* 1 + the place of the thread's next one, or of the next free one; 0: none */
	u32 unused;
};

enum { FAULTS_BEGUN, FAULTS_ENDED, FAULTS_FAILED, FAULTS_COUNT };

struct calls_row {
	u64 thread_start_ns, begin_ns;
	u32 tid;
	u32 first;	 /* 1 + the place of its first entry; 0: none */
	u64 last_window; /* in which a record came */
	u8 is_pending;
	u8 is_last; /* the thread has ended */
	u8 is_told; /* the session has a row of it */
	u8 unused[5];
	u64 faults[FAULTS_COUNT], faults_told[FAULTS_COUNT];
	struct call_cost other, other_told;
};

struct calls_book {
	u64 count;
	u64 window;	/* the one that is open */
	u64 resumed_ns; /* the session is continued from then on; 0: it is not */
	u64 evicted;
	u64 turned_away; /* records for which no place was free */
	u64 hand;	 /* where the next one that makes place is looked for */
	struct calls_row rows[CALLS_ROWS_MAX];
	struct index_slot index[CALLS_INDEX_MAX];
	u32 entry_count; /* that were ever used */
	u32 entry_free;	 /* 1 + the place of the first that is free again; 0: none */
	struct calls_entry entries[CALLS_ENTRIES_MAX];
};

#endif
