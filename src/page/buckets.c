// SPDX-License-Identifier: Apache-2.0
#include "buckets.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

u32 buckets_next(u32 windows)
{
	static const u32 steps[] = {1, 10, 60, 600, 3600, 36000, 360000};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i] > windows)
			return steps[i];
	return windows;
}

void buckets_init(struct buckets *buckets, size_t item_size, size_t value_count, size_t max_from,
		  size_t limit, u32 window_count)
{
	*buckets = (struct buckets){.windows = 1,
				    .window_count = window_count,
				    .value_count = value_count,
				    .max_from = max_from};
	hash_init(&buckets->rows, item_size, item_size - value_count * sizeof(s64), limit);
}

static bool is_one(const struct buckets *buckets)
{
	return buckets->windows >= buckets->window_count ||
	       buckets_next(buckets->windows) == buckets->windows;
}

void buckets_allow(struct buckets *buckets, size_t most)
{
	buckets->most = most;
	if (is_one(buckets))
		buckets->rows.max = most;
}

void buckets_free(struct buckets *buckets)
{
	hash_free(&buckets->rows);
}

static s64 *values_of(const struct buckets *buckets, void *item)
{
	return (s64 *)((char *)item + buckets->rows.key_size);
}

static void add_values(const struct buckets *buckets, s64 *to, const s64 *from)
{
	for (size_t i = 0; i < buckets->value_count; i++)
		if (i >= buckets->max_from)
			to[i] = from[i] > to[i] ? from[i] : to[i];
		else if (__builtin_add_overflow(to[i], from[i], &to[i]))
			to[i] = from[i] > 0 ? INT64_MAX : INT64_MIN;
}

static void set_bucket(void *item, u32 bucket)
{
	memcpy(item, &bucket, sizeof(bucket));
}

static u32 bucket_of(const void *item)
{
	u32 bucket;

	memcpy(&bucket, item, sizeof(bucket));
	return bucket;
}

/* Longer buckets: rows that then have one key become one. */
static int coarsen(struct buckets *buckets)
{
	u32 windows = buckets_next(buckets->windows), factor = windows / buckets->windows;
	struct hash fewer;

	hash_init(&fewer, buckets->rows.item_size, buckets->rows.key_size, buckets->rows.max);
	for (size_t i = 0; i < buckets->rows.count; i++) {
		void *item = hash_item(&buckets->rows, i), *row;

		set_bucket(item, bucket_of(item) / factor);
		row = hash_add(&fewer, item);
		if (!row) {
			hash_free(&fewer);
			return -ENOMEM;
		}
		add_values(buckets, values_of(buckets, row), values_of(buckets, item));
	}
	hash_free(&buckets->rows);
	buckets->rows = fewer;
	buckets->windows = windows;
	if (buckets->most && is_one(buckets))
		buckets->rows.max = buckets->most;
	return 0;
}

int buckets_add(struct buckets *buckets, void *item)
{
	u32 window = bucket_of(item);

	for (;;) {
		void *row;
		int err;

		set_bucket(item, window / buckets->windows);
		row = hash_add(&buckets->rows, item);
		if (row) {
			add_values(buckets, values_of(buckets, row), values_of(buckets, item));
			return 0;
		}
		if (!hash_is_full(&buckets->rows))
			return -ENOMEM;
		if (is_one(buckets))
			break;
		err = coarsen(buckets);
		if (err)
			return err;
	}
	buckets->left_out++;
	buckets->left_value += values_of(buckets, item)[0];
	return 0;
}

static bool has_value(const void *item, const void *context)
{
	const struct buckets *buckets = context;
	const s64 *values = (const s64 *)((const char *)item + buckets->rows.key_size);

	for (size_t i = 0; i < buckets->value_count; i++)
		if (values[i])
			return true;
	return false;
}

void buckets_sort(struct buckets *buckets, int (*compare)(const void *a, const void *b))
{
	hash_retain(&buckets->rows, has_value, buckets);
	if (buckets->rows.count)
		qsort(buckets->rows.items, buckets->rows.count, buckets->rows.item_size, compare);
}
