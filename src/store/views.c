// SPDX-License-Identifier: Apache-2.0
#include "views.h"

#include <stdbool.h>
#include <string.h>

#include "../base/cleanup.h"
#include "details.h"
#include "tables.h"

const struct session_view session_views[] = {
#define VIEW(name, about, rows, filled_by, sql) {#name, about, rows, filled_by, sql},
#include "views.def"
#undef VIEW
};

const size_t session_view_count = ARRAY_SIZE(session_views);

static int execute(sqlite3 *db, char *sql)
{
	int code = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return code;
}

static int create(sqlite3 *db, const char *where, const struct session_view *view)
{
	return execute(db,
		       sqlite3_mprintf("CREATE %s VIEW %s AS %s", where, view->name, view->sql));
}

int views_store(sqlite3 *db)
{
	int code = SQLITE_OK;

	for (size_t i = 0; !code && i < session_view_count; i++)
		code = create(db, "", &session_views[i]);
	return code;
}

/* --- for one connection --- */

struct making {
	sqlite3 *db;
	const struct windows *part;
	int code;
};

/* Has the file this table, and this column (NULL: any)? Where that cannot be told, *code is set. */
static bool has(sqlite3 *db, const char *table, const char *column, int *code)
{
	int found = sqlite3_table_column_metadata(db, "main", table, column, NULL, NULL, NULL, NULL,
						  NULL);

	if (found && found != SQLITE_ERROR)
		*code = found;
	return !found;
}

/*
 * A temporary view in the place of a table, with the rows of the part alone. Sums over the whole
 * session are no sums over a part: there are none, and views read what is summed up.
 */
static int restrict_table(const struct making *making, const struct table *table)
{
	const struct windows *part = making->part;
	int code = 0;
	const char *time = has(making->db, table->name, "ts_ns", &code) ? "ts_ns" : NULL;
	const char *window = !strcmp(table->name, store_tables[TABLE_WINDOWS].name) ? "id"
			     : has(making->db, table->name, "window", &code)	    ? "window"
										    : NULL;

	if (code)
		return code;
	if (table == &store_tables[TABLE_META]) /* nor does it say that these are complete */
		return execute(making->db, sqlite3_mprintf("CREATE TEMP VIEW %s AS SELECT * FROM "
							   "main.%s WHERE key NOT GLOB 'sums.*'",
							   table->name, table->name));
	if (table->sums_of)
		return execute(making->db, sqlite3_mprintf("CREATE TEMP VIEW %s AS SELECT * FROM "
							   "main.%s WHERE 0",
							   table->name, table->name));
	if (window)
		return execute(making->db,
			       sqlite3_mprintf("CREATE TEMP VIEW %s AS SELECT * FROM main.%s "
					       "WHERE %s BETWEEN %lld AND %lld",
					       table->name, table->name, window,
					       (long long)part->first, (long long)part->last));
	if (time)
		return execute(making->db,
			       sqlite3_mprintf("CREATE TEMP VIEW %s AS SELECT * FROM main.%s "
					       "WHERE %s >= %lld AND %s < %lld",
					       table->name, table->name, time,
					       (long long)part->begin_ns, time,
					       (long long)part->end_ns));
	return SQLITE_OK;
}

static bool make_table(const struct table *table, void *context)
{
	struct making *making = context;
	bool is_there = has(making->db, table->name, NULL, &making->code);

	if (!making->code && !is_there)
		making->code = execute(making->db, sqlite3_mprintf("CREATE TEMP TABLE %s (%s)",
								   table->name, table->columns));
	else if (!making->code && making->part->is_slice)
		making->code = restrict_table(making, table);
	return !making->code;
}

struct temporary_sink {
	struct sink sink; /* first: the sink is this */
	sqlite3 *db;
	int code;
};

/* Three columns: a number or a text, a number or a text, a text. */
static void add_temporary(struct sink *sink, const struct table *table, const struct cell *cells)
{
	struct temporary_sink *self = (struct temporary_sink *)sink;
	sqlite3_stmt *insert = NULL;
	char *sql = sqlite3_mprintf("INSERT OR IGNORE INTO temp.%s VALUES (?, ?, ?)", table->name);

	if (!self->code)
		self->code =
			sql ? sqlite3_prepare_v2(self->db, sql, -1, &insert, NULL) : SQLITE_NOMEM;
	for (int i = 0; insert && i < 3; i++) {
		if (cells[i].kind == CELL_NUMBER)
			sqlite3_bind_int64(insert, i + 1, cells[i].number);
		else if (cells[i].kind == CELL_TEXT)
			sqlite3_bind_text(insert, i + 1, cells[i].text, (int)cells[i].length,
					  SQLITE_STATIC);
	}
	if (insert && sqlite3_step(insert) != SQLITE_DONE)
		self->code = sqlite3_errcode(self->db);
	sqlite3_finalize(insert);
	sqlite3_free(sql);
}

static int make_temporary(sqlite3 *db, const struct table *table)
{
	return execute(db, sqlite3_mprintf("CREATE TEMP TABLE IF NOT EXISTS %s (%s)", table->name,
					   table->columns));
}

/* What this dwell knows, whatever the file says. */
static int make_details(sqlite3 *db)
{
	struct temporary_sink sink = {{add_temporary}, db, make_temporary(db, &details_table)};

	details_add(&sink.sink);
	return sink.code;
}

/* This dwell's own names; the file's are for numbers that came after this build. */
static int make_dictionary(sqlite3 *db, const struct dictionary *dictionary)
{
	const struct table *table = &dictionary->table;
	struct temporary_sink sink = {{add_temporary}, db, make_temporary(db, table)};

	for (size_t i = 0; !sink.code && i < dictionary->count; i++) {
		const struct name_row *row = &dictionary->rows[i];
		const struct cell cells[] = {cell_number((u64)row->id),
					     cell_text(row->name, strlen(row->name)),
					     cell_text(row->meaning, strlen(row->meaning))};

		add_temporary(&sink.sink, table, cells);
	}
	if (!sink.code && has(db, table->name, "meaning", &sink.code))
		sink.code = execute(db, sqlite3_mprintf("INSERT OR IGNORE INTO temp.%s SELECT id, "
							"name, meaning FROM main.%s",
							table->name, table->name));
	return sink.code;
}

/* System calls are numbered by the machine that was measured: the file's own names hold. */
static int make_dictionaries(sqlite3 *db)
{
	int code = SQLITE_OK;

	for (size_t i = 0; !code && i < DICTIONARY_COUNT; i++)
		if (strstr(store_dictionaries[i].table.columns, "id INTEGER") ==
		    store_dictionaries[i].table.columns)
			code = make_dictionary(db, &store_dictionaries[i]);
	return code;
}

/* One over a column that an older session lacks is made, but cannot be used: -1 if it is dropped.
 */
static int try_view(sqlite3 *db, const struct session_view *view)
{
	char *sql = sqlite3_mprintf("SELECT * FROM temp.%s", view->name);
	sqlite3_stmt *trial = NULL;
	int code = sql ? sqlite3_prepare_v2(db, sql, -1, &trial, NULL) : SQLITE_NOMEM;

	sqlite3_finalize(trial);
	sqlite3_free(sql);
	if (code != SQLITE_ERROR)
		return code;
	code = execute(db, sqlite3_mprintf("DROP VIEW temp.%s", view->name));
	return code ? code : -1;
}

static int make_views(sqlite3 *db)
{
	bool is_there[ARRAY_SIZE(session_views)] = {0}, is_dropped = true;
	int code = SQLITE_OK;

	for (size_t i = 0; !code && i < session_view_count; i++) {
		code = create(db, "TEMP", &session_views[i]);
		is_there[i] = !code;
	}
	/* What uses one that is dropped is dropped too, wherever it stands. */
	while (!code && is_dropped) {
		is_dropped = false;
		for (size_t i = 0; !code && i < session_view_count; i++) {
			code = is_there[i] ? try_view(db, &session_views[i]) : 0;
			if (code != -1)
				continue;
			is_there[i] = false;
			is_dropped = true;
			code = SQLITE_OK;
		}
	}
	return code;
}

int views_make(sqlite3 *db, const struct windows *part)
{
	struct making making = {db, part, 0};

	tables_each(make_table, &making);
	if (!making.code)
		making.code = make_details(db);
	if (!making.code)
		making.code = make_dictionaries(db);
	return making.code ? making.code : make_views(db);
}
