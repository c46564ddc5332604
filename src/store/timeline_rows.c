// SPDX-License-Identifier: Apache-2.0
#include "timeline_rows.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../base/log.h"
#include "query.h"

#define RANGE_BYTES   128
#define BUCKETS_BYTES 16384 /* HIST_BUCKETS times "703:1000000 " */

/* Rows of nothing that the session has: no session of dwell's has any. */
static void tell_damaged(const char *table, u64 rows)
{
	if (rows)
		log_info("rows of the session's '%s' that are left out, as they are of no window "
			 "or thread, or below zero: %llu",
			 table, (unsigned long long)rows);
}

struct ledger_reader {
	const struct timeline *timeline;
	ledger_fn *on_row;
	void *context;
	u64 damaged; /* sums below zero, which no session has */
};

static int on_ledger(sqlite3_stmt *row, void *context)
{
	struct ledger_reader *reader = context;
	u64 thread = query_u64(row, 1), state = query_u64(row, 2);
	struct ledger_row of = {
		.window = timeline_window(reader->timeline, sqlite3_column_int64(row, 0)),
		.thread = hash_find(&reader->timeline->threads, &thread),
		.state = state < STATE_LIMIT ? (u32)state : STATE_UNATTRIBUTED,
		.ns = query_count(row, 3),
		.count = query_count(row, 4),
	};

	if (!of.window || !of.thread || sqlite3_column_int64(row, 3) < 0) {
		reader->damaged++;
		return 0;
	}
	if (!of.thread->is_wanted || !of.ns)
		return 0;
	of.is_wanted = of.window->is_wanted && timeline_wants_state(reader->timeline, state);
	return reader->on_row(&of, reader->context);
}

static int on_extent(sqlite3_stmt *row, void *context)
{
	s64 *extent = context;

	for (int i = 0; i < 3; i++)
		extent[i] = sqlite3_column_int64(row, i);
	return 0;
}

/* Sorting takes memory: a long session is read several times, some windows each time. */
int timeline_ledger(const struct timeline *timeline, ledger_fn *on_row, void *context)
{
	struct ledger_reader reader = {timeline, on_row, context, 0};
	s64 extent[3] = {0}; /* rows, first and last window */
	u64 parts, span;
	int err = query_table(timeline->db, "ledger", "count(*), min(window), max(window)", NULL,
			      on_extent, extent);

	if (err || extent[0] <= 0)
		return err;
	parts = 1 + (u64)extent[0] / LEDGER_ROWS_AT_ONCE;
	span = 1 + ((u64)extent[2] - (u64)extent[1]) / parts;
	for (u64 i = 0; !err && i < parts; i++) {
		/* Of any windows that a file may name, so without a sign. */
		u64 first = (u64)extent[1] + i * span;
		u64 last = i + 1 < parts ? first + span - 1 : (u64)extent[2];
		char group[RANGE_BYTES];

		/* SQLite applies it before it sorts, since it is about what is grouped by. */
		snprintf(group, sizeof(group),
			 "window, thread, state HAVING window >= %lld AND window <= %lld",
			 (long long)first, (long long)last);
		err = query_groups(timeline->db, "ledger",
				   "window, thread, state, sum(ns), sum(count)", group,
				   "window, thread, state", on_ledger, &reader);
	}
	tell_damaged("ledger", reader.damaged);
	return err;
}

struct sample_reader {
	const struct timeline *timeline;
	sample_fn *on_row;
	void *context;
	u64 damaged;
};

static int on_sample(sqlite3_stmt *row, void *context)
{
	struct sample_reader *reader = context;
	const struct session_part *part = reader->timeline->part;
	struct sample_row sample = {
		.window = timeline_window(reader->timeline, sqlite3_column_int64(row, 0)),
		.pid = query_count(row, 1),
		.process_start_ns = query_count(row, 2),
		.tid = query_count(row, 3),
		.thread_start_ns = query_count(row, 4),
		.kind = (u32)query_count(row, 5),
		.state = (u32)query_count(row, 6),
		.mode = (u32)query_count(row, 7),
		.stack = query_u64(row, 8),
		.stop = (u32)query_count(row, 9),
		.waker = query_count(row, 10),
		.count = query_count(row, 11),
		.weight_ns = query_count(row, 12),
	};

	reader->damaged += !sample.window;
	if (!sample.window || !sample.window->is_wanted ||
	    (part->one_kind && sample.kind != part->kind) ||
	    !timeline_wants(reader->timeline, sample.pid, sample.process_start_ns, sample.tid) ||
	    !timeline_wants_state(reader->timeline, sample.state))
		return 0;
	return reader->on_row(&sample, reader->context);
}

int timeline_samples(const struct timeline *timeline, sample_fn *on_row, void *context)
{
	struct sample_reader reader = {timeline, on_row, context, 0};
	int err;

	err = query_table(timeline->db, "samples",
			  "window, pid, process_start_ns, tid, thread_start_ns, kind, state, mode, "
			  "stack, stop, waker, count, weight_ns",
			  "window", on_sample, &reader);
	tell_damaged("samples", reader.damaged);
	return err;
}

/* What a series is, by its id. */
struct series_item {
	u64 id; /* the key */
	u64 pid, start_ns, detail, object, more;
	u16 signal, kind;
};

struct series_reader {
	const struct timeline *timeline;
	series_fn *on_row;
	void *context;
	struct hash series;
	u64 unknown, damaged;
};

static bool find_kind(const char *signal, const char *kind, struct series_item *item)
{
	int id = signal_find(signal, strlen(signal));
	const struct signal_view *view = id ? signal_rows[id].signal->view : NULL;

	for (u32 i = 0; view && i < view->kind_count; i++) {
		if (strcmp(view->kinds[i].name, kind) != 0)
			continue;
		item->signal = (u16)id;
		item->kind = (u16)i;
		return true;
	}
	return false;
}

static int on_series(sqlite3_stmt *row, void *context)
{
	struct series_reader *reader = context;
	u64 id = query_u64(row, 0), pid = query_count(row, 3), start_ns = query_u64(row, 4);
	struct series_item *item, found = {.id = id};
	char signal[32], kind[64];

	/* It is of no thread: with --tid there are none. */
	if (!timeline_wants(reader->timeline, pid, start_ns, 0))
		return 0;
	query_text(row, 1, signal, sizeof(signal));
	query_text(row, 2, kind, sizeof(kind));
	if (!find_kind(signal, kind, &found)) {
		reader->unknown++;
		return 0;
	}
	item = hash_add(&reader->series, &id);
	if (!item)
		return -ENOMEM;
	item->pid = pid;
	item->start_ns = start_ns;
	item->detail = query_u64(row, 5);
	item->object = query_u64(row, 6);
	item->more = query_u64(row, 7);
	item->signal = found.signal;
	item->kind = found.kind;
	return 0;
}

static int on_values(sqlite3_stmt *row, void *context)
{
	struct series_reader *reader = context;
	u64 id = query_u64(row, 1);
	const struct series_item *item = hash_find(&reader->series, &id);
	struct series_values_row values = {
		.window = timeline_window(reader->timeline, sqlite3_column_int64(row, 0)),
		.count = query_count(row, 2),
		.sum = query_count(row, 3),
		.max = query_count(row, 4),
	};
	char buckets[BUCKETS_BYTES];

	reader->damaged += !values.window;
	if (!item || !values.window || !values.window->is_wanted)
		return 0;
	query_text(row, 5, buckets, sizeof(buckets));
	values.buckets = buckets;
	values.signal = item->signal;
	values.view = signal_rows[item->signal].signal->view;
	values.kind = item->kind;
	values.pid = item->pid;
	values.start_ns = item->start_ns;
	values.detail = item->detail;
	values.object = item->object;
	values.more = item->more;
	return reader->on_row(&values, reader->context);
}

int timeline_series(const struct timeline *timeline, series_fn *on_row, void *context)
{
	struct series_reader reader = {timeline, on_row, context, {0}, 0, 0};
	int err;

	hash_init(&reader.series, sizeof(struct series_item), sizeof(u64), TIMELINE_TASKS_MAX);
	err = query_table(timeline->db, "series",
			  "id, signal, kind, pid, start_ns, detail, object, more", NULL, on_series,
			  &reader);
	if (!err)
		err = query_table(timeline->db, "series_values",
				  "window, series, count, sum, max, buckets", NULL, on_values,
				  &reader);
	hash_free(&reader.series);
	tell_damaged("series_values", reader.damaged);
	if (reader.unknown)
		log_info("series of signals or measures that this version of dwell does not know "
			 "are "
			 "left out: %llu",
			 (unsigned long long)reader.unknown);
	return err;
}

struct slow_reader {
	const struct timeline *timeline;
	slow_fn *on_row;
	void *context;
	u64 damaged;
};

static int on_slow(sqlite3_stmt *row, void *context)
{
	struct slow_reader *reader = context;
	u64 ns = query_count(row, 2);
	struct slow_row slow = {
		.window = timeline_window(reader->timeline, sqlite3_column_int64(row, 0)),
		.end_ns = query_count(row, 1),
		.pid = query_count(row, 5),
		.start_ns = query_count(row, 6),
		.tid = query_count(row, 7),
		.stack = query_u64(row, 8),
		.cpu_ns = query_count(row, 9),
		.runq_ns = query_count(row, 10),
		.lock_ns = query_count(row, 11),
		.disk_ns = query_count(row, 12),
		.net_ns = query_count(row, 13),
		.other_ns = query_count(row, 14),
	};

	reader->damaged += !slow.window;
	if (!slow.window || !slow.window->is_wanted ||
	    !timeline_wants(reader->timeline, slow.pid, slow.start_ns, slow.tid))
		return 0;
	slow.begin_ns = ns < slow.end_ns ? slow.end_ns - ns : 0;
	query_text(row, 3, slow.signal, sizeof(slow.signal));
	query_text(row, 4, slow.kind, sizeof(slow.kind));
	return reader->on_row(&slow, reader->context);
}

int timeline_slow(const struct timeline *timeline, slow_fn *on_row, void *context)
{
	struct slow_reader reader = {timeline, on_row, context, 0};
	int err;

	err = query_table(timeline->db, "slow",
			  "window, ts_ns, ns, signal, kind, pid, start_ns, tid, stack, cpu_ns, "
			  "runq_ns, lock_ns, disk_ns, net_ns, other_ns",
			  "pid, start_ns, tid, ts_ns - ns", on_slow, &reader);
	tell_damaged("slow", reader.damaged);
	return err;
}
