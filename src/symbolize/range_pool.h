/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of an array that somebody else reads without a lock: given out first-fit, and given out
 * again only when the reader must have left. Owns the lists, not the array. Called by
 * unwind_tables.c.
 */
#ifndef DWELL_SYMBOLIZE_RANGE_POOL_H
#define DWELL_SYMBOLIZE_RANGE_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/types.h"

struct range_pool_range {
	u32 first;
	u32 count;
};

struct range_pool_retired {
	struct range_pool_range range;
	u64 free_ns; /* from then on nobody reads it */
};

struct range_pool {
	struct range_pool_range *free; /* sorted, no two touch */
	size_t free_count, free_capacity;
	struct range_pool_retired *retired; /* a ring, oldest first; free_ns only grows */
	size_t retired_first, retired_count, retired_capacity;
	u32 used; /* given out, and not retired yet */
};

int range_pool_init(struct range_pool *pool, u32 count);
void range_pool_free(struct range_pool *pool);

/* False if there is no such range. An empty one is always there. */
bool range_pool_take(struct range_pool *pool, u32 count, u64 now_ns, u32 *ret_first);

/* Usable again from free_ns on, which only grows from call to call; 0: at once. */
void range_pool_give_back(struct range_pool *pool, u32 first, u32 count, u64 free_ns);

#endif
