// SPDX-License-Identifier: Apache-2.0
#include "row_store.h"

#include <stdlib.h>

static void give_up(struct row_store *store, u32 i)
{
	store->rows -= store->items[i].table.count;
	row_table_close(&store->items[i].table);
	store->items[i] = store->items[--store->count];
}

void row_store_free(struct row_store *store)
{
	while (store->count)
		give_up(store, 0);
}

static struct row_store_item *find(struct row_store *store, u32 owner)
{
	for (u32 i = 0; i < store->count; i++)
		if (store->items[i].owner == owner)
			return &store->items[i];
	return NULL;
}

static void give_up_oldest(struct row_store *store)
{
	u32 oldest = 0;

	for (u32 i = 1; i < store->count; i++)
		if (store->items[i].used < store->items[oldest].used)
			oldest = i;
	give_up(store, oldest);
}

/* Whoever built them had to guess how many there would be. */
static void trim(struct row_table *table)
{
	void *rows =
		table->count ? realloc(table->rows, table->count * sizeof(*table->rows)) : NULL;

	if (rows)
		table->rows = rows;
}

void row_store_put(struct row_store *store, u32 owner, struct row_table *table)
{
	struct row_store_item *before = find(store, owner);

	if (before)
		give_up(store, (u32)(before - store->items));
	while (store->count == ROW_STORE_TABLES ||
	       (store->count && store->rows + table->count > ROW_STORE_ROWS))
		give_up_oldest(store);
	trim(table);
	store->items[store->count++] =
		(struct row_store_item){.owner = owner, .used = ++store->turn, .table = *table};
	store->rows += table->count;
	*table = (struct row_table){0};
}

void row_store_drop(struct row_store *store, u32 owner)
{
	const struct row_store_item *item = find(store, owner);

	if (item)
		give_up(store, (u32)(item - store->items));
}

const struct row_table *row_store_get(struct row_store *store, u32 owner)
{
	struct row_store_item *item = find(store, owner);

	if (!item)
		return NULL;
	item->used = ++store->turn;
	return &item->table;
}
