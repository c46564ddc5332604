// SPDX-License-Identifier: Apache-2.0
/*
 * What the report says is true: findings out of made-up sessions, and sentences that were false
 * once.
 */
#include <jansson.h>
#include <math.h>

#include "../../src/base/clock.h"
#include "golden.h"
#include "session.h"

#define FIRST_SCREEN 40

static json_t *report_json(sqlite3 *db, struct report_options options)
{
	_cleanup_free_ char *text = NULL;
	json_t *root;

	options.json = true;
	text = report(db, options);
	assert_non_null(text);
	root = json_loads(text, 0, NULL);
	assert_non_null(root);
	return root;
}

/* The finding of this id about this name; comm NULL: of the host. Fails if there is none. */
static json_t *finding(json_t *root, const char *id, const char *comm)
{
	json_t *found;
	size_t i;

	json_array_foreach(json_object_get(root, "findings"), i, found)
	{
		const char *about = json_string_value(
			json_object_get(json_object_get(found, "subject"), "comm"));

		if (!strcmp(json_string_value(json_object_get(found, "id")), id) &&
		    (!comm || (about && !strcmp(about, comm))))
			return found;
	}
	fail_msg("no finding %s about %s", id, comm ? comm : "the host");
	return NULL;
}

/* NAN: there is none. what NULL: whatever it is. */
static double evidence(json_t *of, const char *name, const char *what)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(of, "evidence"), i, row)
	{
		const char *is = json_string_value(json_object_get(row, "what"));

		if (!strcmp(json_string_value(json_object_get(row, "name")), name) &&
		    (!what || (is && !strcmp(is, what))))
			return json_number_value(json_object_get(row, "value"));
	}
	return NAN;
}

static void has(json_t *root, const char *id, const char *comm, const char *name, const char *what,
		double value)
{
	double is = evidence(finding(root, id, comm), name, what);

	if (!(fabs(is - value) <= fabs(value) * 1e-6 + 1e-9))
		fail_msg("%s %s: %s %s is %g, not %g", id, comm ? comm : "", name, what ? what : "",
			 is, value);
}

static void says(json_t *root, const char *id, const char *comm, const char *text)
{
	const char *sentence =
		json_string_value(json_object_get(finding(root, id, comm), "sentence"));

	if (!strstr(sentence, text))
		fail_msg("%s: '%s' is not in: %s", id, text, sentence);
}

static void each_problem_is_found(void **state)
{
	static const struct {
		const char *id, *comm, *name, *what;
		double value;
	} rows[] = {
		{"host-cpu", NULL, "busy", NULL, 87.5},
		{"host-cpu", NULL, "waiting", NULL, 2.1},
		{"cpu-top", "postgres", "cpu", "postgres", 30.15},
		{"cpu-top", "postgres", "cpu", "kv", 12},
		{"cpu-wait", "postgres", "waited", NULL, 2e9},
		{"cpu-wait", "postgres", "ran_instead", "kv", 61},
		{"cpu-wait", "postgres", "ran_instead", "rt", 22},
		{"cpu-wait", "postgres", "policy", "FIFO", 22},
		{"cpu-throttled", "app", "throttled", NULL, 6e9},
		{"cpu-throttled", "app", "cgroup", "/box/app", 6e9},
		{"cpu-throttled", "app", "quota", NULL, 20},
		{"lock-wait", "kv", "waited", NULL, 5.548e9},
		{"lock-wait", "kv", "object", "Store::mu", 5.548e9},
		{"lock-wait", "kv", "holder", "flusher", 100 * 4.46 / 5.548},
		{"handover-wait", "java", "waker", "pool-1", 50},
		{"pool-busy", "java", "pool", "pool-1", 2},
		{"pool-busy", "java", "mostly", "blocked.sleep", 90},
		{"net-wait", "web", "peer", "127.0.0.1:5432", 3e9},
		{"net-wait", "web", "local_process", "postgres", 100},
		{"nagle", "web", "delayed_ack", NULL, 8e8},
		{"pipe-wait", "reader", "waker", "poller", 100},
		{"disk-wait", "kv", "object", "/srv/wal.log", 100},
		{"disk-held", "reader", "held_share", NULL, 100 * 5.522 / 5.94},
		{"disk-held", "reader", "cgroup", "/io/limited", 5.522e9},
		{"memory-wait", "reader", "limit", "memory.max", 268435456},
		{"page-in", "reader", "object", "/srv/data.bin", 100},
		{"timeout", "resolver", "peer", "10.0.0.53:53", 5e9},
		{"timeout", "resolver", "waits", NULL, 5},
		{"wakeups", "poller", "wakeups", "poll", 1000},
		{"wakeups", "poller", "cpu", NULL, 3e8},
		{"loop-busy", "node", "longest", NULL, 2.8e8},
		{"softirq", NULL, "softirq", "1", 30},
		{"softirq", NULL, "packets", "eth0", 200000},
		{"accept-queue", NULL, "overflows", NULL, 40},
		{"table-full", NULL, "refused", "unwind tables", 3},
		{"pressure", NULL, "psi.cpu.some_us", NULL, 40},
		{"chain", "worker-3", "waited", NULL, 2.96e9},
		{"chain", "worker-3", "link", "flusher", 2.96e9},
	};
	sqlite3 *db = session("causes");
	json_t *root = report_json(db, (struct report_options){0});

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		has(root, rows[i].id, rows[i].comm, rows[i].name, rows[i].what, rows[i].value);
	says(root, "pool-busy", "java", "2 threads (pool-1, pool-2) are always busy");
	json_decref(root);
	sqlite3_close(db);
}

/* "most ran instead: fio", which had 1 % of it. */
static void who_ran_instead_is_told_by_time(void **state)
{
	sqlite3 *db = session("causes");
	json_t *root = report_json(db, (struct report_options){0});
	_cleanup_free_ char *text = report(db, (struct report_options){.columns = 200});

	(void)state;
	says(root, "cpu-wait", "postgres",
	     "ran instead: kv 61 %, rt 22 %, other or not known 17 %");
	says(root, "cpu-wait", "postgres", "rt (1100) has scheduling policy FIFO");
	assert_true(isnan(evidence(finding(root, "cpu-wait", "postgres"), "ran_instead", "fio")));
	assert_null(strstr(text, "most ran instead"));
	assert_non_null(
		strstr(text, "postgres (201): runq.woken, ran instead: kv 61 %, rt 22 %\n"));
	json_decref(root);
	sqlite3_close(db);
}

/* "worker-4 waited ... mostly held by worker-4": nobody holds a lock against himself. */
static void nobody_holds_a_lock_against_himself(void **state)
{
	sqlite3 *db = session("causes");
	_cleanup_free_ char *text = NULL;
	json_t *root;

	(void)state;
	execute(db, "DELETE FROM ledger WHERE thread = 2 AND state = 10");
	text = report(db, (struct report_options){.columns = 200});
	root = report_json(db, (struct report_options){0});
	assert_null(strstr(text, "held by worker-4"));
	assert_non_null(strstr(text, "worker-4 (105) of kv waited 2.588 s"));
	/* WHY and the finding have the same numbers. */
	has(root, "lock-wait", "kv", "holder", "flusher", 100 * 1.5 / 2.588);
	says(root, "lock-wait", "kv", "held by flusher (104) 58 %, other or not known 42 %");
	assert_non_null(strstr(text, "blocked.lock futex Store::mu, held by flusher (104) 58 %\n"));
	json_decref(root);
	sqlite3_close(db);
}

/* "woken by timer" for 26 s of polls of which 16.6 s were woken by the network. */
static void wakers_are_told_by_their_sum(void **state)
{
	sqlite3 *db = session("causes");
	_cleanup_free_ char *text = NULL, *divided = NULL;

	(void)state;
	execute(db, "DELETE FROM ledger WHERE thread IN (20, 21, 22) AND state != 2;"
		    "UPDATE threads SET pid = 200, process_start_ns = 20 WHERE id IN (21, 22);"
		    "INSERT INTO ledger (window, thread, state, call, object, holder, waker, "
		    "waker_kind, ns, count) VALUES (0, 20, 13, 8, 0, 0, 0, 2, 5400000000, 9),"
		    "(0, 21, 13, 8, 0, 0, 0, 3, 5300000000, 9),"
		    "(0, 22, 13, 8, 0, 0, 0, 3, 5300000000, 9)");
	text = report(db, (struct report_options){.columns = 200, .top = 100});
	assert_non_null(strstr(text, "postgres (200): blocked.poll poll, woken by network 66 %\n"));
	/* Below half nobody is named. */
	execute(db, "UPDATE ledger SET waker_kind = 5 WHERE thread = 22 AND state = 13");
	divided = report(db, (struct report_options){.columns = 200, .top = 100});
	assert_non_null(strstr(divided, "postgres (200): blocked.poll poll\n"));
	sqlite3_close(db);
}

/* runq.throttled: "its CPU was idle and had to wake up". */
static void a_quota_is_the_cause_of_throttling_and_nothing_else(void **state)
{
	sqlite3 *db = session("causes");
	_cleanup_free_ char *text = report(db, (struct report_options){.columns = 200});
	json_t *root = report_json(db, (struct report_options){0});

	(void)state;
	says(root, "cpu-throttled", "app",
	     "app (pid 500) was throttled for 6.000 s, 75 % of the time it could run: the CPU "
	     "quota "
	     "of cgroup /box/app, 20 % of one CPU, was used up.");
	assert_non_null(strstr(text, "app (500): runq.throttled\n"));
	assert_null(strstr(text, "idle and had to wake up"));
	json_decref(root);
	sqlite3_close(db);
}

/* "fstorm (pid 17013) took 144.0 us" for a command of 8 s; "12,714 threads" where there were fewer.
 */
static void sums_are_no_process_and_count_once(void **state)
{
	sqlite3 *db = session("run");
	json_t *root;

	(void)state;
	execute(db,
		"INSERT INTO processes (pid, start_ns, parent, comm, exe, service, is_kernel) "
		"VALUES "
		"(650, 8000, NULL, 'cc1', '', 'cc1', 0);"
		/* a sum of one, whose begin is 0; and one that was read, died unseen, and is in a
		   sum */
		"INSERT INTO threads (id, pid, process_start_ns, tid, start_ns, begin_ns, end_ns, "
		"comm, is_kernel, is_dead, threads, voluntary, involuntary, kernel_voluntary, "
		"kernel_involuntary, kernel_exec_ns, kernel_delay_ns, missed, unnamed) "
		"VALUES (90, 650, 8000, 650, 8000, 0, 144000, 'cc1', 0, 1, 1, "
		"1, 0, "
		"1, 0, 144000, 0, 0, 0), (91, 0, 0, 0, 0, 0, 5000000, '', 0, 1, 3, 3, 0, 3, 0, "
		"5000000, "
		"0, 0, 0), (92, 704, 9004, 704, 9004, 1005000000, 1006000000, 'cc1', 0, 0, 1, 1, "
		"0, 1, "
		"0, 1000000, 0, 0, 0);"
		"INSERT INTO ledger (window, thread, state, call, object, holder, waker, "
		"waker_kind, "
		"ns, count) VALUES (0, 90, 2, 0, 0, 0, 0, 0, 144000, 1), (0, 91, 2, 0, 0, 0, 0, 0, "
		"5000000, 1), (0, 92, 2, 0, 0, 0, 0, 0, 1000000, 1);"
		"DELETE FROM execs; UPDATE processes SET end_ns = 1351000000 WHERE pid = 700");
	root = report_json(db, (struct report_options){0});
	has(root, "command", "sh", "duration", NULL, 351000000);
	says(root, "command", "sh", "sh (pid 700) took 351.0 ms");
	/* four of their own, a sum of one, a sum of three of whom one has a row too */
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(root, "quality"), "threads")),
		8);
	json_decref(root);
	sqlite3_close(db);
}

/* Rows may take back what an earlier one said; a sum below zero is damaged. */
static void corrections_are_summed(void **state)
{
	sqlite3 *db = session("causes");
	json_t *root, *quality;

	(void)state;
	root = report_json(db, (struct report_options){0});
	quality = json_object_get(root, "quality");
	assert_int_equal(json_integer_value(json_object_get(quality, "closure_error_ns")), 0);
	json_decref(root);
	execute(db, "INSERT INTO ledger (window, thread, state, call, object, holder, waker, "
		    "waker_kind, ns, count) VALUES (0, 80, 10, 203, 5, 0, 0, 0, -7000, -3)");
	root = report_json(db, (struct report_options){0});
	quality = json_object_get(root, "quality");
	assert_int_equal(json_integer_value(json_object_get(quality, "closure_error_ns")), 7000);
	json_decref(root);
	sqlite3_close(db);
}

/* What hooks cost was measured for a part of the time: 16 of 118 ms is no sum. */
static void the_cost_of_hooks_is_of_the_whole_session(void **state)
{
	sqlite3 *db = session("run");
	json_t *root, *by_hook, *ns;
	json_int_t sum = 0;
	const char *hook;

	(void)state;
	execute(db, "UPDATE hooks SET measured_ns = 44000000");
	root = report_json(db, (struct report_options){0});
	by_hook = json_object_get(json_object_get(json_object_get(root, "quality"), "overhead"),
				  "bpf_ns");
	json_object_foreach(by_hook, hook, ns) sum += json_integer_value(ns);
	assert_int_equal(sum, 8 * 4611000);
	json_decref(root);
	sqlite3_close(db);
}

/* HOT STACKS: 100 % that was the leaf's share, beside callers that had less. */
static void hot_stacks_tell_leaf_and_path_apart(void **state)
{
	sqlite3 *db = session("stacks");
	_cleanup_free_ char *text = NULL;

	(void)state;
	/* one leaf: utf8_next is called through parse by 35 of 50 samples, and from main else */
	execute(db,
		"DELETE FROM samples WHERE state = 2 AND kind = 0;"
		"INSERT INTO stacks VALUES (801, 102, 7, 3);"
		"INSERT INTO samples VALUES (0, 500, 90, 501, 92, 0, 2, 0, 204, 1, 0, 0, 0, 35, "
		"7000000000, 0, 0), (0, 500, 90, 501, 92, 0, 2, 0, 801, 1, 0, 0, 0, 15, "
		"3000000000, "
		"0, 0)");
	text = report(db, (struct report_options){.columns = 200});
	assert_non_null(strstr(text, "all that end in this function, those on this path"));
	assert_non_null(strstr(text, "  100.0 %  70.0 %     50  utf8_next"));
	sqlite3_close(db);
}

static int line_of(const char *text, const char *what)
{
	const char *at = strstr(text, what);
	int line = 1;

	if (!at)
		fail_msg("'%s' is not there", what);
	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

static void the_first_screen_has_the_findings(void **state)
{
	static const char *const names[] = {"run", "server", "stacks", "signals", "causes"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		sqlite3 *db = session(names[i]);
		_cleanup_free_ char *text = report(db, (struct report_options){0});

		/* what comes after it is a blank line and the first heading of the details */
		assert_true(line_of(text, "WHERE THE TIME WENT") <= FIRST_SCREEN + 2);
		sqlite3_close(db);
	}
}

/* Six backends are one row, expandable; --top says how many rows a table has. */
static void rows_merge_by_service(void **state)
{
	sqlite3 *db = session("causes");
	_cleanup_free_ char *text = report(db, (struct report_options){.columns = 100}),
			    *one = NULL, *threads = NULL;

	(void)state;
	assert_non_null(strstr(text,
			       "   30.1 %   6.030 s   2.000 s      0 ns     6      6  postgres"
			       "  postgresql.service\n"));
	one = report(db, (struct report_options){.columns = 100, .top = 1});
	assert_non_null(strstr(one, "  and 11 more\n"));
	assert_null(strstr(one, "  kv  kv.service"));
	threads = report(db, (struct report_options){.columns = 100, .threads = true, .top = 30});
	assert_non_null(strstr(threads, "    205 postgres"));
	sqlite3_close(db);
}

static void chains_are_composed(void **state)
{
	static const char *const sentences[] = {
		"worker-3 (103) waited 2.960 s: lock Store::mu ← flusher (104): 71 % fsync "
		"/srv/wal.log, 6.8 % on a CPU, 5.2 % not known, 17 % run queue ← postgres 61 %; so "
		"did "
		"1 more thread, 1.500 s in sum.",
		"web (400) waited 2.800 s: network 127.0.0.1:5432 ← postgres (201): 32 % on a CPU, "
		"68 % run queue ← worker-3 50 %.",
		"reader (1000) waited 800.0 ms: pipe:[77] ← poller (600): 100 % lock Store::mu ← "
		"flusher (104): 100 % not known.",
	};
	sqlite3 *db = session("causes");
	json_t *root = report_json(db, (struct report_options){0});
	json_t *chains = json_object_get(root, "chains"), *chain, *link, *part;
	size_t i, l, p;

	(void)state;
	json_array_foreach(chains, i, chain)
	{
		assert_string_equal(json_string_value(json_object_get(chain, "sentence")),
				    sentences[i]);
		json_array_foreach(json_object_get(chain, "links"), l, link)
		{
			json_int_t sum = json_integer_value(json_object_get(link, "unknown_ns")) +
					 json_integer_value(json_object_get(link, "other_ns"));

			json_array_foreach(json_object_get(link, "parts"), p, part) sum +=
				json_integer_value(json_object_get(part, "ns"));
			assert_int_equal(sum, json_integer_value(json_object_get(link, "ns")));
		}
	}
	assert_int_equal(json_array_size(chains), ARRAY_SIZE(sentences));
	json_decref(root);
	sqlite3_close(db);
}

/* A lock that a thread holds which waits for the first one again: chains end. */
static void chains_end(void **state)
{
	sqlite3 *db = session("causes");
	json_t *root, *chain;
	size_t i;

	(void)state;
	execute(db, "DELETE FROM chains; INSERT INTO chains VALUES "
		    "(0, 2, 10, 203, 9001, 100, 104, 'flusher', 10, 203, 9001, 105, 1000000000),"
		    "(0, 3, 10, 203, 9001, 100, 105, 'worker-4', 10, 203, 9001, 103, 900000000),"
		    "(0, 4, 10, 203, 9001, 100, 103, 'worker-3', 10, 203, 9001, 104, 800000000)");
	root = report_json(db, (struct report_options){0});
	json_array_foreach(json_object_get(root, "chains"), i, chain)
		assert_int_equal(json_array_size(json_object_get(chain, "links")), 2);
	json_decref(root);
	sqlite3_close(db);
}

static void reads_as_before_too(void **state)
{
	sqlite3 *db = session("causes");
	_cleanup_free_ char *text = report(db, (struct report_options){.session = "causes.dwell"});

	(void)state;
	reads_as_before("causes", text);
	sqlite3_close(db);
}

/* Whatever stands in the tables of culprits. */
static void odd_culprits_are_survived(void **state)
{
	static const char *const rows[] = {
		"UPDATE rivals SET ns = -1, policy = 99, comm = NULL",
		"UPDATE rivals SET ns = 9223372036854775807, tid = 0",
		"UPDATE chains SET ns = -1, part_state = 99, culprit_comm = x'ff'",
		"UPDATE chains SET ns = 9223372036854775807, part_culprit = culprit_tid, state = "
		"31",
		"UPDATE chains SET thread = 2, culprit_tid = 103, part_culprit = 103",
		"UPDATE loops SET max_ns = 9223372036854775807, turns = -1, long_ns = -9",
		"UPDATE cgroup_limits SET cpu_quota_us = -1, cgroup = NULL, io_limit = x'00ff'",
		"UPDATE counters SET begin = 9, end = -9, subject = NULL",
		"UPDATE processes SET cgroup = zeroblob(9999), service = NULL, comm = NULL",
		"UPDATE ledger SET ns = -ns",
		"UPDATE ledger SET ns = 9223372036854775807 WHERE ns > 0",
		"DROP TABLE rivals; DROP TABLE chains; DROP TABLE loops; DROP TABLE cgroup_limits;"
		"DROP TABLE counters",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		sqlite3 *db = session("causes");
		_cleanup_free_ char *text = NULL;

		execute(db, rows[i]);
		text = report(db, (struct report_options){.threads = true, .part.kernel = true});
		assert_non_null(text);
		for (const char *at = text; *at; at++)
			assert_true((unsigned char)*at >= 0x20 || *at == '\n');
		json_decref(report_json(db, (struct report_options){0}));
		sqlite3_close(db);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_problem_is_found),
		cmocka_unit_test(who_ran_instead_is_told_by_time),
		cmocka_unit_test(nobody_holds_a_lock_against_himself),
		cmocka_unit_test(wakers_are_told_by_their_sum),
		cmocka_unit_test(a_quota_is_the_cause_of_throttling_and_nothing_else),
		cmocka_unit_test(sums_are_no_process_and_count_once),
		cmocka_unit_test(corrections_are_summed),
		cmocka_unit_test(the_cost_of_hooks_is_of_the_whole_session),
		cmocka_unit_test(hot_stacks_tell_leaf_and_path_apart),
		cmocka_unit_test(the_first_screen_has_the_findings),
		cmocka_unit_test(rows_merge_by_service),
		cmocka_unit_test(chains_are_composed),
		cmocka_unit_test(chains_end),
		cmocka_unit_test(reads_as_before_too),
		cmocka_unit_test(odd_culprits_are_survived),
	};

	return cmocka_run_group_tests_name("findings", tests, NULL, NULL);
}
