// SPDX-License-Identifier: Apache-2.0
#include "room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 64

int room_init(struct room *room, u32 count)
{
	*room = (struct room){0};
	room->free = calloc(CAPACITY_MIN, sizeof(*room->free));
	if (!room->free)
		return -ENOMEM;
	room->free_capacity = CAPACITY_MIN;
	room->free[0] = (struct room_range){0, count};
	room->free_count = 1;
	return 0;
}

void room_free(struct room *room)
{
	free(room->free);
	free(room->retired);
	*room = (struct room){0};
}

static bool touches(const struct room_range *range, const struct room_range *next)
{
	return range->first + range->count == next->first;
}

/* Where a range that begins there belongs in the list. */
static size_t place_of(const struct room *room, u32 first)
{
	size_t low = 0, high = room->free_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (room->free[middle].first < first)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Without memory for its entry a range is lost until the end; there is nothing better to do. */
static void insert(struct room *room, size_t at, const struct room_range *range)
{
	if (room->free_count == room->free_capacity) {
		struct room_range *more =
			reallocarray(room->free, room->free_capacity * 2, sizeof(*room->free));

		if (!more)
			return;
		room->free = more;
		room->free_capacity *= 2;
	}
	memmove(&room->free[at + 1], &room->free[at],
		(room->free_count - at) * sizeof(*room->free));
	room->free[at] = *range;
	room->free_count++;
}

static void cut_out(struct room *room, size_t at)
{
	room->free_count--;
	memmove(&room->free[at], &room->free[at + 1],
		(room->free_count - at) * sizeof(*room->free));
}

static void make_free(struct room *room, const struct room_range *range)
{
	size_t at = place_of(room, range->first);
	struct room_range *before = at ? &room->free[at - 1] : NULL;
	struct room_range *after = at < room->free_count ? &room->free[at] : NULL;

	if (before && touches(before, range)) {
		before->count += range->count;
		if (after && touches(before, after)) {
			before->count += after->count;
			cut_out(room, at);
		}
	} else if (after && touches(range, after)) {
		after->first = range->first;
		after->count += range->count;
	} else {
		insert(room, at, range);
	}
}

static void take_back_retired(struct room *room, u64 now_ns)
{
	while (room->retired_count) {
		const struct room_retired *oldest = &room->retired[room->retired_first];

		if (oldest->free_ns > now_ns)
			return;
		make_free(room, &oldest->range);
		room->retired_first = (room->retired_first + 1) % room->retired_capacity;
		room->retired_count--;
	}
}

bool room_take(struct room *room, u32 count, u64 now_ns, u32 *ret_first)
{
	*ret_first = 0;
	if (!count)
		return true;
	take_back_retired(room, now_ns);
	for (size_t i = 0; i < room->free_count; i++) {
		struct room_range *range = &room->free[i];

		if (range->count < count)
			continue;
		*ret_first = range->first;
		range->first += count;
		range->count -= count;
		if (!range->count)
			cut_out(room, i);
		room->used += count;
		return true;
	}
	return false;
}

static bool grow_retired(struct room *room)
{
	size_t capacity = room->retired_capacity ? room->retired_capacity * 2 : CAPACITY_MIN;
	struct room_retired *more = calloc(capacity, sizeof(*more));

	if (!more)
		return false;
	for (size_t i = 0; i < room->retired_count; i++)
		more[i] = room->retired[(room->retired_first + i) % room->retired_capacity];
	free(room->retired);
	room->retired = more;
	room->retired_first = 0;
	room->retired_capacity = capacity;
	return true;
}

void room_give_back(struct room *room, u32 first, u32 count, u64 free_ns)
{
	const struct room_range range = {first, count};

	if (!count)
		return;
	room->used -= count;
	if (!free_ns) {
		make_free(room, &range);
		return;
	}
	if (room->retired_count == room->retired_capacity && !grow_retired(room))
		return; /* lost until the end, as above */
	room->retired[(room->retired_first + room->retired_count) % room->retired_capacity] =
		(struct room_retired){range, free_ns};
	room->retired_count++;
}
