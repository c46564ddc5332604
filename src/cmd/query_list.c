// SPDX-License-Identifier: Apache-2.0
#include "query_list.h"

#include <stdbool.h>
#include <string.h>

#include "../base/utf8.h"
#include "../model/signal.h"
#include "../store/query.h"
#include "../store/tables.h"
#include "../store/views.h"

#define NAME_COLUMNS 20
#define INDENT	     6

struct listing {
	sqlite3 *db;
	int columns;
	FILE *out;
};

/* Words of a text, as lines of the page's width. */
static void print_wrapped(const struct listing *listing, int at, int indent, const char *text)
{
	bool is_first = true;

	while (*text) {
		int length = (int)strcspn(text, " ");

		if (!is_first && at + 1 + length > listing->columns) {
			fprintf(listing->out, "\n%*s", indent, "");
			at = indent;
			is_first = true;
		}
		at += fprintf(listing->out, "%s%.*s", is_first ? "" : " ", length, text);
		is_first = false;
		text += length;
		text += *text == ' ';
	}
	fputc('\n', listing->out);
}

static void print_columns(const struct listing *listing, const char *name)
{
	sqlite3_stmt *row = NULL;
	char list[4096] = "", column[128], shown[256];
	char *sql = sqlite3_mprintf("PRAGMA table_info(%Q)", name);
	size_t used = 0;

	if (sql && !sqlite3_prepare_v2(listing->db, sql, -1, &row, NULL))
		while (sqlite3_step(row) == SQLITE_ROW && used < sizeof(list)) {
			query_text(row, 1, column, sizeof(column));
			utf8_escape(shown, sizeof(shown), column);
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 used ? ", " : "", shown);
		}
	sqlite3_finalize(row);
	sqlite3_free(sql);
	if (!*list)
		return;
	fprintf(listing->out, "%*s", INDENT, "");
	print_wrapped(listing, INDENT, INDENT, list);
}

static void print_entry(const struct listing *listing, const char *name, const char *about,
			const char *note)
{
	char line[512];
	int at = fprintf(listing->out, "  %-*s ", NAME_COLUMNS, name);

	snprintf(line, sizeof(line), "%s%s", about, note);
	print_wrapped(listing, at, NAME_COLUMNS + 3, line);
}

/* Has what follows FROM any row? Also true of what cannot be read: its reader will say why. */
static bool has_rows(sqlite3 *db, const char *from)
{
	sqlite3_stmt *row = NULL;
	char *sql = sqlite3_mprintf("SELECT 1 FROM %s LIMIT 1", from);
	bool has = !sql || sqlite3_prepare_v2(db, sql, -1, &row, NULL) ||
		   sqlite3_step(row) != SQLITE_DONE;

	sqlite3_finalize(row);
	sqlite3_free(sql);
	return has;
}

static void list_view(const struct listing *listing, const struct session_view *view)
{
	char note[160] = "";

	if (sqlite3_table_column_metadata(listing->db, "temp", view->name, NULL, NULL, NULL, NULL,
					  NULL, NULL)) {
		sqlite3_stmt *trial = NULL;
		char *sql = sqlite3_mprintf("SELECT * FROM temp.%s", view->name);
		bool is_there = sql && !sqlite3_prepare_v2(listing->db, sql, -1, &trial, NULL);

		sqlite3_finalize(trial);
		sqlite3_free(sql);
		if (!is_there) {
			print_entry(listing, view->name, view->about,
				    " (not in this session: an older dwell wrote it)");
			return;
		}
	}
	if (*view->rows && !has_rows(listing->db, view->rows))
		snprintf(note, sizeof(note), " (empty here; filled by dwell %s)", view->filled_by);
	print_entry(listing, view->name, view->about, note);
	print_columns(listing, view->name);
}

/* The signal that a table belongs to, if it is one that people choose; NULL: another. */
static const char *signal_of(const struct table *table)
{
	for (int id = 0; id < SIGNAL_LIMIT; id++) {
		const struct signal *signal = signal_rows[id].signal;

		for (size_t i = 0; signal && i < signal->table_count; i++)
			if (&signal->tables[i] == table && signal->view)
				return signal_rows[id].name;
	}
	return NULL;
}

static bool list_table(const struct table *table, void *context)
{
	const struct listing *listing = context;
	const char *signal = signal_of(table);
	char note[128] = "";

	if (!has_rows(listing->db, table->name) && signal)
		snprintf(note, sizeof(note), " (empty here; filled by dwell record -s %s)", signal);
	else if (!has_rows(listing->db, table->name))
		snprintf(note, sizeof(note), " (empty here)");
	print_entry(listing, table->name, table->about, note);
	print_columns(listing, table->name);
	return true;
}

void query_list(sqlite3 *db, int columns, FILE *out)
{
	struct listing listing = {db, columns, out};

	fputs("VIEWS: a row per\n", out);
	for (size_t i = 0; i < session_view_count; i++)
		list_view(&listing, &session_views[i]);
	fputs("\nTABLES: a row per\n", out);
	tables_each(list_table, &listing);
}
