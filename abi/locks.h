/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What the signal of locks measures: the kinds of its series, for both sides.
 */
#ifndef DWELL_ABI_LOCKS_H
#define DWELL_ABI_LOCKS_H

enum locks_kind {
	LOCKS_WAIT,	    /* of a thread for a futex that is a lock */
	LOCKS_WAITER,	    /* one for each thread that waited for it */
	LOCKS_HELD,	    /* by who ended a wait, meanwhile */
	LOCKS_HELD_QUEUE,   /* of that, without a CPU */
	LOCKS_HELD_BLOCK,   /* of that, blocked */
	LOCKS_WAIT_STACK,   /* waits, by where */
	LOCKS_HOLDER_STACK, /* the same, by where the one was who ended it */
	LOCKS_BROADCAST,    /* threads that were woken together */
	LOCKS_FILE_WAIT,    /* for a lock on a file */
	LOCKS_KERNEL_WAIT,  /* for a lock in the kernel */
	LOCKS_KIND_COUNT
};

#endif
