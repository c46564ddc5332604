// SPDX-License-Identifier: Apache-2.0
#include "merge.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../base/log.h"
#include "../model/signal.h"
#include "reader.h"
#include "tables.h"
#include "vfs.h"

#define SQL_BYTES   2048
#define COLUMNS_MAX 64

/* Names of tables are ours; nothing of a file becomes SQL. */
static int prepare_insert(sqlite3 *to, const struct table *table, int columns,
			  sqlite3_stmt **ret_insert)
{
	const char *rule = table->continued;
	char sql[SQL_BYTES];
	size_t length = (size_t)snprintf(sql, sizeof(sql), "INSERT %s INTO %s VALUES (?",
					 rule ? "" : "OR REPLACE", table->name);

	for (int i = 1; i < columns; i++)
		length += (size_t)snprintf(sql + length, sizeof(sql) - length, ", ?");
	snprintf(sql + length, sizeof(sql) - length, ")%s%s", rule ? " ON CONFLICT " : "",
		 rule ? rule : "");
	return sqlite3_prepare_v2(to, sql, -1, ret_insert, NULL);
}

static int copy_rows(sqlite3_stmt *select, sqlite3_stmt *insert)
{
	int columns = sqlite3_column_count(select), code;

	while ((code = sqlite3_step(select)) == SQLITE_ROW) {
		code = SQLITE_OK;
		for (int i = 0; !code && i < columns; i++)
			code = sqlite3_bind_value(insert, i + 1, sqlite3_column_value(select, i));
		if (!code)
			code = sqlite3_step(insert);
		if (code != SQLITE_DONE)
			return code;
		sqlite3_reset(insert);
	}
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int copy_table(sqlite3 *to, sqlite3 *from, const struct table *table)
{
	sqlite3_stmt *select = NULL, *insert = NULL;
	char sql[128];
	int code;

	snprintf(sql, sizeof(sql), "SELECT * FROM %s ORDER BY rowid", table->name);
	code = sqlite3_prepare_v2(from, sql, -1, &select, NULL);
	if (!code && sqlite3_column_count(select) > COLUMNS_MAX)
		code = SQLITE_MISMATCH;
	if (!code)
		code = prepare_insert(to, table, sqlite3_column_count(select), &insert);
	if (!code)
		code = copy_rows(select, insert);
	sqlite3_finalize(select);
	sqlite3_finalize(insert);
	return code;
}

static int copy_tables(sqlite3 *to, sqlite3 *from)
{
	int code = 0;

	for (size_t i = 0; !code && i < TABLE_COUNT; i++)
		code = copy_table(to, from, &store_tables[i]);
	if (!code)
		code = copy_table(to, from, &labels_table);
	for (int id = 0; !code && id < SIGNAL_LIMIT; id++) {
		const struct signal *signal = signal_rows[id].signal;

		for (size_t i = 0; !code && signal && i < signal->table_count; i++)
			code = copy_table(to, from, &signal->tables[i]);
	}
	return code;
}

/* 0, an SQLite code, or -errno, told. */
static int add_file(sqlite3 *to, int from_fd)
{
	struct session *from;
	int code = session_open_fds(from_fd, -1, "a file of the recording", &from);

	if (code)
		return code;
	code = copy_tables(to, session_db(from));
	session_close(from);
	return code;
}

static int merge(sqlite3 *to, const int *from_fds, size_t count)
{
	int code = sqlite3_exec(to,
				"PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;"
				"PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN",
				NULL, NULL, NULL);

	for (size_t i = 0; !code && i < count; i++)
		code = add_file(to, from_fds[i]);
	if (!code)
		code = sqlite3_exec(
			to, "DELETE FROM meta WHERE key IN ('rotate_ns', 'keep', 'file_number')",
			NULL, NULL, NULL);
	/* Sums of the first file are not those of all. */
	if (!code && count)
		code = sqlite3_exec(to, "DELETE FROM meta WHERE key GLOB 'sums.*'", NULL, NULL,
				    NULL);
	return code ? code : sqlite3_exec(to, "COMMIT", NULL, NULL, NULL);
}

int session_merge(int to_fd, const int *from_fds, size_t count)
{
	struct vfs vfs;
	sqlite3 *to;
	int code, err = vfs_open(&vfs, to_fd, -1, true, &to);

	if (err)
		return err;
	code = merge(to, from_fds, count);
	vfs_close(&vfs, to);
	if (code <= 0)
		return code;
	log_error("cannot put the files of the recording together: %s", sqlite3_errstr(code));
	return (code & 0xff) == SQLITE_FULL ? -ENOSPC : -EIO;
}
