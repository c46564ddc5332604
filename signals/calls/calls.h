/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last word on each thread's system calls, as the worker keeps it, and what of it the session
 * has been told. A record does not say that its thread has ended; when there is no more room, one
 * that was silent for a while makes place.
 */
#ifndef DWELL_CALLS_H
#define DWELL_CALLS_H

#include "../../abi/records.h"
#include "../../src/base/index.h"

#define CALLS_ROWS_MAX	8192
#define CALLS_INDEX_MAX 16384 /* a power of two, and twice the rows */

struct calls_told {
	u64 faults_begun, faults_ended, faults_failed;
	u64 last_window; /* in which a record came */
	u64 is_pending;
	struct call_cost other;
	struct call_cost calls[CALLS_MAX];
};

struct calls_book {
	u64 count;
	u64 window; /* the one that is open */
	u64 evicted;
	u64 turned_away; /* records for which no place was free */
	u64 hand;	 /* where the next one that makes place is looked for */
	struct rec_calls rows[CALLS_ROWS_MAX];
	struct calls_told told[CALLS_ROWS_MAX];
	struct index_slot index[CALLS_INDEX_MAX];
};

#endif
