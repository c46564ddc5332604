// SPDX-License-Identifier: Apache-2.0
/*
 * The statistics of diff on numbers whose truth is known: how often it errs where nothing changed,
 * how often it finds what did, whatever the noise is like. Seeds are fixed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../src/base/cleanup.h"
#include "../../src/diff/blocks.h"
#include "unit.h"

#define PERMUTATIONS 20000

static u64 seed;

static double chance(void)
{
	u64 x = seed += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return ((double)((x ^ x >> 31) >> 11) + 1) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(chance())) * cos(2 * M_PI * chance());
}

/* --- Student's t, against tables --- */

static void student(void **state)
{
	(void)state;
	assert_true(fabs(stats_t_beyond(0.05, 10) - 2.228139) < 1e-5);
	assert_true(fabs(stats_t_beyond(0.01, 4) - 4.604095) < 1e-5);
	assert_true(fabs(stats_t_beyond(0.05, 1e6) - 1.959966) < 1e-4);
	assert_true(fabs(stats_t_tail(2.228139, 10) - 0.05) < 1e-6);
	assert_true(fabs(stats_t_tail(1, 1) - 0.5) < 1e-9);
	assert_true(stats_t_tail(0, 5) == 1);
}

static void arrangements(void **state)
{
	(void)state;
	assert_int_equal(stats_arrangements(10, 5, 1000000), 252);
	assert_int_equal(stats_arrangements(20, 10, 1000000), 184756);
	assert_int_equal(stats_arrangements(20, 10, 1000), 1000);
}

/* The example of Benjamini and Hochberg's paper (1995): 4 of 15 at 0.05. */
static void discoveries(void **state)
{
	const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
			    0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.000};
	double order[ARRAY_SIZE(p)];

	(void)state;
	assert_true(stats_discoveries(p, ARRAY_SIZE(p), 0.05, order) == 0.0095);
	assert_true(stats_discoveries(p + 9, 6, 0.05, order) == 0);
}

/* --- the exact test: five against five, all 252 arrangements --- */

static void exact(void **state)
{
	struct stats_unit units[10];
	struct stats_result result;

	(void)state;
	for (int i = 0; i < 10; i++)
		units[i] = (struct stats_unit){i < 5 ? 10 + i * 0.1 : 20 + i * 0.1, 1};
	assert_true(stats_compare(units, 5, 5, 0, PERMUTATIONS, &result));
	assert_true(fabs(result.p - 2.0 / 252) < 1e-12);
	assert_true(fabs(result.least_p - 2.0 / 252) < 1e-12);
	assert_true(fabs(result.rate[0] - 10.2) < 1e-9 && fabs(result.rate[1] - 20.7) < 1e-9);
	/* Variance of 0, .1, .2, .3, .4 is 0.025; over 5: 0.005 for each side. */
	assert_true(fabs(result.error[0] - sqrt(0.005)) < 1e-4);
	assert_true(fabs(result.error_of_effect - sqrt(0.01)) < 1e-4);
	assert_true(fabs(result.freedom - 8) < 0.01);
	assert_false(stats_compare(units, 4, 6, 0, PERMUTATIONS, &result));
	assert_true(result.p == 1);
}

/* Work that varies is divided out: units of 1 and of 3 have the same rate. */
static void ratio(void **state)
{
	struct stats_unit units[12];
	struct stats_result result;

	(void)state;
	for (int i = 0; i < 12; i++)
		units[i] = (struct stats_unit){7.0 * (1 + i % 3), 1 + i % 3};
	assert_true(stats_compare(units, 6, 6, 0, PERMUTATIONS, &result));
	assert_true(fabs(result.effect) < 1e-9 && result.p > 0.9);
}

/* --- noise --- */

enum noise { INDEPENDENT, AR_HALF, AR_STRONG, WALK, SPIKES, SPARSE, RAMP };
static const char *const noise_names[] = {"independent", "AR(0.5)", "AR(0.9)",	   "random walk",
					  "spikes",	 "sparse",  "rises slowly"};

#define BINS_MAX 120

static void make_run(enum noise noise, size_t count, double level, struct stats_unit *units)
{
	double at = normal(), offset = 0;

	for (size_t i = 0; i < count; i++) {
		double e = normal(), value = 0;

		switch (noise) {
		case INDEPENDENT:
			value = level * (1 + 0.05 * e);
			break;
		case AR_HALF:
			at = 0.5 * at + sqrt(0.75) * e;
			value = level * (1 + 0.05 * at);
			break;
		case AR_STRONG:
			at = 0.9 * at + sqrt(0.19) * e;
			value = level * (1 + 0.05 * at);
			break;
		case WALK:
			offset += 0.03 * e;
			value = level * (1 + offset);
			break;
		case SPIKES:
			value = level * (1 + (chance() < 0.1 ? 3 * chance() : 0.02 * e));
			break;
		case SPARSE:
			value = chance() < 0.2 ? level : 0;
			break;
		case RAMP: /* by 10 % over the run, from where it happens to begin */
			value = level *
				(1 + 0.05 * at + 0.1 * (double)i / (double)count + 0.005 * e);
			break;
		}
		units[i] = (struct stats_unit){value, 1};
	}
}

static struct stats_unit sum(const void *line, size_t first, size_t count)
{
	const struct stats_unit *bins = line;
	struct stats_unit unit = {0};

	for (size_t i = 0; i < count; i++) {
		unit.value += bins[first + i].value;
		unit.work += bins[first + i].work;
	}
	return unit;
}

/* Of two runs, B's level so much higher: p, 1 where nothing can be said. */
static double compare(enum noise noise, size_t bins, double change, struct stats_result *ret_result)
{
	struct stats_unit units[2 * BINS_MAX];
	const struct stats_run runs[] = {{0, bins, 0}, {bins, bins, 1}};
	static struct blocks blocks;

	make_run(noise, bins, 100, units);
	make_run(noise, bins, 100 * (1 + change), units + bins);
	blocks_choose(units, sum, runs, 2, 1, false, &blocks);
	if (!stats_compare(blocks.units, blocks.count[0], blocks.count[1], blocks.correlation,
			   PERMUTATIONS, ret_result))
		return 1;
	return blocks.has_drift ? 1 : ret_result->p;
}

/* How often p is at most this. */
static double share(enum noise noise, size_t bins, double change, double most, int times)
{
	struct stats_result result;
	int found = 0;

	for (int i = 0; i < times; i++)
		found += compare(noise, bins, change, &result) <= most;
	return (double)found / times;
}

static void false_alarms(void **state)
{
	(void)state;
	seed = 1;
	for (size_t n = 0; n < ARRAY_SIZE(noise_names); n++)
		for (size_t bins = 10; bins <= 90; bins *= 3) {
			double at_5 = share((enum noise)n, bins, 0, 0.05, 400);
			double at_half = share((enum noise)n, bins, 0, 0.001, 400);

			printf("# %-12s %3zu windows a side: p <= 0.05 in %5.1f %%, p <= 0.001 in "
			       "%4.1f %%\n",
			       noise_names[n], bins, 100 * at_5, 100 * at_half);
		}
}

static void power(void **state)
{
	(void)state;
	seed = 2;
	for (size_t n = 0; n < ARRAY_SIZE(noise_names); n++)
		for (size_t bins = 10; bins <= 90; bins *= 3)
			printf("# %-12s %3zu windows a side, +10 %%: p <= 0.0001 in %5.1f %%\n",
			       noise_names[n], bins,
			       100 * share((enum noise)n, bins, 0.1, 0.0001, 100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(student),     cmocka_unit_test(arrangements),
		cmocka_unit_test(discoveries), cmocka_unit_test(exact),
		cmocka_unit_test(ratio),       cmocka_unit_test(false_alarms),
		cmocka_unit_test(power),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
