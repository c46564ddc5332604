// SPDX-License-Identifier: Apache-2.0
#include "totals.h"

#include <stdio.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/hash.h"

#define SQL_BYTES      1024
#define CELL_BYTES     4    /* of a number, on average */
#define ROWS_PER_CLOCK 4096 /* rows between two looks at the clock */

struct filling {
	const struct table *table;
	size_t keys; /* columns; the others are sums */
	struct hash sums;
	u64 deadline_ns;
};

/* "thread, state, ns" of "thread INTEGER, state INTEGER, ns INTEGER". */
static void name_columns(const struct table *table, char *to, size_t size)
{
	const char *at = table->columns;
	size_t used = 0;

	*to = '\0';
	for (size_t i = 0; at && i < table->width; i++) {
		int length = (int)strcspn(at, " ,");

		used += (size_t)snprintf(to + used, size - used, "%s%.*s", i ? ", " : "", length,
					 at);
		at = strchr(at, ',');
		at = at ? at + 2 : NULL;
	}
}

static int read_number(sqlite3 *db, const char *sql, u64 *ret_number)
{
	sqlite3_stmt *query = NULL;
	int code = sqlite3_prepare_v2(db, sql, -1, &query, NULL);

	*ret_number = 0;
	if (!code && sqlite3_step(query) == SQLITE_ROW)
		*ret_number = (u64)sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	return code;
}

/* How many sums there may be; 0: none are needed. */
static int count_places(sqlite3 *db, const struct table *table, u64 *ret_places)
{
	char sql[SQL_BYTES];
	u64 rows, pages, page_bytes;
	int code;

	*ret_places = 0;
	snprintf(sql, sizeof(sql), "SELECT max(rowid) FROM %s", table->totals_of);
	code = read_number(db, sql, &rows);
	if (!code)
		code = read_number(db, "PRAGMA page_count", &pages);
	if (!code)
		code = read_number(db, "PRAGMA page_size", &page_bytes);
	if (!code && rows >= TOTALS_ROWS_MIN)
		*ret_places = pages * page_bytes / TOTALS_SHARE / (table->width * CELL_BYTES);
	return code;
}

/* False if there are too many different ones, or no memory. */
static bool add_row(struct filling *filling, sqlite3_stmt *row)
{
	s64 cells[TOTALS_WIDTH_MAX] = {0}, *sum;

	for (size_t i = 0; i < filling->keys; i++)
		cells[i] = sqlite3_column_int64(row, (int)i);
	sum = hash_add(&filling->sums, cells);
	for (size_t i = filling->keys; sum && i < filling->table->width; i++)
		sum[i] = (s64)((u64)sum[i] + (u64)sqlite3_column_int64(row, (int)i));
	return sum != NULL;
}

/* SQLITE_DONE: all is in the sums. SQLITE_ABORT: it is to be left out. */
static int add_up(struct filling *filling, sqlite3 *db)
{
	char columns[SQL_BYTES / 2], sql[SQL_BYTES];
	sqlite3_stmt *row = NULL;
	u64 rows = 0;
	int code;

	name_columns(filling->table, columns, sizeof(columns));
	snprintf(sql, sizeof(sql), "SELECT %s FROM %s", columns, filling->table->totals_of);
	code = sqlite3_prepare_v2(db, sql, -1, &row, NULL);
	while (!code && (code = sqlite3_step(row)) == SQLITE_ROW) {
		bool is_late =
			++rows % ROWS_PER_CLOCK == 0 && clock_now_ns() > filling->deadline_ns;

		code = is_late || !add_row(filling, row) ? SQLITE_ABORT : SQLITE_OK;
	}
	sqlite3_finalize(row);
	return code;
}

static int write_sums(const struct filling *filling, sqlite3 *db)
{
	sqlite3_stmt *insert = NULL;
	char sql[SQL_BYTES];
	size_t used = (size_t)snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES (?",
				       filling->table->name);
	int code;

	for (size_t i = 1; i < filling->table->width; i++)
		used += (size_t)snprintf(sql + used, sizeof(sql) - used, ", ?");
	snprintf(sql + used, sizeof(sql) - used, ")");
	code = sqlite3_prepare_v2(db, sql, -1, &insert, NULL);
	for (size_t i = 0; !code && i < filling->sums.count; i++) {
		const s64 *cells = hash_item(&filling->sums, i);

		for (size_t c = 0; c < filling->table->width; c++)
			sqlite3_bind_int64(insert, (int)c + 1, cells[c]);
		sqlite3_step(insert);
		code = sqlite3_reset(insert); /* says what the step said */
	}
	sqlite3_finalize(insert);
	return code;
}

int totals_fill(sqlite3 *db, const struct table *table, u64 deadline_ns)
{
	struct filling filling = {
		.table = table, .keys = table->width - table->totals, .deadline_ns = deadline_ns};
	u64 places;
	int code = count_places(db, table, &places);

	if (code || !places || table->width > TOTALS_WIDTH_MAX)
		return code;
	hash_init(&filling.sums, table->width * sizeof(s64), filling.keys * sizeof(s64), places);
	code = add_up(&filling, db);
	if (code == SQLITE_DONE)
		code = write_sums(&filling, db);
	hash_free(&filling.sums);
	return code == SQLITE_ABORT ? SQLITE_OK : code;
}
