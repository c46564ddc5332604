// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../abi/series.h"
#include "../../src/base/cleanup.h"
#include "../../src/model/hist.h"
#include "../../src/report/histogram_modes.h"
#include "unit.h"

#define VALUES 1000000

_Static_assert(sizeof(struct series_stripe) <= 4096, "a series has 4 KiB on a CPU");

/* --- chance, the same in each run --- */

static u64 seed;

static u64 next(void)
{
	u64 x = seed += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* In (0, 1]. */
static double chance(void)
{
	return ((double)(next() >> 11) + 1) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(chance())) * cos(2 * M_PI * chance());
}

static double uniform(void)
{
	return 1000 + 1e7 * chance();
}

static double exponential(void)
{
	return -2e5 * log(chance());
}

static double lognormal(void)
{
	return exp(log(5e4) + 1.5 * normal());
}

static double bimodal(void)
{
	return chance() < 0.82 ? exp(log(2.1e5) + 0.2 * normal())
			       : exp(log(1.4e7) + 0.1 * normal());
}

static double pareto(void)
{
	return 2000 * pow(chance(), -1 / 1.2);
}

/* Each decade alike: no mode at all. */
static double log_uniform(void)
{
	return exp(log(1e3) + log(1e4) * chance());
}

static double three_kinds(void)
{
	double which = chance();

	return which < 0.5   ? exp(log(3e3) + 0.25 * normal())
	       : which < 0.9 ? exp(log(2e5) + 0.25 * normal())
			     : exp(log(9e6) + 0.25 * normal());
}

typedef double distribution(void);

static struct hist *fill(distribution *of, size_t count, u64 *values)
{
	struct hist *hist = calloc(1, sizeof(*hist));

	assert_non_null(hist);
	for (size_t i = 0; i < count; i++) {
		u64 value = (u64)of();

		hist_add(hist, value);
		if (values)
			values[i] = value;
	}
	return hist;
}

/* --- the histogram --- */

static int by_value(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void percentiles_are_near_those_of_a_sort(void **state)
{
	static const struct {
		const char *name;
		distribution *of;
	} rows[] = {{"uniform", uniform},
		    {"exponential", exponential},
		    {"log-normal", lognormal},
		    {"bimodal", bimodal},
		    {"Pareto", pareto}};
	static const double shares[] = {0.5, 0.9, 0.99, 0.999, 0.9999};
	_cleanup_free_ u64 *values = calloc(VALUES, sizeof(*values));

	(void)state;
	assert_non_null(values);
	for (size_t r = 0; r < ARRAY_SIZE(rows); r++) {
		_cleanup_free_ struct hist *hist = NULL;
		double worst = 0;

		seed = r + 1;
		hist = fill(rows[r].of, VALUES, values);
		qsort(values, VALUES, sizeof(*values), by_value);
		for (size_t s = 0; s < ARRAY_SIZE(shares); s++) {
			double exact = (double)values[(size_t)ceil(shares[s] * VALUES) - 1];
			double ours = (double)hist_percentile(hist, shares[s]);
			double error = fabs(ours - exact) / exact;

			worst = error > worst ? error : worst;
			if (error > HIST_ERROR)
				fail_msg("%s, p%g: %.0f instead of %.0f", rows[r].name,
					 100 * shares[s], ours, exact);
		}
		print_message("# %s: within %.2f %%\n", rows[r].name, 100 * worst);
		assert_int_equal(hist_percentile(hist, 1), values[VALUES - 1]);
	}
}

/* ceil(16 * log2(value)) + 1, in more digits than a double has. */
static u32 exact_place(u64 value)
{
	long double place = ceill(log2l((long double)value) * HIST_PER_OCTAVE) + 1;

	if (!value)
		return 0;
	return place >= HIST_BUCKETS ? HIST_BUCKETS - 1 : (u32)place;
}

static void place_is_what_the_logarithm_says(void **state)
{
	(void)state;
	for (u64 value = 0; value < 100000; value++)
		assert_int_equal(hist_place(value), exact_place(value));
	seed = 7;
	for (int i = 0; i < 300000; i++) {
		u64 value = next() >> next() % 64;

		/* Where even long doubles cannot tell, we do not ask. */
		if (fabsl(log2l((long double)value) * HIST_PER_OCTAVE -
			  roundl(log2l((long double)value) * HIST_PER_OCTAVE)) < 1e-12L)
			continue;
		assert_int_equal(hist_place(value), exact_place(value));
	}
	assert_int_equal(hist_place(~0ULL), HIST_BUCKETS - 1);
}

/* Each boundary, and what is beside it. */
static void bucket_has_the_values_that_it_says(void **state)
{
	(void)state;
	for (u32 place = 0; place < HIST_BUCKETS - 1; place++) {
		u64 least = hist_least(place), most = hist_most(place);

		if (least > most)
			continue; /* no whole number is in it */
		assert_int_equal(hist_place(least), place);
		assert_int_equal(hist_place(most), place);
		assert_true(hist_place(most + 1) > place);
		assert_true(!least || hist_place(least - 1) < place);
	}
}

/* Of small numbers there are few in a bucket: if there is one, it is known; else whole ones are
 * told. */
static void small_numbers_are_exact(void **state)
{
	(void)state;
	for (u64 value = 0; value < 20000; value++) {
		struct hist hist = {0};
		u64 found;

		for (int i = 0; i < 10; i++)
			hist_add(&hist, value);
		hist_add(&hist, 100000); /* else the largest is known */
		found = hist_percentile(&hist, 0.5);
		if (value < 23)
			assert_int_equal(found, value);
		if (fabs((double)found - (double)value) > HIST_ERROR * (double)value + 0.5)
			fail_msg("%llu instead of %llu", found, value);
	}
}

static void nothing_has_no_percentiles(void **state)
{
	struct hist hist = {0};

	(void)state;
	assert_int_equal(hist_percentile(&hist, 0.5), 0);
	hist_add(&hist, 42);
	assert_int_equal(hist_percentile(&hist, 0), 42);
	assert_int_equal(hist_percentile(&hist, 1), 42);
}

static void merged_is_as_if_it_had_been_one(void **state)
{
	struct hist both = {0}, one = {0}, other = {0};

	(void)state;
	seed = 3;
	for (int i = 0; i < 10000; i++) {
		u64 value = (u64)lognormal();

		hist_add(&both, value);
		hist_add(i % 3 ? &one : &other, value);
	}
	hist_merge(&one, &other);
	assert_memory_equal(&one, &both, sizeof(both));
}

static void text_is_read_as_it_was_printed(void **state)
{
	_cleanup_free_ struct hist *hist = NULL, *again = calloc(1, sizeof(*again));
	_cleanup_free_ char *text = calloc(1, HIST_BUCKETS * 32);
	size_t length;

	(void)state;
	seed = 5;
	hist = fill(pareto, 10000, NULL);
	length = hist_print(hist, text, HIST_BUCKETS * 32);
	assert_int_equal(length, strlen(text));
	assert_int_equal(hist_parse(again, text), 0);
	assert_int_equal(again->count, hist->count);
	assert_memory_equal(again->buckets, hist->buckets, sizeof(hist->buckets));
	assert_int_equal(hist_print(hist, text, 8), length); /* what it would have */
	assert_true(strlen(text) < 8);
	assert_int_equal(hist_print(&(struct hist){0}, text, 8), 0);
	assert_string_equal(text, "");
}

static void hostile_text_is_refused(void **state)
{
	static const char *const texts[] = {
		"x",
		":",
		"1",
		"1:",
		":1",
		"1:x",
		"1:2x",
		"1 :2",
		"-1:2",
		"1:-2",
		"706:1",
		"1:2,3:4",
		"99999999999999999999:1",
		"1:99999999999999999999",
		"1:4611686018427387905",
		" 1:2",
		"1:2  3:4",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct hist hist = {0};

		if (hist_parse(&hist, texts[i]) != -EINVAL)
			fail_msg("'%s' was taken", texts[i]);
	}
	assert_int_equal(hist_parse(&(struct hist){0}, ""), 0);
	assert_int_equal(hist_parse(&(struct hist){0}, "0:1 705:4611686018427387904"), 0);
}

/* However often it is read, no count turns round. */
static void counts_do_not_turn_round(void **state)
{
	struct hist hist = {0};
	int err = 0;

	(void)state;
	for (int i = 0; i < 10 && !err; i++)
		err = hist_parse(&hist, "5:4611686018427387904");
	assert_int_equal(err, -EINVAL);
	assert_true(hist.count <= 1ULL << 63);
}

/* --- modes --- */

static void modes_of(const struct hist *hist, size_t expected, struct modes *ret_humps)
{
	char said[256];

	modes_find(hist, ret_humps);
	modes_say(ret_humps, said, sizeof(said));
	if (ret_humps->count != expected)
		fail_msg("%zu were expected: %s", expected, said);
}

static void one_hump_is_one(void **state)
{
	static distribution *const of[] = {uniform, exponential, lognormal, pareto, log_uniform};
	static const size_t counts[] = {120, 1000, 20000, VALUES};

	(void)state;
	for (size_t d = 0; d < ARRAY_SIZE(of); d++)
		for (size_t c = 0; c < ARRAY_SIZE(counts); c++)
			for (u64 run = 0; run < (counts[c] == VALUES ? 1 : 100); run++) {
				_cleanup_free_ struct hist *hist = NULL;
				struct modes modes;

				seed = 1000 * run + d;
				hist = fill(of[d], counts[c], NULL);
				modes_of(hist, 1, &modes);
				assert_false(modes.count > 1);
			}
}

static void two_humps_are_found_and_named(void **state)
{
	_cleanup_free_ struct hist *hist = NULL;
	struct modes modes;
	char said[256];

	(void)state;
	for (u64 run = 0; run < 20; run++) {
		_cleanup_free_ struct hist *few = NULL;

		seed = run;
		few = fill(bimodal, 500, NULL);
		modes_of(few, 2, &modes);
	}
	seed = 1;
	hist = fill(bimodal, VALUES, NULL);
	modes_of(hist, 2, &modes);
	assert_true(modes.is_average_in_none);
	modes_say(&modes, said, sizeof(said));
	assert_string_equal(said, "two humps: 82 % around 207 us, 18 % around 13.8 ms: "
				  "the average, 2.72 ms, is neither");
}

static void three_humps_are_three(void **state)
{
	_cleanup_free_ struct hist *hist = NULL;
	struct modes modes;
	char said[256];

	(void)state;
	seed = 9;
	hist = fill(three_kinds, 100000, NULL);
	modes_of(hist, 3, &modes);
	modes_say(&modes, said, sizeof(said));
	assert_non_null(strstr(said, "three humps: 50 % around"));
	assert_non_null(strstr(said, "is none of them"));
}

/* One slow one in a hundred thousand is a maximum, but no mode. */
static void few_values_are_no_hump(void **state)
{
	struct hist hist = {0};
	struct modes modes;

	(void)state;
	seed = 2;
	for (int i = 0; i < 100000; i++)
		hist_add(&hist, (u64)exp(log(2e5) + 0.2 * normal()));
	for (int i = 0; i < 15; i++)
		hist_add(&hist, 50000000);
	modes_of(&hist, 1, &modes);
	hist = (struct hist){0};
	for (int i = 0; i < MODES_NEED - 1; i++)
		hist_add(&hist, i % 2 ? 1000 : 1000000);
	modes_of(&hist, 0, &modes);
}

/* Small whole numbers leave buckets empty between them. */
static void steps_of_small_numbers_are_no_humps(void **state)
{
	struct hist hist = {0};
	struct modes modes;

	(void)state;
	for (int i = 0; i < 3000; i++)
		hist_add(&hist, 1 + (u64)i % 30);
	modes_of(&hist, 1, &modes);
}

static void average_within_a_hump_is_not_blamed(void **state)
{
	struct hist hist = {0};
	struct modes modes;
	char said[256];

	(void)state;
	seed = 4;
	for (int i = 0; i < 10000; i++)
		hist_add(&hist, (u64)exp(log(i % 10 ? 1e6 : 1e3) + 0.1 * normal()));
	modes_of(&hist, 2, &modes);
	modes_say(&modes, said, sizeof(said));
	assert_string_equal(said, "two humps: 10 % around 1.00 us, 90 % around 982 us");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_near_those_of_a_sort),
		cmocka_unit_test(place_is_what_the_logarithm_says),
		cmocka_unit_test(bucket_has_the_values_that_it_says),
		cmocka_unit_test(small_numbers_are_exact),
		cmocka_unit_test(nothing_has_no_percentiles),
		cmocka_unit_test(merged_is_as_if_it_had_been_one),
		cmocka_unit_test(text_is_read_as_it_was_printed),
		cmocka_unit_test(hostile_text_is_refused),
		cmocka_unit_test(counts_do_not_turn_round),
		cmocka_unit_test(one_hump_is_one),
		cmocka_unit_test(two_humps_are_found_and_named),
		cmocka_unit_test(three_humps_are_three),
		cmocka_unit_test(few_values_are_no_hump),
		cmocka_unit_test(steps_of_small_numbers_are_no_humps),
		cmocka_unit_test(average_within_a_hump_is_not_blamed),
	};

	return cmocka_run_group_tests_name("hist", tests, NULL, NULL);
}
