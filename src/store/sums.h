/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a table, added up over all windows while they are written, so that whoever asks for a
 * whole session of an hour need not read millions of rows. Owns what it adds up: bounded, written
 * to a table of its own when it is full and when the session ends. Called by the writer.
 *
 * In a short session that table stays empty: the rows themselves are read as fast. So it does where
 * rows have little in common, or where the writer was replaced or killed.
 */
#ifndef DWELL_STORE_SUMS_H
#define DWELL_STORE_SUMS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "../model/sink.h"

struct sums;

/* NULL: no memory; there will be none of these. */
struct sums *sums_new(const struct table *table, const struct table_sums *what);
void sums_free(struct sums *sums);

/* Adds one row: 0, or an SQLite code of what had to be written. In a transaction. */
int sums_add(struct sums *sums, sqlite3 *db, const struct cell *cells);

/* The session ends: what is left is written, and that they are complete. An SQLite code. */
int sums_finish(struct sums *sums, sqlite3 *db);

/*
 * Is every row of the table in NAME_sums? A file may say anything here; at worst its report is
 * wrong, as with any other row.
 */
bool sums_are_complete(sqlite3 *db, const char *table);

/* The same of SUMS_sums, where a table has more than one: "samples" and "stack". */
bool sums_are_complete_as(sqlite3 *db, const char *table, const char *sums);

#endif
