// SPDX-License-Identifier: Apache-2.0
#include "batch.h"

#include <stdio.h>
#include <stdlib.h>

struct batch_table {
	sqlite3_vtab base; /* first: SQLite knows nothing else of it */
	const struct batch *batch;
};

struct batch_cursor {
	sqlite3_vtab_cursor base; /* first, likewise */
	size_t row;
};

static const struct batch *batch_of(sqlite3_vtab_cursor *cursor)
{
	return ((struct batch_table *)cursor->pVtab)->batch;
}

static int connect_table(sqlite3 *db, void *batch, int argc, const char *const *argv,
			 sqlite3_vtab **ret_table, char **ret_error)
{
	struct batch_table *table;
	char sql[16 + 5 * BATCH_WIDTH_MAX];
	size_t length = (size_t)snprintf(sql, sizeof(sql), "CREATE TABLE x (c0");
	int code;

	(void)argc;
	(void)argv;
	(void)ret_error;
	for (int i = 1; i < BATCH_WIDTH_MAX; i++)
		length += (size_t)snprintf(sql + length, sizeof(sql) - length, ",c%d", i);
	snprintf(sql + length, sizeof(sql) - length, ")");
	code = sqlite3_declare_vtab(db, sql);
	if (code)
		return code;
	table = calloc(1, sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	table->batch = batch;
	*ret_table = &table->base;
	return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *table)
{
	free(table);
	return SQLITE_OK;
}

/* There is one way to read it: all of it, in the order in which it came. */
static int choose_plan(sqlite3_vtab *table, sqlite3_index_info *info)
{
	(void)table;
	info->estimatedCost = 1;
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret_cursor)
{
	struct batch_cursor *cursor = calloc(1, sizeof(*cursor));

	(void)table;
	if (!cursor)
		return SQLITE_NOMEM;
	*ret_cursor = &cursor->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

static int rewind_cursor(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc,
			 sqlite3_value **argv)
{
	(void)plan;
	(void)text;
	(void)argc;
	(void)argv;
	((struct batch_cursor *)cursor)->row = 0;
	return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *cursor)
{
	((struct batch_cursor *)cursor)->row++;
	return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *cursor)
{
	return ((struct batch_cursor *)cursor)->row >= batch_of(cursor)->rows;
}

static int give_cell(sqlite3_vtab_cursor *cursor, sqlite3_context *result, int column)
{
	const struct batch *batch = batch_of(cursor);
	size_t row = ((struct batch_cursor *)cursor)->row;
	const struct cell *cell = &batch->cells[row * batch->table->width + (size_t)column];

	if (cell->kind == CELL_NUMBER)
		sqlite3_result_int64(result, cell->number);
	else if (cell->kind == CELL_TEXT)
		sqlite3_result_text(result, cell->text, (int)cell->length, SQLITE_STATIC);
	return SQLITE_OK; /* without a result it is NULL */
}

static int give_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret_rowid)
{
	*ret_rowid = (sqlite3_int64)((struct batch_cursor *)cursor)->row;
	return SQLITE_OK;
}

/* Without xCreate the table is there by itself, in every statement, and never in the file. */
static const sqlite3_module module = {
	.xConnect = connect_table,
	.xDisconnect = disconnect_table,
	.xBestIndex = choose_plan,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = rewind_cursor,
	.xNext = next_row,
	.xEof = is_at_end,
	.xColumn = give_cell,
	.xRowid = give_rowid,
};

int batch_register(struct batch *batch, sqlite3 *db)
{
	return sqlite3_create_module_v2(db, "batch", &module, batch, NULL);
}

static size_t text_bytes(const struct table *table, const struct cell *cells)
{
	size_t bytes = 0;

	for (size_t i = 0; i < table->width; i++)
		bytes += cells[i].kind == CELL_TEXT ? cells[i].length : 0;
	return bytes;
}

bool batch_add(struct batch *batch, const struct table *table, const struct cell *cells)
{
	struct cell *to;

	if (batch->rows &&
	    (batch->table != table || (batch->rows + 1) * table->width > BATCH_CELLS_MAX ||
	     text_bytes(table, cells) > sizeof(batch->text) - batch->text_bytes))
		return false;
	/* Not before: the rows that wait may be those of a narrower table. */
	to = &batch->cells[batch->rows * table->width];
	batch->table = table;
	batch->rows++;
	memcpy(to, cells, table->width * sizeof(*cells));
	for (size_t i = 0; i < table->width; i++) {
		size_t room = sizeof(batch->text) - batch->text_bytes;

		if (to[i].kind != CELL_TEXT)
			continue;
		/* Longer than all the room there is: cut, as everything is bounded. */
		to[i].length = to[i].length < room ? to[i].length : room;
		to[i].text = memcpy(batch->text + batch->text_bytes, cells[i].text, to[i].length);
		batch->text_bytes += to[i].length;
	}
	return true;
}

void batch_clear(struct batch *batch)
{
	batch->table = NULL;
	batch->rows = batch->text_bytes = 0;
}
