// SPDX-License-Identifier: Apache-2.0
#include "writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/log.h"
#include "../model/signal.h"
#include "batch.h"
#include "details.h"
#include "sums.h"
#include "tables.h"
#include "vfs.h"
#include "views.h"

#define STATEMENTS_MAX 64
#define SQL_BYTES      2048

#define SUMS_MAX 8

struct statement {
	const struct table *table;
	sqlite3_stmt *insert;
};

struct table_with_sums {
	const struct table *table;
	struct sums *sums;
};

struct writer {
	struct sink sink; /* first: the sink is the writer */
	struct source_of_writer {
		struct source source; /* first: the source is this */
		struct writer *writer;
	} source;
	struct vfs vfs;
	sqlite3 *db;
	struct statement statements[STATEMENTS_MAX];
	size_t statement_count;
	struct table_with_sums sums[SUMS_MAX];
	size_t sums_count;
	struct batch batch;
	bool is_resumed; /* it was there, with its tables */
	bool is_open;	 /* its tables are there */
	bool is_closing; /* and all of its windows */
	bool in_transaction;
	int failure; /* -errno of the first failure; nothing is written after it */
	u64 lost_rows;
};

static int errno_of(int code)
{
	switch (code & 0xff) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_READONLY:
		return -EROFS;
	default:
		return -EIO;
	}
}

static const char *remedy(const struct writer *writer)
{
	if (writer->vfs.last_errno == EFBIG)
		return "see ulimit -f; a session in memory is limited to less than one with -o "
		       "FILE";
	if (writer->failure == -ENOMEM)
		return "free some memory, and record again";
	if (writer->failure == -ENOSPC)
		return "free disk space, or use -o on another disk, and record again";
	return "record again with -o on another disk";
}

static int give_up(struct writer *writer, int code, const char *what)
{
	if (writer->failure)
		return writer->failure;
	writer->failure = errno_of(code);
	log_error("cannot write the session (%s): %s%s%s; %s: %s", what, sqlite3_errstr(code),
		  writer->vfs.last_errno ? ": " : "",
		  writer->vfs.last_errno ? strerror(writer->vfs.last_errno) : "",
		  writer->is_closing ? "what is complete is kept, in the file and its -wal"
		  : writer->is_open  ? "what is complete is kept, later windows are lost"
				     : "nothing is in it",
		  remedy(writer));
	return writer->failure;
}

static int execute(struct writer *writer, const char *sql, const char *what)
{
	int code = sqlite3_exec(writer->db, sql, NULL, NULL, NULL);

	return code ? give_up(writer, code, what) : 0;
}

static int create_table(struct writer *writer, const struct table *table)
{
	char sql[SQL_BYTES];
	int err;

	if (snprintf(sql, sizeof(sql), "CREATE TABLE %s (%s)", table->name, table->columns) >=
	    (int)sizeof(sql))
		return -E2BIG;
	err = execute(writer, sql, table->name);
	if (!err && table->also)
		err = execute(writer, table->also, table->name);
	return err;
}

/* Who continues a file does not know what its rows so far add up to, and keeps no sums. */
static int prepare_sums(struct writer *writer, const struct table *table,
			const struct table_sums *what)
{
	struct sums *sums;

	if (writer->sums_count == SUMS_MAX)
		return -E2BIG;
	sums = sums_new(table, what);
	if (sums)
		writer->sums[writer->sums_count++] = (struct table_with_sums){table, sums};
	return create_table(writer, &what->table);
}

/* Makes the table, if it is not there, and the statement that adds to it. */
static int prepare_table(struct writer *writer, const struct table *table)
{
	struct statement *statement = &writer->statements[writer->statement_count];
	char sql[SQL_BYTES];
	size_t length;
	int err = 0, code;

	if (writer->statement_count == STATEMENTS_MAX || table->width > BATCH_WIDTH_MAX)
		return -E2BIG;
	if (!writer->is_resumed)
		err = create_table(writer, table);
	if (err)
		return err;
	length = (size_t)snprintf(sql, sizeof(sql), "INSERT OR REPLACE INTO %s SELECT c0",
				  table->name);
	for (size_t i = 1; i < table->width; i++)
		length += (size_t)snprintf(sql + length, sizeof(sql) - length, ", c%zu", i);
	snprintf(sql + length, sizeof(sql) - length, " FROM batch");
	code = sqlite3_prepare_v3(writer->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
				  &statement->insert, NULL);
	if (code)
		return give_up(writer, code, table->name);
	statement->table = table;
	writer->statement_count++;
	for (size_t i = 0; !err && !writer->is_resumed && i < table->sums_count; i++)
		err = prepare_sums(writer, table, &table->sums[i]);
	return err;
}

static sqlite3_stmt *statement_of(const struct writer *writer, const struct table *table)
{
	for (size_t i = 0; i < writer->statement_count; i++)
		if (writer->statements[i].table == table)
			return writer->statements[i].insert;
	return NULL;
}

static void begin(struct writer *writer)
{
	if (!writer->failure && !writer->in_transaction)
		writer->in_transaction = !execute(writer, "BEGIN", "beginning a window");
}

static void write_batch(struct writer *writer)
{
	struct batch *batch = &writer->batch;
	sqlite3_stmt *insert = statement_of(writer, batch->table);
	int code = SQLITE_MISUSE;

	if (!batch->rows)
		return;
	begin(writer);
	if (!writer->failure && insert) {
		sqlite3_step(insert);
		code = sqlite3_reset(insert); /* says what the step said */
	}
	if (code) {
		writer->lost_rows += batch->rows;
		give_up(writer, code, batch->table->name);
	}
	batch_clear(batch);
}

static void add_to_sums(struct writer *writer, const struct table *table, const struct cell *cells)
{
	int code;

	for (size_t i = 0; i < writer->sums_count; i++) {
		if (writer->sums[i].table != table)
			continue;
		begin(writer);
		code = writer->failure ? 0 : sums_add(writer->sums[i].sums, writer->db, cells);
		if (code)
			give_up(writer, code, table->name);
	}
}

static void finish_sums(struct writer *writer)
{
	for (size_t i = 0; i < writer->sums_count; i++) {
		int code;

		begin(writer);
		code = writer->failure ? 0 : sums_finish(writer->sums[i].sums, writer->db);
		if (code)
			give_up(writer, code, writer->sums[i].table->name);
		sums_free(writer->sums[i].sums);
	}
	writer->sums_count = 0;
}

static void add_row(struct sink *sink, const struct table *table, const struct cell *cells)
{
	struct writer *writer = (struct writer *)sink;

	if (table->sums)
		add_to_sums(writer, table, cells);
	if (batch_add(&writer->batch, table, cells))
		return;
	write_batch(writer);
	batch_add(&writer->batch, table, cells);
}

static int fill_dictionary(struct writer *writer, const struct dictionary *dictionary)
{
	int err = prepare_table(writer, &dictionary->table);

	for (size_t i = 0; !err && !writer->is_resumed && i < dictionary->count; i++) {
		const struct name_row *row = &dictionary->rows[i];
		struct cell cells[] = {
			cell_number((u64)row->id),
			cell_text(row->name, strlen(row->name)),
			cell_text(row->meaning, strlen(row->meaning)),
		};

		add_row(&writer->sink, &dictionary->table, cells);
	}
	return err ? err : writer->failure;
}

static int prepare_tables(struct writer *writer)
{
	int err = 0;

	for (size_t i = 0; !err && i < TABLE_COUNT; i++)
		err = prepare_table(writer, &store_tables[i]);
	for (size_t i = 0; !err && i < DICTIONARY_COUNT; i++)
		err = fill_dictionary(writer, &store_dictionaries[i]);
	if (!err)
		err = prepare_table(writer, &details_table);
	if (!err && !writer->is_resumed)
		details_add(&writer->sink);
	if (!err)
		err = prepare_table(writer, &labels_table);
	for (int id = 0; !err && id < SIGNAL_LIMIT; id++) {
		const struct signal *signal = signal_rows[id].signal;

		for (size_t i = 0; signal && !err && i < signal->table_count; i++)
			err = prepare_table(writer, &signal->tables[i]);
	}
	if (!err && !writer->is_resumed) {
		int code = views_store(writer->db);

		err = code ? give_up(writer, code, "its views") : 0;
	}
	return err;
}

/* --- rows that are there --- */

static struct cell cell_of(sqlite3_stmt *row, int column)
{
	const char *text;

	switch (sqlite3_column_type(row, column)) {
	case SQLITE_INTEGER:
		return cell_number((u64)sqlite3_column_int64(row, column));
	case SQLITE_TEXT:
		text = (const char *)sqlite3_column_text(row, column);
		return text ? cell_text(text, (size_t)sqlite3_column_bytes(row, column))
			    : (struct cell){.kind = CELL_NULL};
	default:
		return (struct cell){.kind = CELL_NULL};
	}
}

static int each_row(struct source *source, const char *columns, size_t width, const char *rest,
		    source_row on_row, void *context)
{
	struct writer *writer = ((struct source_of_writer *)source)->writer;
	struct cell cells[SOURCE_WIDTH_MAX];
	sqlite3_stmt *rows = NULL;
	char sql[SQL_BYTES];
	int code;

	if (width > SOURCE_WIDTH_MAX ||
	    snprintf(sql, sizeof(sql), "SELECT %s FROM %s", columns, rest) >= (int)sizeof(sql))
		return -E2BIG;
	code = sqlite3_prepare_v2(writer->db, sql, -1, &rows, NULL);
	while (!code && (code = sqlite3_step(rows)) == SQLITE_ROW) {
		code = SQLITE_OK;
		for (size_t i = 0; i < width; i++)
			cells[i] = cell_of(rows, (int)i);
		if (!on_row(context, cells))
			break;
	}
	sqlite3_finalize(rows);
	return code && code != SQLITE_DONE ? give_up(writer, code, "reading what is there") : 0;
}

/*
 * Exclusive locking keeps the WAL's index in this process: there is no third file. Nothing is
 * synced: a killed writer loses nothing by that, and a measurement must not wait for a disk that
 * it may be measuring. The marks are set before WAL mode, so that the file itself always has them.
 */
static int prepare_file(struct writer *writer)
{
	char sql[512];

	snprintf(sql, sizeof(sql),
		 "PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;"
		 "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;"
		 "PRAGMA application_id = %d; PRAGMA user_version = %d;"
		 "PRAGMA journal_mode = WAL; BEGIN",
		 SESSION_APPLICATION_ID, SESSION_USER_VERSION);
	return execute(writer, sql, "opening it");
}

/* It is in WAL mode, and what of the -wal was committed belongs to it. */
static int prepare_resumed_file(struct writer *writer)
{
	return execute(writer,
		       "PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;"
		       "PRAGMA synchronous = OFF; BEGIN",
		       "opening it again");
}

static int open_writer(int db_fd, int wal_fd, bool is_resumed, struct writer **ret_writer)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	int err;

	if (writer) {
		writer->sink.add = add_row;
		writer->source.source.each = each_row;
		writer->source.writer = writer;
		writer->is_resumed = is_resumed;
	}
	err = writer ? vfs_open(&writer->vfs, db_fd, wal_fd, true, &writer->db) : -ENOMEM;
	if (err) {
		log_error("cannot write the session (opening it): %s; free some memory",
			  strerror(-err));
		free(writer);
		return err;
	}
	err = batch_register(&writer->batch, writer->db)
		      ? give_up(writer, SQLITE_NOMEM, "preparing it")
	      : is_resumed ? prepare_resumed_file(writer)
			   : prepare_file(writer);
	writer->in_transaction = !err;
	if (!err)
		err = prepare_tables(writer);
	if (!err)
		err = writer_commit(writer);
	if (err) {
		writer_close(writer);
		return err;
	}
	writer->is_open = true;
	*ret_writer = writer;
	return 0;
}

int writer_open(int db_fd, int wal_fd, struct writer **ret_writer)
{
	return open_writer(db_fd, wal_fd, false, ret_writer);
}

int writer_resume(int db_fd, int wal_fd, struct writer **ret_writer)
{
	return open_writer(db_fd, wal_fd, true, ret_writer);
}

struct source *writer_source(struct writer *writer)
{
	return &writer->source.source;
}

struct sink *writer_sink(struct writer *writer)
{
	return &writer->sink;
}

int writer_commit(struct writer *writer)
{
	write_batch(writer);
	if (!writer->failure && writer->in_transaction)
		execute(writer, "COMMIT", "ending a window");
	if (writer->failure && !sqlite3_get_autocommit(writer->db))
		sqlite3_exec(writer->db, "ROLLBACK", NULL, NULL, NULL);
	writer->in_transaction = false;
	return writer->failure;
}

u64 writer_lost_rows(const struct writer *writer)
{
	return writer->lost_rows;
}

int writer_close(struct writer *writer)
{
	int err;

	if (!writer)
		return 0;
	write_batch(writer);
	finish_sums(writer);
	err = writer_commit(writer);
	for (size_t i = 0; i < writer->statement_count; i++)
		sqlite3_finalize(writer->statements[i].insert);
	writer->is_closing = true;
	/* Leaving WAL mode writes the file's header once more, with its journal in memory. */
	if (!err)
		err = execute(writer,
			      "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = MEMORY",
			      "closing it");
	if (err)
		sqlite3_db_config(writer->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	vfs_close(&writer->vfs, writer->db);
	free(writer);
	return err;
}
