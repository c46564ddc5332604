// SPDX-License-Identifier: Apache-2.0
/*
 * Series on their way into a session: what a window has, what waits for its stack, what is refused;
 * and single slow events, and shares.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../records/series/series.h"
#include "../../records/share/share.h"
#include "../../records/slow/slow.h"
#include "../../src/model/signal.h"

#define ROWS_MAX 64

/* Rows as text: "table: cell cell …". */
static char rows[ROWS_MAX][512];
static size_t row_count;

static void keep_row(struct sink *sink, const struct table *table, const struct cell *cells)
{
	char *to = rows[row_count++ % ROWS_MAX];
	int at = snprintf(to, sizeof(rows[0]), "%s:", table->name);

	(void)sink;
	for (size_t i = 0; i < table->width; i++) {
		if (cells[i].kind == CELL_TEXT)
			at += snprintf(to + at, sizeof(rows[0]) - (size_t)at, " '%.*s'",
				       (int)cells[i].length, cells[i].text);
		else
			at += snprintf(to + at, sizeof(rows[0]) - (size_t)at, " %lld",
				       (long long)cells[i].number);
	}
}

static struct sink sink = {.add = keep_row};
static struct stack_ids ids;
static struct series_book *book;

static int start(void **state)
{
	struct resolver resolver;
	const struct services services = {&resolver, &ids};

	(void)state;
	resolver_none(&resolver);
	stack_ids_init(&ids, STACK_IDS_MAX);
	stack_ids_put(&ids, 11, 1011);
	book = calloc(1, sizeof(*book));
	signal_series.open(book, &services);
	row_count = 0;
	return 0;
}

static int stop(void **state)
{
	(void)state;
	signal_series.release(book);
	free(book);
	stack_ids_free(&ids);
	return 0;
}

static void send(struct series_key key, u64 value, u32 count)
{
	struct rec_series row = {
		.hdr = {.type = SIG_SERIES, .tgid = key.tgid},
		.key = key,
		.count = count,
		.sum = value * count,
		.max = value,
		.bucket_count = 1,
		.buckets = {{hist_place(value), count}},
	};

	row.hdr.size = offsetof(struct rec_series, buckets) + sizeof(row.buckets[0]);
	signal_series.on_record(book, &row.hdr);
}

static const struct series_key runq = {
	.signal = SIG_RUNQ, .tgid = 5, .start_ns = 7, .detail = STATE_RUNQ_WOKEN};

static void a_series_is_named_once_and_told_in_each_window(void **state)
{
	(void)state;
	send(runq, 100, 2);
	send(runq, 1000, 1);
	signal_series.flush(book, 3, &sink);
	assert_int_equal(row_count, 2);
	assert_string_equal(rows[0], "series: 1 'runq' 'wait' 5 7 7 0 0");
	assert_string_equal(rows[1], "series_values: 3 1 3 1200 1000 0 0 0 0 0 '108:2 161:1'");
	row_count = 0;
	signal_series.flush(book, 4, &sink);
	assert_int_equal(row_count, 0);
	send(runq, 1, 1);
	signal_series.flush(book, 5, &sink);
	assert_int_equal(row_count, 1);
	assert_string_equal(rows[0], "series_values: 5 1 1 1 1 0 0 0 0 0 '1:1'");
}

static void same_bucket_twice_is_one(void **state)
{
	(void)state;
	send(runq, 100, 2);
	send(runq, 100, 3);
	signal_series.flush(book, 0, &sink);
	assert_string_equal(rows[1], "series_values: 0 1 5 500 100 0 0 0 0 0 '108:5'");
}

static void what_is_unmatched_alone_is_news(void **state)
{
	struct rec_series row = {
		.hdr = {.type = SIG_SERIES, .size = offsetof(struct rec_series, buckets)},
		.key = runq,
		.orphan_starts = 1,
		.orphan_ends = 2,
		.expired = 3,
	};

	(void)state;
	signal_series.on_record(book, &row.hdr);
	signal_series.flush(book, 0, &sink);
	assert_string_equal(rows[1], "series_values: 0 1 0 0 0 1 2 3 0 0 0");
}

static void the_largest_is_in_the_last_bucket_at_least(void **state)
{
	struct rec_series row = {
		.hdr = {.type = SIG_SERIES,
			.size = offsetof(struct rec_series, buckets) + sizeof(row.buckets[0])},
		.key = runq,
		.count = 1,
		.sum = 1000,
		.max = 6, /* written over by another CPU */
		.bucket_count = 1,
		.buckets = {{hist_place(1000), 1}},
	};

	(void)state;
	signal_series.on_record(book, &row.hdr);
	signal_series.flush(book, 0, &sink);
	assert_string_equal(rows[1], "series_values: 0 1 1 1000 981 0 0 0 0 0 '161:1'");
}

static void a_sum_that_is_late_is_news(void **state)
{
	struct rec_series row = {
		.hdr = {.type = SIG_SERIES, .size = offsetof(struct rec_series, buckets)},
		.key = runq,
		.sum = 1000,
		.max = 1000,
	};

	(void)state;
	signal_series.on_record(book, &row.hdr);
	signal_series.flush(book, 0, &sink);
	assert_string_equal(rows[1], "series_values: 0 1 0 1000 1000 0 0 0 0 0 0");
}

static void impossible_rows_are_counted(void **state)
{
	struct rec_series row = {
		.hdr = {.type = SIG_SERIES, .size = offsetof(struct rec_series, buckets) + 8},
		.key = runq,
		.bucket_count = 1,
		.buckets = {{HIST_BUCKETS, 1}},
	};

	(void)state;
	signal_series.on_record(book, &row.hdr); /* no such bucket */
	row.buckets[0].place = 0;
	row.bucket_count = 2;
	signal_series.on_record(book, &row.hdr); /* more buckets than there are bytes */
	row.bucket_count = 1;
	row.key.kind = 200;
	signal_series.on_record(book, &row.hdr); /* no such measure */
	row.key = (struct series_key){.signal = SIG_CANARY};
	signal_series.on_record(book, &row.hdr); /* a signal without series */
	row.key.signal = 255;
	signal_series.on_record(book, &row.hdr); /* none at all */
	assert_int_equal(book->refused, 5);
	signal_series.flush(book, 0, &sink);
	assert_int_equal(row_count, 0);
}

/* A capture of months sees more keys than it can remember: then they are named anew. */
static void those_beyond_the_bound_are_forgotten_and_named_anew(void **state)
{
	struct series_key key = runq;
	u64 told;

	(void)state;
	for (u64 i = 0; i < SERIES_BOOK_MAX + 10; i++) {
		key.object = i + 1;
		send(key, 5, 1);
	}
	assert_int_equal(book->turned_away, 10);
	signal_series.flush(book, 0, &sink);
	assert_int_equal(row_count, 2 * SERIES_BOOK_MAX);
	told = book->last_id;
	row_count = 0;
	send(key, 5, 1);
	signal_series.flush(book, 1, &sink);
	assert_int_equal(row_count, 2);
	assert_int_equal(book->last_id, told + 1);
}

/* New ones in each window, as short processes have: nothing is missing, and nothing grows. */
static void idle_ones_are_forgotten_in_time(void **state)
{
	struct series_key key = runq;

	(void)state;
	for (u64 window = 0; window < 200; window++) {
		for (u64 i = 0; i < 1000; i++) {
			key.object = 1 + 1000 * window + i;
			send(key, 5, 1);
		}
		send(runq, 5, 1); /* this one comes again and again */
		signal_series.flush(book, window, &sink);
		assert_true(book->entries.count <= SERIES_BOOK_MAX * 3 / 4);
	}
	assert_int_equal(book->turned_away, 0);
	assert_true(book->forgotten > 150000);
	assert_int_equal(row_count, 2 * 200 * 1000 + 200 + 1); /* it was named once */
}

static void slow_events_are_rows_with_their_parts(void **state)
{
	struct slow_book *slow = calloc(1, sizeof(*slow));
	const struct services services = {NULL, &ids};
	struct rec_slow event = {
		.hdr = {.type = SIG_SLOW, .ts_ns = 99, .tgid = 5, .tid = 6, .start_ns = 7},
		.key = runq,
		.ns = 10,
		.stack = 11,
		.value = {1, 2},
		.part = {4, 6},
	};

	(void)state;
	signal_slow.open(slow, &services);
	signal_slow.on_record(slow, &event.hdr);
	event.stack = 12;
	signal_slow.on_record(slow, &event.hdr); /* its stack never came */
	event.key.kind = 9;
	signal_slow.on_record(slow, &event.hdr);
	signal_slow.flush(slow, 2, &sink);
	assert_int_equal(row_count, 2);
	assert_string_equal(rows[0],
			    "slow: 2 99 'runq' 'wait' 5 7 6 7 0 0 10 1011 1 2 4 6 0 0 0 0 0 0");
	assert_int_equal(slow->no_stack, 1);
	assert_int_equal(slow->refused, 1);
	free(slow);
}

/* A window with more than fit: what comes last is as good as what came first. */
static void longest_slow_events_stay(void **state)
{
	struct slow_book *slow = calloc(1, sizeof(*slow));
	struct rec_slow event = {.hdr = {.type = SIG_SLOW}, .key = runq};
	u64 longest = 0, seen = 3 * SLOW_MAX;

	(void)state;
	for (u64 i = 0; i < seen; i++) {
		event.ns = 1000 + i;
		event.key.signal = i == 5 ? SIG_OFFCPU : SIG_RUNQ;
		signal_slow.on_record(slow, &event.hdr);
	}
	for (u64 i = 0, rare = 0; i < slow->count; i++) {
		longest = slow->events[i].ns > longest ? slow->events[i].ns : longest;
		rare += slow->events[i].key.signal == SIG_OFFCPU;
		assert_true(i + 1 < slow->count || rare == 1);
	}
	assert_int_equal(longest, 1000 + seen - 1);
	assert_int_equal(slow->count + slow->turned_away, seen);
	free(slow);
}

static void shares_are_told_when_they_change(void **state)
{
	struct share_book shares = {0};
	struct rec_share row = {
		.hdr = {.type = SIG_SHARE, .size = sizeof(row)},
		.signal = SIG_RUNQ,
		.share = {.limit = 10, .used = 3, .folded = 4, .lost = 1},
	};

	(void)state;
	signal_share.on_record(&shares, &row.hdr);
	row.share.lost = 5;
	signal_share.on_record(&shares, &row.hdr);
	signal_share.flush(&shares, 0, &sink);
	signal_share.flush(&shares, 1, &sink);
	assert_int_equal(row_count, 1);
	assert_string_equal(rows[0], "shares: 'runq' 10 3 4 5 0 0");
	assert_int_equal(shares.lost, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_series_is_named_once_and_told_in_each_window,
						start, stop),
		cmocka_unit_test_setup_teardown(same_bucket_twice_is_one, start, stop),
		cmocka_unit_test_setup_teardown(what_is_unmatched_alone_is_news, start, stop),
		cmocka_unit_test_setup_teardown(the_largest_is_in_the_last_bucket_at_least, start,
						stop),
		cmocka_unit_test_setup_teardown(a_sum_that_is_late_is_news, start, stop),
		cmocka_unit_test_setup_teardown(impossible_rows_are_counted, start, stop),
		cmocka_unit_test_setup_teardown(those_beyond_the_bound_are_forgotten_and_named_anew,
						start, stop),
		cmocka_unit_test_setup_teardown(idle_ones_are_forgotten_in_time, start, stop),
		cmocka_unit_test_setup_teardown(slow_events_are_rows_with_their_parts, start, stop),
		cmocka_unit_test_setup_teardown(longest_slow_events_stay, start, stop),
		cmocka_unit_test_setup_teardown(shares_are_told_when_they_change, start, stop),
	};

	return cmocka_run_group_tests_name("series", tests, NULL, NULL);
}
