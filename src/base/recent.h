/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table that forgets what was not used for long: two tables, of which the older one is
 * dropped when the younger one is full, or when its owner says so. What is looked up moves to the
 * younger one, so at least the last max items that were used are there. Owns the items. Called by
 * signals, for definitions that each file of a recording needs.
 */
#ifndef DWELL_BASE_RECENT_H
#define DWELL_BASE_RECENT_H

#include <stdbool.h>

#include "hash.h"

#define RECENT_ITEM_MAX 512 /* bytes */

struct recent {
	struct hash young;
	struct hash old;
};

/* item_size is at most RECENT_ITEM_MAX; max is the limit of each of the two tables. */
void recent_init(struct recent *recent, size_t item_size, size_t key_size, size_t max);
void recent_free(struct recent *recent);

/*
 * The item with this key, or NULL. *ret_was_young (may be NULL): it was used since the last time
 * that a table was dropped. Valid until the next call.
 */
void *recent_find(struct recent *recent, const void *key, bool *ret_was_young);

/* The same, made of zeroes if there was none, which *ret_is_new tells; NULL: no memory. */
void *recent_add(struct recent *recent, const void *key, bool *ret_is_new);

/* Drops the older table, but for items that is_kept() wants (NULL: none); the younger one is the
 * older one now. */
void recent_age(struct recent *recent, bool (*is_kept)(const void *item));

size_t recent_count(const struct recent *recent);

/* The items in no order, from 0 to recent_count(); NULL: a copy of one that was there before. */
void *recent_item(const struct recent *recent, size_t index);

#endif
