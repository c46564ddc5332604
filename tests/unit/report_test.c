// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/base/utf8.h"
#include "../../src/report/report.h"
#include "golden.h"
#include "session.h"

static json_t *report_json(sqlite3 *db, struct report_options options)
{
	_cleanup_free_ char *text = NULL;
	json_error_t error;
	json_t *root;

	options.json = true;
	text = report(db, options);
	assert_non_null(text);
	root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		fail_msg("line %d: %s", error.line, error.text);
	return root;
}

static void reports_read_as_before(void **state)
{
	static const struct {
		const char *golden, *session;
		struct report_options options;
	} rows[] = {
		{"run", "run", {.session = "run.dwell"}},
		{"server", "server", {.session = "server.dwell"}},
		{"slice",
		 "server",
		 {.threads = true, .part.from_ns = 1000000000, .part.to_ns = 1500000000}},
		{"pid", "server", {.part.pids = {2003}, .part.pid_count = 1}},
		{"kernel", "server", {.part.kernel = true, .part.pids = {12}, .part.pid_count = 1}},
		{"stacks", "stacks", {.session = "stacks.dwell"}},
		{"stacks-tree", "stacks", {.stacks = true}},
		{"stacks-thread",
		 "stacks",
		 {.stacks = true, .part.tids = {501}, .part.tid_count = 1}},
		{"stacks-function",
		 "stacks",
		 {.stacks = true, .by = STACKS_BY_FUNCTION, .sort = STACKS_SORT_TOTAL}},
		{"stacks-module",
		 "stacks",
		 {.stacks = true, .by = STACKS_BY_MODULE, .sort = STACKS_SORT_WEIGHTED}},
		{"stacks-slice",
		 "stacks",
		 {.stacks = true, .part.from_ns = 1000000000, .part.to_ns = ~0ULL}},
		{"why-lock", "stacks", {.why = "blocked.lock"}},
		{"why-cpu", "stacks", {.why = "cpu", .part.kernel = true}},
		{"why-server", "server", {.why = "blocked.lock"}},
		{"views", "run", {.cpus = true, .execs = true}},
		{"views-server", "server", {.cpus = true, .execs = true}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		sqlite3 *db = session(rows[i].session);
		_cleanup_free_ char *text = report(db, rows[i].options);

		reads_as_before(rows[i].golden, text);
		sqlite3_close(db);
	}
}

static json_int_t number(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static json_int_t ledger_sum(json_t *owner)
{
	json_int_t sum = 0;
	json_t *row;
	size_t i;
	bool has_unattributed = false;

	json_array_foreach(json_object_get(owner, "ledger"), i, row)
	{
		const char *name = json_string_value(json_object_get(row, "state"));

		sum += number(row, "ns");
		has_unattributed |= !strcmp(name, "unattributed");
	}
	assert_true(has_unattributed);
	return sum;
}

/* In the JSON as in the file: every ledger sums to its wall, by thread and by process. */
static void ledgers_sum_to_the_wall(void **state)
{
	static const char *const names[] = {"run", "server"};

	(void)state;
	for (size_t n = 0; n < ARRAY_SIZE(names); n++) {
		sqlite3 *db = session(names[n]);
		json_t *root = report_json(db, (struct report_options){.part.kernel = true});
		json_t *quality = json_object_get(root, "quality"), *process, *thread;
		json_int_t wall_ns = 0;
		size_t i, j;

		json_array_foreach(json_object_get(root, "processes"), i, process)
		{
			assert_int_equal(ledger_sum(process), number(process, "threads_wall_ns"));
			wall_ns += number(process, "threads_wall_ns");
			json_array_foreach(json_object_get(process, "threads"), j, thread)
				assert_int_equal(ledger_sum(thread), number(thread, "wall_ns"));
		}
		assert_int_equal(number(quality, "closure_error_ns"), 0);
		assert_int_equal(number(quality, "wall_ns"), wall_ns);
		json_decref(root);
		sqlite3_close(db);
	}
}

/* A nanosecond too many here and one too few there are two, not none. */
static void closure_that_fails_is_told(void **state)
{
	sqlite3 *db = session("run");
	struct report_options none = {0};
	json_t *root;
	char *text;

	(void)state;
	execute(db, "UPDATE ledger SET ns = ns + 1 WHERE thread = 2 AND state = 2;"
		    "UPDATE ledger SET ns = ns - 1 WHERE thread = 3 AND state = 2;");
	root = report_json(db, none);
	assert_int_equal(number(json_object_get(root, "quality"), "closure_error_ns"), 2);
	text = report(db, none);
	assert_non_null(strstr(text, "parts - wall = 2 ns"));
	assert_non_null(strstr(text, "do not trust the shares"));
	free(text);
	json_decref(root);
	sqlite3_close(db);
}

/* A killed writer leaves rows of threads that are older than the ledger's. */
static void ledger_goes_on_after_the_row_of_its_thread(void **state)
{
	sqlite3 *db = session("run");
	struct report_options wide = {.columns = 200};
	json_t *root;
	char *text;

	(void)state;
	execute(db, "INSERT INTO windows VALUES (1, 1352000000, 2352000000);"
		    "INSERT INTO ledger VALUES (0, 2, 15, 231, 0, 0, 0, 2, 10000000, 0, NULL),"
		    "(1, 2, 2, 0, 0, 0, 0, 0, 300000000, 1, 1702000000),"
		    "(1, 2, 7, 0, 0, 0, 0, 7, 50000000, 1, NULL)");
	root = report_json(db, wide);
	assert_int_equal(number(json_object_get(root, "quality"), "closure_error_ns"), 0);
	json_decref(root);
	text = report(db, wide);
	assert_null(strstr(text,
			   "  ! ")); /* the kernel's counts are not compared with what came later */
	free(text);
	sqlite3_close(db);
}

static void checks_know_their_tolerance(void **state)
{
	sqlite3 *db = session("run");
	struct report_options wide = {.columns = 200};
	char *text = report(db, wide);

	(void)state;
	assert_null(strstr(text, "  ! "));
	free(text);
	execute(db, "UPDATE threads SET kernel_exec_ns = kernel_exec_ns * 1.05;"
		    "UPDATE threads SET kernel_voluntary = kernel_voluntary + 1 WHERE id = 1;"
		    "UPDATE faults SET ended = ended - 20;");
	text = report(db, wide);
	assert_non_null(strstr(text, "! on-CPU: ours"));
	assert_non_null(strstr(text, "voluntary switches: ours 88, the kernel's 89"));
	assert_non_null(strstr(text, "faults: ours 860"));
	free(text);
	sqlite3_close(db);
}

/* Each rule of the verdict, made the heaviest. */
static void verdict_names_what_dominates(void **state)
{
	static const struct {
		const char *sql, *expect;
	} rows[] = {
		{"UPDATE ledger SET ns = ns * 90 WHERE state = 8",
		 "cc1 (2 processes) waited 3.600 s for a CPU, 87 % of the time it could run."},
		{"UPDATE ledger SET state = 9, waker = 0, waker_kind = 0, ns = 2000000000 WHERE "
		 "state = 8",
		 "cc1 (2 processes) was throttled for 4.000 s, 88 % of the time it could run"},
		{"UPDATE ledger SET ns = ns * 90 WHERE state = 11",
		 "cc1 (701) waited 3.600 s (1059 % of its time) for a disk: fsync /tmp/out.o."},
		{"UPDATE ledger SET ns = ns * 90 WHERE state = 4;"
		 "DELETE FROM ledger WHERE state IN (8, 11, 16); DELETE FROM calls",
		 "cc1 (2 processes) spent 78 % of its time on a CPU in 860 page faults."},
		{"UPDATE ledger SET state = 0 WHERE state = 2", "30 % of the threads' wall time is "
								"unattributed"},
		{"UPDATE ledger SET ns = ns * 9 WHERE state = 17", "Its 3 descendants"},
		{"DELETE FROM threads; DELETE FROM processes", "No thread was seen"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		sqlite3 *db = session("run");
		json_t *root, *sentence;
		bool is_there = false;
		size_t at;

		execute(db, rows[i].sql);
		root = report_json(db, (struct report_options){0});
		json_array_foreach(json_object_get(root, "verdict"), at, sentence) is_there |=
			!!strstr(json_string_value(sentence), rows[i].expect);
		if (!is_there)
			fail_msg("%s: %s", rows[i].expect,
				 json_dumps(json_object_get(root, "verdict"), 0));
		json_decref(root);
		sqlite3_close(db);
	}
}

/* A lock is one cause, whoever held it: the wait for it is told whole. */
static void locks_are_told_whole(void **state)
{
	sqlite3 *db = session("server");
	_cleanup_free_ char *text = NULL;

	(void)state;
	execute(db, "UPDATE ledger SET holder = 4700 WHERE state = 10 AND window = 2");
	text = report(db, (struct report_options){.columns = 200});
	assert_non_null(strstr(text,
			       "worker-3 (4713) of server waited 1.830 s (61 % of its time) for "
			       "the lock 0x7f0012345678; held by worker-7 (4711) 67 %, "
			       "server (4700) 33 %"));
	assert_non_null(strstr(text,
			       "1.830 s   0.61       810 x  server (4700): blocked.lock futex "
			       "0x7f0012345678, held by worker-7 (4711) 67 %, server (4700) "
			       "33 %\n"));
	sqlite3_close(db);
}

/* Whole windows: of a part only what is in them, and no thread that had ended before. */
static void slices_take_whole_windows(void **state)
{
	sqlite3 *db = session("server");
	struct report_options part = {.part.from_ns = 1200000000, .part.to_ns = 1300000000};
	json_t *root = report_json(db, part), *slice = json_object_get(root, "slice");

	(void)state;
	assert_int_equal(number(slice, "begin_ns"), 1000000000);
	assert_int_equal(number(slice, "end_ns"), 2000000000);
	assert_int_equal(number(slice, "windows"), 1);
	assert_int_equal(
		number(json_object_get(json_object_get(root, "quality"), "lost"), "ring_full"), 12);
	json_decref(root);
	part = (struct report_options){.part.from_ns = 2000000000, .part.to_ns = ~0ULL};
	root = report_json(db, part);
	assert_int_equal(number(json_object_get(root, "slice"), "windows"), 1);
	/* 57 shown in all, and the row of 25 dead ones has its time in the window before. */
	assert_int_equal(number(json_object_get(root, "quality"), "wall_ns"), 32000000000);
	json_decref(root);
	part = (struct report_options){.part.from_ns = 9000000000, .part.to_ns = ~0ULL};
	assert_null(report(db, part));
	sqlite3_close(db);
}

static void parts_are_understood(void **state)
{
	static const struct {
		const char *text;
		u64 from_ns, to_ns; /* both 0: refused */
	} rows[] = {
		{"10s-20s", 10000000000, 20000000000},
		{"1.5s-", 1500000000, ~0ULL},
		{"-500ms", 0, 500000000},
		{"10-20", 10000000000, 20000000000},
		{"0-1m", 0, 60000000000},
		{"1us-2us", 1000, 2000},
		{"", 0, 0},
		{"-", 0, 0},
		{"10s", 0, 0},
		{"20s-10s", 0, 0},
		{"10s-10s", 0, 0},
		{"10x-20x", 0, 0},
		{"1e3-", 0, 0},
		{"0x10-", 0, 0},
		{"nan-", 0, 0},
		{"-inf", 0, 0},
		{"--5", 0, 0},
		{"1.2.3-", 0, 0},
		{"99999999999999-", 0, 0},
		{"1111111111111111111111111111111111111111-", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 from_ns = 0, to_ns = 0;
		int err = report_parse_slice(rows[i].text, &from_ns, &to_ns);

		if (!!err != (!rows[i].from_ns && !rows[i].to_ns))
			fail_msg("'%s' gives %d", rows[i].text, err);
		assert_true(from_ns == rows[i].from_ns && to_ns == rows[i].to_ns);
	}
}

static void other_files_are_refused(void **state)
{
	static const char *const rows[] = {
		"UPDATE meta SET value = 'dwell.session/2' WHERE key = 'schema'",
		"UPDATE meta SET value = 'dwell.session/12' WHERE key = 'schema'",
		"DELETE FROM meta",
		"DROP TABLE meta",
		"ALTER TABLE ledger RENAME TO old; CREATE VIEW ledger AS SELECT * FROM old",
		"ALTER TABLE threads DROP COLUMN comm",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		sqlite3 *db = session("run");
		_cleanup_free_ char *text = NULL;

		execute(db, rows[i]);
		text = report(db, (struct report_options){0});
		if (text)
			fail_msg("reported in spite of: %s", rows[i]);
		sqlite3_close(db);
	}
}

/* What an enemy may write, or a dwell of tomorrow: it is reported somehow, and nothing breaks. */
static void odd_files_are_survived(void **state)
{
	static const char *const rows[] = {
		"UPDATE meta SET value = 'dwell.session/1.7' WHERE key = 'schema'",
		"DROP TABLE calls; DROP TABLE faults; DROP TABLE cpus; DROP TABLE objects",
		"DELETE FROM threads",
		"DELETE FROM processes",
		"DELETE FROM windows",
		"DELETE FROM ledger",
		"UPDATE ledger SET ns = -1, count = -1, state = 99, call = 65535, object = -1",
		"UPDATE ledger SET ns = 9223372036854775807, count = 9223372036854775807",
		"UPDATE threads SET begin_ns = 9223372036854775807, end_ns = -1",
		"UPDATE threads SET begin_ns = -5, end_ns = 9223372036854775807",
		"UPDATE threads SET pid = -pid, tid = 4294967296 + tid, threads = 1000000",
		"UPDATE threads SET comm = NULL; UPDATE processes SET comm = NULL, exe = NULL",
		"UPDATE threads SET comm = zeroblob(100000)",
		"UPDATE processes SET comm = CAST(x'c0af80fe' AS TEXT), pid = 700, parent = 700",
		"UPDATE processes SET parent = pid",
		"UPDATE windows SET begin_ns = end_ns + 5, id = id - 10",
		"UPDATE cpus SET cpu = -1, use = 77, ns = -4",
		"UPDATE losses SET cause = NULL; INSERT INTO losses VALUES (0, 3, 4), (0, 99, 1)",
		"INSERT INTO execs VALUES (NULL, NULL, NULL, NULL, NULL), (-1, -1, -1, -1, 'x')",
		"INSERT INTO hooks (hook, events) VALUES (NULL, -1)",
		"INSERT INTO steps VALUES (-1, NULL, x'ff')",
		"INSERT INTO meta VALUES ('started_ns2', 'x'), (NULL, NULL), ('ended', '-1')",
		"UPDATE meta SET value = '99999999999999999999' WHERE key = 'started_ns'",
		"UPDATE meta SET value = 'x' WHERE key = 'cpus'",
		"INSERT INTO objects (id, kind) VALUES (77, 4e9); UPDATE ledger SET object = 77",
		"UPDATE ledger SET holder = 4294967295, waker = -1, waker_kind = 300",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows) * 2; i++) {
		sqlite3 *db = session(i % 2 ? "run" : "server");
		struct report_options options = {.threads = true, .part.kernel = true};
		_cleanup_free_ char *text = NULL, *views = NULL;

		execute(db, rows[i / 2]);
		text = report(db, options);
		assert_non_null(text);
		options.execs = options.cpus = true;
		views = report(db, options);
		assert_non_null(views);
		for (const char *at = text; *at; at++)
			assert_true((unsigned char)*at >= 0x20 || *at == '\n');
		json_decref(report_json(db, options));
		sqlite3_close(db);
	}
}

static void nothing_at_all_is_a_report(void **state)
{
	sqlite3 *db = session(NULL);
	_cleanup_free_ char *text = NULL;

	(void)state;
	execute(db, "INSERT INTO meta VALUES ('schema', 'dwell.session/1')");
	text = report(db, (struct report_options){0});
	assert_non_null(strstr(text, "No thread was seen"));
	assert_non_null(strstr(text, "unattributed "));
	sqlite3_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_read_as_before),
		cmocka_unit_test(ledgers_sum_to_the_wall),
		cmocka_unit_test(closure_that_fails_is_told),
		cmocka_unit_test(ledger_goes_on_after_the_row_of_its_thread),
		cmocka_unit_test(checks_know_their_tolerance),
		cmocka_unit_test(verdict_names_what_dominates),
		cmocka_unit_test(locks_are_told_whole),
		cmocka_unit_test(slices_take_whole_windows),
		cmocka_unit_test(parts_are_understood),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(odd_files_are_survived),
		cmocka_unit_test(nothing_at_all_is_a_report),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
