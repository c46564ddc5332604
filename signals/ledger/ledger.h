/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The book: the last known ledger of every thread, as the worker keeps it, and what of it the
 * session has been told. A thread that has ended leaves the book once that is written, so that it
 * holds the living. Owned by the worker; read by those who show it.
 */
#ifndef DWELL_LEDGER_H
#define DWELL_LEDGER_H

#include "../../abi/records.h"
#include "../../src/base/index.h"

#define LEDGER_ROWS_MAX	 32768
#define LEDGER_INDEX_MAX 65536 /* a power of two, and twice the rows */

/* A cause is known by state, call, object and holder, not by its place in the record. */
struct told_cause {
	u64 ns;
	u64 object;
	u32 count;
	u32 holder;
	u16 call;
	u8 state;
	u8 unused[5];
};

#define OPEN_PIECES_MAX 3 /* windows in which one wait was written while it lasted */

/* What a window has of a wait that lasted on, under its provisional name. */
struct open_piece {
	u64 window;
	u64 ns;
	u32 waker; /* as it was written there */
	u32 waker_kind;
};

/* A wait that lasted when it was last written. Its ns and count are in the causes, too. */
struct told_open {
	u64 since_ns; /* which one it is; 0: none */
	struct told_cause cause;
	struct open_piece pieces[OPEN_PIECES_MAX];
};

struct told_rival {
	u64 pid; /* as in ledger_rival */
	u64 ns;
};

/* What the session has of a thread, in sum. */
struct ledger_told {
	u64 id;	    /* of the thread in the session; 0: it has nothing yet */
	u64 window; /* in which it was told last */
	struct told_open open;
	u64 ns[STATE_COUNT];
	u32 entries[STATE_COUNT + STATE_COUNT % 2];
	u64 cause_count;
	struct told_cause causes[CAUSES_MAX + 1]; /* and one that is open */
	u64 rivals_ns;
	struct told_rival rivals[RIVALS_MAX];
	struct ledger_turns turns;
	struct ledger_chain chains[LEDGER_CHAINS];
};

/* What is to be done for a thread; apart from the rest, as all are looked at in each window. */
enum ledger_mark {
	MARK_PENDING = 1, /* a record came since the last window */
	MARK_DUE = 2,	  /* its row in threads is to be written with this window */
	MARK_STALE = 4,	  /* there is more to say of it than that row does */
	MARK_ENDED = 8,	  /* its last word came */
};

struct ledger_book {
	u64 count;	 /* of rows */
	u64 folded;	 /* ended threads that found no place; their time is in other */
	u64 turned_away; /* records of living ones for which there was none, to come again */
	u64 last_id;	 /* given to a thread in the session */
	u64 flushed_ns;	 /* when the last window ended; CLOCK_MONOTONIC */
	struct rec_ledger other; /* sums only */
	struct rec_ledger rows[LEDGER_ROWS_MAX];
	struct ledger_told other_told;
	struct ledger_told told[LEDGER_ROWS_MAX]; /* by the same place as rows */
	u8 marks[LEDGER_ROWS_MAX];		  /* enum ledger_mark, by the same place */
	u8 other_marks;
	u8 unused[7];
	struct index_slot index[LEDGER_INDEX_MAX];
};

#endif
