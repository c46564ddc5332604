// SPDX-License-Identifier: Apache-2.0
#include "strings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SLOTS_MIN    256
#define STRINGS_MOST 0x7fffffffU

void strings_init(struct strings *strings, size_t max_bytes)
{
	*strings = (struct strings){.max = max_bytes};
	if (getrandom(&strings->seed, sizeof(strings->seed), GRND_NONBLOCK) < 0)
		strings->seed = (u64)(size_t)strings;
}

void strings_free(struct strings *strings)
{
	free(strings->bytes);
	free(strings->starts);
	free(strings->slots);
	*strings = (struct strings){.max = strings->max, .seed = strings->seed};
}

static u32 hash_of(const struct strings *strings, const char *text)
{
	u64 sum = strings->seed;

	for (; *text; text++) {
		sum = (sum ^ (u8)*text) * 0x9e3779b97f4a7c15ULL;
		sum ^= sum >> 29;
	}
	return (u32)(sum ^ (sum >> 32));
}

const char *strings_get(const struct strings *strings, u32 number)
{
	return number < strings->count ? strings->bytes + strings->starts[number] : "";
}

/* Where the text is, or where it would have its place. There is always a free slot. */
static struct strings_slot *slot_of(const struct strings *strings, const char *text, u32 hash)
{
	size_t mask = strings->slot_count - 1, at = hash & mask;
	struct strings_slot *slot = &strings->slots[at];

	while (slot->place &&
	       (slot->hash != hash || strcmp(strings_get(strings, slot->place - 1), text) != 0)) {
		at = (at + 1) & mask;
		slot = &strings->slots[at];
	}
	return slot;
}

/* Into a table that has a free slot, and not this text. */
static void put_slot(struct strings_slot *slots, size_t slot_count, struct strings_slot slot)
{
	size_t at = slot.hash & (slot_count - 1);

	while (slots[at].place)
		at = (at + 1) & (slot_count - 1);
	slots[at] = slot;
}

static int grow_slots(struct strings *strings)
{
	size_t slot_count = strings->slot_count ? strings->slot_count * 2 : SLOTS_MIN;
	struct strings_slot *slots;

	if (strings->count * 2 < strings->slot_count)
		return 0;
	slots = calloc(slot_count, sizeof(*slots));
	if (!slots)
		return -1;
	for (size_t i = 0; i < strings->slot_count; i++)
		if (strings->slots[i].place)
			put_slot(slots, slot_count, strings->slots[i]);
	free(strings->slots);
	strings->slots = slots;
	strings->slot_count = slot_count;
	return 0;
}

static int grow(struct strings *strings, size_t more)
{
	size_t capacity = strings->capacity ? strings->capacity : 4096;
	size_t starts = strings->starts_capacity ? strings->starts_capacity * 2 : SLOTS_MIN;
	void *grown;

	while (capacity < strings->size + more)
		capacity *= 2;
	if (capacity != strings->capacity) {
		grown = realloc(strings->bytes, capacity);
		if (!grown)
			return -1;
		strings->bytes = grown;
		strings->capacity = capacity;
	}
	if (strings->count < strings->starts_capacity)
		return 0;
	grown = reallocarray(strings->starts, starts, sizeof(*strings->starts));
	if (!grown)
		return -1;
	strings->starts = grown;
	strings->starts_capacity = starts;
	return 0;
}

static u32 append(struct strings *strings, const char *text, u32 hash)
{
	size_t size = strlen(text) + 1;

	if (strings->size + size > strings->max || strings->count >= STRINGS_MOST)
		return STRINGS_NONE;
	if (grow_slots(strings) || grow(strings, size)) {
		strings->was_short = true;
		return STRINGS_NONE;
	}
	memcpy(strings->bytes + strings->size, text, size);
	strings->starts[strings->count] = strings->size;
	strings->size += size;
	put_slot(strings->slots, strings->slot_count,
		 (struct strings_slot){(u32)++strings->count, hash});
	return (u32)strings->count - 1;
}

u32 strings_add(struct strings *strings, const char *text)
{
	const struct strings_slot *slot;
	u32 hash;

	if (!strings->count && append(strings, "", hash_of(strings, "")) == STRINGS_NONE)
		return STRINGS_NONE;
	hash = hash_of(strings, text);
	slot = slot_of(strings, text, hash);
	return slot->place ? slot->place - 1 : append(strings, text, hash);
}
