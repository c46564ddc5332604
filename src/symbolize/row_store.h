/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of modules that are not all in the kernel side's table, so that a page can be loaded when it
 * is asked for: bounded, and those that nobody has asked for in longest are given up. They can be
 * built again. Owns the rows. Called by symbolize.
 */
#ifndef DWELL_SYMBOLIZE_ROW_STORE_H
#define DWELL_SYMBOLIZE_ROW_STORE_H

#include "row_table.h"

#define ROW_STORE_TABLES 128
#define ROW_STORE_ROWS	 (6u << 20) /* of all: 48 MiB */

_Static_assert(ROW_STORE_ROWS >= ROW_TABLE_MAX, "the largest table fits");

struct row_store_item {
	u32 owner;
	u64 used; /* when, in turns of the store */
	struct row_table table;
};

struct row_store {
	struct row_store_item items[ROW_STORE_TABLES];
	u32 count;
	u64 rows, turn;
};

void row_store_free(struct row_store *store); /* of a zeroed one, too */

/* Takes the rows over, and leaves an empty table; what the owner had before is given up. */
void row_store_put(struct row_store *store, u32 owner, struct row_table *table);

/* Valid until the next put; NULL: there are none. */
const struct row_table *row_store_get(struct row_store *store, u32 owner);

/* What the owner has is given up. */
void row_store_drop(struct row_store *store, u32 owner);

#endif
