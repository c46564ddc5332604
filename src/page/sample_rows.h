/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples by time, read once: those of threads, and those of groups, which are fewer, so that
 * they are complete and have shorter buckets. Owns its rows. Called by page.c and by the parts that
 * show them.
 */
#ifndef DWELL_PAGE_SAMPLE_ROWS_H
#define DWELL_PAGE_SAMPLE_ROWS_H

#include "buckets.h"
#include "data.h"

/* Opens with its key. */
struct sample_row {
	u32 bucket;
	s32 subject; /* a thread or a group, or PAGE_NONE */
	u32 kind, state;
	s32 node; /* of a group: PAGE_NONE, there was no room for one more stack */
	u32 stop;
	/* the key ends here */
	s64 count, weight_ns;
};

struct sample_rows {
	struct buckets threads, groups;
	u64 left_out; /* samples of threads that found no room */
	u64 cut;      /* samples of groups that have no node */
};

/* 0 or -errno, told; to be freed in any case. Its stacks are in the tree then. */
int sample_rows_read(struct page_data *data, struct sample_rows *ret_rows);
void sample_rows_free(struct sample_rows *rows);

#endif
