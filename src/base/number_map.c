// SPDX-License-Identifier: Apache-2.0
#include "number_map.h"

#include <errno.h>
#include <stdlib.h>

int number_map_init(struct number_map *map, u32 max)
{
	*map = (struct number_map){.max = max, .slot_count = 2};
	while (map->slot_count < 2 * max)
		map->slot_count *= 2;
	map->items = calloc(max, sizeof(*map->items));
	map->slots = calloc(map->slot_count, sizeof(*map->slots));
	if (map->items && map->slots)
		return 0;
	number_map_free(map);
	return -ENOMEM;
}

void number_map_free(struct number_map *map)
{
	free(map->items);
	free(map->slots);
	*map = (struct number_map){0};
}

static struct index_slot *slot_of(const struct number_map *map, u32 number)
{
	u32 hash = index_hash(number, 0, 0);
	struct index_slot *slot;

	if (!map->slot_count)
		return NULL;
	for (slot = index_start(map->slots, map->slot_count, hash); slot->place;
	     slot = index_next(map->slots, map->slot_count, slot))
		if (map->items[slot->place - 1].number == number)
			return slot;
	return slot;
}

void *number_map_find(const struct number_map *map, u32 number)
{
	const struct index_slot *slot = slot_of(map, number);

	return slot && slot->place ? map->items[slot->place - 1].thing : NULL;
}

int number_map_set(struct number_map *map, u32 number, void *thing)
{
	struct index_slot *slot = slot_of(map, number);

	if (!slot || (!slot->place && map->count == map->max))
		return -ENOSPC;
	if (!slot->place)
		*slot = (struct index_slot){index_hash(number, 0, 0), ++map->count};
	map->items[slot->place - 1] = (struct number_item){number, thing};
	return 0;
}

void *number_map_remove(struct number_map *map, u32 number)
{
	struct index_slot *slot = slot_of(map, number);
	u32 place, last = map->count - 1;
	void *thing;

	if (!slot || !slot->place)
		return NULL;
	place = slot->place - 1;
	thing = map->items[place].thing;
	index_free(map->slots, map->slot_count, slot);
	if (place != last) {
		map->items[place] = map->items[last];
		slot_of(map, map->items[place].number)->place = place + 1;
	}
	map->count = last;
	return thing;
}
