// SPDX-License-Identifier: Apache-2.0
/*
 * Samples, window by window: what is summed up, what waits for its stack, what is counted.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "../../signals/sample/sample.h"
#include "../../src/model/signal.h"

enum { WINDOW, STACK = 8, WAKER_STACK = 12, COUNT, WEIGHT, NS, MISMATCHES, WIDTH };
#define ROWS_MAX 64

static s64 rows[ROWS_MAX][WIDTH];
static size_t row_count;

static void keep_row(struct sink *sink, const struct table *table, const struct cell *cells)
{
	(void)sink;
	assert_string_equal(table->name, "samples");
	assert_int_equal(table->width, WIDTH);
	for (size_t i = 0; i < WIDTH && row_count < ROWS_MAX; i++)
		rows[row_count][i] = cells[i].number;
	row_count++;
}

struct fixture {
	struct stack_ids ids;
	struct sample_book book;
	struct sink sink;
};

static int start(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct resolver resolver;
	const struct services services = {&resolver, &fixture->ids};

	resolver_none(&resolver);
	stack_ids_init(&fixture->ids, STACK_IDS_MAX);
	stack_ids_put(&fixture->ids, 11, 1011);
	stack_ids_put(&fixture->ids, 12, 1012);
	signal_sample.open(&fixture->book, &services);
	fixture->sink.add = keep_row;
	row_count = 0;
	*state = fixture;
	return 0;
}

static int stop(void **state)
{
	struct fixture *fixture = *state;

	signal_sample.release(&fixture->book);
	stack_ids_free(&fixture->ids);
	free(fixture);
	return 0;
}

static struct rec_sample sample_of(u64 stack)
{
	return (struct rec_sample){
		.hdr = {.type = SIG_SAMPLE, .tgid = 5, .tid = 6, .start_ns = 7},
		.thread_start_ns = 8,
		.stack = stack,
		.weight_ns = 100,
		.kind = SAMPLE_CPU,
		.state = STATE_CPU_USER,
		.mode = MODE_USER,
		.stop = STOP_END,
	};
}

static void send(struct fixture *fixture, const struct rec_sample *sample)
{
	signal_sample.on_record(&fixture->book, &sample->hdr);
}

static void end_window(struct fixture *fixture, u64 window)
{
	row_count = 0;
	signal_sample.flush(&fixture->book, window, &fixture->sink);
}

static void same_samples_are_one_row(void **state)
{
	struct fixture *fixture = *state;
	struct rec_sample sample = sample_of(11);

	send(fixture, &sample);
	sample.is_mismatch = 1;
	sample.hdr.ts_ns = 1;
	sample.weight_ns = 50;
	sample.ns = 3;
	send(fixture, &sample);
	end_window(fixture, 4);
	assert_int_equal(row_count, 1);
	const s64 expected[WIDTH] = {4,		5,    7,	6, 8, SAMPLE_CPU, STATE_CPU_USER,
				     MODE_USER, 1011, STOP_END, 0, 0, 0,	  2,
				     150,	3,    1};

	assert_memory_equal(rows[0], expected, sizeof(expected));
	end_window(fixture, 5);
	assert_int_equal(row_count, 0);
}

static void what_differs_is_a_row_of_its_own(void **state)
{
	struct fixture *fixture = *state;
	struct rec_sample samples[11];

	for (size_t i = 0; i < 11; i++)
		samples[i] = sample_of(11);
	samples[1].hdr.tid++;
	samples[2].thread_start_ns++;
	samples[3].hdr.start_ns++;
	samples[4].kind = SAMPLE_BLOCKED;
	samples[5].state = STATE_CPU_SYSCALL;
	samples[6].mode = MODE_KERNEL;
	samples[7].stack = 12;
	samples[8].stop = STOP_TRUNCATED;
	samples[9].waker = 1;
	samples[10].waker_stack = 12;
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < 11; i++)
			send(fixture, &samples[i]);
	end_window(fixture, 0);
	assert_int_equal(row_count, 11);
	for (size_t i = 0; i < 11; i++)
		assert_int_equal(rows[i][COUNT], 2);
	assert_int_equal(rows[7][STACK], 1012);
	assert_int_equal(rows[10][STACK], 1011);
	assert_int_equal(rows[10][WAKER_STACK], 1012);
}

static void a_stack_may_come_late(void **state)
{
	struct fixture *fixture = *state;
	struct rec_sample sample = sample_of(77);

	send(fixture, &sample);
	end_window(fixture, 3);
	assert_int_equal(row_count, 0);
	stack_ids_put(&fixture->ids, 77, 1077);
	send(fixture, &sample);
	end_window(fixture, 4);
	assert_int_equal(row_count, 2);
	assert_int_equal(rows[0][WINDOW], 3); /* in the window that it is of */
	assert_int_equal(rows[0][STACK], 1077);
	assert_int_equal(rows[1][WINDOW], 4);
	assert_int_equal(rows[1][STACK], 1077);
	assert_int_equal(fixture->book.unknown, 0);
}

static void a_stack_that_never_comes_is_counted(void **state)
{
	struct fixture *fixture = *state;
	struct rec_sample sample = sample_of(77), waker = sample_of(11);

	waker.waker_stack = 78;
	send(fixture, &sample);
	send(fixture, &sample);
	send(fixture, &waker);
	end_window(fixture, 0);
	assert_int_equal(row_count, 0);
	assert_int_equal(fixture->book.unknown, 0);
	send(fixture, &sample);
	end_window(fixture, 1);
	assert_int_equal(row_count, 2);
	assert_int_equal(rows[0][STACK], 0);
	assert_int_equal(rows[0][COUNT], 2);
	assert_int_equal(rows[1][STACK], 1011); /* what is known of it is told */
	assert_int_equal(rows[1][WAKER_STACK], 0);
	assert_int_equal(fixture->book.unknown, 3);
	row_count = 0;
	signal_sample.close(&fixture->book, &fixture->sink); /* there is no next window */
	assert_int_equal(row_count, 1);
	assert_int_equal(rows[0][WINDOW], 1);
	assert_int_equal(fixture->book.unknown, 4);
}

static void no_stack_is_not_waited_for(void **state)
{
	struct fixture *fixture = *state;
	struct rec_sample sample = sample_of(0);

	send(fixture, &sample);
	end_window(fixture, 0);
	assert_int_equal(row_count, 1);
	assert_int_equal(rows[0][STACK], 0);
	assert_int_equal(fixture->book.unknown, 0);
}

static void what_has_no_place_is_counted(void **state)
{
	struct fixture *fixture = *state;
	struct rec_sample sample = sample_of(11);

	for (u32 i = 0; i < SAMPLE_ROWS_MAX + 3; i++) {
		sample.hdr.tid = 1 + i;
		send(fixture, &sample);
	}
	assert_int_equal(fixture->book.turned_away, 3);
	end_window(fixture, 0);
	assert_int_equal(row_count, SAMPLE_ROWS_MAX);
	send(fixture, &sample);
	assert_int_equal(fixture->book.turned_away, 3);
}

/* More than can wait for their stack are written without it. */
static void only_so_many_wait(void **state)
{
	struct fixture *fixture = *state;
	struct rec_sample sample = sample_of(77);

	for (u32 i = 0; i < SAMPLE_HELD_MAX + 3; i++) {
		sample.hdr.tid = 1 + i;
		send(fixture, &sample);
	}
	end_window(fixture, 0);
	assert_int_equal(row_count, 3);
	assert_int_equal(fixture->book.unknown, 3);
	end_window(fixture, 1);
	assert_int_equal(row_count, SAMPLE_HELD_MAX);
	assert_int_equal(fixture->book.unknown, SAMPLE_HELD_MAX + 3);
}

static void what_cannot_be_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct rec_sample samples[5];

	for (size_t i = 0; i < 5; i++)
		samples[i] = sample_of(11);
	samples[0].kind = SAMPLE_KIND_COUNT;
	samples[1].state = STATE_COUNT;
	samples[2].mode = MODE_KERNEL + 1;
	samples[3].stop = STOP_COUNT;
	samples[4].waker_kind = WAKER_KIND_COUNT;
	for (size_t i = 0; i < 5; i++)
		send(fixture, &samples[i]);
	assert_int_equal(fixture->book.refused, 5);
	assert_int_equal(fixture->book.rows.count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(same_samples_are_one_row),	  TEST(what_differs_is_a_row_of_its_own),
		TEST(a_stack_may_come_late),	  TEST(a_stack_that_never_comes_is_counted),
		TEST(no_stack_is_not_waited_for), TEST(what_has_no_place_is_counted),
		TEST(only_so_many_wait),	  TEST(what_cannot_be_is_refused),
	};

	return cmocka_run_group_tests_name("sample", tests, NULL, NULL);
}
