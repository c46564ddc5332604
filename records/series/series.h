/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What series have got in the window that is open, until it is written; and under which number the
 * session knows each. Owns the series' lists of buckets.
 */
#ifndef DWELL_SERIES_H
#define DWELL_SERIES_H

#include "../../abi/records.h"
#include "../../src/base/hash.h"

struct stack_ids;

/*
 * When half of these have been seen, those of which nothing came for a while are forgotten, and
 * named anew when they come again. The kernel side has SERIES_MAX at a time.
 */
#define SERIES_BOOK_MAX 16384

struct series_entry {
	struct series_key key;
	u64 id;		/* in the session */
	u64 is_defined; /* the session has its row */
	u64 waited;	/* windows, for the name of its stack */
	u64 window;	/* the last in which it had values */
	u64 count, sum, max, sums[SERIES_SUMS];
	u64 orphan_starts, orphan_ends, expired;
	struct series_bucket *buckets; /* in order of their places, or twice so */
	size_t bucket_count, bucket_room;
};

struct series_book {
	struct hash entries; /* struct series_entry */
	struct stack_ids *ids;
	u64 last_id;
	u64 window; /* the last that was written */
	u64 forgotten;
	u64 turned_away;
	u64 no_stack;
	u64 refused;
};

#endif
