/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the tables of a session row by row. Owns nothing. Called by whoever reads sessions.
 * Nothing in the file is believed: no views, no negative times, no long text.
 */
#ifndef DWELL_STORE_QUERY_H
#define DWELL_STORE_QUERY_H

#include <sqlite3.h>
#include <stdbool.h>

#include "../../abi/types.h"

/* 0, -errno, or QUERY_ENOUGH: no more rows are wanted, and all is well. */
typedef int query_row_fn(sqlite3_stmt *row, void *context);
#define QUERY_ENOUGH 1

/*
 * Calls on_row for each row of a table, until it fails: 0 or -errno, told. A table that is not
 * there has no rows: not every session has every signal.
 */
int query_table(sqlite3 *db, const char *table, const char *columns, const char *order,
		query_row_fn *on_row, void *context);

/* The same with GROUP BY; NULL: without. */
int query_groups(sqlite3 *db, const char *table, const char *columns, const char *group,
		 const char *order, query_row_fn *on_row, void *context);

/*
 * The same of a table whose rows the writer may have added up (sums.h): where it has, reads these
 * with sums_columns instead. NULL: never, since a part of the session is wanted.
 */
int query_sums(sqlite3 *db, const char *table, const char *columns, const char *sums_columns,
	       query_row_fn *on_row, void *context);

/*
 * For statements of one's own: 1 a table, 0 there is none, -errno, told: a view could say anything,
 * and take for ever. And an error of SQLite's about that table, told: -EIO.
 */
int query_find_table(sqlite3 *db, const char *table);
int query_refuse(sqlite3 *db, const char *table);

/* Has it this column? Tables of an older minor version may have fewer. */
bool query_has_column(sqlite3 *db, const char *table, const char *column);

/* "a, b": as query_table() takes them, each that the table lacks as "0 AS b". */
void query_columns(sqlite3 *db, const char *table, const char *columns, char *buf, size_t size);

u64 query_u64(sqlite3_stmt *row, int column);	/* any bits */
u64 query_count(sqlite3_stmt *row, int column); /* a time or number: not negative */
void query_text(sqlite3_stmt *row, int column, char *to, size_t size);
bool query_is_null(sqlite3_stmt *row, int column);

/* One more place at the end of an array: NULL if there is no memory, or max are there. */
void *query_append(void *array, size_t *count, size_t item_size, size_t max);

#endif
