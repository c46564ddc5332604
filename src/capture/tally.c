// SPDX-License-Identifier: Apache-2.0
#include "tally.h"

static struct tally_entry *find(struct tally *tally, u32 tgid)
{
	struct tally_entry *least = &tally->entries[0];

	for (size_t i = 0; i < tally->used; i++) {
		if (tally->entries[i].tgid == tgid)
			return &tally->entries[i];
		if (tally->entries[i].count < least->count)
			least = &tally->entries[i];
	}
	if (tally->used < TALLY_MAX) {
		least = &tally->entries[tally->used++];
		least->count = 0;
	}
	least->tgid = tgid;
	return least;
}

void tally_add(struct tally *tally, u32 tgid, u64 count)
{
	if (!count)
		return;
	find(tally, tgid)->count += count;
	tally->total += count;
}

const struct tally_entry *tally_most(const struct tally *tally)
{
	const struct tally_entry *most = NULL;

	for (size_t i = 0; i < tally->used; i++)
		if (!most || tally->entries[i].count > most->count)
			most = &tally->entries[i];
	return most;
}

void tally_clear(struct tally *tally)
{
	tally->used = 0;
	tally->total = 0;
}
