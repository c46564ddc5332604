// SPDX-License-Identifier: Apache-2.0
/*
 * Slow calls, printed while the measurement runs: after each window, from the session itself, since
 * it is the worker that knows names. A process without privileges reads it, as with every session.
 * Nobody waits for that process: if its output is not read (a pager), windows still end on time,
 * and the next one to be started prints what has come meanwhile.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "../base/memory_stream.h"
#include "../base/utf8.h"
#include "../store/query.h"
#include "../store/reader.h"
#include "reader_process.h"
#include "cmd.h"
#include "trace.h"

/* Calls that are printed of one window; and for how many windows at a time, if it is behind. */
#define SLOW_CALLS_MAX 200
#define BEHIND_MAX     10
#define TEXT_BYTES     256

struct reading {
	int db_fd, wal_fd;
	u64 first, last; /* windows */
	bool has_command;
};

static FILE *out; /* of the child that reads: its memory, until the session is closed */

/* Rows of a statement of ours, to a function; what cannot be read is left out. True: so is more. */
static bool each(sqlite3 *db, const char *sql, s64 parameter, s64 other_parameter, u64 rows_max,
		 void (*on_row)(sqlite3 *db, sqlite3_stmt *row))
{
	sqlite3_stmt *statement = NULL;
	bool is_more = false;
	u64 rows = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		return false;
	sqlite3_bind_int64(statement, 1, parameter);
	sqlite3_bind_int64(statement, 2, other_parameter);
	while (!is_more && sqlite3_step(statement) == SQLITE_ROW) {
		is_more = rows++ == rows_max;
		if (!is_more)
			on_row(db, statement);
	}
	sqlite3_finalize(statement);
	return is_more;
}

static void read_text(sqlite3_stmt *row, int column, char ret_text[TEXT_BYTES])
{
	char raw[TEXT_BYTES];

	query_text(row, column, raw, sizeof(raw));
	utf8_escape(ret_text, TEXT_BYTES, raw);
}

static void print_frame(sqlite3 *db, sqlite3_stmt *row)
{
	char name[TEXT_BYTES], module[TEXT_BYTES], place[32];

	(void)db;
	read_text(row, 0, name);
	read_text(row, 1, module);
	/* As addr2line wants it, where there is no name. */
	snprintf(place, sizeof(place), "+0x%" PRIx64, (uint64_t)sqlite3_column_int64(row, 2));
	fprintf(out, "\t%s%s%s%s\n", name[0] ? name : place, module[0] ? " (" : "", module,
		module[0] ? ")" : "");
}

static void print_parts(sqlite3_stmt *row, int column)
{
	static const char *const names[] = {
#define PART(NAME, name) #name,
		SLOW_PARTS(PART)
#undef PART
	};

	for (int i = 0; i < SLOW_PART_COUNT; i++) {
		double ms = (double)query_count(row, column + i) / 1e6;

		if (ms >= 0.001)
			fprintf(out, "  %s %.3f", names[i], ms);
	}
}

/* The wall clock of a moment of the monotonic one. */
static void print_time(u64 ts_ns)
{
	struct timespec now;
	struct tm local;
	char text[16];
	u64 real_ns;
	time_t seconds;

	clock_gettime(CLOCK_REALTIME, &now);
	real_ns = (u64)now.tv_sec * NS_PER_S + (u64)now.tv_nsec - (clock_now_ns() - ts_ns);
	seconds = (time_t)(real_ns / NS_PER_S);
	localtime_r(&seconds, &local);
	strftime(text, sizeof(text), "%H:%M:%S", &local);
	fprintf(out, "%s.%03u", text, (unsigned)(real_ns % NS_PER_S / NS_PER_MS));
}

static void print_call(sqlite3 *db, sqlite3_stmt *row)
{
	static const char frames[] = "WITH RECURSIVE walk(id, parent, frame, n) AS (SELECT id, "
				     "parent, frame, 0 FROM stacks "
				     "WHERE id = ?1 UNION ALL SELECT s.id, s.parent, s.frame, n + "
				     "1 FROM stacks s JOIN walk "
				     "w ON s.id = w.parent WHERE n < 11) SELECT coalesce(f.name, "
				     "''), coalesce(m.path, ''), coalesce(f.address, 0) "
				     "FROM walk w JOIN frames f ON f.id = w.frame LEFT JOIN "
				     "modules m ON m.id = f.module "
				     "ORDER BY n";
	char name[TEXT_BYTES], comm[TEXT_BYTES];

	read_text(row, 1, name);
	read_text(row, 2, comm);
	print_time(query_count(row, 0));
	fprintf(out, " %10.3f ms  %s  %s (%" PRIu64 ")", (double)query_count(row, 4) / 1e6, name,
		comm, (uint64_t)query_count(row, 3));
	print_parts(row, 6);
	fputc('\n', out);
	each(db, frames, sqlite3_column_int64(row, 5), 0, SLOW_CALLS_MAX, print_frame);
}

static int print_calls(const void *context)
{
	static const char calls[] =
		"SELECT s.ts_ns, coalesce((SELECT name FROM labels l WHERE l.signal = s.signal AND "
		"l.id "
		"= s.object), ''), coalesce((SELECT comm FROM processes p WHERE p.pid = s.pid AND "
		"p.start_ns = s.start_ns), ''), s.pid, s.ns, s.stack"
#define PART(NAME, name) ", s." #name "_ns"
		SLOW_PARTS(PART)
#undef PART
			" FROM slow s WHERE s.window BETWEEN ?1 AND ?2 AND s.signal IN ('func', "
			"'funcstack') "
			"ORDER BY "
			"s.ts_ns";
	const struct reading *reading = context;
	FILE *to = reading->has_command ? stderr : stdout; /* stdout is the command's own */
	struct session *session;
	struct memory_stream text;
	u64 windows = reading->last - reading->first + 1;
	u64 calls_max = SLOW_CALLS_MAX * (windows < BEHIND_MAX ? windows : BEHIND_MAX);
	bool is_more;

	if (memory_stream_open(&text)) {
		log_error("cannot print slow calls: out of memory");
		return EXIT_FAILED;
	}
	out = text.out;
	if (session_open_live_fds(reading->db_fd, reading->wal_fd, "the session", &session)) {
		memory_stream_free(&text);
		return EXIT_FAILED;
	}
	is_more = each(session_db(session), calls, (s64)reading->first, (s64)reading->last,
		       calls_max, print_call);
	session_close(session);
	if (is_more)
		fprintf(out,
			"more slow calls than %" PRIu64
			" at a time: the others are in the session\n",
			(uint64_t)calls_max);
	if (memory_stream_end(&text)) {
		log_error("cannot print slow calls: out of memory; they are in the session");
		return EXIT_FAILED;
	}
	fwrite(text.text, 1, text.size, to);
	memory_stream_free(&text);
	return EXIT_OK;
}

/* Of all windows that have ended and are not printed. */
static void start_printing(struct trace *trace, const struct session_files *files)
{
	_cleanup_close_ int db_fd = -1, wal_fd = -1;
	struct reading reading = {
		.first = trace->printed_windows,
		.last = trace->ended_windows - 1,
		.has_command = trace->engine.command != NULL,
	};

	if (files_reopen_live(files, &db_fd, &wal_fd))
		return;
	reading.db_fd = db_fd;
	reading.wal_fd = wal_fd;
	if (!reader_process_start(&trace->printer, print_calls, &reading, db_fd, wal_fd, NULL))
		trace->printed_windows = trace->ended_windows;
}

void trace_stream(struct trace *trace, const struct session_files *files, bool is_last)
{
	trace->ended_windows++;
	if (!is_last && reader_process_is_running(&trace->printer))
		return;
	if (trace->printer.pid)
		reader_process_wait(&trace->printer);
	start_printing(trace, files);
	if (is_last && trace->printer.pid)
		reader_process_wait(&trace->printer);
}
