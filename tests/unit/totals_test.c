// SPDX-License-Identifier: Apache-2.0
/*
 * What the writer adds to a session beside its rows: sums of a large table, if they are small, and
 * the views. Sums are compared with SQLite's own, over the table that they sum up.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../signals/ledger/book.h"
#include "../../src/store/files.h"
#include "../../src/store/reader.h"
#include "../../src/store/totals.h"
#include "../../src/store/views.h"
#include "../../src/store/writer.h"

#define THREADS 40
#define STATES	5

static struct session_files files;

static void add_ledger(struct writer *writer, u64 rows, u64 objects)
{
	for (u64 i = 0; i < rows; i++) {
		const struct cell cells[] = {
			cell_number(i / 1000), cell_number(i % THREADS), cell_number(i % STATES),
			cell_number(0),	       cell_number(i % objects), cell_number(0),
			cell_number(0),	       cell_number(0),		 cell_number(i % 7 - 2),
			cell_number(1),	       cell_number(i),
		};

		writer_sink(writer)->add(writer_sink(writer), &ledger_tables[TABLE_LEDGER], cells);
	}
	assert_int_equal(writer_commit(writer), 0);
}

static struct writer *begin(void)
{
	struct writer *writer;

	assert_int_equal(files_create_in_memory(&files), 0);
	assert_int_equal(writer_open(files.db_fd, files.wal_fd, &writer), 0);
	return writer;
}

static struct session *reopen(struct writer *writer)
{
	struct session *session;

	assert_int_equal(writer_close(writer), 0);
	assert_int_equal(session_open_live_fds(files.db_fd, files.wal_fd, "test", &session), 0);
	return session;
}

static void end(struct session *session)
{
	session_close(session);
	files_close(&files, FILES_UNUSED);
}

static s64 number(const struct session *session, const char *sql)
{
	sqlite3_stmt *query;
	s64 value;

	assert_int_equal(sqlite3_prepare_v2(session_db(session), sql, -1, &query, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(query), SQLITE_ROW);
	value = sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	return value;
}

/* How many rows are in one of the two and not in the other. */
static void assert_same(const struct session *session, const char *one, const char *other)
{
	char sql[1024];

	snprintf(sql, sizeof(sql),
		 "SELECT count(*) FROM (SELECT * FROM (%s EXCEPT %s) UNION ALL "
		 "SELECT * FROM (%s EXCEPT %s))",
		 one, other, other, one);
	assert_int_equal(number(session, sql), 0);
}

static void long_session_has_sums(void **state)
{
	struct writer *writer = begin();
	struct session *session;

	(void)state;
	add_ledger(writer, 2 * TOTALS_ROWS_MIN, 3);
	writer_total(writer);
	session = reopen(writer);
	assert_int_equal(number(session, "SELECT count(*) FROM thread_states"), THREADS);
	assert_same(session, "SELECT thread, state, ns, count FROM thread_states",
		    "SELECT thread, state, sum(ns), sum(count) FROM ledger GROUP BY 1, 2");
	assert_same(session, "SELECT window, state, ns, count FROM window_states",
		    "SELECT window, state, sum(ns), sum(count) FROM ledger GROUP BY 1, 2");
	assert_same(
		session, "SELECT thread, state, object, ns, count FROM thread_causes",
		"SELECT thread, state, object, sum(ns), sum(count) FROM ledger GROUP BY 1, 2, 3");
	assert_int_equal(number(session, "SELECT count(*) FROM stack_sums"), 0);
	end(session);
}

static void short_session_has_none(void **state)
{
	struct writer *writer = begin();
	struct session *session;

	(void)state;
	add_ledger(writer, TOTALS_ROWS_MIN - 1, 3);
	writer_total(writer);
	session = reopen(writer);
	assert_int_equal(number(session, "SELECT count(*) FROM thread_states"), 0);
	end(session);
}

/* As many causes as rows: their sums would be as large as they are. */
static void sums_that_are_large_are_left_out(void **state)
{
	struct writer *writer = begin();
	struct session *session;

	(void)state;
	add_ledger(writer, TOTALS_ROWS_MIN, TOTALS_ROWS_MIN);
	writer_total(writer);
	session = reopen(writer);
	assert_int_equal(number(session, "SELECT count(*) FROM thread_causes"), 0);
	assert_int_equal(number(session, "SELECT count(*) FROM thread_states"), THREADS);
	end(session);
}

/* One whose writer died after it had written sums, and goes on. */
static void resumed_session_has_new_sums(void **state)
{
	struct writer *writer;
	struct session *session;
	pid_t child;

	(void)state;
	assert_int_equal(files_create_in_memory(&files), 0);
	child = fork();
	if (child == 0) {
		if (writer_open(files.db_fd, files.wal_fd, &writer))
			_exit(1);
		add_ledger(writer, TOTALS_ROWS_MIN, 3);
		writer_total(writer);
		_exit(0); /* without writer_close() */
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(session_open_live_fds(files.db_fd, files.wal_fd, "test", &session), 0);
	assert_int_equal(number(session, "SELECT count(*) FROM thread_states"), THREADS);
	session_close(session);
	assert_int_equal(writer_resume(files.db_fd, files.wal_fd, &writer), 0);
	add_ledger(writer, 10, 3);
	session = reopen(writer);
	assert_int_equal(number(session, "SELECT count(*) FROM thread_states"), 0);
	end(session);
}

/* Any SQL client has them; dwell itself makes its own. */
static void views_are_stored_and_not_believed(void **state)
{
	struct session *session = reopen(begin());
	const struct windows all = {0};
	char sql[256];

	(void)state;
	for (size_t i = 0; i < session_view_count; i++) {
		snprintf(sql, sizeof(sql),
			 "SELECT count(*) FROM main.sqlite_schema WHERE type = 'view' AND "
			 "name = '%s'",
			 session_views[i].name);
		assert_int_equal(number(session, sql), 1);
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", session_views[i].name);
		assert_int_not_equal(sqlite3_exec(session_db(session), sql, NULL, NULL, NULL), 0);
	}
	assert_int_equal(views_make(session_db(session), &all), SQLITE_OK);
	for (size_t i = 0; i < session_view_count; i++) {
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", session_views[i].name);
		assert_int_equal(number(session, sql), 0);
	}
	assert_true(number(session, "SELECT count(*) FROM main.details") > 0);
	assert_same(session, "SELECT * FROM main.details", "SELECT * FROM temp.details");
	end(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_session_has_sums),
		cmocka_unit_test(short_session_has_none),
		cmocka_unit_test(sums_that_are_large_are_left_out),
		cmocka_unit_test(resumed_session_has_new_sums),
		cmocka_unit_test(views_are_stored_and_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
