// SPDX-License-Identifier: Apache-2.0
/*
 * The session file: what is written comes back, whatever became of the writer, and what is no
 * session is refused.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../src/base/log.h"
#include "../../src/model/signal.h"
#include "../../src/store/files.h"
#include "../../src/store/reader.h"
#include "../../src/store/rows.h"
#include "../../src/store/writer.h"
#include "../../src/worker/session.h"

static char folder[] = "/tmp/dwell-store-XXXXXX";
static char path[64], wal_path[80];

static int start(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/dwell-store-XXXXXX");
	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/a.dwell", folder);
	snprintf(wal_path, sizeof(wal_path), "%s-wal", path);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	unlink(path);
	unlink(wal_path);
	return rmdir(folder);
}

static s64 number(struct session *session, const char *sql)
{
	sqlite3_stmt *query;
	s64 value;

	assert_int_equal(sqlite3_prepare_v2(session_db(session), sql, -1, &query, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(query), SQLITE_ROW);
	value = sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	return value;
}

static void add_window(struct writer *writer, u64 id)
{
	const struct cell cells[] = {cell_number(id), cell_number(id * 10),
				     cell_number(id * 10 + 10)};

	writer_sink(writer)->add(writer_sink(writer), &store_tables[TABLE_WINDOWS], cells);
}

static struct writer *open_writer(struct session_files *files)
{
	struct writer *writer = NULL;

	assert_int_equal(files_create(path, files), 0);
	assert_int_equal(writer_open(files->db_fd, files->wal_fd, &writer), 0);
	return writer;
}

static void written_rows_come_back(void **state)
{
	struct session_files files;
	struct writer *writer = open_writer(&files);
	struct session *session;
	struct stat st;

	(void)state;
	for (u64 i = 0; i < 5; i++) {
		add_window(writer, i);
		assert_int_equal(writer_commit(writer), 0);
	}
	assert_int_equal(writer_close(writer), 0);
	files_close(&files, FILES_COMPLETE);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(wal_path, &st), -1); /* one file */
	assert_int_equal(session_open(path, &session), 0);
	assert_int_equal(number(session, "SELECT count(*) FROM windows"), 5);
	assert_int_equal(number(session, "SELECT count(*) FROM states"), STATE_COUNT);
	assert_int_equal(number(session, "SELECT call FROM syscalls WHERE name = 'write' "
					 "AND meaning IS NULL"),
			 1 + 1);
	assert_int_not_equal(sqlite3_exec(session_db(session), "DELETE FROM windows", 0, 0, 0), 0);
	session_close(session);
}

static void killed_writer_leaves_what_was_complete(void **state)
{
	struct session *session;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		struct session_files files;
		struct writer *writer = open_writer(&files);

		for (u64 i = 0; i < 2000; i++) { /* more than one checkpoint's worth */
			add_window(writer, i);
			for (u64 row = 0; row < 50; row++) {
				const struct cell cells[] = {cell_number(i), cell_text("x", 1),
							     cell_text("y", 1)};

				writer_sink(writer)->add(writer_sink(writer),
							 &store_tables[TABLE_STEPS], cells);
			}
			writer_commit(writer);
		}
		add_window(writer, 3000); /* never committed */
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(access(wal_path, F_OK), 0);
	assert_int_equal(session_open(path, &session), 0);
	assert_int_equal(number(session, "SELECT count(*) FROM windows"), 2000);
	assert_int_equal(number(session, "SELECT count(*) FROM steps"), 100000);
	session_close(session);
}

static void session_in_memory_is_read_through_its_descriptors(void **state)
{
	struct session_files files;
	struct session *session;
	struct writer *writer;

	(void)state;
	assert_int_equal(files_create_in_memory(&files), 0);
	assert_int_equal(writer_open(files.db_fd, files.wal_fd, &writer), 0);
	add_window(writer, 0);
	assert_int_equal(writer_close(writer), 0);
	assert_int_equal(session_open_fds(files.db_fd, files.wal_fd, "run", &session), 0);
	assert_int_equal(number(session, "SELECT count(*) FROM windows"), 1);
	session_close(session);
	files_close(&files, FILES_COMPLETE);
}

static void write_text(const char *text)
{
	FILE *file = fopen(path, "we");

	fputs(text, file);
	fclose(file);
}

static void what_is_no_session_is_refused_and_not_overwritten(void **state)
{
	struct session_files files;
	struct session *session;
	struct stat st;
	sqlite3 *db;

	(void)state;
	assert_int_equal(session_open(path, &session), -ENOENT);
	assert_int_equal(session_open(folder, &session), -EINVAL);
	write_text("hello");
	assert_int_equal(session_open(path, &session), -EBADMSG);
	assert_int_equal(files_create(path, &files), -EEXIST);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 5);
	unlink(path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "CREATE TABLE a (b)", 0, 0, 0), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(session_open(path, &session), -EBADMSG);
	assert_int_equal(files_create(path, &files), -EEXIST);
	unlink(path);
	assert_int_equal(symlink("/tmp/dwell-nowhere", path), 0);
	assert_int_equal(files_create(path, &files), -ELOOP);
	assert_int_not_equal(access("/tmp/dwell-nowhere", F_OK), 0);
}

static void make_session(void)
{
	struct session_files files;
	struct writer *writer = open_writer(&files);

	add_window(writer, 0);
	assert_int_equal(writer_close(writer), 0);
	files_close(&files, FILES_COMPLETE);
}

static void change(const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, 0, 0, 0), SQLITE_OK);
	sqlite3_close(db);
}

static void other_schema_is_refused(void **state)
{
	struct session *session;

	(void)state;
	make_session();
	change("DROP TABLE request_calls; PRAGMA user_version = 1008"); /* a minor one only adds */
	assert_int_equal(session_open(path, &session), 0);
	session_close(session);
	change("PRAGMA user_version = 2000");
	assert_int_equal(session_open(path, &session), -EPROTONOSUPPORT);
	change("PRAGMA user_version = 0");
	assert_int_equal(session_open(path, &session), -EPROTONOSUPPORT);
}

static void view_in_the_place_of_a_table_is_refused(void **state)
{
	struct session *session;

	(void)state;
	make_session();
	change("DROP TABLE ledger; CREATE VIEW ledger AS WITH RECURSIVE n(x) AS "
	       "(SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n");
	assert_int_equal(session_open(path, &session), -EBADMSG);
}

/* As a module would make it: a row of the schema without a page. */
static void virtual_table_in_the_place_of_a_table_is_refused(void **state)
{
	struct session *session;

	(void)state;
	make_session();
	change("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 0, "
	       "sql = 'CREATE VIRTUAL TABLE ledger USING fts5(a)' WHERE name = 'ledger'");
	assert_int_equal(session_open(path, &session), -EBADMSG);
}

static void endless_query_is_ended(void **state)
{
	struct session *session;

	(void)state;
	make_session();
	assert_int_equal(session_open(path, &session), 0);
	assert_int_equal(sqlite3_exec(session_db(session),
				      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
				      "FROM n) SELECT count(*) FROM n",
				      0, 0, 0),
			 SQLITE_INTERRUPT);
	session_close(session);
}

static void old_session_is_overwritten_whole(void **state)
{
	struct session *session;

	(void)state;
	make_session();
	make_session();
	assert_int_equal(session_open(path, &session), 0);
	assert_int_equal(number(session, "SELECT count(*) FROM windows"), 1);
	session_close(session);
}

static void killed_session_is_overwritten_with_its_companion(void **state)
{
	struct session *session;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		struct session_files files;

		add_window(open_writer(&files), 7);
		kill(getpid(), SIGKILL);
	}
	waitpid(child, NULL, 0);
	assert_int_equal(access(wal_path, F_OK), 0);
	make_session();
	assert_int_equal(access(wal_path, F_OK), -1);
	assert_int_equal(session_open(path, &session), 0);
	assert_int_equal(number(session, "SELECT max(id) FROM windows"), 0);
	session_close(session);
}

static void session_that_is_being_written_is_left_alone(void **state)
{
	struct session_files files, again;
	struct writer *writer = open_writer(&files);
	struct session *session;
	sqlite3 *db;

	(void)state;
	assert_int_equal(session_open(path, &session), -EBUSY);
	assert_int_equal(files_create(path, &again), -EBUSY);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK); /* any client sees the lock */
	assert_int_equal(sqlite3_exec(db, "SELECT * FROM windows", 0, 0, 0), SQLITE_BUSY);
	sqlite3_close(db);
	add_window(writer, 0);
	assert_int_equal(writer_close(writer), 0);
	files_close(&files, FILES_COMPLETE);
	assert_int_equal(session_open(path, &session), 0);
	session_close(session);
}

/* dwell trace --slow prints what is in the session while it is written. */
static void reader_of_a_live_session_leaves_its_lock(void **state)
{
	struct session_files files;
	struct writer *writer = open_writer(&files);
	struct session *session;
	int db_fd, wal_fd;
	sqlite3 *db;

	(void)state;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	for (u64 i = 0; i < 3; i++) {
		add_window(writer, i);
		assert_int_equal(writer_commit(writer), 0);
		assert_int_equal(files_reopen_live(&files, &db_fd, &wal_fd), 0);
		assert_int_equal(session_open_live_fds(db_fd, wal_fd, path, &session), 0);
		assert_int_equal(number(session, "SELECT count(*) FROM windows"), i + 1);
		assert_int_equal(sqlite3_exec(db, "PRAGMA wal_checkpoint", 0, 0, 0), SQLITE_BUSY);
		session_close(session);
		close(db_fd);
		close(wal_fd);
		assert_int_equal(sqlite3_exec(db, "PRAGMA wal_checkpoint", 0, 0, 0), SQLITE_BUSY);
		assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", 0, 0, 0), SQLITE_BUSY);
	}
	sqlite3_close(db);
	assert_int_equal(writer_close(writer), 0);
	files_close(&files, FILES_COMPLETE);
}

/* The disk is full from some window on: those before it stay, and the writer says so once. */
static void full_disk_ends_the_session_but_not_the_writer(void **state)
{
	const struct rlimit limit = {1 << 20, RLIM_INFINITY};
	const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
	char filler[1024];
	struct session_files files;
	struct writer *writer = open_writer(&files);
	struct session *session;
	s64 complete = 0;

	(void)state;
	memset(filler, 'x', sizeof(filler));
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (u64 i = 0; i < 100; i++) {
		add_window(writer, i);
		for (u64 row = 0; row < 50; row++) {
			const struct cell cells[] = {cell_number(i),
						     cell_text(filler, sizeof(filler)),
						     cell_text("y", 1)};

			writer_sink(writer)->add(writer_sink(writer), &store_tables[TABLE_STEPS],
						 cells);
		}
		complete += !writer_commit(writer);
	}
	assert_in_range(complete, 1, 99);
	assert_true(writer_lost_rows(writer) > 0);
	assert_int_equal(writer_close(writer), -ENOSPC);
	files_close(&files, FILES_NEED_WAL);
	setrlimit(RLIMIT_FSIZE, &none);
	assert_int_equal(session_open(path, &session), 0);
	assert_int_equal(number(session, "SELECT count(*) FROM windows"), complete);
	assert_int_equal(number(session, "SELECT count(*) FROM steps"), complete * 50);
	session_close(session);
}

static void damaged_file_is_an_error_and_nothing_worse(void **state)
{
	struct session *session;
	int fd;

	(void)state;
	make_session();
	fd = open(path, O_RDWR | O_CLOEXEC);
	for (off_t at = 100; at < 60000; at += 7)
		assert_int_equal(pwrite(fd, "\xff", 1, at), 1);
	close(fd);
	assert_int_equal(session_open(path, &session), -EBADMSG);
}

static void count_row(struct sink *sink, const struct table *table, const struct cell *cells)
{
	struct {
		struct sink sink;
		u64 rows;
	} *counter = (void *)sink;

	assert_ptr_equal(table, &store_tables[TABLE_META]);
	assert_int_equal(cells[0].length, 3);
	counter->rows++;
}

static void rows_travel_and_foreign_bytes_are_refused(void **state)
{
	const struct cell cells[] = {cell_text("key", 3), cell_text("value", 5)};
	struct {
		struct sink sink;
		u64 rows;
	} counter = {.sink.add = count_row};
	struct rows rows = {0};
	u64 added = 0;

	(void)state;
	while (rows_add(&rows, TABLE_META, cells))
		added++;
	assert_int_equal(rows_read(rows.bytes, rows.size, &counter.sink), 0);
	assert_int_equal(counter.rows, added);
	assert_int_equal(rows_read(rows.bytes, rows.size - 1, &counter.sink), -EBADMSG);
	assert_int_equal(rows_read("\x09", 1, &counter.sink), -EBADMSG);
	assert_int_equal(rows_read("\0\x07xxxxxxxxxxxxxxxx", 18, &counter.sink), -EBADMSG);
	assert_int_equal(rows_read("\0\x02\xff\xff\xff\xff\xff\xff\xff\x7f", 10, &counter.sink),
			 -EBADMSG);
}

/* The whole way: records in the queue, the worker's flush, the file. */
static void worker_writes_a_session(void **state)
{
	struct rec_ledger row = {.hdr = {.type = SIG_LEDGER,
					 .version = SIG_VERSION_LEDGER,
					 .size = sizeof(row),
					 .ts_ns = 1,
					 .seq = 1,
					 .tgid = 5,
					 .tid = 5},
				 .begin_ns = 100,
				 .end_ns = 300,
				 .threads = 1};
	const struct rec_cpu beyond = {
		.hdr = {.type = SIG_CPU,
			.version = SIG_VERSION_CPU,
			.size = sizeof(beyond),
			.ts_ns = 1,
			.seq = 1},
		.cpu = 99999, /* what has no place is told */
	};
	const struct rec_sample sample = {
		.hdr = {.type = SIG_SAMPLE,
			.version = SIG_VERSION_SAMPLE,
			.size = sizeof(sample),
			.ts_ns = 1,
			.seq = 1},
		.stack = 5, /* which never comes: found out when all is over */
	};
	const struct cell meta[] = {cell_text("note", 4), cell_text("hi", 2)};
	struct rows rows = {0};
	struct session_files files;
	struct session *session;
	struct worker *worker;
	struct queue *queue;

	(void)state;
	row.ns[STATE_CPU] = 200;
	assert_int_equal(queue_create(QUEUE_BYTES_MIN, &queue), 0);
	assert_int_equal(worker_start(queue, NULL, 0, &worker), 0);
	assert_int_equal(worker_session_window(worker, 0, 0, 1, false), -ENOTCONN);
	assert_int_equal(files_create(path, &files), 0);
	assert_int_equal(worker_session_open(worker, files.db_fd, files.wal_fd, 0), 0);
	assert_true(rows_add(&rows, TABLE_META, meta));
	assert_int_equal(worker_session_rows(worker, &rows), 0);
	assert_true(queue_push(queue, &row, sizeof(row), 1));
	assert_true(queue_push(queue, &beyond, sizeof(beyond), 1));
	assert_true(queue_push(queue, &beyond, sizeof(beyond), 1));
	assert_int_equal(worker_session_window(worker, 0, 0, 1000, false), 0);
	assert_true(queue_push(queue, &sample, sizeof(sample), 1));
	assert_true(queue_push(queue, &beyond, sizeof(beyond), 1));
	assert_int_equal(worker_session_window(worker, 1, 1000, 2000, false), 0);
	assert_true(queue_push(queue, &beyond, sizeof(beyond), 1));
	assert_true(queue_push(queue, &sample, sizeof(sample), 1));
	assert_int_equal(worker_session_window(worker, 2, 2000, 3000, false), 0);
	assert_true(queue_push(queue, &sample, sizeof(sample), 1));
	assert_int_equal(worker_session_window(worker, 3, 3000, 4000, false), 0);
	assert_int_equal(worker_session_close(worker), 0);
	worker_stop(worker);
	queue_destroy(queue);
	files_close(&files, FILES_COMPLETE);
	assert_int_equal(session_open(path, &session), 0);
	assert_int_equal(number(session, "SELECT sum(ns) FROM ledger WHERE window = 0"), 200);
	assert_int_equal(number(session, "SELECT end_ns - begin_ns FROM threads WHERE pid = 5"),
			 200);
	assert_int_equal(number(session, "SELECT count(*) FROM meta WHERE value = 'hi'"), 1);
	assert_int_equal(number(session, "SELECT count FROM losses WHERE cause = 'cpu_no_place' "
					 "AND window = 0"),
			 2);
	assert_int_equal(number(session, "SELECT sum(count) FROM losses WHERE window > 0 AND "
					 "cause = 'cpu_no_place'"),
			 2);
	assert_int_equal(number(session, "SELECT count(*) FROM samples WHERE stack = 0"), 3);
	assert_int_equal(number(session, "SELECT sum(count) FROM losses WHERE window = 3 AND "
					 "cause = 'sample_no_stack'"),
			 2);
	assert_int_equal(number(session, "SELECT count(*) FROM losses"), 5);
	session_close(session);
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(written_rows_come_back),
		STORE_TEST(killed_writer_leaves_what_was_complete),
		STORE_TEST(session_in_memory_is_read_through_its_descriptors),
		STORE_TEST(what_is_no_session_is_refused_and_not_overwritten),
		STORE_TEST(other_schema_is_refused),
		STORE_TEST(view_in_the_place_of_a_table_is_refused),
		STORE_TEST(virtual_table_in_the_place_of_a_table_is_refused),
		STORE_TEST(endless_query_is_ended),
		STORE_TEST(old_session_is_overwritten_whole),
		STORE_TEST(killed_session_is_overwritten_with_its_companion),
		STORE_TEST(session_that_is_being_written_is_left_alone),
		STORE_TEST(reader_of_a_live_session_leaves_its_lock),
		STORE_TEST(full_disk_ends_the_session_but_not_the_writer),
		STORE_TEST(damaged_file_is_an_error_and_nothing_worse),
		STORE_TEST(rows_travel_and_foreign_bytes_are_refused),
		STORE_TEST(worker_writes_a_session),
	};

	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
