// SPDX-License-Identifier: Apache-2.0
#include "range_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 64

int range_pool_init(struct range_pool *pool, u32 count)
{
	*pool = (struct range_pool){0};
	pool->free = calloc(CAPACITY_MIN, sizeof(*pool->free));
	if (!pool->free)
		return -ENOMEM;
	pool->free_capacity = CAPACITY_MIN;
	pool->free[0] = (struct range_pool_range){0, count};
	pool->free_count = 1;
	return 0;
}

void range_pool_free(struct range_pool *pool)
{
	free(pool->free);
	free(pool->retired);
	*pool = (struct range_pool){0};
}

static bool touches(const struct range_pool_range *range, const struct range_pool_range *next)
{
	return range->first + range->count == next->first;
}

/* Where a range that begins there belongs in the list. */
static size_t place_of(const struct range_pool *pool, u32 first)
{
	size_t low = 0, high = pool->free_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pool->free[middle].first < first)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Without memory for its entry a range is lost until the end; there is nothing better to do. */
static void insert(struct range_pool *pool, size_t at, const struct range_pool_range *range)
{
	if (pool->free_count == pool->free_capacity) {
		struct range_pool_range *more =
			reallocarray(pool->free, pool->free_capacity * 2, sizeof(*pool->free));

		if (!more)
			return;
		pool->free = more;
		pool->free_capacity *= 2;
	}
	memmove(&pool->free[at + 1], &pool->free[at],
		(pool->free_count - at) * sizeof(*pool->free));
	pool->free[at] = *range;
	pool->free_count++;
}

static void cut_out(struct range_pool *pool, size_t at)
{
	pool->free_count--;
	memmove(&pool->free[at], &pool->free[at + 1],
		(pool->free_count - at) * sizeof(*pool->free));
}

static void make_free(struct range_pool *pool, const struct range_pool_range *range)
{
	size_t at = place_of(pool, range->first);
	struct range_pool_range *before = at ? &pool->free[at - 1] : NULL;
	struct range_pool_range *after = at < pool->free_count ? &pool->free[at] : NULL;

	if (before && touches(before, range)) {
		before->count += range->count;
		if (after && touches(before, after)) {
			before->count += after->count;
			cut_out(pool, at);
		}
	} else if (after && touches(range, after)) {
		after->first = range->first;
		after->count += range->count;
	} else {
		insert(pool, at, range);
	}
}

static void take_back_retired(struct range_pool *pool, u64 now_ns)
{
	while (pool->retired_count) {
		const struct range_pool_retired *oldest = &pool->retired[pool->retired_first];

		if (oldest->free_ns > now_ns)
			return;
		make_free(pool, &oldest->range);
		pool->retired_first = (pool->retired_first + 1) % pool->retired_capacity;
		pool->retired_count--;
	}
}

bool range_pool_take(struct range_pool *pool, u32 count, u64 now_ns, u32 *ret_first)
{
	*ret_first = 0;
	if (!count)
		return true;
	take_back_retired(pool, now_ns);
	for (size_t i = 0; i < pool->free_count; i++) {
		struct range_pool_range *range = &pool->free[i];

		if (range->count < count)
			continue;
		*ret_first = range->first;
		range->first += count;
		range->count -= count;
		if (!range->count)
			cut_out(pool, i);
		pool->used += count;
		return true;
	}
	return false;
}

static bool grow_retired(struct range_pool *pool)
{
	size_t capacity = pool->retired_capacity ? pool->retired_capacity * 2 : CAPACITY_MIN;
	struct range_pool_retired *more = calloc(capacity, sizeof(*more));

	if (!more)
		return false;
	for (size_t i = 0; i < pool->retired_count; i++)
		more[i] = pool->retired[(pool->retired_first + i) % pool->retired_capacity];
	free(pool->retired);
	pool->retired = more;
	pool->retired_first = 0;
	pool->retired_capacity = capacity;
	return true;
}

void range_pool_give_back(struct range_pool *pool, u32 first, u32 count, u64 free_ns)
{
	const struct range_pool_range range = {first, count};

	if (!count)
		return;
	pool->used -= count;
	if (!free_ns) {
		make_free(pool, &range);
		return;
	}
	if (pool->retired_count == pool->retired_capacity && !grow_retired(pool))
		return; /* lost until the end, as above */
	pool->retired[(pool->retired_first + pool->retired_count) % pool->retired_capacity] =
		(struct range_pool_retired){range, free_ns};
	pool->retired_count++;
}
