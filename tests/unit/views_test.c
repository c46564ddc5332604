// SPDX-License-Identifier: Apache-2.0
/*
 * The views that the writer stores in a session: any SQL client has them, and dwell itself does not
 * believe them.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "../../src/store/files.h"
#include "../../src/store/reader.h"
#include "../../src/store/views.h"
#include "../../src/store/writer.h"

static struct session_files files;

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
		cmocka_unit_test(views_are_stored_and_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
