// SPDX-License-Identifier: Apache-2.0
#include "query_list.h"

#include <jansson.h>
#include <string.h>

#include "../base/utf8.h"
#include "../model/signal.h"
#include "../report/json.h"
#include "../store/query.h"
#include "../store/tables.h"
#include "../store/views.h"

#define NAME_COLUMNS 20
#define INDENT	     6

struct listing {
	sqlite3 *db;
	int columns;
	FILE *out;
	json_t *entries; /* of JSON; NULL: text */
	int code;	 /* of SQLite, if it failed */
};

/* What is listed; columns is empty where there are none. */
struct entry {
	const char *type, *name, *about;
	const char *missing;   /* why it has no rows; "": it has some */
	const char *filled_by; /* what to do then; "": nothing */
	char columns[4096];    /* "one, two, three" */
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

static void print_entry(const struct listing *listing, const struct entry *entry)
{
	bool has_remedy = *entry->filled_by;
	char line[512];
	int at = fprintf(listing->out, "  %-*s ", NAME_COLUMNS, entry->name);

	snprintf(line, sizeof(line), "%s%s%s%s%s%s", entry->about, *entry->missing ? " (" : "",
		 entry->missing, has_remedy ? "; filled by dwell " : "", entry->filled_by,
		 *entry->missing ? ")" : "");
	print_wrapped(listing, at, NAME_COLUMNS + 3, line);
	if (!*entry->columns)
		return;
	fprintf(listing->out, "%*s", INDENT, "");
	print_wrapped(listing, INDENT, INDENT, entry->columns);
}

static json_t *split(const char *columns)
{
	json_t *list = json_array();

	while (*columns) {
		size_t length = strcspn(columns, ",");

		json_array_append_new(list, json_stringn(columns, length));
		columns += length;
		columns += *columns ? strlen(", ") : 0;
	}
	return list;
}

static void add_entry(const struct listing *listing, const struct entry *entry)
{
	if (!listing->entries)
		print_entry(listing, entry);
	else
		json_array_append_new(
			listing->entries,
			json_pack("{s:s, s:s, s:s, s:b, s:s, s:o}", "type", entry->type, "name",
				  entry->name, "about", entry->about, "has_rows", !*entry->missing,
				  "filled_by", entry->filled_by, "columns", split(entry->columns)));
}

/* A statement, or NULL: it is wrong, or, with the code, it could not be made. */
static sqlite3_stmt *prepare(struct listing *listing, char *sql)
{
	sqlite3_stmt *row = NULL;
	int code = sql ? sqlite3_prepare_v2(listing->db, sql, -1, &row, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	if (code && code != SQLITE_ERROR)
		listing->code = code;
	return row;
}

/* Is there another row? */
static bool step(struct listing *listing, sqlite3_stmt *row)
{
	int code = row ? sqlite3_step(row) : SQLITE_DONE;

	if (code != SQLITE_ROW && code != SQLITE_DONE)
		listing->code = code;
	return code == SQLITE_ROW;
}

static void read_columns(struct listing *listing, struct entry *entry)
{
	sqlite3_stmt *row = prepare(listing, sqlite3_mprintf("PRAGMA table_info(%Q)", entry->name));
	char column[128], shown[256];
	size_t used = 0;

	entry->columns[0] = '\0';
	while (used < sizeof(entry->columns) && step(listing, row)) {
		query_text(row, 1, column, sizeof(column));
		utf8_escape(shown, sizeof(shown), column);
		used += (size_t)snprintf(entry->columns + used, sizeof(entry->columns) - used,
					 "%s%s", used ? ", " : "", shown);
	}
	sqlite3_finalize(row);
}

/* Has what follows FROM any row? */
static bool has_rows(struct listing *listing, const char *from)
{
	sqlite3_stmt *row = prepare(listing, sqlite3_mprintf("SELECT 1 FROM %s LIMIT 1", from));
	bool has = step(listing, row);

	sqlite3_finalize(row);
	return has;
}

static bool is_there(struct listing *listing, const char *view)
{
	sqlite3_stmt *trial = prepare(listing, sqlite3_mprintf("SELECT * FROM temp.%s", view));

	sqlite3_finalize(trial);
	return trial != NULL;
}

static void list_view(struct listing *listing, const struct session_view *view)
{
	struct entry entry = {"view", view->name, view->about, "", "", ""};

	if (!is_there(listing, view->name)) {
		entry.missing = "not in this session: an older dwell wrote it";
	} else if (*view->rows && !has_rows(listing, view->rows)) {
		entry.missing = "empty here";
		entry.filled_by = view->filled_by;
	}
	read_columns(listing, &entry);
	add_entry(listing, &entry);
}

/* How to fill a table of a signal that people choose; "": it is another's. */
static void name_remedy(const struct table *table, char *to, size_t size)
{
	*to = '\0';
	for (int id = 0; id < SIGNAL_LIMIT; id++) {
		const struct signal *signal = signal_rows[id].signal;

		for (size_t i = 0; signal && signal->view && i < signal->table_count; i++)
			if (&signal->tables[i] == table)
				snprintf(to, size, "record -s %s", signal_rows[id].name);
	}
}

static bool list_table(const struct table *table, void *context)
{
	struct listing *listing = context;
	struct entry entry = {"table", table->name, table->about, "", "", ""};
	char remedy[64];

	name_remedy(table, remedy, sizeof(remedy));
	if (!has_rows(listing, table->name)) {
		entry.missing = "empty here";
		entry.filled_by = remedy;
	}
	read_columns(listing, &entry);
	add_entry(listing, &entry);
	return true;
}

int query_list(sqlite3 *db, bool is_json, int columns, FILE *out)
{
	struct listing listing = {db, columns, out, NULL, 0};

	json_watch_memory();
	listing.entries = is_json ? json_array() : NULL;
	fputs(is_json ? "" : "VIEWS: a row per\n", out);
	for (size_t i = 0; i < session_view_count; i++)
		list_view(&listing, &session_views[i]);
	fputs(is_json ? "" : "\nTABLES: a row per\n", out);
	tables_each(list_table, &listing);
	if (is_json && !json_has_lacked_memory()) {
		json_dumpf(listing.entries, out, JSON_INDENT(1) | JSON_ENSURE_ASCII);
		fputc('\n', out);
	}
	json_decref(listing.entries);
	return json_has_lacked_memory() ? SQLITE_NOMEM : listing.code;
}
