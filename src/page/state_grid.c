// SPDX-License-Identifier: Apache-2.0
/*
 * Sums of many threads: each state of a group is a line. A thread that waits adds the same to many
 * cells, so a line keeps differences until its rows are asked for: two additions, however long the
 * wait is.
 */
#include <errno.h>
#include <stdlib.h>

#include "../base/cleanup.h"
#include "buckets.h"

#define CELLS_MAX 4000000 /* 16 bytes each */

static u32 bucket_count(u32 window_count, u32 windows)
{
	return window_count ? (window_count + windows - 1) / windows : 1;
}

int state_grid_init(struct grid *grid, size_t lines, u32 window_count)
{
	u32 windows = 1;

	lines = lines < 1 ? 1 : lines > CELLS_MAX / 2 ? CELLS_MAX / 2 : lines;
	/* One cell more than there are buckets: where a difference ends. */
	while (lines * (bucket_count(window_count, windows) + 1) > CELLS_MAX &&
	       buckets_next(windows) != windows)
		windows = buckets_next(windows);
	*grid = (struct grid){.windows = windows,
			      .window_count = window_count,
			      .bucket_count = bucket_count(window_count, windows)};
	hash_init(&grid->lines, sizeof(struct grid_line), sizeof(struct grid_line), lines);
	grid->ns = calloc(lines * (grid->bucket_count + 1), sizeof(s64));
	grid->count = calloc(lines * (grid->bucket_count + 1), sizeof(s64));
	return grid->ns && grid->count ? 0 : -ENOMEM;
}

void state_grid_free(struct grid *grid)
{
	hash_free(&grid->lines);
	free(grid->ns);
	free(grid->count);
}

/* Wraps round, whatever a file says, as the columns of the page do. */
static void add(s64 *to, s64 by)
{
	*to = (s64)((u64)*to + (u64)by);
}

static void add_range(s64 *cells, u32 from, u32 to, s64 each)
{
	add(&cells[from], each);
	add(&cells[to], -each);
}

int state_grid_add(struct grid *grid, const struct grid_line *line, u32 first, u32 count, s64 ns,
		   s64 entries)
{
	const struct grid_line *found = hash_add(&grid->lines, line);
	u32 windows = grid->windows, from = first / windows, last = first + count - 1;
	u32 to = last / windows, head, whole;
	s64 *cells, each, rest;

	if (!found && !hash_is_full(&grid->lines))
		return -ENOMEM;
	if (!found) {
		grid->left_out++;
		return 0;
	}
	cells = grid->ns +
		(size_t)(found - (struct grid_line *)grid->lines.items) * (grid->bucket_count + 1);
	each = ns / count;
	head = from == to ? count : windows - first % windows;
	whole = from == to ? 0 : to - from - 1;
	rest = ns - each * head - each * (s64)windows * whole;
	add_range(cells, from, from + 1, each * head);
	if (whole)
		add_range(cells, from + 1, to, each * (s64)windows);
	add_range(cells, to, to + 1, rest); /* what division left over too */
	cells = grid->count + (cells - grid->ns);
	add_range(cells, to, to + 1, entries);
	return 0;
}

static void sum_up(struct grid *grid, s64 *cells)
{
	for (size_t line = 0; line < grid->lines.count; line++) {
		s64 *at = cells + line * (grid->bucket_count + 1);

		for (u32 i = 1; i <= grid->bucket_count; i++)
			add(&at[i], at[i - 1]);
	}
}

static void fold(s64 *cells, size_t lines, u32 before, u32 after, u32 factor)
{
	for (size_t line = 0; line < lines; line++)
		for (u32 i = 0; i < after; i++) {
			s64 sum = 0;

			for (u32 j = i * factor; j < (i + 1) * factor && j < before; j++)
				add(&sum, cells[line * (before + 1) + j]);
			cells[line * (after + 1) + i] = sum;
		}
}

static size_t count_rows(const struct grid *grid)
{
	size_t count = 0;

	for (size_t line = 0; line < grid->lines.count; line++)
		for (u32 i = 0; i < grid->bucket_count; i++) {
			size_t at = line * (grid->bucket_count + 1) + i;

			count += grid->ns[at] || grid->count[at];
		}
	return count;
}

static int compare_rows(const void *a, const void *b)
{
	const struct grid_row *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	return x->state < y->state ? -1 : x->state > y->state;
}

struct grid_row *state_grid_rows(struct grid *grid, size_t limit, size_t *ret_count)
{
	struct grid_row *rows;
	size_t used = 0;

	sum_up(grid, grid->ns);
	sum_up(grid, grid->count);
	while (count_rows(grid) > limit && grid->bucket_count > 1) {
		u32 windows = buckets_next(grid->windows), factor = windows / grid->windows;
		u32 after = bucket_count(grid->window_count, windows);

		if (factor < 2)
			break;
		fold(grid->ns, grid->lines.count, grid->bucket_count, after, factor);
		fold(grid->count, grid->lines.count, grid->bucket_count, after, factor);
		grid->windows = windows;
		grid->bucket_count = after;
	}
	rows = calloc(count_rows(grid) + 1, sizeof(*rows));
	for (size_t line = 0; rows && line < grid->lines.count; line++) {
		const struct grid_line *key = hash_item(&grid->lines, line);

		for (u32 i = 0; i < grid->bucket_count; i++) {
			size_t at = line * (grid->bucket_count + 1) + i;

			if (grid->ns[at] || grid->count[at])
				rows[used++] = (struct grid_row){key->group, i, key->state,
								 grid->ns[at], grid->count[at]};
		}
	}
	if (used)
		qsort(rows, used, sizeof(*rows), compare_rows);
	*ret_count = used < limit ? used : limit;
	grid->left_out += used - *ret_count;
	return rows;
}
