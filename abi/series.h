/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Series: what signals measure, counted in the kernel. One is a key (which signal, which of its
 * measures, whose, of what) and a histogram. The kernel side writes them by atomic additions; user
 * space maps their memory, and tells what was added since it last looked.
 */
#ifndef DWELL_ABI_SERIES_H
#define DWELL_ABI_SERIES_H

#include "hist.h"
#include "types.h"

#define SERIES_MAX	   2048 /* at a time; what finds no place is in its signal's "other" */
#define SERIES_STRIPES_MAX 4	/* copies of each, so that CPUs do not wait for each other; 2^n */
#define SERIES_OTHER	   (~0ULL) /* the object of a series that stands for those without a place */
#define SERIES_COMMAND                                                                             \
	(1ULL << 61)		 /* in start_ns, without a process: all processes of a command     \
				  */
#define SERIES_NO_CPU	  0xffff /* the detail of one that is of no CPU, where it is a CPU */
#define SERIES_ANY_DETAIL 0xffff /* the detail of one that stands for those of all details */
#define SERIES_NONE	  (~0U)	 /* no place */
#define SERIES_SUMS	  2	 /* that a series may have beside that of its values */
#define SERIES_BESIDE	  2	 /* series that another may lead to */
#define PAIRS_MAX	  16384	 /* starts that wait for their end, in `pairs` */

/* What the fields mean, each signal says in its struct signal_view. Unused ones are 0. */
struct series_key {
	u64 start_ns; /* of the process, as in rec_hdr; 0: of no process; or SERIES_COMMAND and an
			 id */
	u32 tgid;     /* as in rec_hdr; 0: of no process */
	u8 signal;    /* enum signal_id */
	u8 kind;      /* which measure of the signal's: connect, service, wait, ... */
	u16 detail;   /* something small: a system call, an operation, a state */
	u64 object;   /* something of which there are many: a file, a lock, a peer, a device */
	u64 more;     /* something else: mostly a stack's key, 0 for none */
};

/*
 * One copy of a series' numbers. All of them only grow, but for max, which user space takes. How
 * many values there are, the buckets say. A value grows the sum, or else is 0, whose bucket is the
 * first: so all that tells whether something is new is in one cache line.
 */
struct series_stripe {
	u64 sum;	       /* of values */
	u64 max;	       /* since user space last took it */
	u64 sums[SERIES_SUMS]; /* of what else its events had: bytes, ... (struct signal_view) */
	u64 orphan_starts;
	u64 orphan_ends;
	u64 expired;
	u32 buckets[HIST_BUCKETS]; /* modulo 2^32 */
};

/* User space takes places back: they rest, and no new value is to find its way there, then are
 * free. */
enum series_use { SERIES_FREE, SERIES_READY, SERIES_RESTING };

/*
 * Whose a place is. Where an event has a value for several series, whose keys differ in their kind
 * alone, one leads to the others, so that only its own key is looked at. They are taken back with
 * it, not by themselves.
 */
struct series_slot {
	struct series_key key;
	u32 is_ready;		   /* enum series_use, written last */
	u32 is_led;		   /* 1: another one leads to it */
	u32 beside[SERIES_BESIDE]; /* 1 + place; 0: not known yet */
	u64 unused[2];		   /* all of it is in one cache line */
};

_Static_assert(sizeof(struct series_slot) == 64, "one cache line");

/* How much of all places a signal may have. User space writes the limit, and lowers `used`. */
struct series_share {
	u64 limit;
	u64 used;
	u64 others;	   /* places of "other", by detail; beyond the limit, by a quarter of it */
	u64 folded;	   /* values that went to "other", or to their command without an object */
	u64 lost;	   /* values for which not even that had a place */
	u64 unpaired;	   /* starts that found no place in `pairs` */
	u64 slow_unspoken; /* slow events beyond the budget: counted in their series, not told */
};

/* A start that waits for its end. */
struct pair_key {
	u64 id; /* what both ends know: a request's or a socket's address, a thread */
	u32 signal;
	u32 kind;
};

struct pair {
	u64 begin_ns;
	u32 slot;     /* of the series that it belongs to; SERIES_NONE: of none */
	u32 tag;      /* the signal's own, as value is */
	u64 value[4]; /* the signal's own */
};

#define PAIR_KINDS_MAX 4

/* Of each kind of a signal's pairs: how many user space took away, as they were older than the
 * limit.
 */
struct pairs_gone {
	u64 expired[PAIR_KINDS_MAX];
};

/*
 * What a slow event's time was, by the ledger: PART(NAME, name). Where the requests behind a wait
 * for the disk are known, it is in the last two.
 */
#define SLOW_PARTS(PART)                                                                           \
	PART(CPU, cpu)                                                                             \
	PART(RUNQ, runq)                                                                           \
	PART(LOCK, lock)                                                                           \
	PART(DISK, disk)                                                                           \
	PART(NET, net)                                                                             \
	PART(OTHER, other)                                                                         \
	PART(DISK_QUEUE, disk_queue)                                                               \
	PART(DISK_SERVICE, disk_service)

enum slow_part {
#define PART(NAME, name) SLOW_PART_##NAME,
	SLOW_PARTS(PART)
#undef PART
		SLOW_PART_COUNT
};

#endif
