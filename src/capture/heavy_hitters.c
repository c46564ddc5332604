// SPDX-License-Identifier: Apache-2.0
#include "heavy_hitters.h"

static struct heavy_hitter *find(struct heavy_hitters *hitters, u32 tgid)
{
	struct heavy_hitter *least = &hitters->entries[0];

	for (size_t i = 0; i < hitters->used; i++) {
		if (hitters->entries[i].tgid == tgid)
			return &hitters->entries[i];
		if (hitters->entries[i].count < least->count)
			least = &hitters->entries[i];
	}
	if (hitters->used < HEAVY_HITTERS_MAX) {
		least = &hitters->entries[hitters->used++];
		least->count = 0;
	}
	least->tgid = tgid;
	return least;
}

void heavy_hitters_add(struct heavy_hitters *hitters, u32 tgid, u64 count)
{
	if (!count)
		return;
	find(hitters, tgid)->count += count;
	hitters->total += count;
}

const struct heavy_hitter *heavy_hitters_most(const struct heavy_hitters *hitters)
{
	const struct heavy_hitter *most = NULL;

	for (size_t i = 0; i < hitters->used; i++)
		if (!most || hitters->entries[i].count > most->count)
			most = &hitters->entries[i];
	return most;
}

void heavy_hitters_clear(struct heavy_hitters *hitters)
{
	hitters->used = 0;
	hitters->total = 0;
}
