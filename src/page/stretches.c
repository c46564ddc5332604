// SPDX-License-Identifier: Apache-2.0
/*
 * A thread that waits for an hour is one row, not one per bucket: most threads wait most of the
 * time. A row whose beginning or end is inside a bucket is split there, so that each bucket has
 * what belongs to it.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "buckets.h"

#define KEY_BYTES __builtin_offsetof(struct stretch_row, ns)

void stretches_init(struct stretches *stretches, size_t limit, u32 window_count)
{
	*stretches = (struct stretches){.windows = 1, .window_count = window_count};
	hash_init(&stretches->rows, sizeof(struct stretch_row), KEY_BYTES, limit);
}

void stretches_free(struct stretches *stretches)
{
	hash_free(&stretches->rows);
}

static s64 share(s64 ns, u32 part, u32 whole)
{
	return (s64)((__int128)ns * part / whole);
}

static int coarsen(struct stretches *stretches);

/* A row in buckets of the present length. */
static int put(struct stretches *stretches, struct stretch_row row)
{
	struct stretch_row *at = row.ns ? hash_add(&stretches->rows, &row) : NULL;
	u32 first, count;
	int err;

	if (!row.ns)
		return 0;
	if (at) {
		if (__builtin_add_overflow(at->ns, row.ns, &at->ns))
			at->ns = row.ns > 0 ? INT64_MAX : INT64_MIN;
		return 0;
	}
	if (!hash_is_full(&stretches->rows))
		return -ENOMEM;
	if (stretches->windows >= stretches->window_count ||
	    buckets_next(stretches->windows) == stretches->windows) {
		stretches->left_out++;
		stretches->left_ns += row.ns;
		return 0;
	}
	first = row.bucket * stretches->windows;
	count = row.span * stretches->windows;
	err = coarsen(stretches);
	return err ? err : stretches_add(stretches, first, count, row.thread, row.state, row.ns);
}

int stretches_add(struct stretches *stretches, u32 first, u32 count, u32 thread, u32 state, s64 ns)
{
	u32 windows = stretches->windows, from = first / windows,
	    to = (first + count - 1) / windows;
	u32 head = first % windows ? windows - first % windows : 0;
	u32 tail = (first + count) % windows;
	s64 head_ns = 0, tail_ns = 0;
	int err = 0;

	if (from == to)
		return put(stretches, (struct stretch_row){from, 1, thread, state, ns});
	if (head) {
		head_ns = share(ns, head, count);
		err = put(stretches, (struct stretch_row){from++, 1, thread, state, head_ns});
	}
	/* A coarser step while this was put takes the rest as it is. */
	if (!err && windows != stretches->windows)
		return stretches_add(stretches, first + head, count - head, thread, state,
				     ns - head_ns);
	if (tail) {
		tail_ns = share(ns, tail, count);
		if (from == to)
			return err ? err
				   : put(stretches,
					 (struct stretch_row){to, 1, thread, state, ns - head_ns});
		if (!err)
			err = put(stretches, (struct stretch_row){to--, 1, thread, state, tail_ns});
		if (!err && windows != stretches->windows)
			return stretches_add(stretches, first + head, count - head - tail, thread,
					     state, ns - head_ns - tail_ns);
	}
	return err ? err
		   : put(stretches, (struct stretch_row){from, to - from + 1, thread, state,
							 ns - head_ns - tail_ns});
}

static int coarsen(struct stretches *stretches)
{
	struct stretches fewer;
	int err = 0;

	stretches_init(&fewer, stretches->rows.max, stretches->window_count);
	fewer.windows = buckets_next(stretches->windows);
	for (size_t i = 0; !err && i < stretches->rows.count; i++) {
		const struct stretch_row *row = hash_item(&stretches->rows, i);

		err = stretches_add(&fewer, row->bucket * stretches->windows,
				    row->span * stretches->windows, row->thread, row->state,
				    row->ns);
	}
	fewer.left_out += stretches->left_out;
	fewer.left_ns += stretches->left_ns;
	stretches_free(stretches);
	*stretches = fewer;
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct stretch_row *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	return x->span < y->span ? -1 : x->span > y->span;
}

static bool has_time(const void *item, const void *context)
{
	(void)context;
	return ((const struct stretch_row *)item)->ns != 0;
}

void stretches_sort(struct stretches *stretches)
{
	hash_retain(&stretches->rows, has_time, NULL);
	if (stretches->rows.count)
		qsort(stretches->rows.items, stretches->rows.count, sizeof(struct stretch_row),
		      compare);
}
