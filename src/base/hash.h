/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table of items of one size, each of which opens with its key. Items stay in the order in
 * which they were added, as an array that its owner may read, and sort once nothing more is
 * looked up. Owns the items. Bounded: more than max is refused. Seeded at random, so that a file
 * from elsewhere cannot choose its collisions.
 */
#ifndef DWELL_BASE_HASH_H
#define DWELL_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/types.h"

/* With a part of the key's hash, so that other keys are passed by without a look at their items. */
struct hash_slot {
	u32 place; /* 1 + index of an item; 0: free */
	u32 tag;
};

struct hash {
	size_t item_size;
	size_t key_size; /* bytes, without holes, since they are compared as such */
	size_t max;
	size_t count;
	char *items;
	size_t capacity;
	struct hash_slot *slots;
	size_t slot_count;
	u64 seed;
};

void hash_init(struct hash *hash, size_t item_size, size_t key_size, size_t max);
void hash_free(struct hash *hash);
void hash_clear(struct hash *hash); /* has no items any more; its memory stays for the next ones */

/* Keeps the items that keep() wants, in their order. */
void hash_retain(struct hash *hash, bool (*keep)(const void *item, const void *context),
		 const void *context);

/* The item with this key, or NULL. Valid until the next hash_add(). */
void *hash_find(const struct hash *hash, const void *key);

/* The same, made of zeroes if there was none; NULL: no memory, or there are max already. */
void *hash_add(struct hash *hash, const void *key);

static inline bool hash_is_full(const struct hash *hash)
{
	return hash->count >= hash->max;
}

static inline void *hash_item(const struct hash *hash, size_t index)
{
	return hash->items + index * hash->item_size;
}

#endif
