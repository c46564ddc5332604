// SPDX-License-Identifier: Apache-2.0
#include "query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/log.h"
#include "../base/utf8.h"
#include "sums.h"

#define SQL_BYTES 2048
#define COUNT_MAX (1ULL << 62) /* sums of two do not overflow */

int query_refuse(sqlite3 *db, const char *table)
{
	char why[256];

	utf8_escape(why, sizeof(why), sqlite3_errmsg(db)); /* it may quote the file */
	log_error("cannot read the table '%s' of the session: %s. %s", table, why,
		  sqlite3_errcode(db) == SQLITE_NOMEM
			  ? "Free some memory, or take a part of the session: FILE@10s-20s, --pid"
			  : "Is the file complete, and written by this version of dwell?");
	return -EIO;
}

int query_find_table(sqlite3 *db, const char *table)
{
	sqlite3_stmt *found = NULL;
	int result;

	if (sqlite3_prepare_v2(db, "SELECT type, rootpage > 0 FROM sqlite_master WHERE name = ?",
			       -1, &found, NULL) != SQLITE_OK)
		return query_refuse(db, table);
	sqlite3_bind_text(found, 1, table, -1, SQLITE_STATIC);
	result = sqlite3_step(found);
	if (result == SQLITE_ROW) {
		const char *type = (const char *)sqlite3_column_text(found, 0);

		/* A virtual table has no page. */
		result = type && !strcmp(type, "table") && sqlite3_column_int(found, 1);
		if (!result)
			log_error("the session's '%s' is not a table: this is not a dwell session",
				  table);
		result = result ? 1 : -EINVAL;
	} else {
		result = result == SQLITE_DONE ? 0 : query_refuse(db, table);
	}
	sqlite3_finalize(found);
	return result;
}

int query_table(sqlite3 *db, const char *table, const char *columns, const char *order,
		query_row_fn *on_row, void *context)
{
	return query_groups(db, table, columns, NULL, order, on_row, context);
}

int query_sums(sqlite3 *db, const char *table, const char *columns, const char *sums_columns,
	       query_row_fn *on_row, void *context)
{
	char name[64];

	if (!sums_columns || !sums_are_complete(db, table))
		return query_table(db, table, columns, NULL, on_row, context);
	snprintf(name, sizeof(name), "%s_sums", table);
	return query_table(db, name, sums_columns, NULL, on_row, context);
}

int query_groups(sqlite3 *db, const char *table, const char *columns, const char *group,
		 const char *order, query_row_fn *on_row, void *context)
{
	char sql[SQL_BYTES];
	sqlite3_stmt *row = NULL;
	int err = query_find_table(db, table), step;

	if (err <= 0)
		return err;
	if (snprintf(sql, sizeof(sql), "SELECT %s FROM %s%s%s%s%s", columns, table,
		     group ? " GROUP BY " : "", group ? group : "", order ? " ORDER BY " : "",
		     order ? order : "") >= (int)sizeof(sql))
		return -E2BIG;
	if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) != SQLITE_OK)
		return query_refuse(db, table);
	err = 0;
	while (!err && (step = sqlite3_step(row)) != SQLITE_DONE)
		err = step == SQLITE_ROW ? on_row(row, context) : query_refuse(db, table);
	sqlite3_finalize(row);
	if (err == QUERY_ENOUGH)
		return 0;
	if (err == -ENOMEM)
		log_error(
			"not enough memory for the session's '%s', or more rows than dwell reads: "
			"take a part of it, as FILE@10s-20s, or --pid",
			table);
	return err;
}

bool query_has_column(sqlite3 *db, const char *table, const char *column)
{
	return sqlite3_table_column_metadata(db, NULL, table, column, NULL, NULL, NULL, NULL,
					     NULL) == SQLITE_OK;
}

void query_columns(sqlite3 *db, const char *table, const char *columns, char *buf, size_t size)
{
	size_t used = 0;

	*buf = '\0';
	while (*columns) {
		char name[64];
		size_t length = strcspn(columns, ",");
		int written;

		snprintf(name, sizeof(name), "%.*s", (int)length, columns);
		written = snprintf(buf + used, size - used, "%s%s%s", used ? ", " : "",
				   query_has_column(db, table, name) ? "" : "0 AS ", name);
		if (written < 0 || (size_t)written >= size - used)
			return; /* SQLite refuses what is cut */
		used += (size_t)written;
		columns += length;
		columns += strspn(columns, ", ");
	}
}

u64 query_u64(sqlite3_stmt *row, int column)
{
	return (u64)sqlite3_column_int64(row, column);
}

u64 query_count(sqlite3_stmt *row, int column)
{
	s64 value = sqlite3_column_int64(row, column);

	if (value < 0)
		return 0;
	return (u64)value > COUNT_MAX ? COUNT_MAX : (u64)value;
}

void query_text(sqlite3_stmt *row, int column, char *to, size_t size)
{
	const unsigned char *text = sqlite3_column_text(row, column);

	utf8_copy(to, size, text ? (const void *)text : "",
		  text ? (size_t)sqlite3_column_bytes(row, column) : 0);
}

bool query_is_null(sqlite3_stmt *row, int column)
{
	return sqlite3_column_type(row, column) == SQLITE_NULL;
}

void *query_append(void *array, size_t *count, size_t item_size, size_t max)
{
	size_t capacity = 16;
	char *grown;

	memcpy(&grown, array, sizeof(grown));
	if (*count >= max)
		return NULL;
	/* Grows when the count is a power of two: no capacity to keep. */
	if (*count == 0 || (*count >= capacity && !(*count & (*count - 1)))) {
		if (*count)
			capacity = *count * 2;
		grown = reallocarray(grown, capacity, item_size);
		if (!grown)
			return NULL;
		memcpy(array, &grown, sizeof(grown));
	}
	grown += (*count)++ * item_size;
	memset(grown, 0, item_size);
	return grown;
}
