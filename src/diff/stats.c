// SPDX-License-Identifier: Apache-2.0
#include "stats.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEED		  0x9e3779b97f4a7c15ULL
#define CORRELATION_MOST  0.9
#define SHORT_RUN	  0.15 /* 1 over its length: there the slope of the bias is left alone */
#define LOOK_AFTER	  1000 /* permutations: by then most lines are known to be ordinary */
#define ORDINARY_BY_THEN  60   /* of these at least as extreme: p is above 0.05 */
#define BETA_TERMS	  300
#define BETA_PRECISION	  1e-14
#define QUANTILE_HALVINGS 200

/* --- Student's t --- */

/* The continued fraction of the incomplete beta function. */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), result;

	d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
	result = d;
	for (int m = 1; m <= BETA_TERMS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		for (int step = 0; step < 2; step++) {
			double by = step ? odd : even;

			d = 1 + by * d;
			d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
			c = 1 + by / c;
			c = fabs(c) < DBL_MIN ? DBL_MIN : c;
			result *= c * d;
		}
		if (fabs(c * d - 1) < BETA_PRECISION)
			break;
	}
	return result;
}

static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double stats_t_tail(double t, double freedom)
{
	return isfinite(t) ? incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) : 0;
}

double stats_t_beyond(double tail, double freedom)
{
	double low = 0, high = 1;

	while (high < 1e12 && stats_t_tail(high, freedom) > tail)
		high *= 2;
	for (int i = 0; i < QUANTILE_HALVINGS && high - low > 1e-9 * high; i++) {
		double middle = (low + high) / 2;

		if (stats_t_tail(middle, freedom) > tail)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* --- autocorrelation --- */

static double rate_of(const struct stats_unit *units, size_t count)
{
	double value = 0, work = 0;

	for (size_t i = 0; i < count; i++) {
		value += units[i].value;
		work += units[i].work;
	}
	return work > 0 ? value / work : 0;
}

double stats_correlation(const struct stats_unit *units, const struct stats_run *runs,
			 size_t run_count)
{
	double together = 0, alone = 0, hidden = 0, pairs = 0, correlation;

	for (size_t r = 0; r < run_count; r++) {
		const struct stats_unit *unit = units + runs[r].first;
		size_t count = runs[r].count;
		double rate = rate_of(unit, count), former = 0;

		if (count < 3)
			continue;
		for (size_t i = 0; i < count; i++) {
			double rest = unit[i].value - rate * unit[i].work;

			together += i ? rest * former : 0;
			alone += rest * rest * (double)(count - 1) / (double)count;
			former = rest;
		}
		/*
		 * Deviations from a mean of their own sum to 0, so they seem to disagree: by
		 * (1 + 4 correlation) / count.
		 */
		hidden += (double)(count - 1) / (double)count;
		pairs += (double)(count - 1);
	}
	if (alone <= 0 || pairs < 2)
		return 0;
	hidden /= pairs; /* about 1 over the length of a run */
	correlation = together / alone + hidden;
	if (hidden < SHORT_RUN)
		correlation /= 1 - 4 * hidden;
	if (correlation < 0)
		return 0;
	return correlation < CORRELATION_MOST ? correlation : CORRELATION_MOST;
}

/* --- the test --- */

/* Sums over the units of one side: of deviations from the rate of all, and of work. */
struct sums {
	double rest, work, rest2, rest_work, work2;
};

static inline void sums_add(struct sums *sums, const struct stats_unit *unit)
{
	sums->rest += unit->value;
	sums->work += unit->work;
	sums->rest2 += unit->value * unit->value;
	sums->rest_work += unit->value * unit->work;
	sums->work2 += unit->work * unit->work;
}

static inline struct sums sums_of_rest(const struct sums *all, const struct sums *part)
{
	return (struct sums){all->rest - part->rest, all->work - part->work,
			     all->rest2 - part->rest2, all->rest_work - part->rest_work,
			     all->work2 - part->work2};
}

/* Variance of the ratio of two sums, as in survey sampling: the rest that the ratio leaves. */
static inline double variance(const struct sums *sums, double count, double *ret_rate)
{
	double rate = sums->work > 0 ? sums->rest / sums->work : 0, squares;

	*ret_rate = rate;
	if (sums->work <= 0 || count < 2)
		return 0;
	squares = sums->rest2 - 2 * rate * sums->rest_work + rate * rate * sums->work2;
	return squares > 0 ? squares * count / (count - 1) / (sums->work * sums->work) : 0;
}

/* |t|; floor keeps units without any noise from being infinitely sure. */
static inline double statistic(const struct sums *all, const struct sums *part, double count0,
			       double count1, double floor)
{
	struct sums other = sums_of_rest(all, part);
	double rate0, rate1, both;

	if (part->work <= 0 || other.work <= 0)
		return 0;
	both = variance(part, count0, &rate0) + variance(&other, count1, &rate1);
	return fabs(rate1 - rate0) / sqrt(both + floor);
}

struct test {
	const struct stats_unit *units; /* value: the deviation */
	size_t count, chosen;
	struct sums all;
	double observed, floor;
};

static bool is_as_extreme(const struct test *test, const struct sums *part)
{
	double t = statistic(&test->all, part, (double)test->chosen,
			     (double)(test->count - test->chosen), test->floor);

	return t >= test->observed * (1 - 1e-9);
}

static u64 next_random(u64 *state)
{
	u64 x = *state += SEED;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* Arrangements at random; ends early for a line that is plainly ordinary. */
static double permute(const struct test *test, u64 permutations)
{
	u16 order[STATS_UNITS_MAX];
	u64 state = SEED, extreme = 0;

	for (size_t i = 0; i < test->count; i++)
		order[i] = (u16)i;
	for (u64 done = 1; done <= permutations; done++) {
		struct sums part = {0};

		for (size_t i = 0; i < test->chosen; i++) {
			size_t left = test->count - i;
			size_t pick = i + (size_t)((next_random(&state) >> 32) * left >> 32);
			u16 taken = order[pick];

			order[pick] = order[i];
			order[i] = taken;
			sums_add(&part, &test->units[taken]);
		}
		extreme += is_as_extreme(test, &part);
		if (done == LOOK_AFTER && extreme >= ORDINARY_BY_THEN)
			return (double)(extreme + 1) / (double)(done + 1);
	}
	return (double)(extreme + 1) / (double)(permutations + 1);
}

/* All arrangements, where there are few. */
static double enumerate(const struct test *test)
{
	size_t at[STATS_UNITS_MAX], k = test->chosen, i;
	u64 extreme = 0, all = 0;

	for (i = 0; i < k; i++)
		at[i] = i;
	for (;;) {
		struct sums part = {0};

		for (i = 0; i < k; i++)
			sums_add(&part, &test->units[at[i]]);
		extreme += is_as_extreme(test, &part);
		all++;
		for (i = k; i > 0 && at[i - 1] == test->count - k + i - 1;)
			i--;
		if (!i)
			break;
		at[i - 1]++;
		for (; i < k; i++)
			at[i] = at[i - 1] + 1;
	}
	return (double)extreme / (double)all;
}

u64 stats_arrangements(size_t count, size_t chosen, u64 limit)
{
	double ways = 1;

	for (size_t i = 0; i < chosen && ways < (double)limit; i++)
		ways = ways * (double)(count - i) / (double)(i + 1);
	return ways < (double)limit ? (u64)(ways + 0.5) : limit;
}

/* Deviations from the rate of all units: sums of them keep their digits. */
static double center(const struct stats_unit *units, size_t count, struct stats_unit *ret_units)
{
	double rate = rate_of(units, count);

	for (size_t i = 0; i < count; i++) {
		ret_units[i].work = units[i].work;
		ret_units[i].value = units[i].value - rate * units[i].work;
	}
	return rate;
}

static double freedom_of(const struct stats_result *result, double v0, double v1)
{
	double n0 = (double)result->units[0] - 1, n1 = (double)result->units[1] - 1;
	double both = v0 + v1, split = v0 * v0 / n0 + v1 * v1 / n1;

	return split > 0 ? both * both / split : n0 + n1;
}

/* Rates and errors of both sides, as the units came. */
static void estimate(const struct test *test, const struct sums part[2], double mean,
		     double inflation, struct stats_result *result)
{
	double v[2];

	for (int side = 0; side < 2; side++) {
		double rate;

		v[side] = variance(&part[side], (double)result->units[side], &rate) + test->floor;
		result->rate[side] = part[side].work > 0 ? mean + rate : 0;
		result->error[side] = sqrt(v[side] * inflation);
	}
	result->effect = result->rate[1] - result->rate[0];
	result->error_of_effect = sqrt((v[0] + v[1]) * inflation);
	if (result->units[0] > 1 && result->units[1] > 1)
		result->freedom = freedom_of(result, v[0], v[1]);
}

bool stats_compare(const struct stats_unit *units, size_t count0, size_t count1, double correlation,
		   double least_error, u64 permutations, struct stats_result *ret_result)
{
	struct stats_unit centered[STATS_UNITS_MAX];
	struct sums part[2] = {{0}};
	struct test test = {.units = centered, .count = count0 + count1, .chosen = count0};
	double inflation = (1 + correlation) / (1 - correlation), mean, smallest;
	u64 ways;

	*ret_result = (struct stats_result){
		.p = 1, .least_p = 1, .freedom = 1, .correlation = correlation};
	ret_result->units[0] = count0;
	ret_result->units[1] = count1;
	if (test.count > STATS_UNITS_MAX)
		return false;
	mean = center(units, test.count, centered);
	for (size_t i = 0; i < test.count; i++)
		sums_add(&part[i >= count0], &centered[i]);
	for (size_t i = 0; i < test.count; i++)
		sums_add(&test.all, &centered[i]);
	/* A rate is known to a millionth at best. */
	smallest = 1e-6 * fabs(mean);
	test.floor = smallest * smallest;
	estimate(&test, part, mean, inflation, ret_result);
	if (ret_result->error_of_effect > 0 && ret_result->error_of_effect < least_error) {
		double by = least_error / ret_result->error_of_effect;

		inflation *= by * by;
		estimate(&test, part, mean, inflation, ret_result);
	}
	if (!permutations || count0 < STATS_UNITS_MIN || count1 < STATS_UNITS_MIN ||
	    part[0].work <= 0 || part[1].work <= 0)
		return false;
	ways = stats_arrangements(test.count, count0, permutations + 1);
	/* Of equal sides each arrangement has its mirror image, which is as extreme. */
	ret_result->least_p = (count0 == count1 ? 2.0 : 1.0) / (double)ways;
	if (ways > permutations)
		ret_result->least_p = 1 / (double)(permutations + 1);
	test.observed = statistic(&test.all, &part[0], (double)count0, (double)count1, test.floor) /
			sqrt(inflation);
	if (test.observed <= 0)
		return true;
	ret_result->p = ways <= permutations ? enumerate(&test) : permute(&test, permutations);
	return true;
}

/* --- all lines together --- */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double stats_discoveries(const double *p, size_t count, double rate, double *order)
{
	double most = 0;

	memcpy(order, p, count * sizeof(*p));
	qsort(order, count, sizeof(*order), by_size);
	for (size_t i = 0; i < count; i++)
		if (order[i] <= rate * (double)(i + 1) / (double)count)
			most = order[i];
	return most;
}
