// SPDX-License-Identifier: Apache-2.0
/*
 * What a signal has no place for is counted, under a name that has a meaning; what is not yet
 * written is never given up for it.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "../../signals/calls/calls.h"
#include "../../src/model/signal.h"
#include "../../src/worker/session.h"

static u64 rows_written;

static void count_row(struct sink *sink, const struct table *table, const struct cell *cells)
{
	(void)sink;
	(void)cells;
	rows_written += !strcmp(table->name, "calls");
}

static void every_loss_has_a_name_and_a_place(void **state)
{
	(void)state;
	for (int id = 0; id < SIGNAL_LIMIT; id++) {
		const struct signal *signal = signal_rows[id].signal;

		for (size_t i = 0; signal && i < signal->loss_count; i++) {
			const struct signal_loss *loss = &signal->losses[i];

			assert_true(i < SIGNAL_LOSSES_MAX);
			assert_true(loss->offset + sizeof(u64) <= signal->state_size);
			assert_string_equal(signal_loss_meaning(loss->name), loss->meaning);
		}
	}
	assert_null(signal_loss_meaning("gremlins"));
}

static void make_calls(struct calls_book *book, u32 tid)
{
	struct rec_calls row = {.hdr = {.tid = tid}, .begin_ns = 1};

	row.calls[0].call = 1;
	row.calls[0].count = 1;
	signal_calls.on_record(book, &row.hdr);
}

static void pending_calls_are_never_given_up(void **state)
{
	struct calls_book *book = calloc(1, sizeof(*book));
	struct sink sink = {.add = count_row};

	(void)state;
	assert_non_null(book);
	for (u32 tid = 1; tid <= CALLS_ROWS_MAX + 3; tid++)
		make_calls(book, tid);
	assert_int_equal(book->turned_away, 3);
	assert_int_equal(book->evicted, 0);
	signal_calls.flush(book, 0, &sink);
	assert_int_equal(rows_written, CALLS_ROWS_MAX);
	signal_calls.flush(book, 1, &sink);
	make_calls(book, CALLS_ROWS_MAX + 1); /* all others were silent for a window */
	assert_int_equal(book->turned_away, 3);
	assert_int_equal(book->evicted, 1);
	signal_calls.flush(book, 2, &sink);
	assert_int_equal(rows_written, CALLS_ROWS_MAX + 1);
	free(book);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_loss_has_a_name_and_a_place),
		cmocka_unit_test(pending_calls_are_never_given_up),
	};

	return cmocka_run_group_tests_name("losses", tests, NULL, NULL);
}
