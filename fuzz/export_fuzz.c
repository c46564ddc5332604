// SPDX-License-Identifier: Apache-2.0
/*
 * A session whose tables are sound, but whose rows lie, as it is exported: windows that end before
 * they begin, threads of no process, sums that overflow, buckets that are none, connections from
 * the future. The input's first byte says which exporter reads them, of those that need more than
 * stacks; the rest is rows: a byte for the table, then one for each column. Small numbers collide
 * often, so that rows meet.
 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/base/log.h"
#include "../src/export/export.h"
#include "../src/store/profile_reader.h"

#define ROWS_MAX 4000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	const char *table, *columns;
	int count;
} tables[] = {
	{"ledger", "window, thread, state, ns, count", 5},
	{"threads",
	 "id, pid, process_start_ns, tid, start_ns, begin_ns, end_ns, comm, is_kernel, threads",
	 10},
	{"windows", "id, begin_ns, end_ns", 3},
	{"processes", "pid, start_ns, comm, exe, service, container, pod, is_kernel", 8},
	{"series", "id, signal, kind, pid, start_ns, detail, object, more", 8},
	{"series_values", "window, series, count, sum, max, buckets", 6},
	{"slow",
	 "window, ts_ns, ns, signal, kind, pid, start_ns, tid, stack, cpu_ns, runq_ns, lock_ns, "
	 "disk_ns, net_ns, other_ns",
	 15},
	{"connections",
	 "pid, start_ns, direction, local, peer, begin_ns, end_ns, sent_bytes, received_bytes", 9},
	{"samples",
	 "window, pid, process_start_ns, tid, thread_start_ns, kind, state, mode, stack, stop, "
	 "waker, waker_kind, waker_stack, count, weight_ns, mismatches",
	 16},
	{"stacks", "id, parent, frame", 3},
	{"frames", "id, module, address, name, source, file, line", 7},
	{"inlines", "frame, depth, name, file, line", 5},
	{"modules", "id, kind, path, build_id", 4},
	{"cpus", "window, cpu, use, ns", 4},
	{"cpu_queues", "window, queue_ns", 2},
	{"losses", "window, cause, count", 3},
	{"steps", "ts_ns, what, why", 3},
	{"labels", "signal, id, name", 3},
	{"states", "id, name", 2},
	{"meta", "key, value", 2},
	{"endpoints", "id INTEGER PRIMARY KEY, object, port, protocol, name, kind", 6},
	{"objects", "id INTEGER PRIMARY KEY, name", 2},
	{"requests",
	 "id INTEGER PRIMARY KEY, window, endpoint, pid, start_ns, tid, client_port, parent, "
	 "begin_ns, queue_ns, window_ns, weight, status, outcome, model, received_bytes, "
	 "sent_bytes, cpu_ns, runq_ns, throttled_ns, lock_ns, signalled_ns, disk_ns, net_ns, "
	 "ipc_ns, sleep_ns, memory_ns, poll_ns, pool_queue_ns, other_ns, loop_busy_ns, "
	 "handed_over_ns, unattributed_ns",
	 33},
	{"request_calls",
	 "id INTEGER PRIMARY KEY, request, grade, pid, start_ns, tid, object, port, client_port, "
	 "protocol, name, status, outcome, begin_ns, wait_ns, window_ns, sent_bytes, "
	 "received_bytes",
	 18},
};
#define TABLES (sizeof(tables) / sizeof(tables[0]))

/* Small numbers, a few extremes, words that mean something, and bytes as text. */
static void bind(sqlite3_stmt *row, int column, uint8_t value)
{
	static const sqlite3_int64 extremes[] = {INT64_MIN, INT64_MAX, -1, 1LL << 62, 1LL << 32};
	static const char *const words[] = {
		"block", "total",      "runq",	"wait",	    "1:1 2:3 703:9", "in",
		"out",	 "started_ns", "a1b2c", "tcp",	    "series",	     "999999:1",
		"http",	 "redis",      "404",	"answered", "GET /a",	     "open"};
	const int word_count = sizeof(words) / sizeof(words[0]);
	char text[3] = {(char)value, '"', '\0'};

	if (value < 190)
		sqlite3_bind_int64(row, column, value % 48);
	else if (value < 195)
		sqlite3_bind_int64(row, column, extremes[value - 190]);
	else if (value < 195 + word_count)
		sqlite3_bind_text(row, column, words[value - 195], -1, SQLITE_STATIC);
	else if (value < 250)
		sqlite3_bind_text(row, column, text, 2, SQLITE_TRANSIENT);
	else
		sqlite3_bind_null(row, column);
}

static void create(sqlite3 *db, size_t table, sqlite3_stmt **ret_insert)
{
	char sql[1024];

	snprintf(sql, sizeof(sql), "CREATE TABLE %s (%s)", tables[table].table,
		 tables[table].columns);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL))
		abort();
	snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES (?", tables[table].table);
	for (int i = 1; i < tables[table].count; i++)
		strcat(sql, ", ?");
	strcat(sql, ")");
	if (sqlite3_prepare_v2(db, sql, -1, ret_insert, NULL))
		abort();
}

static void insert(sqlite3 *db, const uint8_t *data, size_t size)
{
	sqlite3_stmt *statements[TABLES];

	for (size_t i = 0; i < TABLES; i++)
		create(db, i, &statements[i]);
	for (int count = 0; size && count < ROWS_MAX; count++) {
		size_t table = *data++ % TABLES;
		int columns = tables[table].count;

		size--;
		if (size < (size_t)columns)
			break;
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

static const struct exporter *choose(uint8_t way)
{
	for (size_t i = 0; i < 2 * exporter_count; i++) {
		const struct exporter *exporter = &exporters[(way + i) % exporter_count];

		if (exporter->flags & EXPORT_TIMELINE)
			return exporter;
	}
	abort();
}

static void export_all(sqlite3 *db, uint8_t way, FILE *out)
{
	const struct session_part part = {.kernel = way & 1};
	const struct windows windows = {0};
	const struct profile_filter filter = {.kernel = part.kernel};
	const struct export_options options = {.title = "fuzz", .is_gzip = way & 2};
	struct profile profile;
	struct timeline timeline;

	if (profile_read(db, &filter, &profile))
		return;
	if (!timeline_read(db, &part, &windows, &timeline)) {
		const struct export_source source = {&profile, &timeline};

		choose(way >> 2)->write(&source, &options, out);
		timeline_free(&timeline);
	}
	profile_free(&profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	sqlite3 *db = NULL;
	FILE *out = fopen("/dev/null", "w");

	log_set_level(LOG_QUIET);
	if (size && out && sqlite3_open(":memory:", &db) == SQLITE_OK) {
		insert(db, data + 1, size - 1);
		export_all(db, data[0], out);
	}
	sqlite3_close(db);
	if (out)
		fclose(out);
	return 0;
}
