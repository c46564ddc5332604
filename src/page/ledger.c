// SPDX-License-Identifier: Apache-2.0
/* The parts that show the ledger over time. */
#include <errno.h>

#include "../base/cleanup.h"
#include "ledger_time.h"

static int write_grid(struct page_data *data, struct part *part, const char *name,
		      struct grid *grid, size_t limit)
{
	static const struct column columns[] = {
		COLUMN("group+", struct grid_row, group), COLUMN("bucket", struct grid_row, bucket),
		COLUMN("state", struct grid_row, state),  COLUMN("ns", struct grid_row, ns),
		COLUMN("count", struct grid_row, count),
	};
	size_t count, first = grid == &data->time->host; /* which has no group */
	_cleanup_free_ struct grid_row *rows = state_grid_rows(grid, limit, &count);

	if (!rows)
		return -ENOMEM;
	page_write_bucket(data, part, grid->windows);
	part_columns(part, columns + first, ARRAY_SIZE(columns) - first, rows, sizeof(*rows),
		     count);
	part_text(part, "}");
	page_limit(data, name, count, limit, grid->left_out, "rows");
	return 0;
}

int page_write_ledger(struct page_data *data, struct part *part)
{
	int err;

	part_text(part, "{\"host\":");
	err = write_grid(data, part, "ledger.host", &data->time->host, PAGE_HOST_ROWS_MAX);
	part_text(part, ",\"groups\":");
	if (!err)
		err = write_grid(data, part, "ledger.groups", &data->time->groups,
				 PAGE_GROUP_ROWS_MAX);
	part_text(part, "}");
	return err;
}

static void write_stretches(struct page_data *data, struct part *part, struct stretches *stretches)
{
	static const struct column columns[] = {
		COLUMN("thread+", struct stretch_row, thread),
		COLUMN("bucket", struct stretch_row, bucket),
		COLUMN("span", struct stretch_row, span),
		COLUMN("state", struct stretch_row, state),
		COLUMN("ns", struct stretch_row, ns),
	};

	stretches_sort(stretches);
	page_write_bucket(data, part, stretches->windows);
	part_columns(part, columns, ARRAY_SIZE(columns), stretches->rows.items,
		     sizeof(struct stretch_row), stretches->rows.count);
}

int page_write_threads(struct page_data *data, struct part *part)
{
	struct stretches *all = &data->time->threads, *busiest = &data->time->busiest;

	write_stretches(data, part, all);
	/* Shorter buckets, if that is what they are. */
	if (busiest->rows.count && busiest->windows < all->windows) {
		part_text(part, ",\"busiest\":");
		write_stretches(data, part, busiest);
		part_text(part, "}");
	}
	part_text(part, "}");
	page_limit(data, "threads", all->rows.count, PAGE_THREAD_ROWS_MAX, all->left_out, "rows");
	return 0;
}

static int compare_wakes(const void *a, const void *b)
{
	const struct wake_row *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

int page_write_wakes(struct page_data *data, struct part *part)
{
	static const struct column columns[] = {
		COLUMN("thread+", struct wake_row, thread),
		COLUMN("bucket", struct wake_row, bucket),
		COLUMN("state", struct wake_row, state),
		COLUMN("waker", struct wake_row, waker),
		COLUMN("context", struct wake_row, context),
		COLUMN("ns", struct wake_row, ns),
		COLUMN("count", struct wake_row, count),
	};
	struct buckets *wakes = &data->time->wakes;

	buckets_sort(wakes, compare_wakes);
	page_write_bucket(data, part, wakes->windows);
	part_columns(part, columns, ARRAY_SIZE(columns), wakes->rows.items, sizeof(struct wake_row),
		     wakes->rows.count);
	part_text(part, "}");
	page_limit(data, "wakes", wakes->rows.count, PAGE_WAKE_ROWS_MAX, wakes->left_out, "rows");
	return 0;
}
