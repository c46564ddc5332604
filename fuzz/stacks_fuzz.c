// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks of a session whose tables are sound, but whose rows lie: circles among parents, frames
 * that are not there, names of any bytes. The input's first byte says which view or exporter reads
 * them (those of whole sessions: export_fuzz.c); the rest is rows: a byte for the table, then one
 * for each column. Small numbers collide often, so that rows meet.
 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/base/log.h"
#include "../src/export/export.h"
#include "../src/report/report.h"
#include "../src/store/profile_reader.h"

#define ROWS_MAX    4000
#define COLUMNS_MAX 17

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char schema[] =
	"CREATE TABLE meta (key, value); INSERT INTO meta VALUES ('schema', 'dwell.session/1');"
	"CREATE TABLE windows (id, begin_ns, end_ns); INSERT INTO windows VALUES (0, 1, 9);"
	"CREATE TABLE stops (id, name);"
	"CREATE TABLE processes (pid, start_ns, parent, comm, exe, service, is_kernel, exit_code);"
	"CREATE TABLE samples (pid, state, kind, stack, stop, waker_stack, waker, count, "
	"weight_ns, window, process_start_ns, tid, thread_start_ns, mode, waker_kind, ns, "
	"mismatches);"
	"CREATE TABLE stacks (id, parent, frame);"
	"CREATE TABLE frames (id, module, name, address, source, file, line);"
	"CREATE TABLE inlines (frame, depth, name, file, line);"
	"CREATE TABLE modules (id, kind, path, build_id);";

static const struct {
	const char *sql;
	int columns; /* that the input has; the others are NULL */
} rows[] = {
	{"INSERT INTO stacks VALUES (?, ?, ?)", 3},
	{"INSERT INTO samples VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 1, 1, 0, 1, 0, 0)", 9},
	{"INSERT INTO frames VALUES (?, ?, ?, 4096, 'symtab', NULL, 1)", 3},
	{"INSERT INTO inlines VALUES (?, ?, ?, NULL, 7)", 3},
	{"INSERT INTO modules VALUES (?, ?, ?, NULL)", 3},
	{"INSERT INTO processes VALUES (?, 0, 0, ?, '', '', ?, NULL)", 3},
	{"INSERT INTO stops VALUES (?, ?)", 2},
};
#define TABLES (sizeof(rows) / sizeof(rows[0]))

/* Small numbers, a few extremes, and bytes as text. */
static void bind(sqlite3_stmt *row, int column, uint8_t value)
{
	static const sqlite3_int64 extremes[] = {INT64_MIN, INT64_MAX, -1, 1LL << 62, 1LL << 32};
	char text[3] = {(char)value, ';', '\0'};

	if (value < 200)
		sqlite3_bind_int64(row, column, value % 64);
	else if (value < 205)
		sqlite3_bind_int64(row, column, extremes[value - 200]);
	else if (value < 250)
		sqlite3_bind_text(row, column, text, 2, SQLITE_TRANSIENT);
	else
		sqlite3_bind_null(row, column);
}

static void insert(sqlite3 *db, const uint8_t *data, size_t size)
{
	sqlite3_stmt *statements[TABLES] = {NULL};

	for (int count = 0; size && count < ROWS_MAX; count++) {
		size_t table = *data++ % TABLES;
		int columns = rows[table].columns;

		size--;
		if (size < (size_t)columns)
			break;
		if (!statements[table] &&
		    sqlite3_prepare_v2(db, rows[table].sql, -1, &statements[table], NULL))
			abort();
		for (int i = 0; i < columns; i++)
			bind(statements[table], i + 1, data[i]);
		sqlite3_step(statements[table]);
		sqlite3_reset(statements[table]);
		data += columns;
		size -= (size_t)columns;
	}
	for (size_t i = 0; i < TABLES; i++)
		sqlite3_finalize(statements[i]);
}

static void read_one_way(sqlite3 *db, uint8_t way, FILE *out)
{
	static const struct report_options views[] = {
		{.stacks = true, .part.kernel = true},
		{.stacks = true, .by = STACKS_BY_FUNCTION, .sort = STACKS_SORT_WEIGHTED},
		{.why = "blocked", .part.kernel = true},
		{.json = true},
	};
	const size_t view_count = sizeof(views) / sizeof(views[0]);
	const struct export_options options = {.title = "fuzz"};
	struct profile_filter filter = {.kernel = true};
	struct profile profile;

	way %= (uint8_t)(view_count + exporter_count);
	if (way < view_count) {
		report_print(db, &views[way], out);
	} else if (!(exporters[way - view_count].flags & EXPORT_TIMELINE) &&
		   !profile_read(db, &filter, &profile)) {
		const struct export_source source = {.profile = &profile};

		exporters[way - view_count].write(&source, &options, out);
		profile_free(&profile);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	sqlite3 *db = NULL;
	FILE *out = fopen("/dev/null", "w");

	log_set_level(LOG_QUIET);
	if (size && out && sqlite3_open(":memory:", &db) == SQLITE_OK &&
	    sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK) {
		insert(db, data + 1, size - 1);
		read_one_way(db, data[0], out);
	}
	sqlite3_close(db);
	if (out)
		fclose(out);
	return 0;
}
