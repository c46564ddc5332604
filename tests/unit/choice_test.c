// SPDX-License-Identifier: Apache-2.0
/*
 * Which waits have their stack taken, compiled for the host: whether those that are taken stand for
 * all of them, and how many these are.
 */
#include "unit.h"

#include "bpf_native.h"

#define __uint(name, value) int(*name)[value]
#define __type(name, type)  type *name
#define SEC(name)

static u64 now_ns;
static void *choice_place(void);

static u64 unwind_mix(u64 hash, u64 value)
{
	return (hash ^ value) * 0x9e3779b97f4a7c15ULL;
}

#define bpf_ktime_get_ns() now_ns
#define bpf_map_lookup_elem(map, key)                                                              \
	((void)(key), (void *)(map) == (void *)&live_configs ? (void *)fake.live : choice_place())
#include "../../bpf/sampler.bpf.h"
#include "../../signals/sample/choice.bpf.h"

#define MS 1000000ULL

static struct choice choice;
static struct live_config live;

static void *choice_place(void)
{
	(void)sample_choices;
	return &choice;
}

static int start(void **state)
{
	(void)state;
	choice = (struct choice){0};
	live = (struct live_config){.min_block_ns = 1 * MS, .block_stacks = 200};
	fake.live = &live;
	now_ns = 1000 * MS;
	return 0;
}

/* Waits of all lengths, so many that the threshold goes up and down all the time. */
static void what_is_taken_stands_for_all(void **state)
{
	double real = 0, taken = 0;
	u64 x = 88172645463325252ULL, most = 0;

	(void)state;
	for (int i = 0; i < 4000000; i++) {
		u64 ns, weight;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		ns = 1 + (x >> 20) % (10000ULL << (x % 12));
		now_ns += (i / 200000) % 2 ? 1 * MS : 10000; /* a storm, and a calm */
		weight = choose_wait(ns, now_ns);
		assert_true(!weight || weight >= ns);
		real += (double)ns;
		taken += (double)weight;
		most = choice.shorter.doublings > most ? choice.shorter.doublings : most;
	}
	assert_true(most >= 3); /* the threshold did change */
	assert_true(taken > 0.97 * real && taken < 1.03 * real);
}

static void a_wait_over_the_threshold_stands_for_itself(void **state)
{
	(void)state;
	assert_int_equal(choose_wait(5 * MS, now_ns), 5 * MS);
	live.block_stacks = 0;
	assert_int_equal(choose_wait(5 * MS, now_ns), 0);
	assert_false(choose_waker(5 * MS));
}

/* A thousand long waits a second, among short ones: all of the long are taken. */
static void long_waits_are_taken_always(void **state)
{
	(void)state;
	for (int i = 0; i < 100000; i++) {
		now_ns += 10000;
		choose_wait(50000, now_ns);
		if (i % 100 == 0)
			assert_int_equal(choose_wait(2 * MS, now_ns), 2 * MS);
	}
	assert_true(choice.shorter.doublings > 0);
}

/* A wait of years, chosen among a million: no sum turns round, nor becomes negative. */
static void weights_do_not_overflow(void **state)
{
	(void)state;
	assert_int_equal(weigh(3 * MS, 4), 12 * MS);
	assert_int_equal(weigh(~0ULL, 1), WEIGHT_NS_MAX);
	assert_int_equal(weigh(1ULL << 50, 1u << 20), WEIGHT_NS_MAX);
	live.min_block_ns = 1000000000000ULL;
	choice.shorter.doublings = SAMPLER_DOUBLINGS_MAX;
	assert_true(choose_wait(1, now_ns) < 1ULL << 62);
}

/* Whoever wakes others all the time takes no more stacks of it than its share, nor none later. */
static void wakers_have_a_share(void **state)
{
	u64 taken = 0;

	(void)state;
	assert_false(choose_waker(MS - 1));
	for (int i = 0; i < 100000; i++) {
		now_ns += 10000;
		taken += choose_waker(2 * MS);
	}
	assert_true(taken >= 200 && taken <= 220);
}

/* Whatever the rate, and when it changes: each tick is in exactly one weight. */
static void ticks_are_all_counted(void **state)
{
	static const u64 rates[] = {1, 4, 16, 2, 1, 8, 1};
	u64 ticks = 0, taken = 0, sum = 0, count = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		for (int j = 0; j < 1001; j++, count++) {
			u64 weight = choose_tick(&ticks, rates[i]);

			assert_true(weight <= 16);
			sum += weight;
			taken += weight != 0;
		}
		assert_true(count - sum < rates[i]);
	}
	assert_int_equal(sum, count); /* the last rate is 1 */
	assert_in_range(taken, 3 * 1001 + 250 + 62 + 500 + 125,
			3 * 1001 + 250 + 62 + 500 + 125 + 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_is_taken_stands_for_all, start),
		cmocka_unit_test_setup(a_wait_over_the_threshold_stands_for_itself, start),
		cmocka_unit_test_setup(long_waits_are_taken_always, start),
		cmocka_unit_test_setup(weights_do_not_overflow, start),
		cmocka_unit_test_setup(wakers_have_a_share, start),
		cmocka_unit_test_setup(ticks_are_all_counted, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
