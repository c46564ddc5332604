/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows by bucket of time. A bucket is one window, or as many more as are needed to stay below a
 * limit of rows: 10, 60, 600 and so on. Sums stay exact. Three forms: sparse rows (buckets),
 * rows that say "evenly over so many buckets" (stretches), and lines of cells (grid). Own their
 * rows. Called by the writers of parts.
 */
#ifndef DWELL_PAGE_BUCKETS_H
#define DWELL_PAGE_BUCKETS_H

#include <stdbool.h>

#include "../base/hash.h"

/* The next larger number of windows in a bucket. Each is a multiple of the one before. */
u32 buckets_next(u32 windows);

/* Rows that open with the bucket as a u32; then the rest of the key, then values as s64. */
struct buckets {
	struct hash rows;
	u32 windows;	  /* in a bucket */
	u32 window_count; /* in all */
	size_t value_count;
	size_t most;	 /* rows in one bucket; 0: the limit */
	size_t max_from; /* values from here on are maxima, not sums */
	u64 left_out;	 /* rows that found no place even in one bucket */
	s64 left_value;	 /* sum of their first values */
};

void buckets_init(struct buckets *buckets, size_t item_size, size_t value_count, size_t max_from,
		  size_t limit, u32 window_count);
/* Once there is one bucket, so many rows may be in it: more than the limit. */
void buckets_allow(struct buckets *buckets, size_t most);
void buckets_free(struct buckets *buckets);

/* An item whose bucket is a window: added to the row with its key. 0 or -ENOMEM. */
int buckets_add(struct buckets *buckets, void *item);

/* Rows without a value leave; the rest is sorted as the caller wants it. */
void buckets_sort(struct buckets *buckets, int (*compare)(const void *a, const void *b));

/* ns of a thread in a state, evenly over span buckets; opens with its key. */
struct stretch_row {
	u32 bucket, span, thread, state;
	/* the key ends here */
	s64 ns;
};

struct stretches {
	struct hash rows;
	u32 windows, window_count;
	u64 left_out;
	s64 left_ns;
};

void stretches_init(struct stretches *stretches, size_t limit, u32 window_count);
void stretches_free(struct stretches *stretches);
/* Evenly over so many windows from the first on: 0 or -ENOMEM. */
int stretches_add(struct stretches *stretches, u32 first, u32 count, u32 thread, u32 state, s64 ns);
void stretches_sort(struct stretches *stretches); /* by thread, bucket, state */

/* A line of cells, one per bucket; opens with its key. */
struct grid_line {
	u32 group, state;
};

struct grid_row {
	u32 group, bucket, state;
	s64 ns, count;
};

struct grid {
	struct hash lines; /* struct grid_line */
	u32 windows, window_count, bucket_count;
	s64 *ns, *count; /* by line, then bucket */
	u64 left_out;
};

/* For so many lines at most: 0 or -ENOMEM. */
int state_grid_init(struct grid *grid, size_t lines, u32 window_count);
void state_grid_free(struct grid *grid);
/* ns evenly over count windows from the first on, entries in the last of them: 0 or -ENOMEM. */
int state_grid_add(struct grid *grid, const struct grid_line *line, u32 first, u32 count, s64 ns,
		   s64 entries);
/* Its rows by group, bucket and state, in buckets so long that these are no more than the limit;
 * NULL: no memory. The caller's to free. */
struct grid_row *state_grid_rows(struct grid *grid, size_t limit, size_t *ret_count);

#endif
