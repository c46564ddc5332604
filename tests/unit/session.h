/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Made-up sessions in memory, out of tests/sessions. For tests of what reads them.
 */
#ifndef DWELL_TESTS_SESSION_H
#define DWELL_TESTS_SESSION_H

#include <sqlite3.h>

#include "unit.h"

#define SQL_BYTES 65536

static inline void execute(sqlite3 *db, const char *sql)
{
	char *why = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s: %s", sql, why);
}

static inline void execute_file(sqlite3 *db, const char *name)
{
	_cleanup_free_ char *sql = calloc(1, SQL_BYTES);
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "tests/sessions/%s.sql", name);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(fread(sql, 1, SQL_BYTES - 1, file) > 0);
	fclose(file);
	execute(db, sql);
}

static inline sqlite3 *session(const char *name)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	execute_file(db, "schema");
	if (name)
		execute_file(db, name);
	return db;
}

#endif
