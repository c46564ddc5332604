// SPDX-License-Identifier: Apache-2.0
/*
 * The statistics of diff on numbers whose truth is known: how often it errs where nothing changed,
 * how often it finds what did, whatever the noise is like. Seeds are fixed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../src/base/cleanup.h"
#include "../../src/diff/diff.h"
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
	assert_true(stats_compare(units, 5, 5, 0, 0, PERMUTATIONS, &result));
	assert_true(fabs(result.p - 2.0 / 252) < 1e-12);
	assert_true(fabs(result.least_p - 2.0 / 252) < 1e-12);
	assert_true(fabs(result.rate[0] - 10.2) < 1e-9 && fabs(result.rate[1] - 20.7) < 1e-9);
	/* Variance of 0, .1, .2, .3, .4 is 0.025; over 5: 0.005 for each side. */
	assert_true(fabs(result.error[0] - sqrt(0.005)) < 1e-4);
	assert_true(fabs(result.error_of_effect - sqrt(0.01)) < 1e-4);
	assert_true(fabs(result.freedom - 8) < 0.01);
	assert_false(stats_compare(units, 4, 6, 0, 0, PERMUTATIONS, &result));
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
	assert_true(stats_compare(units, 6, 6, 0, 0, PERMUTATIONS, &result));
	assert_true(fabs(result.effect) < 1e-9 && result.p > 0.9);
}

/* --- noise --- */

enum noise { QUIET, INDEPENDENT, AR_HALF, AR_STRONG, WALK, SPIKES, SPARSE, RAMP };
static const char *const noise_names[] = {"quiet",	 "independent", "AR(0.5)", "AR(0.9)",
					  "random walk", "spikes",	"sparse",  "rises slowly"};

#define BINS_MAX 120

static void make_run(enum noise noise, size_t count, double level, struct stats_unit *units)
{
	double at = normal(), offset = 0;

	for (size_t i = 0; i < count; i++) {
		double e = normal(), value = 0;

		switch (noise) {
		case QUIET:
			value = level * (1 + 0.01 * e);
			break;
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
			   blocks.least_error, PERMUTATIONS, ret_result))
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

/*
 * Of one line by itself, where nothing changed, p is at most 0.05 in 5 % of the cases. Short runs
 * of noise that remembers cannot know how long it remembers: there it is more.
 */
static void false_alarms(void **state)
{
	static const struct {
		enum noise noise;
		size_t bins;
		double most_at_5, most_at_tenth; /* shares with p up to 0.05, up to 0.001 */
	} cases[] = {
		{INDEPENDENT, 10, 0.07, 0.005}, {INDEPENDENT, 90, 0.07, 0.01},
		{AR_HALF, 10, 0.12, 0.02},	{AR_HALF, 30, 0.07, 0.01},
		{AR_HALF, 90, 0.07, 0.005},	{AR_STRONG, 10, 0.10, 0.07},
		{AR_STRONG, 30, 0.05, 0.02},	{AR_STRONG, 90, 0.10, 0.02},
		{WALK, 10, 0.08, 0.06},		{WALK, 30, 0.03, 0.01},
		{WALK, 90, 0.03, 0.02},		{SPIKES, 30, 0.07, 0.005},
		{SPARSE, 10, 0.05, 0.02},	{SPARSE, 90, 0.06, 0.005},
		{RAMP, 30, 0.01, 0.005},
	};

	(void)state;
	seed = 1;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double at_5 = share(cases[i].noise, cases[i].bins, 0, 0.05, 200);
		double at_tenth = share(cases[i].noise, cases[i].bins, 0, 0.001, 200);

		printf("# %-12s %3zu windows a side: p <= 0.05 in %4.1f %%, p <= 0.001 in %4.1f "
		       "%%\n",
		       noise_names[cases[i].noise], cases[i].bins, 100 * at_5, 100 * at_tenth);
		assert_true(at_5 <= cases[i].most_at_5);
		assert_true(at_tenth <= cases[i].most_at_tenth);
	}
}

static void power(void **state)
{
	double found;

	(void)state;
	seed = 2;
	found = share(INDEPENDENT, 30, 0.1, 0.0001, 100);
	printf("# +10 %%, noise of 5 %%, 30 windows a side: p <= 0.0001 in %.0f %%\n", 100 * found);
	assert_true(found >= 0.95);
	found = share(AR_HALF, 90, 0.1, 0.0001, 100);
	printf("# the same of AR(0.5), 90 windows a side: %.0f %%\n", 100 * found);
	assert_true(found >= 0.75);
}

/* --- all of the judge: many lines at once --- */

#define LINES 60

/* Of all kinds; two lines each are of the slow kinds, which a run of 30 windows cannot tell from a
 * change: of these alone, one in 500 is called changed. */
static enum noise noise_of(u32 line)
{
	enum noise noise = (enum noise)(line % ARRAY_SIZE(noise_names));

	return line >= 2 * ARRAY_SIZE(noise_names) && (noise == AR_STRONG || noise == WALK)
		       ? AR_HALF
		       : noise;
}

/* Sessions of so many runs a side and windows each, without a line. */
static void make_sides(struct diff *diff, size_t runs, size_t windows)
{
	struct diff_options options = {.fail_over = -1, .run_count = 2 * runs};

	diff_parse_per("wall", &options.per);
	assert_int_equal(diff_init(diff, &options), 0);
	diff->run_count = 2 * runs;
	for (size_t r = 0; r < 2 * runs; r++)
		diff->runs[r] = (struct diff_run){.side = r >= runs,
						  .name = "made up",
						  .first_bin = r * windows,
						  .bin_count = windows,
						  .end_ns = windows * 1000000000ULL,
						  .least_covered = 1};
	diff->bin_count = 2 * runs * windows;
	for (size_t i = 0; i < diff->bin_count; i++)
		diff->bins[i].wall_s = 1;
}

/* Line 0 is slower by change, line l of noise by its number. */
static void make_diff(struct diff *diff, size_t runs, size_t windows, enum noise first,
		      double change, double between_runs)
{
	struct stats_unit units[BINS_MAX];

	make_sides(diff, runs, windows);
	for (u32 l = 0; l < LINES; l++) {
		struct diff_key key = {.table = DIFF_PROCESS, .measure = DIFF_TIME, .name = l};
		struct diff_line *line = hash_add(&diff->lines, &key);
		enum noise noise = l ? noise_of(l) : first;

		line->values = calloc(DIFF_BINS_MAX, sizeof(double));
		for (size_t r = 0; r < 2 * runs; r++) {
			double level = 1e8 * (1 + between_runs * normal());

			make_run(noise, windows, l ? level : level * (r >= runs ? 1 + change : 1),
				 units);
			for (size_t i = 0; i < windows; i++)
				line->values[r * windows + i] = units[i].value;
		}
	}
	assert_int_equal(diff_judge(diff), 0);
}

static const struct diff_line *first_line(const struct diff *diff)
{
	struct diff_key key = {.table = DIFF_PROCESS, .measure = DIFF_TIME};

	return hash_find(&diff->lines, &key);
}

/* 100 pairs of 60 lines of all kinds of noise, 30 windows a side: in one pair at most is a line
 * called changed. */
static void pairs_without_a_change(void **state)
{
	static struct diff diff;
	int bad = 0;

	(void)state;
	seed = 3;
	for (int i = 0; i < 100; i++) {
		make_diff(&diff, 1, 30, INDEPENDENT, 0, 0.005);
		bad += diff.by_verdict[DIFF_CHANGED] > 0;
		diff_free(&diff);
	}
	printf("# A/A: a line is called changed in %d of 100 pairs\n", bad);
	assert_true(bad <= 1);
}

static void pairs_with_a_change(void **state)
{
	static struct diff diff;
	int found = 0, first = 0;

	(void)state;
	seed = 4;
	for (int i = 0; i < 40; i++) {
		const struct diff_line *line;

		make_diff(&diff, 1, 30, INDEPENDENT, 0.15, 0.005);
		line = first_line(&diff);
		found += line->verdict == DIFF_CHANGED && fabs(line->relative / 0.15 - 1) < 0.3;
		first += diff.order[0] == line;
		diff_free(&diff);
	}
	printf("# +15 %%: found and sized in %d, first in %d of 40 pairs\n", found, first);
	assert_true(found >= 36 && first >= 36);
}

/* 1 % is found with ten runs a side if runs differ by little, and never called unchanged. */
static void runs_with_a_small_change(void **state)
{
	static const double between[] = {0.001, 0.01};
	static struct diff diff;

	(void)state;
	seed = 5;
	for (size_t b = 0; b < ARRAY_SIZE(between); b++) {
		int by_verdict[3] = {0};
		bool is_small = true;

		for (int i = 0; i < 20; i++) {
			const struct diff_line *line;

			make_diff(&diff, 10, 12, QUIET, 0.01, between[b]);
			line = first_line(&diff);
			by_verdict[line->verdict]++;
			is_small &= line->mde / line->scale < 0.01;
			diff_free(&diff);
		}
		printf("# +1 %%, runs differ by %.1f %%, ten a side: changed in %d, inconclusive "
		       "in %d, "
		       "unchanged in %d of 20\n",
		       100 * between[b], by_verdict[DIFF_CHANGED], by_verdict[DIFF_INCONCLUSIVE],
		       by_verdict[DIFF_UNCHANGED]);
		assert_int_equal(by_verdict[DIFF_UNCHANGED], 0);
		/* Says itself whether 1 % can be seen. */
		assert_true(b == 0 ? by_verdict[DIFF_CHANGED] >= 15 : !is_small);
	}
}

/* One line alone, of 10 ms per s; what is it called when it is more by so much? */
static enum diff_verdict verdict_on(const char *name, size_t runs, double change)
{
	static struct diff diff;
	struct diff_key key = {.table = DIFF_PROCESS, .measure = DIFF_TIME};
	struct stats_unit units[BINS_MAX];
	enum diff_verdict verdict;
	struct diff_line *line;

	seed = 6;
	make_sides(&diff, runs, 12);
	key.name = strings_add(&diff.strings, name);
	line = hash_add(&diff.lines, &key);
	line->values = calloc(DIFF_BINS_MAX, sizeof(double));
	for (size_t r = 0; r < 2 * runs; r++) {
		make_run(QUIET, 12, 1e7 * (r >= runs ? 1 + change : 1), units);
		for (size_t i = 0; i < 12; i++)
			line->values[r * 12 + i] = units[i].value;
	}
	assert_int_equal(diff_judge(&diff), 0);
	verdict = line->verdict;
	diff_free(&diff);
	return verdict;
}

/* Runs of the same program differ by some ms per s in the kernel, and by less outside. */
static void kernel_time_needs_more(void **state)
{
	(void)state;
	assert_int_equal(verdict_on("cpu.user", 1, 0.3), DIFF_CHANGED);
	assert_int_equal(verdict_on("cpu.syscall", 1, 0.3), DIFF_INCONCLUSIVE);
	assert_int_equal(verdict_on("cpu.syscall", 1, 0.8), DIFF_CHANGED);
	assert_int_equal(verdict_on("cpu.syscall", 10, 0.3), DIFF_CHANGED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(student),
		cmocka_unit_test(arrangements),
		cmocka_unit_test(discoveries),
		cmocka_unit_test(exact),
		cmocka_unit_test(ratio),
		cmocka_unit_test(false_alarms),
		cmocka_unit_test(power),
		cmocka_unit_test(pairs_without_a_change),
		cmocka_unit_test(pairs_with_a_change),
		cmocka_unit_test(runs_with_a_small_change),
		cmocka_unit_test(kernel_time_needs_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
