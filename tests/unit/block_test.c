// SPDX-License-Identifier: Apache-2.0
/*
 * Names of disks and cgroups on their way to the session: over time more come than are kept.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../signals/block/block.h"
#include "../../src/model/signal.h"

static u64 written;
static void *book;

static void count_row(struct sink *sink, const struct table *table, const struct cell *cells)
{
	(void)sink;
	(void)cells;
	written += !strcmp(table->name, "labels");
}

static struct sink sink = {.add = count_row};

static int start(void **state)
{
	(void)state;
	written = 0;
	book = calloc(1, signal_block.state_size);
	signal_block.open(book, NULL);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	signal_block.release(book);
	free(book);
	return 0;
}

static void name_cgroup(u64 id)
{
	struct rec_block row = {.device = BLOCK_NAME_CGROUP, .bytes = id, .name = "box"};

	signal_block.on_record(book, &row.hdr);
}

static u64 turned_away(void)
{
	u64 count;

	memcpy(&count, (const char *)book + signal_block.losses[0].offset, sizeof(count));
	return count;
}

/* As of containers, in a recording of weeks. */
static void names_of_any_number_of_cgroups_are_written(void **state)
{
	(void)state;
	for (u64 window = 0; window < 20; window++) {
		u64 before = written;

		for (u64 i = 0; i < 100; i++)
			name_cgroup(1 + 100 * window + i);
		signal_block.flush(book, window, &sink);
		assert_true(written >= before + 100);
	}
	assert_int_equal(turned_away(), 0);
}

static void more_than_fit_in_one_window_are_counted(void **state)
{
	(void)state;
	for (u64 i = 0; i < NAMES_MAX + 10; i++)
		name_cgroup(1 + i);
	assert_int_equal(turned_away(), 10);
	signal_block.flush(book, 0, &sink);
	assert_int_equal(written, NAMES_MAX);
	name_cgroup(5000);
	signal_block.flush(book, 1, &sink);
	assert_int_equal(turned_away(), 10);
	assert_int_equal(written, 2 * NAMES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_of_any_number_of_cgroups_are_written, start,
						stop),
		cmocka_unit_test_setup_teardown(more_than_fit_in_one_window_are_counted, start,
						stop),
	};

	return cmocka_run_group_tests_name("block", tests, NULL, NULL);
}
