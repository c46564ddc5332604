// SPDX-License-Identifier: Apache-2.0
#include "hash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SLOTS_MIN 64

void hash_init(struct hash *hash, size_t item_size, size_t key_size, size_t max)
{
	*hash = (struct hash){.item_size = item_size, .key_size = key_size, .max = max};
	if (getrandom(&hash->seed, sizeof(hash->seed), GRND_NONBLOCK) < 0)
		hash->seed = (u64)(size_t)hash;
}

void hash_free(struct hash *hash)
{
	free(hash->items);
	free(hash->slots);
	hash->items = NULL;
	hash->slots = NULL;
	hash->count = hash->capacity = hash->slot_count = 0;
}

void hash_clear(struct hash *hash)
{
	if (hash->count)
		memset(hash->slots, 0, hash->slot_count * sizeof(*hash->slots));
	hash->count = 0;
}

static u64 mix(u64 value)
{
	value = (value ^ (value >> 32)) * 0x9e3779b97f4a7c15ULL;
	return value ^ (value >> 29);
}

static u32 hash_of(const struct hash *hash, const char *key)
{
	u64 sum = hash->seed;
	size_t at = 0;

	for (; at + 8 <= hash->key_size; at += 8) {
		u64 word;

		memcpy(&word, key + at, 8);
		sum = mix(sum ^ word) + hash->seed;
	}
	for (; at < hash->key_size; at++)
		sum = mix(sum ^ (u8)key[at]);
	return (u32)mix(sum);
}

static bool is_equal(const struct hash *hash, const char *item, const char *key)
{
	size_t at = 0;

	for (; at + 8 <= hash->key_size; at += 8) {
		u64 a, b;

		memcpy(&a, item + at, 8);
		memcpy(&b, key + at, 8);
		if (a != b)
			return false;
	}
	return !memcmp(item + at, key + at, hash->key_size - at);
}

/* Where the key is, or where it would have its place. There is always a free slot. */
static struct hash_slot *slot_of(const struct hash *hash, const void *key, u32 key_hash)
{
	size_t mask = hash->slot_count - 1;
	size_t at = key_hash & mask;

	while (hash->slots[at].place &&
	       (hash->slots[at].hash != key_hash ||
		!is_equal(hash, hash_item(hash, hash->slots[at].place - 1), key)))
		at = (at + 1) & mask;
	return &hash->slots[at];
}

static void *find(const struct hash *hash, const void *key, u32 key_hash)
{
	const struct hash_slot *slot;

	if (!hash->slot_count)
		return NULL;
	slot = slot_of(hash, key, key_hash);
	return slot->place ? hash_item(hash, slot->place - 1) : NULL;
}

void *hash_find(const struct hash *hash, const void *key)
{
	return find(hash, key, hash_of(hash, key));
}

/* A key that is not there yet. */
static void put(struct hash_slot *slots, size_t slot_count, struct hash_slot new)
{
	size_t at = new.hash &(slot_count - 1);

	while (slots[at].place)
		at = (at + 1) & (slot_count - 1);
	slots[at] = new;
}

void hash_retain(struct hash *hash, bool (*keep)(const void *item, const void *context),
		 const void *context)
{
	size_t kept = 0;

	for (size_t i = 0; i < hash->count; i++) {
		if (!keep(hash_item(hash, i), context))
			continue;
		if (kept != i)
			memcpy(hash_item(hash, kept), hash_item(hash, i), hash->item_size);
		kept++;
	}
	if (kept == hash->count)
		return;
	hash_clear(hash);
	hash->count = kept;
	for (size_t i = 0; i < kept; i++)
		put(hash->slots, hash->slot_count,
		    (struct hash_slot){(u32)i + 1, hash_of(hash, hash_item(hash, i))});
}

/* Slots are at most half full, so that a search is short. */
static int grow_slots(struct hash *hash)
{
	size_t slot_count = hash->slot_count ? hash->slot_count * 2 : SLOTS_MIN;
	struct hash_slot *slots;

	if (hash->count * 2 < hash->slot_count)
		return 0;
	slots = calloc(slot_count, sizeof(*slots));
	if (!slots)
		return -1;
	for (size_t i = 0; i < hash->slot_count; i++)
		if (hash->slots[i].place)
			put(slots, slot_count, hash->slots[i]);
	free(hash->slots);
	hash->slots = slots;
	hash->slot_count = slot_count;
	return 0;
}

static int grow_items(struct hash *hash)
{
	size_t capacity = hash->capacity ? hash->capacity * 2 : SLOTS_MIN / 2;
	char *items;

	if (hash->count < hash->capacity)
		return 0;
	items = reallocarray(hash->items, capacity, hash->item_size);
	if (!items)
		return -1;
	hash->items = items;
	hash->capacity = capacity;
	return 0;
}

void *hash_add(struct hash *hash, const void *key)
{
	u32 key_hash = hash_of(hash, key);
	char *item = find(hash, key, key_hash);

	if (item)
		return item;
	if (hash->count >= hash->max || grow_slots(hash) || grow_items(hash))
		return NULL;
	item = hash_item(hash, hash->count);
	memset(item, 0, hash->item_size);
	memcpy(item, key, hash->key_size);
	put(hash->slots, hash->slot_count, (struct hash_slot){(u32)++hash->count, key_hash});
	return item;
}
