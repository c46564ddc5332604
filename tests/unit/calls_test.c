// SPDX-License-Identifier: Apache-2.0
/*
 * The book of system calls: each window has what is new, in sum all that was counted, and a
 * thread's calls take no more room than they need, which others have after it.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "../../signals/calls/calls.h"
#include "../../src/model/signal.h"

enum { COLUMN_CALL = 4, COLUMN_COUNT = 5, COLUMN_TOTAL = 8 };

struct told {
	struct sink sink; /* first */
	u64 rows, count, total_ns;
	u64 counts[CALLS_MAX + 1]; /* by call */
	u64 faults;
};

static void take_row(struct sink *sink, const struct table *table, const struct cell *cells)
{
	struct told *told = (struct told *)sink;

	if (strcmp(table->name, "calls") != 0) {
		told->faults += (u64)cells[4].number;
		return;
	}
	told->rows++;
	told->count += (u64)cells[COLUMN_COUNT].number;
	told->total_ns += (u64)cells[COLUMN_TOTAL].number;
	told->counts[cells[COLUMN_CALL].number] += (u64)cells[COLUMN_COUNT].number;
}

/* A thread that has made each of so many calls as often as said. */
static void add_record(struct calls_book *book, u32 tid, u32 calls, u32 times, bool is_last)
{
	struct rec_calls record = {.hdr = {.tid = tid}, .begin_ns = 1, .is_last = is_last};

	for (u32 i = 0; i < calls; i++)
		record.calls[i] = (struct call_cost){
			.call = (u16)(i + 1), .count = times, .total_ns = times * 10};
	record.other.count = times;
	record.faults_begun = times;
	signal_calls.on_record(book, &record.hdr);
}

static struct calls_book *make_book(void)
{
	struct calls_book *book = calloc(1, sizeof(*book));

	assert_non_null(book);
	return book;
}

static void a_window_has_what_is_new(void **state)
{
	struct calls_book *book = make_book();
	struct told told = {.sink.add = take_row};

	(void)state;
	add_record(book, 7, 2, 5, false);
	add_record(book, 7, 3, 8, false); /* the later one counts; a call has come */
	signal_calls.flush(book, 0, &told.sink);
	assert_int_equal(told.rows, 4); /* three, and the others */
	assert_int_equal(told.count, 4 * 8);
	assert_int_equal(told.faults, 8);
	signal_calls.flush(book, 1, &told.sink);
	assert_int_equal(told.rows, 4); /* nothing is new */
	add_record(book, 7, CALLS_MAX, 10, true);
	signal_calls.flush(book, 2, &told.sink);
	assert_int_equal(told.count, (CALLS_MAX + 1) * 10);
	assert_int_equal(told.total_ns, CALLS_MAX * 100);
	assert_int_equal(told.faults, 10);
	for (u32 call = 0; call <= CALLS_MAX; call++)
		assert_int_equal(told.counts[call], 10);
	assert_int_equal(book->count, 0);
	free(book);
}

static void room_of_ended_threads_is_used_again(void **state)
{
	enum { WINDOWS = 20, THREADS = 50 };
	struct calls_book *book = make_book();
	struct told told = {.sink.add = take_row};

	(void)state;
	add_record(book, 1, 3, 1, false); /* this one stays, among those that come and go */
	for (u32 window = 0; window < WINDOWS; window++) {
		for (u32 i = 0; i < THREADS; i++)
			add_record(book, 100 + window * THREADS + i, 1 + i, 2, true);
		signal_calls.flush(book, window, &told.sink);
	}
	assert_int_equal(book->count, 1);
	assert_int_equal(book->entry_count, 3 + THREADS * (THREADS + 1) / 2);
	add_record(book, 1, 3, 4, false);
	signal_calls.flush(book, WINDOWS, &told.sink);
	assert_int_equal(told.counts[1], WINDOWS * THREADS * 2 + 4);
	assert_int_equal(told.counts[THREADS], WINDOWS * 2);
	free(book);
}

/* A record is foreign: more different calls than a thread can have are left out, and hurt nobody.
 */
static void too_many_calls_are_left_out(void **state)
{
	struct calls_book *book = make_book();
	struct told told = {.sink.add = take_row};
	struct rec_calls record = {.hdr = {.tid = 1}, .begin_ns = 1};

	(void)state;
	add_record(book, 1, CALLS_MAX, 1, false);
	record.calls[0] = (struct call_cost){.call = CALLS_MAX + 1, .count = 9};
	signal_calls.on_record(book, &record.hdr);
	signal_calls.flush(book, 0, &told.sink);
	assert_int_equal(told.count, CALLS_MAX);
	assert_int_equal(book->entry_count, CALLS_MAX);
	free(book);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_has_what_is_new),
		cmocka_unit_test(room_of_ended_threads_is_used_again),
		cmocka_unit_test(too_many_calls_are_left_out),
	};

	return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
