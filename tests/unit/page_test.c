// SPDX-License-Identifier: Apache-2.0
/* Rows by bucket of time: however few rows there may be, sums are exact and in the right place. */
#include <stdlib.h>

#include "../../src/base/cleanup.h"
#include "../../src/page/buckets.h"
#include "unit.h"

#define WINDOWS 7205 /* two hours, and a last bucket that is not full */

/* How much of a state falls into each bucket, by the meaning of span. */
static void spread(const struct stretches *stretches, double *to, size_t count)
{
	for (size_t i = 0; i < stretches->rows.count; i++) {
		const struct stretch_row *row = hash_item(&stretches->rows, i);

		for (u32 b = row->bucket; b < row->bucket + row->span; b++) {
			assert_true(b < count);
			to[b] += (double)row->ns / row->span;
		}
	}
}

static s64 sum_of(const struct stretches *stretches)
{
	s64 sum = 0;

	for (size_t i = 0; i < stretches->rows.count; i++)
		sum += ((const struct stretch_row *)hash_item(&stretches->rows, i))->ns;
	return sum;
}

static void a_long_wait_is_one_row(void **state)
{
	struct stretches stretches;

	(void)state;
	stretches_init(&stretches, 100, WINDOWS);
	assert_int_equal(stretches_add(&stretches, 3, 5000, 1, 2, 5000000), 0);
	assert_int_equal(stretches.rows.count, 1);
	assert_int_equal(stretches.windows, 1);
	stretches_free(&stretches);
}

static void stretches_stay_exact_when_buckets_grow(void **state)
{
	struct stretches stretches;
	double buckets[1 + WINDOWS / 60] = {0};
	s64 sum = 0;

	(void)state;
	stretches_init(&stretches, 2000, WINDOWS);
	/* Waits of 97 windows at 7 ns each, one after the other, and a row of 13 ns in each window.
	 */
	for (u32 at = 0; at < WINDOWS; at += 97) {
		u32 count = at + 97 < WINDOWS ? 97 : WINDOWS - at;

		assert_int_equal(stretches_add(&stretches, at, count, 1, 2, 7 * (s64)count), 0);
		sum += 7 * (s64)count;
	}
	for (u32 at = 0; at < WINDOWS; at++)
		assert_int_equal(stretches_add(&stretches, at, 1, 1, 3, 13), 0);
	sum += 13 * WINDOWS;
	stretches_sort(&stretches);
	assert_int_equal(stretches.windows, 10);
	assert_int_equal(stretches.left_out, 0);
	assert_true(sum_of(&stretches) == sum);

	/* Once more, to 60 windows: each full bucket has 60 times 20 ns, but for rounding. */
	for (u32 i = 0; stretches.windows < 60; i++) {
		assert_int_equal(stretches_add(&stretches, i, 1, 100 + i, 4, 1), 0);
		sum++;
	}
	assert_true(sum_of(&stretches) == sum);
	spread(&stretches, buckets, ARRAY_SIZE(buckets));
	for (size_t b = 70; b < WINDOWS / 60; b++)
		assert_true(buckets[b] > 1200 - 8 && buckets[b] < 1200 + 8);
	stretches_free(&stretches);
}

static void what_finds_no_place_is_counted(void **state)
{
	struct stretches stretches;

	(void)state;
	stretches_init(&stretches, 10, WINDOWS);
	for (u32 thread = 0; thread < 25; thread++)
		assert_int_equal(stretches_add(&stretches, thread, 50, thread, 1, 1000), 0);
	assert_int_equal(stretches.rows.count, 10);
	assert_int_equal(stretches.left_out, 15);
	assert_true(sum_of(&stretches) + stretches.left_ns == 25000);
	stretches_free(&stretches);
}

static void a_correction_takes_back(void **state)
{
	struct stretches stretches;

	(void)state;
	stretches_init(&stretches, 10, WINDOWS);
	assert_int_equal(stretches_add(&stretches, 5, 30, 1, 1, 900), 0);
	assert_int_equal(stretches_add(&stretches, 5, 30, 1, 1, -900), 0);
	assert_int_equal(stretches_add(&stretches, 5, 30, 1, 2, 900), 0);
	stretches_sort(&stretches);
	assert_int_equal(stretches.rows.count, 1);
	stretches_free(&stretches);
}

static void a_grid_spreads_exactly(void **state)
{
	struct grid_row *rows;
	struct grid grid;
	s64 ns = 0, count = 0;
	size_t row_count;

	(void)state;
	assert_int_equal(state_grid_init(&grid, 2, WINDOWS), 0);
	assert_int_equal(
		state_grid_add(&grid, &(struct grid_line){7, 1}, 10, 1003, 10000000019LL, 3), 0);
	assert_int_equal(state_grid_add(&grid, &(struct grid_line){7, 2}, 0, 1, 42, 1), 0);
	rows = state_grid_rows(&grid, 100, &row_count);
	assert_non_null(rows);
	assert_true(row_count <= 100 && row_count > 2);
	for (size_t i = 0; i < row_count; i++) {
		ns += rows[i].ns;
		count += rows[i].count;
		assert_int_equal(rows[i].group, 7);
		if (rows[i].state == 1) /* bucket 16 of 60 windows is the last, with 1012 - 960 */
			assert_true(rows[i].bucket <= 16);
	}
	assert_int_equal(grid.windows, 60);
	assert_true(ns == 10000000019LL + 42);
	assert_true(count == 4);
	free(rows);
	state_grid_free(&grid);
}

struct item {
	u32 bucket, key;
	s64 sum, max;
};

static int by_bucket(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return x->bucket < y->bucket ? -1 : x->bucket > y->bucket;
}

static void buckets_add_sums_and_keep_maxima(void **state)
{
	struct buckets buckets;
	s64 sum = 0;

	(void)state;
	buckets_init(&buckets, sizeof(struct item), 2, 1, 100, WINDOWS);
	for (u32 window = 0; window < 3600; window++) {
		struct item item = {window, 5, window, window};

		assert_int_equal(buckets_add(&buckets, &item), 0);
		sum += window;
	}
	buckets_sort(&buckets, by_bucket);
	assert_int_equal(buckets.windows, 60);
	assert_int_equal(buckets.rows.count, 60);
	for (u32 i = 0; i < 60; i++) {
		const struct item *item = hash_item(&buckets.rows, i);

		assert_int_equal(item->bucket, i);
		assert_int_equal(item->max, i * 60 + 59);
		sum -= item->sum;
	}
	assert_true(sum == 0);
	buckets_free(&buckets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_wait_is_one_row),
		cmocka_unit_test(stretches_stay_exact_when_buckets_grow),
		cmocka_unit_test(what_finds_no_place_is_counted),
		cmocka_unit_test(a_correction_takes_back),
		cmocka_unit_test(a_grid_spreads_exactly),
		cmocka_unit_test(buckets_add_sums_and_keep_maxima),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
