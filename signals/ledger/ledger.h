/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The book: the last known ledger of every thread, as the worker keeps it, and what of it the
 * session has been told. A thread that has ended leaves the book once that is written, so that it
 * holds the living. Owned by the worker; read by those who show it.
 */
#ifndef DWELL_LEDGER_H
#define DWELL_LEDGER_H

#include "../../abi/records.h"
#include "../../src/base/hash.h"
#include "../../src/base/index.h"

#define LEDGER_ROWS_MAX	  32768
#define LEDGER_ROWS_SPARE 256	/* whose memory is kept though they are free */
#define LEDGER_INDEX_MAX  65536 /* a power of two, and twice the rows */

/* At both ends of a file each thread that lives is read: one that was not, in so many, has ended.
 */
#define LEDGER_ABSENT_FILES 4

/* A cause is known by state, call, object and holder, not by its place in the record. */
struct written_cause {
	u64 ns;
	u64 object;
	u32 count;
	u32 holder;
	u16 call;
	u8 state;
	u8 unused[5];
};

/*
 * Windows of a file in which one wait was written while it lasted: the first, the last, and the one
 * before that, which has the time between. And the first one is that of all earlier files.
 */
#define OPEN_PIECES_MAX 4

/* What a window has of a wait that lasted on, under its provisional name. */
struct open_piece {
	u64 window;
	u64 ns;
	u32 waker; /* as it was written there */
	u16 waker_kind;
	u16 count; /* 1: the wait is counted there */
};

/* A wait that lasted when it was last written. Its ns and count are in the causes, too. */
struct written_open {
	u64 since_ns; /* which one it is; 0: none */
	struct written_cause cause;
	struct open_piece pieces[OPEN_PIECES_MAX];
};

struct written_rival {
	u64 pid; /* as in ledger_rival */
	u64 ns;
};

/* Of what its rows have, what earlier files of the recording have. */
struct written_before {
	u64 ns; /* in all states: up to then its time was written */
	u64 voluntary, involuntary, kernel_voluntary, kernel_involuntary;
	u64 kernel_exec_ns, kernel_delay_ns;
	u64 max_turn_ns;
	u64 runq_ns, rivals_ns;
	u32 missed, unnamed;
	u32 threads, unused;
};

/* What the session has of a thread, in sum; its earlier files included. */
struct ledger_written {
	u64 id;		/* of the thread in the session; 0: it has nothing yet */
	u64 window;	/* in which it was told last */
	u64 is_resumed; /* the session has it, by a writer that has died, up to then: */
	u64 told_ns;
	struct written_before before;
	struct written_open open;
	u64 ns[STATE_COUNT];
	u32 entries[STATE_COUNT + STATE_COUNT % 2];
	u64 cause_count;
	struct written_cause causes[CAUSES_MAX + 1]; /* and one that is open */
	u64 rivals_ns;
	struct written_rival rivals[RIVALS_MAX];
	struct ledger_turns turns;
	struct ledger_chain chains[LEDGER_CHAINS];
};

static inline u64 written_runq_ns(const struct ledger_written *written)
{
	u64 sum = 0;

	for (int i = STATE_RUNQ_WOKEN; i <= STATE_RUNQ_THROTTLED; i++)
		sum += written->ns[i];
	return sum;
}

/* What is to be done for a thread; apart from the rest, as all are looked at in each window. */
enum ledger_mark {
	MARK_PENDING = 1, /* a record came since the last window */
	MARK_DUE = 2,	  /* its row in threads is to be written with this window */
	MARK_STALE = 4,	  /* there is more to say of it than that row does */
	MARK_ENDED = 8,	  /* its last word came */
	MARK_NEW = 16,	  /* the session has nothing of it; its place in written is not in use */
};

struct ledger_book {
	u64 count;	  /* of rows */
	u64 highest;	  /* count that was reached since pages were given back */
	u64 folded;	  /* ended threads that found no place; their time is in other */
	u64 turned_away;  /* records of living ones for which there was none, to come again */
	u64 last_id;	  /* given to a thread in the session */
	u64 flushed_ns;	  /* when the last window ended; CLOCK_MONOTONIC */
	u64 first_window; /* of the file that is written; those before are another's */
	u64 first_windows[LEDGER_ABSENT_FILES]; /* of the files before, the last one first */
	u64 files;				/* that were begun before this one */
	struct hash known; /* threads that the session has from a writer before: resume.c */
	u64 is_resumed, is_known_written;
	u64 earlier_ns;		 /* what was before that is in earlier files; 0: there are none */
	u64 vanished;		 /* threads that ended, and whose last word was lost: forgotten */
	struct rec_ledger other; /* sums only */
	struct rec_ledger rows[LEDGER_ROWS_MAX];
	struct ledger_written other_written;
	struct ledger_written written[LEDGER_ROWS_MAX]; /* by the same place as rows */
	u8 marks[LEDGER_ROWS_MAX];			/* enum ledger_mark, by the same place */
	u8 other_marks;
	u8 unused[7];
	struct index_slot index[LEDGER_INDEX_MAX];
	u64 inner_count; /* threads with another number in their own pid namespace; while it is
			    written */
	struct index_slot inner[LEDGER_INDEX_MAX]; /* these by process and that number */
};

#endif
