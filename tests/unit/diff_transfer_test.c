// SPDX-License-Identifier: Apache-2.0
/* What one process read of a side, another one has: all of it, or an error. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../src/base/memory_stream.h"
#include "../../src/diff/reading.h"
#include "../../src/diff/transfer.h"
#include "unit.h"

#define BINS 6

static struct diff sent, received;

static struct diff_line *add_line(struct diff *diff, enum diff_table table,
				  enum diff_measure measure, const char *name)
{
	struct reading reading = {.diff = diff};
	const struct diff_key key = {
		.table = table, .measure = measure, .name = reading_text(&reading, name)};
	int err = 0;
	struct diff_line *line = reading_line(&reading, &key, 0, &err);

	assert_true(line && !err);
	if (measure == DIFF_MEAN)
		assert_int_equal(reading_make_events(&reading, &line), 0);
	return line;
}

static void make_side(struct diff *diff)
{
	const struct diff_options options = {.run_count = 2};
	struct diff_line *line;

	assert_int_equal(diff_init(diff, &options), 0);
	diff->run_count = 1;
	diff->bin_count = BINS;
	diff->runs[0] = (struct diff_run){.side = 1,
					  .kernel = "6.18",
					  .window_count = BINS,
					  .bin_count = BINS,
					  .samples = 7,
					  .end_ns = 6,
					  .least_covered = 1};
	diff->no_room[DIFF_STACK] = 3;
	line = add_line(diff, DIFF_LEDGER, DIFF_TIME, "cpu.user");
	line->weights[1] = 5;
	for (int i = 0; i < BINS; i++) {
		diff->bins[i].wall_s = 1 + i;
		line->values[i] = 10 + i;
	}
	line = add_line(diff, DIFF_LATENCY, DIFF_MEAN, "latency read");
	for (int i = 0; i < BINS; i++) {
		line->values[i] = 100 * i;
		line->events[i] = i;
		line->buckets[i * HIST_BUCKETS + 40] = (u32)i;
	}
}

static int receive(struct diff *diff, const struct memory_stream *bytes, size_t size)
{
	const char *const names[] = {"b.dwell"};
	FILE *from = fmemopen(bytes->text, size, "r");
	int err;

	assert_non_null(from);
	err = diff_receive(diff, from, 1, names, 1);
	fclose(from);
	return err;
}

/* Two bins of the other side are there already. */
static void make_receiver(struct diff *diff)
{
	const struct diff_options options = {.run_count = 2};

	assert_int_equal(diff_init(diff, &options), 0);
	add_line(diff, DIFF_LEDGER, DIFF_TIME, "other");
	add_line(diff, DIFF_LEDGER, DIFF_TIME, "cpu.user")->values[1] = 1;
	diff->bin_count = 2;
}

static const struct diff_line *line_called(const struct diff *diff, enum diff_measure measure,
					   const char *name)
{
	for (size_t i = 0; i < diff->lines.count; i++) {
		const struct diff_line *line = hash_item(&diff->lines, i);

		if (line->key.measure == (u32)measure &&
		    !strcmp(diff_text(diff, line->key.name), name))
			return line;
	}
	return NULL;
}

static void all_that_was_sent_is_there(void **state)
{
	struct memory_stream bytes;
	const struct diff_line *user, *mean, *median;

	(void)state;
	make_side(&sent);
	make_receiver(&received);
	assert_int_equal(memory_stream_open(&bytes), 0);
	diff_send(&sent, bytes.out);
	assert_int_equal(memory_stream_end(&bytes), 0);
	assert_int_equal(receive(&received, &bytes, bytes.size), 0);

	assert_true(received.run_count == 1 && received.bin_count == 2 + BINS);
	assert_string_equal(received.runs[0].kernel, "6.18");
	assert_string_equal(received.runs[0].name, "b.dwell");
	assert_true(received.runs[0].first_bin == 2 && received.runs[0].samples == 7);
	assert_true(received.no_room[DIFF_STACK] == 3);
	user = line_called(&received, DIFF_TIME, "cpu.user");
	mean = line_called(&received, DIFF_MEAN, "latency read");
	median = line_called(&received, DIFF_P50, "latency read");
	assert_true(user && mean && median && median->buckets == mean->buckets);
	assert_true(user->weights[1] == 5 && user->values[1] == 1);
	for (int i = 0; i < BINS; i++) {
		assert_true(received.bins[2 + i].wall_s == 1 + i);
		assert_true(user->values[2 + i] == 10 + i);
		assert_true(mean->values[2 + i] == 100 * i && mean->events[2 + i] == i);
		assert_true(mean->buckets[(2 + i) * HIST_BUCKETS + 40] == (u32)i);
	}
	diff_free(&sent);
	diff_free(&received);
	memory_stream_free(&bytes);
}

static void a_part_of_it_is_an_error(void **state)
{
	struct memory_stream bytes;

	(void)state;
	make_side(&sent);
	assert_int_equal(memory_stream_open(&bytes), 0);
	diff_send(&sent, bytes.out);
	assert_int_equal(memory_stream_end(&bytes), 0);
	for (size_t size = 1; size < bytes.size; size += size < 200 ? 1 : 37) {
		make_receiver(&received);
		assert_int_equal(receive(&received, &bytes, size), -EPROTO);
		diff_free(&received);
	}
	diff_free(&sent);
	memory_stream_free(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_was_sent_is_there),
		cmocka_unit_test(a_part_of_it_is_an_error),
	};

	return cmocka_run_group_tests_name("diff_transfer", tests, NULL, NULL);
}
