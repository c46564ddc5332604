// SPDX-License-Identifier: Apache-2.0
/*
 * What is thinned, switched off and taken back, and in which order, when dwell costs more than it
 * may.
 */
#include "unit.h"

#include <errno.h>

#include "../../src/capture/governor.h"
#include "../../src/capture/heavy_hitters.h"

#define LIMIT	  0.01
#define AT(share) ((u64)((share)*2e9)) /* of a second on two CPUs */

static struct governor governor;
static struct governor_order order;

static int start(void **state)
{
	(void)state;
	governor = (struct governor){.limit = LIMIT};
	governor.levels[GOVERNOR_RATES].most = GOVERNOR_RATES_MOST;
	governor.levels[GOVERNOR_DETAIL].most = 1;
	governor.levels[GOVERNOR_SIGNALS].most = 2;
	governor.levels[GOVERNOR_SPLIT].most = 2;
	governor.levels[GOVERNOR_STACKS].most = 1;
	return 0;
}

static enum governor_move judge_both(u64 bpf_ns, u64 user_ns)
{
	struct governor_reading reading = {
		.bpf_ns = bpf_ns, .user_ns = user_ns, .elapsed_ns = 1000000000, .cpus = 2};

	governor_judge(&governor, &reading, &order);
	return order.move;
}

static enum governor_move judge(u64 bpf_ns)
{
	return judge_both(bpf_ns, 0);
}

static bool is_order(enum governor_move move, enum governor_rung rung, unsigned int levels)
{
	return order.move == move && order.rung == rung && order.levels == levels;
}

static void cheap_capture_reduces_nothing(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(judge(AT(LIMIT * 0.74)), GOVERNOR_STAY);
	assert_false(governor.is_alert);
}

/* To thin can be undone: it is done a quarter below the limit. What cannot be thinned waits for it.
 */
static void rates_are_thinned_before_the_limit_is_passed(void **state)
{
	(void)state;
	judge(AT(LIMIT * 0.95));
	assert_true(is_order(GOVERNOR_REDUCE, GOVERNOR_RATES, 1));
	while (governor.levels[GOVERNOR_RATES].now < governor.levels[GOVERNOR_RATES].most)
		judge(AT(LIMIT * 0.95));
	for (int i = 0; i < 100; i++)
		assert_int_equal(judge(AT(LIMIT * 0.95)), GOVERNOR_STAY);
}

/* By as much as it takes, if all of it were thinned by that. */
static void first_reading_thins(void **state)
{
	static const struct {
		double share;
		unsigned int levels;
	} rows[] = {{1.1, 1}, {2, 1}, {2.1, 2}, {4, 2}, {5, 3}, {9, 4}, {1000, 4}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start(state);
		judge(AT(LIMIT * rows[i].share));
		assert_true(is_order(GOVERNOR_REDUCE, GOVERNOR_RATES, rows[i].levels));
		assert_int_equal(governor.levels[GOVERNOR_RATES].now, rows[i].levels);
		assert_true(governor.is_alert);
	}
}

/* What the start costs once is our own processes': one level will do. */
static void expensive_start_thins_once(void **state)
{
	(void)state;
	judge_both(AT(LIMIT / 2), AT(LIMIT * 30));
	assert_true(is_order(GOVERNOR_REDUCE, GOVERNOR_RATES, 1));
	judge_both(AT(LIMIT / 2), AT(LIMIT * 30));
	assert_true(is_order(GOVERNOR_REDUCE, GOVERNOR_RATES, 3));
}

/* Thinning first, and at once; then off, two readings each; nothing is left before it detaches. */
static void order_of_steps(void **state)
{
	static const struct {
		enum governor_rung rung;
		int times;
	} rows[] = {{GOVERNOR_DETAIL, 1},
		    {GOVERNOR_SIGNALS, 2},
		    {GOVERNOR_SPLIT, 2},
		    {GOVERNOR_STACKS, 1}};

	(void)state;
	for (int i = 0; i < GOVERNOR_RATES_MOST; i++) {
		judge(AT(LIMIT * 1.5));
		assert_true(is_order(GOVERNOR_REDUCE, GOVERNOR_RATES, 1));
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int j = 0; j < rows[i].times; j++) {
			assert_int_equal(judge(AT(LIMIT * 1.5)), GOVERNOR_STAY);
			judge(AT(LIMIT * 1.5));
			assert_true(is_order(GOVERNOR_REDUCE, rows[i].rung, 1));
		}
	for (int i = 0; i < 9; i++)
		assert_int_equal(judge(AT(LIMIT * 1.5)), GOVERNOR_STAY);
	assert_int_equal(judge(AT(LIMIT * 1.5)), GOVERNOR_DETACH);
}

/* Far above the limit, one reading each is enough. */
static void far_above_it_is_faster(void **state)
{
	(void)state;
	judge(AT(LIMIT * 10));
	assert_true(is_order(GOVERNOR_REDUCE, GOVERNOR_RATES, 4));
	judge(AT(LIMIT * 10));
	assert_true(is_order(GOVERNOR_REDUCE, GOVERNOR_DETAIL, 1));
	judge(AT(LIMIT * 3));
	assert_true(is_order(GOVERNOR_REDUCE, GOVERNOR_SIGNALS, 1));
	assert_int_equal(judge(AT(LIMIT * 1.5)), GOVERNOR_STAY);
}

/* One reading below the limit, and it does not come to that. */
static void detaches_only_after_long(void **state)
{
	(void)state;
	governor = (struct governor){.limit = LIMIT};
	for (int i = 0; i < 1000; i++)
		assert_int_equal(judge(AT(LIMIT * (i % 10 == 9 ? 0.9 : 2))), GOVERNOR_STAY);
}

static void one_expensive_reading_switches_nothing_off(void **state)
{
	(void)state;
	governor.levels[GOVERNOR_RATES].most = 0;
	for (int i = 0; i < 100; i++)
		assert_int_equal(judge(i % 2 ? 0 : AT(LIMIT * 1.5)), GOVERNOR_STAY);
}

static void assert_nothing_is_reduced(void)
{
	for (int rung = 0; rung < GOVERNOR_RUNG_COUNT; rung++)
		assert_int_equal(governor.levels[rung].now, 0);
}

/*
 * In both directions: all that was reduced comes back, what was switched off before what was
 * thinned; one step alone, then what fits, with each reading.
 */
static void everything_is_taken_back(void **state)
{
	static const enum governor_rung rows[] = {
		GOVERNOR_SPLIT,	 GOVERNOR_SPLIT, GOVERNOR_SIGNALS, GOVERNOR_SIGNALS,
		GOVERNOR_DETAIL, GOVERNOR_RATES, GOVERNOR_RATES};

	(void)state;
	for (int i = 0; i < 17; i++)
		judge(AT(LIMIT * 1.5));
	assert_int_equal(judge(AT(LIMIT * 0.3)), GOVERNOR_STAY);
	assert_true(governor.is_alert);
	judge(AT(LIMIT * 0.3));
	assert_true(is_order(GOVERNOR_RESTORE, GOVERNOR_STACKS, 1));
	assert_false(governor_restore_more(&governor, &order));
	judge(AT(LIMIT * 0.3));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(is_order(GOVERNOR_RESTORE, rows[i], 1));
		governor_restore_more(&governor, &order);
	}
	assert_int_equal(order.move, GOVERNOR_STAY); /* rates may have doubled the cost, twice */
	judge(AT(LIMIT * 0.3));
	assert_true(governor_restore_more(&governor, &order));
	assert_nothing_is_reduced();
	for (int i = 0; i < 10; i++)
		assert_int_equal(judge(AT(LIMIT * 0.3)), GOVERNOR_STAY);
	assert_false(governor.is_alert);
}

/* A burst, by what costs how much of the limit: half of it can be thinned. */
static double cost_of_burst(void)
{
	double cost = 0.1 + 5.0 / (1 << governor.levels[GOVERNOR_RATES].now);

	for (int rung = GOVERNOR_DETAIL; rung < GOVERNOR_RUNG_COUNT; rung++)
		cost += governor.levels[rung].most - governor.levels[rung].now;
	return cost;
}

static void judge_and_restore(double cost)
{
	judge(AT(LIMIT * cost));
	while (governor_restore_more(&governor, &order))
		;
}

/* However long it was, and however often something was taken back too early. */
static void after_a_burst_all_is_back_within_ten_readings(void **state)
{
	static const double quiet[] = {0.01, 0.1, 0.19};

	for (int length = 1; length < 300; length++)
		for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++) {
			int readings = 0;

			start(state);
			for (int n = 0; n < length; n++)
				judge_and_restore(cost_of_burst());
			assert_true(governor.is_alert);
			for (; governor.is_alert && readings < 100; readings++)
				judge_and_restore(quiet[i]);
			assert_nothing_is_reduced();
			assert_in_range(readings, 2, 11); /* the last one finds that all is back */
		}
}

/* A load that goes on is above the limit in one reading of eight at most, once it is known. */
static void load_that_stays_is_held(void **state)
{
	int above = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		double cost = cost_of_burst();

		above += i >= 100 && cost > 1;
		judge_and_restore(cost);
	}
	assert_in_range(above, 0, 900 / 8);
}

/* Far below the limit it need not wait, nor halve its steps. */
static void far_below_it_is_faster(void **state)
{
	int readings = 0;

	(void)state;
	judge(AT(LIMIT * 10));
	judge(AT(LIMIT * 10));
	assert_int_equal(governor.levels[GOVERNOR_RATES].now, 4);
	assert_int_equal(governor.levels[GOVERNOR_DETAIL].now, 1);
	while (governor.is_alert && readings++ < 100)
		judge(AT(LIMIT * 0.01));
	assert_int_equal(governor.levels[GOVERNOR_RATES].now, 0);
	assert_int_equal(governor.levels[GOVERNOR_DETAIL].now, 0);
	assert_in_range(readings, 2, 6);
}

/* Between half the limit and three quarters of it is no room: it stays as it is. */
static void hysteresis(void **state)
{
	(void)state;
	judge(AT(LIMIT * 1.5));
	for (int i = 0; i < 100; i++)
		assert_int_equal(judge(AT(LIMIT * (i % 2 ? 0.6 : 0.74))), GOVERNOR_STAY);
	for (int i = 0; i < 100; i++)
		assert_int_equal(judge(AT(LIMIT * (i % 2 ? 0.6 : 0.3))), GOVERNOR_STAY);
}

/* What saved more than there is room for comes back only when it may be less by now. */
static void restores_what_fits(void **state)
{
	int readings = 0;

	(void)state;
	governor.levels[GOVERNOR_RATES].most = governor.levels[GOVERNOR_DETAIL].most = 0;
	governor.levels[GOVERNOR_SIGNALS].most = 0;
	judge(AT(LIMIT * 5));
	assert_true(is_order(GOVERNOR_REDUCE, GOVERNOR_SPLIT, 1));
	while (judge(AT(LIMIT * 0.25)) == GOVERNOR_STAY && readings < 100)
		readings++;
	assert_true(is_order(GOVERNOR_RESTORE, GOVERNOR_SPLIT, 1));
	assert_in_range(readings, 3, 5); /* 4.75 times the limit was saved: four halvings */
}

/* A load that stays: each attempt to take something back comes later than the one before. */
static void attempts_become_rare(void **state)
{
	int restored = 0, last = 0, longest = 0;

	(void)state;
	governor.levels[GOVERNOR_RATES].most = 1;
	for (int i = 0; i < 1000; i++) {
		bool is_thin = governor.levels[GOVERNOR_RATES].now;

		if (judge(AT(LIMIT * (is_thin ? 0.3 : 1.2))) != GOVERNOR_RESTORE)
			continue;
		restored++;
		longest = i - last > longest ? i - last : longest;
		last = i;
	}
	assert_in_range(restored, 5, 40);
	assert_true(longest >= 32);
}

static void refused_orders_change_nothing(void **state)
{
	(void)state;
	governor.levels[GOVERNOR_RATES].most = 0;
	judge(AT(LIMIT * 3));
	assert_true(is_order(GOVERNOR_REDUCE, GOVERNOR_DETAIL, 1));
	governor_refuse(&governor, &order);
	assert_int_equal(governor.levels[GOVERNOR_DETAIL].now, 0);
	judge(AT(LIMIT * 3));
	assert_true(is_order(GOVERNOR_REDUCE, GOVERNOR_SIGNALS, 1));
	judge(0);
	judge(0);
	while (order.move != GOVERNOR_RESTORE)
		judge(0);
	governor_refuse(&governor, &order);
	assert_int_equal(governor.levels[GOVERNOR_SIGNALS].now, 1);
	assert_int_equal(judge(0), GOVERNOR_STAY);
}

static void no_limit_is_no_limit(void **state)
{
	(void)state;
	governor.limit = 0;
	for (int i = 0; i < 10; i++)
		assert_int_equal(judge(2000000000), GOVERNOR_STAY);
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

static void heavy_hitters_name_the_largest(void **state)
{
	struct heavy_hitters hitters = {0};

	(void)state;
	assert_null(heavy_hitters_most(&hitters));
	heavy_hitters_add(&hitters, 7, 0);
	assert_null(heavy_hitters_most(&hitters));
	heavy_hitters_add(&hitters, 1, 10);
	heavy_hitters_add(&hitters, 2, 15);
	heavy_hitters_add(&hitters, 1, 10);
	assert_int_equal(heavy_hitters_most(&hitters)->tgid, 1);
	assert_int_equal(heavy_hitters_most(&hitters)->count, 20);
	assert_int_equal(hitters.total, 35);
	heavy_hitters_clear(&hitters);
	assert_null(heavy_hitters_most(&hitters));
	assert_int_equal(hitters.total, 0);
}

/* Ten times as many processes as places; the one that counts comes bit by bit. */
static void heavy_hitters_keep_the_largest_of_too_many(void **state)
{
	struct heavy_hitters hitters = {0};

	(void)state;
	for (u32 i = 0; i < 10 * HEAVY_HITTERS_MAX; i++) {
		heavy_hitters_add(&hitters, 1000 + i, 3);
		heavy_hitters_add(&hitters, 42, 1);
	}
	assert_int_equal(heavy_hitters_most(&hitters)->tgid, 42);
	assert_int_equal(hitters.total, 40 * HEAVY_HITTERS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(cheap_capture_reduces_nothing, start),
		cmocka_unit_test_setup(rates_are_thinned_before_the_limit_is_passed, start),
		cmocka_unit_test_setup(first_reading_thins, start),
		cmocka_unit_test_setup(expensive_start_thins_once, start),
		cmocka_unit_test_setup(order_of_steps, start),
		cmocka_unit_test_setup(far_above_it_is_faster, start),
		cmocka_unit_test_setup(detaches_only_after_long, start),
		cmocka_unit_test_setup(one_expensive_reading_switches_nothing_off, start),
		cmocka_unit_test_setup(everything_is_taken_back, start),
		cmocka_unit_test_setup(after_a_burst_all_is_back_within_ten_readings, start),
		cmocka_unit_test_setup(load_that_stays_is_held, start),
		cmocka_unit_test_setup(far_below_it_is_faster, start),
		cmocka_unit_test_setup(hysteresis, start),
		cmocka_unit_test_setup(restores_what_fits, start),
		cmocka_unit_test_setup(attempts_become_rare, start),
		cmocka_unit_test_setup(refused_orders_change_nothing, start),
		cmocka_unit_test_setup(no_limit_is_no_limit, start),
		cmocka_unit_test(limit_is_a_percentage),
		cmocka_unit_test(heavy_hitters_name_the_largest),
		cmocka_unit_test(heavy_hitters_keep_the_largest_of_too_many),
	};

	return cmocka_run_group_tests_name("governor", tests, NULL, NULL);
}
