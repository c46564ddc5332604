// SPDX-License-Identifier: Apache-2.0
/* What signals list besides their series: of their own tables, by their own SQL. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../store/query.h"
#include "digest.h"

struct reading {
	const struct digest *digest;
	struct list_rows *list;
};

static void read_columns(sqlite3_stmt *row, struct list_rows *list)
{
	int count = sqlite3_column_count(row);

	list->column_count = (size_t)(count < SIGNALS_COLUMNS_MAX ? count : SIGNALS_COLUMNS_MAX);
	for (size_t i = 0; i < list->column_count; i++) {
		const char *name = sqlite3_column_name(row, (int)i);

		snprintf(list->columns[i], sizeof(list->columns[i]), "%s", name ? name : "");
	}
}

static int read_cell(sqlite3_stmt *row, int column, struct list_cell *cell)
{
	char text[SIGNALS_NAME_BYTES];

	switch (sqlite3_column_type(row, column)) {
	case SQLITE_INTEGER:
		cell->kind = LIST_NUMBER;
		cell->number = sqlite3_column_int64(row, column);
		return 0;
	case SQLITE_FLOAT:
		cell->kind = LIST_REAL;
		cell->real = sqlite3_column_double(row, column);
		return 0;
	case SQLITE_NULL:
		return 0;
	}
	cell->kind = LIST_TEXT;
	query_text(row, column, text, sizeof(text));
	cell->text = strdup(text);
	return cell->text ? 0 : -ENOMEM;
}

/* A list that has processes is of those that were asked for. */
static bool is_wanted(const struct digest *digest, const struct list_rows *list, sqlite3_stmt *row)
{
	for (size_t c = 0; c < list->column_count; c++)
		if (!strcmp(list->columns[c], "pid"))
			return session_part_has_pid(&digest->options->part,
						    query_count(row, (int)c));
	return true;
}

static int on_row(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	struct list_rows *list = reading->list;
	struct list_cell *cells;
	int err = 0;

	if (!list->column_count)
		read_columns(row, list);
	if (!is_wanted(reading->digest, list, row))
		return 0;
	if (list->row_count == SIGNALS_LIST_MAX) {
		list->is_cut = true;
		return QUERY_ENOUGH;
	}
	cells = query_append(&list->rows, &list->row_count, sizeof(list->rows[0]),
			     SIGNALS_LIST_MAX);
	if (!cells)
		return -ENOMEM;
	for (size_t i = 0; !err && i < list->column_count; i++)
		err = read_cell(row, (int)i, &cells[i]);
	return err;
}

int signals_read_lists(sqlite3 *db, struct digest *digest)
{
	int err = 0;

	for (size_t i = 0; i < digest->signals.count; i++) {
		struct measured *of = &digest->signals.of[i];

		for (size_t l = 0; !err && l < of->view->list_count; l++) {
			const struct signal_list *list = &of->view->lists[l];
			struct reading reading = {digest, &of->lists[l]};

			err = query_groups(db, list->table, list->columns, list->group, list->order,
					   on_row, &reading);
		}
	}
	return err;
}

void signals_free_lists(struct measured *of)
{
	for (size_t l = 0; l < of->view->list_count; l++) {
		struct list_rows *list = &of->lists[l];

		for (size_t i = 0; i < list->row_count; i++)
			for (size_t c = 0; c < list->column_count; c++)
				free(list->rows[i][c].text);
		free(list->rows);
	}
}
