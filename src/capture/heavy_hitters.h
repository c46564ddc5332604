/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes that have most of something, in bounded memory. When there are more processes than
 * entries, a new one takes the entry of the smallest and inherits its count: so whoever has more
 * than 1/HEAVY_HITTERS_MAX of all is always there. Owns its entries. Filled by the throttle from
 * rows on their way to the worker.
 */
#ifndef DWELL_CAPTURE_HEAVY_HITTERS_H
#define DWELL_CAPTURE_HEAVY_HITTERS_H

#include <stddef.h>

#include "../../abi/types.h"

#define HEAVY_HITTERS_MAX 256

struct heavy_hitter {
	u64 count;
	u32 tgid;
};

struct heavy_hitters {
	struct heavy_hitter entries[HEAVY_HITTERS_MAX];
	size_t used;
	u64 total;
};

void heavy_hitters_add(struct heavy_hitters *hitters, u32 tgid, u64 count);

/* Valid until the next change; NULL: there is none. */
const struct heavy_hitter *heavy_hitters_most(const struct heavy_hitters *hitters);
void heavy_hitters_clear(struct heavy_hitters *hitters);

#endif
