// SPDX-License-Identifier: Apache-2.0
/*
 * What is given up, and in which order, when dwell costs more than it may.
 */
#include "unit.h"

#include <errno.h>

#include "../../src/capture/governor.h"
#include "../../src/capture/tally.h"

/* On two CPUs, so much of a second. */
static enum governor_step judge(struct governor *governor, u64 bpf_ns)
{
	struct governor_reading reading = {.bpf_ns = bpf_ns, .elapsed_ns = 1000000000, .cpus = 2};

	return governor_judge(governor, &reading);
}

static void cheap_capture_gives_up_nothing(void **state)
{
	struct governor governor = {.limit = 0.01, .has_split = true, .has_detail = true};

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(judge(&governor, 20000000), GOVERNOR_STAY);
}

static void one_dear_reading_is_forgiven(void **state)
{
	struct governor governor = {.limit = 0.01, .has_split = true};

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(judge(&governor, i % 2 ? 0 : 30000000), GOVERNOR_STAY);
}

static void dear_capture_gives_up_step_by_step(void **state)
{
	struct governor governor = {
		.limit = 0.01, .has_split = true, .has_stacks = true, .has_detail = true};

	(void)state;
	governor.has_signals = true;
	judge(&governor, 30000000); /* the start */
	judge(&governor, 30000000);
	assert_int_equal(judge(&governor, 30000000), GOVERNOR_SIGNAL_OFF);
	judge(&governor, 30000000);
	assert_int_equal(judge(&governor, 30000000), GOVERNOR_SIGNAL_OFF); /* another one */
	governor.has_signals = false;
	assert_int_equal(judge(&governor, 30000000), GOVERNOR_STAY);
	assert_int_equal(judge(&governor, 30000000), GOVERNOR_SPLIT_OFF);
	assert_int_equal(judge(&governor, 30000000), GOVERNOR_STAY);
	assert_int_equal(judge(&governor, 30000000), GOVERNOR_SPLIT_OFF); /* another process */
	governor.has_split = false;
	judge(&governor, 30000000);
	assert_int_equal(judge(&governor, 30000000), GOVERNOR_STACKS_OFF);
	judge(&governor, 30000000);
	assert_int_equal(judge(&governor, 30000000), GOVERNOR_DETAIL_OFF);
	judge(&governor, 30000000);
	assert_int_equal(judge(&governor, 30000000), GOVERNOR_DETACH);
}

/* What the start costs is in the first reading: the two after it decide. */
static void dear_start_is_forgiven(void **state)
{
	struct governor governor = {.limit = 0.01, .has_stacks = true};

	(void)state;
	assert_int_equal(judge(&governor, 300000000), GOVERNOR_STAY);
	assert_true(governor.is_alert);
	assert_int_equal(judge(&governor, 30000000), GOVERNOR_STAY);
	assert_true(governor.is_alert);
	assert_int_equal(judge(&governor, 20000000), GOVERNOR_STAY);
	assert_false(governor.is_alert);
}

static void capture_that_stays_dear_gives_up_with_its_third_reading(void **state)
{
	struct governor governor = {.limit = 0.01, .has_stacks = true};

	(void)state;
	assert_int_equal(judge(&governor, 30000000), GOVERNOR_STAY);
	assert_int_equal(judge(&governor, 30000000), GOVERNOR_STAY);
	assert_int_equal(judge(&governor, 30000000), GOVERNOR_STACKS_OFF);
}

static void no_limit_is_no_limit(void **state)
{
	struct governor governor = {.has_split = true};

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_int_equal(judge(&governor, 2000000000), GOVERNOR_STAY);
}

static void limit_is_a_percentage(void **state)
{
	static const char *const wrong[] = {"", "%", "0", "-1", "101", "1%%", "1 x", "nan", "inf"};
	double limit;

	(void)state;
	assert_int_equal(governor_parse("1%", &limit), 0);
	assert_true(limit == 0.01);
	assert_int_equal(governor_parse("0.1 %", &limit), 0);
	assert_true(limit == 0.001);
	assert_int_equal(governor_parse("50", &limit), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(governor_parse(wrong[i], &limit), -EINVAL);
}

static void tally_names_who_has_most(void **state)
{
	struct tally tally = {0};

	(void)state;
	assert_null(tally_most(&tally));
	tally_add(&tally, 7, 0);
	assert_null(tally_most(&tally));
	tally_add(&tally, 1, 10);
	tally_add(&tally, 2, 15);
	tally_add(&tally, 1, 10);
	assert_int_equal(tally_most(&tally)->tgid, 1);
	assert_int_equal(tally_most(&tally)->count, 20);
	assert_int_equal(tally.total, 35);
	tally_clear(&tally);
	assert_null(tally_most(&tally));
	assert_int_equal(tally.total, 0);
}

/* Ten times as many processes as places; the one that counts comes bit by bit. */
static void tally_of_too_many_keeps_the_dear_one(void **state)
{
	struct tally tally = {0};

	(void)state;
	for (u32 i = 0; i < 10 * TALLY_MAX; i++) {
		tally_add(&tally, 1000 + i, 3);
		tally_add(&tally, 42, 1);
	}
	assert_int_equal(tally_most(&tally)->tgid, 42);
	assert_int_equal(tally.total, 40 * TALLY_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cheap_capture_gives_up_nothing),
		cmocka_unit_test(one_dear_reading_is_forgiven),
		cmocka_unit_test(dear_capture_gives_up_step_by_step),
		cmocka_unit_test(dear_start_is_forgiven),
		cmocka_unit_test(capture_that_stays_dear_gives_up_with_its_third_reading),
		cmocka_unit_test(no_limit_is_no_limit),
		cmocka_unit_test(limit_is_a_percentage),
		cmocka_unit_test(tally_names_who_has_most),
		cmocka_unit_test(tally_of_too_many_keeps_the_dear_one),
	};

	return cmocka_run_group_tests_name("governor", tests, NULL, NULL);
}
