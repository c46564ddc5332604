/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things by their number, a pid for one: bounded, found by hash, and taken out again. Owns its
 * arrays, not the things. Anyone may use it.
 */
#ifndef DWELL_BASE_NUMBER_MAP_H
#define DWELL_BASE_NUMBER_MAP_H

#include "index.h"

struct number_item {
	u32 number;
	void *thing;
};

struct number_map {
	struct number_item *items; /* dense; removal moves the last one */
	u32 count, max;
	struct index_slot *slots;
	u32 slot_count;
};

/* At most max of them: 0 or -ENOMEM. */
int number_map_init(struct number_map *map, u32 max);
void number_map_free(struct number_map *map);

void *number_map_find(const struct number_map *map, u32 number); /* NULL: there is none */

/* What was there under this number is replaced: 0, or -ENOSPC. */
int number_map_set(struct number_map *map, u32 number, void *thing);

/* What was there, or NULL. */
void *number_map_remove(struct number_map *map, u32 number);

#endif
