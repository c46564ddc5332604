// SPDX-License-Identifier: Apache-2.0
#include "recent.h"

#include <string.h>

void recent_init(struct recent *recent, size_t item_size, size_t key_size, size_t max)
{
	hash_init(&recent->young, item_size, key_size, max);
	hash_init(&recent->old, item_size, key_size, max);
}

void recent_free(struct recent *recent)
{
	hash_free(&recent->young);
	hash_free(&recent->old);
}

static void drop_old(struct recent *recent)
{
	struct hash emptied = recent->old;

	hash_clear(&emptied);
	recent->old = recent->young;
	recent->young = emptied;
}

/* A place in the younger table. */
static void *add_young(struct recent *recent, const void *key)
{
	if (hash_is_full(&recent->young))
		drop_old(recent);
	return hash_add(&recent->young, key);
}

void recent_age(struct recent *recent, bool (*is_kept)(const void *item))
{
	for (size_t i = 0; is_kept && i < recent->old.count; i++) {
		const void *item = hash_item(&recent->old, i);
		void *copy = NULL;

		if (is_kept(item) && !hash_find(&recent->young, item))
			copy = hash_add(&recent->young, item);
		if (copy)
			memcpy(copy, item, recent->old.item_size);
	}
	drop_old(recent);
}

void *recent_find(struct recent *recent, const void *key, bool *ret_was_young)
{
	void *item = hash_find(&recent->young, key);
	char copy[RECENT_ITEM_MAX];

	if (ret_was_young)
		*ret_was_young = item != NULL;
	if (item)
		return item;
	item = hash_find(&recent->old, key);
	if (!item)
		return NULL;
	memcpy(copy, item, recent->old.item_size); /* the table that it is in may be dropped */
	item = add_young(recent, copy);
	if (item)
		memcpy(item, copy, recent->young.item_size);
	return item;
}

void *recent_add(struct recent *recent, const void *key, bool *ret_is_new)
{
	void *item = recent_find(recent, key, NULL);

	*ret_is_new = !item;
	return item ? item : add_young(recent, key);
}

size_t recent_count(const struct recent *recent)
{
	return recent->young.count + recent->old.count;
}

void *recent_item(const struct recent *recent, size_t index)
{
	void *item;

	if (index < recent->young.count)
		return hash_item(&recent->young, index);
	item = hash_item(&recent->old, index - recent->young.count);
	return hash_find(&recent->young, item) ? NULL : item;
}
