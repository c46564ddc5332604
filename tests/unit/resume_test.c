// SPDX-License-Identifier: Apache-2.0
/*
 * A session whose writer was killed is continued by another one that knows nothing: each thread
 * keeps its id, its time goes on where it ended, and the parts are still the whole.
 */
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../signals/ledger/ledger.h"
#include "../../src/model/signal.h"
#include "../../src/store/files.h"
#include "../../src/store/reader.h"
#include "../../src/store/tables.h"
#include "../../src/store/writer.h"

static char folder[64], path[96];
static struct session_files files;
static struct writer *writer;
static struct ledger_book *book;

enum { BUSY = 7, WAITING = 8, NEW = 9 };

static int start(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/dwell-resume-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/a.dwell", folder);
	book = calloc(1, sizeof(*book));
	return !book || files_create(path, &files);
}

static int stop(void **state)
{
	(void)state;
	signal_ledger.release(book);
	free(book);
	unlink(path);
	return rmdir(folder);
}

static struct rec_ledger thread(u32 tid)
{
	return (struct rec_ledger){.hdr = {.tgid = 1, .tid = tid, .start_ns = 1},
				   .thread_start_ns = 5,
				   .begin_ns = 1000,
				   .end_ns = 1000,
				   .threads = 1,
				   .comm = "test"};
}

static void spend(struct rec_ledger *row, int state, u64 ns)
{
	row->ns[state] += ns;
	row->entries[state]++;
	row->end_ns += ns;
}

static void wait_on(struct rec_ledger *row, u64 ns)
{
	row->ns[STATE_BLOCKED_SLEEP] += ns;
	row->end_ns += ns;
	row->open_since_ns = 1000;
	row->open.state = STATE_BLOCKED_SLEEP;
	row->open.count = 1;
	row->open.ns += ns;
}

static void give(const struct rec_ledger *row)
{
	signal_ledger.on_record(book, &row->hdr);
}

static void end_window(u64 window, u64 end_ns)
{
	const struct cell cells[] = {cell_number(window), cell_number(end_ns - 100),
				     cell_number(end_ns)};
	struct sink *sink = writer_sink(writer);

	signal_ledger.flush(book, window, sink);
	sink->add(sink, &store_tables[TABLE_WINDOWS], cells);
}

/* Two windows are complete when it is killed, and a third is not. */
static void write_and_die(void)
{
	struct rec_ledger busy = thread(BUSY), waiting = thread(WAITING);

	if (writer_open(files.db_fd, files.wal_fd, &writer))
		_exit(1);
	for (u64 window = 0; window < 3; window++) {
		spend(&busy, STATE_CPU, 100);
		give(&busy);
		if (!window)
			wait_on(&waiting, 100);
		give(&waiting);
		end_window(window, 1100 + window * 100);
		if (window < 2 && writer_commit(writer))
			_exit(1);
	}
	kill(getpid(), SIGKILL);
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

static s64 ns_of(struct session *session, u32 tid, int in_state)
{
	char sql[256];

	snprintf(sql, sizeof(sql),
		 "SELECT total(ns) FROM ledger JOIN threads t ON t.id = thread WHERE tid = %u AND "
		 "state = %d",
		 tid, in_state);
	return number(session, sql);
}

static void resume(bool is_first_file, u64 begin_ns)
{
	struct resumed resumed = {.next_window = 2,
				  .begin_ns = begin_ns,
				  .end_ns = 1200,
				  .is_first_file = is_first_file};
	int status;
	pid_t child = fork();

	if (!child)
		write_and_die();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(writer_resume(files.db_fd, files.wal_fd, &writer), 0);
	resumed.source = writer_source(writer);
	signal_ledger.resume(book, &resumed);
}

static void continue_windows(void)
{
	struct rec_ledger busy = thread(BUSY), waiting = thread(WAITING), new = thread(NEW);

	spend(&busy, STATE_CPU, 350);
	wait_on(&waiting, 350);
	new.begin_ns = new.end_ns = 1250;
	spend(&new, STATE_CPU, 100);
	for (u64 window = 2; window < 4; window++) {
		give(&busy);
		give(&waiting);
		give(&new);
		end_window(window, busy.end_ns);
		assert_int_equal(writer_commit(writer), 0);
		spend(&busy, STATE_CPU, 100);
		wait_on(&waiting, 100);
		spend(&new, STATE_CPU, 100);
	}
	signal_ledger.close(book, writer_sink(writer));
	assert_int_equal(writer_close(writer), 0);
	files_close(&files, FILES_COMPLETE);
}

static void check_whole(struct session *session)
{
	assert_int_equal(number(session, "SELECT count(*) FROM windows"), 4);
	assert_int_equal(number(session, "SELECT count(*) FROM threads"), 3);
	assert_int_equal(number(session,
				"SELECT max(abs(end_ns - begin_ns - (SELECT total(ns) FROM "
				"ledger WHERE thread = t.id))) FROM threads t"),
			 0);
}

static void threads_go_on_where_they_ended(void **state)
{
	struct session *session;

	(void)state;
	resume(true, 1000);
	continue_windows();
	assert_int_equal(session_open(path, &session), 0);
	check_whole(session);
	/* 200 were told, 150 are lost, and 100 came after that */
	assert_int_equal(ns_of(session, BUSY, STATE_CPU), 300);
	assert_int_equal(ns_of(session, BUSY, STATE_UNATTRIBUTED), 150);
	/* it waited all the time: nothing of that is lost */
	assert_int_equal(ns_of(session, WAITING, STATE_BLOCKED_SLEEP), 450);
	assert_int_equal(ns_of(session, WAITING, STATE_UNATTRIBUTED), 0);
	assert_int_equal(ns_of(session, NEW, STATE_CPU), 200);
	session_close(session);
}

/* A file after the first: what threads did before its begin is in others. */
static void earlier_files_keep_what_they_have(void **state)
{
	const struct table *threads = &signal_ledger.tables[0];
	struct rec_ledger busy = thread(BUSY);
	struct resumed resumed = {.begin_ns = 1300, .end_ns = 1300};
	struct session *session;

	(void)state;
	assert_string_equal(threads->name, "threads");
	assert_int_equal(writer_open(files.db_fd, files.wal_fd, &writer), 0);
	resumed.source = writer_source(writer); /* it has nothing yet */
	signal_ledger.resume(book, &resumed);
	spend(&busy, STATE_CPU, 350);
	give(&busy);
	end_window(0, 1350);
	spend(&busy, STATE_CPU, 100);
	give(&busy);
	end_window(1, 1450);
	signal_ledger.close(book, writer_sink(writer));
	assert_int_equal(writer_close(writer), 0);
	files_close(&files, FILES_COMPLETE);
	assert_int_equal(session_open(path, &session), 0);
	assert_int_equal(number(session, "SELECT begin_ns FROM threads"), 1300);
	assert_int_equal(number(session, "SELECT end_ns FROM threads"), 1450);
	assert_int_equal(ns_of(session, BUSY, STATE_UNATTRIBUTED), 50);
	assert_int_equal(ns_of(session, BUSY, STATE_CPU), 100);
	session_close(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(threads_go_on_where_they_ended, start, stop),
		cmocka_unit_test_setup_teardown(earlier_files_keep_what_they_have, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
