/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows on their way into one table. A statement per row costs more than the row; so rows wait here,
 * as a virtual table that one "INSERT … SELECT … FROM batch" reads, many at a time. Owns copies of
 * the cells' texts. Called by the writer, which decides when a batch goes out.
 */
#ifndef DWELL_STORE_BATCH_H
#define DWELL_STORE_BATCH_H

#include <sqlite3.h>
#include <stdbool.h>

#include "../model/sink.h"

#define BATCH_WIDTH_MAX	 48   /* columns of the widest table */
#define BATCH_CELLS_MAX	 2048 /* some 200 rows of the ledger: they stay in the CPU's cache */
#define BATCH_TEXT_BYTES 16384

struct batch {
	const struct table *table; /* of all rows that wait; NULL: none does */
	size_t rows;
	size_t text_bytes;
	struct cell cells[BATCH_CELLS_MAX];
	char text[BATCH_TEXT_BYTES];
};

/* Makes the batch known to SQL as the table batch (c0, c1, …): an SQLite code. */
int batch_register(struct batch *batch, sqlite3 *db);

/* False if it must be emptied first: it is full, or of another table. An empty one takes any row.
 */
bool batch_add(struct batch *batch, const struct table *table, const struct cell *cells);
void batch_clear(struct batch *batch);

#endif
