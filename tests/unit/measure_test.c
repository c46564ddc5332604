// SPDX-License-Identifier: Apache-2.0
/*
 * Options that measurements share: what they mean, and what is refused.
 */
#include "unit.h"

#include <errno.h>

#include "../../src/cmd/measure.h"

static struct engine_options options;

static int start(void **state)
{
	(void)state;
	options = (struct engine_options){0};
	measure_defaults(&options);
	return 0;
}

static void stacks_are_taken_by_default(void **state)
{
	struct engine_options others = {0};

	(void)state;
	assert_false(options.stacks.is_off);
	assert_int_equal(options.stacks.freq, 49);
	assert_int_equal(options.stacks.min_block_ns, 1000000);
	assert_int_not_equal(options.stacks.seed, 0);
	measure_defaults(&others);
	if (others.stacks.seed == options.stacks.seed)
		measure_defaults(&others); /* once in 2^32 times it is chance */
	assert_int_not_equal(others.stacks.seed, options.stacks.seed);
}

static void options_are_taken(void **state)
{
	(void)state;
	assert_int_equal(measure_take(&options, MEASURE_FREQ, "0"), 0);
	assert_int_equal(options.stacks.freq, 0);
	assert_int_equal(measure_take(&options, 'F', "10000"), 0);
	assert_int_equal(options.stacks.freq, 10000);
	assert_int_equal(measure_take(&options, MEASURE_MIN_BLOCK, "100us"), 0);
	assert_int_equal(options.stacks.min_block_ns, 100000);
	assert_int_equal(measure_take(&options, MEASURE_SEED, "4294967295"), 0);
	assert_int_equal(options.stacks.seed, 4294967295);
	assert_int_equal(options.stacks.unwind_rows, 2u << 20);
	assert_int_equal(measure_take(&options, MEASURE_UNWIND_ROWS, "16384"), 0);
	assert_int_equal(options.stacks.unwind_rows, 16384);
	assert_int_equal(measure_take(&options, MEASURE_UNWIND_ROWS, "64M"), 0);
	assert_int_equal(options.stacks.unwind_rows, 64u << 20);
	assert_int_equal(measure_take(&options, MEASURE_NO_STACKS, NULL), 0);
	assert_int_equal(measure_take(&options, MEASURE_LINES, NULL), 0);
	assert_int_equal(measure_take(&options, MEASURE_INLINE, NULL), 0);
	assert_true(options.stacks.is_off && options.stacks.lines && options.stacks.inlines);
	assert_int_equal(measure_take(&options, '?', NULL), -ENOENT);
}

static void wrong_values_change_nothing(void **state)
{
	static const struct {
		int option;
		const char *value;
	} rows[] = {
		{MEASURE_FREQ, "10001"},
		{MEASURE_FREQ, "-1"},
		{MEASURE_FREQ, "49Hz"},
		{MEASURE_MIN_BLOCK, "1"},
		{MEASURE_MIN_BLOCK, "0ms"},
		{MEASURE_MIN_BLOCK, "1001s"},
		{MEASURE_SEED, "0"},
		{MEASURE_SEED, "4294967296"},
		{MEASURE_UNWIND_ROWS, "16383"},
		{MEASURE_UNWIND_ROWS, "65M"},
		{MEASURE_UNWIND_ROWS, "many"},
	};
	const struct stack_options before = options.stacks;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(measure_take(&options, rows[i].option, rows[i].value), -EINVAL);
	assert_int_equal(options.stacks.freq, before.freq);
	assert_int_equal(options.stacks.min_block_ns, before.min_block_ns);
	assert_int_equal(options.stacks.seed, before.seed);
	assert_int_equal(options.stacks.unwind_rows, before.unwind_rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(stacks_are_taken_by_default, start),
		cmocka_unit_test_setup(options_are_taken, start),
		cmocka_unit_test_setup(wrong_values_change_nothing, start),
	};

	return cmocka_run_group_tests_name("measure", tests, NULL, NULL);
}
