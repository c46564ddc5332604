// SPDX-License-Identifier: Apache-2.0
/*
 * How much of a recording its parts cover, and which of them the next file still has.
 */
#include "unit.h"

#include <stdio.h>

#include "../../src/engine/coverage.h"

static struct coverage coverage;

static int start(void **state)
{
	(void)state;
	coverage = (struct coverage){0};
	coverage_add(&coverage, "stacks");
	coverage_begin(&coverage, 1000);
	return 0;
}

static void part_that_is_switched_off_covers_less(void **state)
{
	(void)state;
	coverage_switch(&coverage, "stacks", false, 1400);
	assert_int_equal(coverage_of(&coverage.parts[0], 2000), 400);
	coverage_switch(&coverage, "stacks", true, 1900);
	assert_int_equal(coverage_of(&coverage.parts[0], 2000), 500);
	coverage_renew(&coverage, 2000);
	assert_int_equal(coverage_of(&coverage.parts[0], 2300), 300);
}

/* More processes than there are places, in the files of a long recording. */
static void parts_of_processes_are_given_up(void **state)
{
	char name[32];

	(void)state;
	for (u64 file = 1; file < 100; file++) {
		for (int i = 0; i < 10; i++) {
			snprintf(name, sizeof(name), "tier_b %llu.%d", (unsigned long long)file, i);
			coverage_switch(&coverage, name, false, 1000 * file + 100);
			if (i % 2)
				coverage_switch(&coverage, name, true, 1000 * file + 200);
			else
				coverage_end(&coverage, name);
		}
		assert_int_equal(coverage.count, 11);
		coverage_renew(&coverage, 1000 * (file + 1));
		assert_int_equal(coverage.count, 1);
		assert_string_equal(coverage.parts[0].name, "stacks");
	}
	assert_int_equal(coverage.dropped, 0);
}

static void part_that_is_off_stays(void **state)
{
	(void)state;
	coverage_switch(&coverage, "stacks", false, 1500);
	coverage_switch(&coverage, "tier_b 1", false, 1500);
	coverage_renew(&coverage, 2000);
	assert_int_equal(coverage.count, 2);
	assert_int_equal(coverage_of(&coverage.parts[0], 3000), 0);
	assert_int_equal(coverage_of(&coverage.parts[1], 3000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(part_that_is_switched_off_covers_less, start),
		cmocka_unit_test_setup(parts_of_processes_are_given_up, start),
		cmocka_unit_test_setup(part_that_is_off_stays, start),
	};

	return cmocka_run_group_tests_name("coverage", tests, NULL, NULL);
}
