// SPDX-License-Identifier: Apache-2.0
#include "ledger_time.h"

#include <errno.h>
#include <stdlib.h>

#include "../store/query.h"

#define SIGNED_MAX (1LL << 61) /* sums of a few do not overflow */

/*
 * A thread that does not move has no rows; its silence is one row, in the last window before it
 * moves. So what a row says is of all windows since the thread's rows before.
 */
struct covered {
	s32 window;    /* of its last rows; -1: none yet */
	u32 from;      /* the first window that these cover */
	bool is_first; /* in which it may have begun */
};

struct reader {
	struct page_data *data;
	struct ledger_time *time;
	struct covered *covered; /* by thread */
};

static s64 signed_of(sqlite3_stmt *row, int column)
{
	s64 value = sqlite3_column_int64(row, column);

	return value > SIGNED_MAX ? SIGNED_MAX : value < -SIGNED_MAX ? -SIGNED_MAX : value;
}

static void cover(const struct reader *reader, const struct thread *thread, struct covered *covered,
		  s32 window)
{
	if (covered->window < 0) {
		u64 begin_ns = page_time(reader->data, thread->begin_ns);

		covered->from =
			thread->is_sum ? (u32)window : page_window_of(reader->data, begin_ns);
		covered->is_first = true;
	} else {
		covered->from = (u32)covered->window + 1;
		covered->is_first = false;
	}
	if (covered->from > (u32)window)
		covered->from = (u32)window;
	covered->window = window;
}

/* A row of time, as it is added everywhere. */
struct slice {
	u32 thread, state; /* thread: index in the digest */
	u32 first, count;  /* windows */
	s64 ns, entries;
};

static int add_slice(struct reader *reader, const struct slice *slice)
{
	struct page_data *data = reader->data;
	struct ledger_time *time = reader->time;
	const struct thread *thread = &data->digest->threads[slice->thread];
	struct grid_line line = {0, slice->state};
	int err = state_grid_add(&time->host, &line, slice->first, slice->count, slice->ns,
				 slice->entries);

	line.group = (u32)data->group_at[thread->process];
	if (!err)
		err = state_grid_add(&time->groups, &line, slice->first, slice->count, slice->ns,
				     slice->entries);
	if (!err && data->thread_at[slice->thread] != PAGE_NONE)
		err = stretches_add(&time->threads, slice->first, slice->count,
				    (u32)data->thread_at[slice->thread], slice->state, slice->ns);
	if (!err && data->is_busiest[slice->thread] && data->thread_count > PAGE_BUSIEST_MAX)
		err = stretches_add(&time->busiest, slice->first, slice->count,
				    (u32)data->thread_at[slice->thread], slice->state, slice->ns);
	return err;
}

/* Of the window in which the thread began, only the rest is its. */
static int add_first(struct reader *reader, struct slice *slice)
{
	const struct page_data *data = reader->data;
	const struct page_window *windows = data->windows;
	u64 begin_ns = page_time(data, data->digest->threads[slice->thread].begin_ns);
	u64 first_end_ns = windows[slice->first].end_ns;
	u64 end_ns = windows[slice->first + slice->count - 1].end_ns;
	struct slice head = *slice;
	int err;

	if (begin_ns <= windows[slice->first].begin_ns || begin_ns >= first_end_ns ||
	    end_ns <= first_end_ns)
		return add_slice(reader, slice);
	head.count = 1;
	head.entries = 0;
	head.ns = (s64)((double)slice->ns * (double)(first_end_ns - begin_ns) /
			(double)(end_ns - begin_ns));
	err = add_slice(reader, &head);
	slice->first++;
	slice->count--;
	slice->ns -= head.ns;
	return err ? err : add_slice(reader, slice);
}

static int add_wake(struct reader *reader, sqlite3_stmt *row, u32 thread, u32 state, u32 window)
{
	const struct page_data *data = reader->data;
	u64 context = query_u64(row, 4);
	struct wake_row wake = {
		.bucket = window,
		.thread = (u32)data->thread_at[thread],
		.state = state,
		.waker = page_tid_at(data, (u32)query_u64(row, 3)),
		.context = context < WAKER_KIND_COUNT ? (u32)context : 0,
		.ns = signed_of(row, 5),
		.count = signed_of(row, 6),
	};

	if (data->thread_at[thread] == PAGE_NONE || (!wake.context && wake.waker == PAGE_NONE))
		return 0;
	return buckets_add(&reader->time->wakes, &wake);
}

static int on_row(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	const struct digest *digest = reader->data->digest;
	s64 index = digest_thread_by_id(digest, sqlite3_column_int64(row, 1));
	s32 window = page_window_at(reader->data, sqlite3_column_int64(row, 0));
	u64 state = query_u64(row, 2);
	struct covered *covered;
	struct slice slice;
	int err;

	if (index < 0 || window == PAGE_NONE || !digest->threads[index].is_wanted)
		return 0;
	covered = &reader->covered[index];
	if (window > covered->window)
		cover(reader, &digest->threads[index], covered, window);
	slice = (struct slice){
		.thread = (u32)index,
		.state = state < STATE_LIMIT ? (u32)state : STATE_UNATTRIBUTED,
		.first = window == covered->window ? covered->from : (u32)window,
		.ns = signed_of(row, 5),
		.entries = signed_of(row, 6),
	};
	slice.count = (u32)window - slice.first + 1;
	err = add_wake(reader, row, slice.thread, slice.state, (u32)window);
	if (err)
		return err;
	if (covered->is_first && slice.count > 1)
		return add_first(reader, &slice);
	return add_slice(reader, &slice);
}

/* How many lines the groups have: known from the digest's sums. 0 or -ENOMEM. */
static int count_lines(const struct page_data *data, size_t *ret_count)
{
	const struct digest *digest = data->digest;
	struct hash lines;
	int err = 0;

	hash_init(&lines, sizeof(struct grid_line), sizeof(struct grid_line), DIGEST_ROWS_MAX);
	for (size_t i = 0; !err && i < digest->causes.count; i++) {
		const struct cause *cause = hash_item(&digest->causes, i);
		const struct thread *thread = &digest->threads[cause->thread];
		struct grid_line line = {(u32)data->group_at[thread->process], cause->state};

		err = hash_add(&lines, &line) ? 0 : -ENOMEM;
	}
	*ret_count = lines.count;
	hash_free(&lines);
	return err;
}

int ledger_time_read(struct page_data *data, struct ledger_time *time)
{
	struct reader reader = {.data = data, .time = time};
	size_t threads = data->digest->thread_count;
	u32 windows = (u32)data->window_count;
	size_t lines;
	int err;

	*time = (struct ledger_time){0};
	stretches_init(&time->threads, PAGE_THREAD_ROWS_MAX, windows);
	stretches_init(&time->busiest, PAGE_BUSIEST_ROWS_MAX, windows);
	buckets_init(&time->wakes, sizeof(struct wake_row), 2, 2, PAGE_WAKE_ROWS_MAX, windows);
	err = state_grid_init(&time->host, STATE_LIMIT, windows);
	if (!err)
		err = count_lines(data, &lines);
	if (!err)
		err = state_grid_init(&time->groups, lines, windows);
	reader.covered = calloc(threads + 1, sizeof(*reader.covered));
	if (!reader.covered)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < threads; i++)
		reader.covered[i].window = -1;
	if (!err)
		err = query_table(data->db, "ledger",
				  "window, thread, state, waker, waker_kind, ns, count", NULL,
				  on_row, &reader);
	free(reader.covered);
	return err;
}

void ledger_time_free(struct ledger_time *time)
{
	state_grid_free(&time->host);
	state_grid_free(&time->groups);
	stretches_free(&time->threads);
	stretches_free(&time->busiest);
	buckets_free(&time->wakes);
}
