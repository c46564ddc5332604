/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger over time: of the host, of groups, of threads, and who ended the waits of threads.
 * Read once, for the parts that show it. Owns its rows. Called by page.c and by those parts.
 */
#ifndef DWELL_PAGE_LEDGER_TIME_H
#define DWELL_PAGE_LEDGER_TIME_H

#include "buckets.h"
#include "data.h"

/* Opens with its key. */
struct wake_row {
	u32 bucket;
	u32 thread, state;
	s32 waker; /* a thread, or PAGE_NONE */
	u32 context, unused;
	/* the key ends here */
	s64 ns, count;
};

struct ledger_time {
	struct grid host, groups;
	struct stretches threads, busiest;
	struct buckets wakes;
};

/* 0 or -errno, told; to be freed in any case. */
int ledger_time_read(struct page_data *data, struct ledger_time *ret_time);
void ledger_time_free(struct ledger_time *time);

#endif
