// SPDX-License-Identifier: Apache-2.0
/* Requests in reports: text as before, sums of the JSON, parts of a session, hostile tables. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../signals/requests/kinds.h"
#include "../../src/base/cleanup.h"
#include "../../src/report/report.h"
#include "golden.h"
#include "session.h"

static json_t *requests_json(sqlite3 *db, struct report_options options)
{
	_cleanup_free_ char *text = NULL;
	json_error_t error;
	json_t *root, *requests;

	options.json = true;
	text = report(db, options);
	assert_non_null(text);
	root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		fail_msg("line %d: %s", error.line, error.text);
	requests = json_incref(json_object_get(root, "requests"));
	json_decref(root);
	return requests;
}

static json_int_t number(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static const char *string(json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static json_int_t sum_of_values(json_t *object)
{
	json_int_t sum = 0;
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value) sum += json_integer_value(value);
	return sum;
}

static json_t *endpoint_of(json_t *requests, const char *process, const char *name)
{
	json_t *endpoint;
	size_t i;

	json_array_foreach(json_object_get(requests, "endpoints"), i, endpoint)
	{
		if (!strcmp(string(endpoint, "process"), process) && string(endpoint, "endpoint") &&
		    !strcmp(string(endpoint, "endpoint"), name))
			return endpoint;
	}
	fail_msg("no endpoint %s of %s", name, process);
	return NULL;
}

static void requests_read_as_before(void **state)
{
	static const struct {
		const char *golden;
		struct report_options options;
	} rows[] = {
		{"requests", {.requests = true, .slowest = 6}},
		{"requests-first", {.session = "requests.dwell"}},
		{"requests-narrow", {.requests = true, .slowest = 1, .top = 1, .columns = 60}},
		{"requests-slice",
		 {.requests = true, .part.from_ns = 1000000000, .part.to_ns = ~0ULL}},
		{"requests-pid", {.requests = true, .part.pids = {1003}, .part.pid_count = 1}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		sqlite3 *db = session("requests");
		_cleanup_free_ char *text = report(db, rows[i].options);

		reads_as_before(rows[i].golden, text);
		sqlite3_close(db);
	}
}

/* Counts by outcome and by model are the requests, bytes are the kernel's, budgets are not more. */
static void endpoints_add_up(void **state)
{
	sqlite3 *db = session("requests");
	json_t *requests = requests_json(db, (struct report_options){0}), *endpoint;
	size_t i;

	(void)state;
	assert_int_equal(json_array_size(json_object_get(requests, "endpoints")), 8);
	json_array_foreach(json_object_get(requests, "endpoints"), i, endpoint)
	{
		json_int_t count = number(endpoint, "count");

		assert_int_equal(sum_of_values(json_object_get(endpoint, "outcomes")), count);
		assert_int_equal(sum_of_values(json_object_get(endpoint, "models")), count);
		assert_int_equal(sum_of_values(json_object_get(endpoint, "bytes_outside")),
				 number(endpoint, "bytes_outside_turns"));
		assert_int_equal(number(endpoint, "bytes_in_turns") +
					 number(endpoint, "bytes_outside_turns"),
				 number(endpoint, "kernel_bytes"));
	}
	endpoint = endpoint_of(requests, "postgres", "SELECT items");
	assert_int_equal(number(endpoint, "count"), 4800);
	assert_int_equal(number(endpoint, "several"), 300);
	assert_true(json_is_true(json_object_get(endpoint, "sampled")));
	assert_int_equal(json_array_size(json_object_get(endpoint, "pids")), 6);
	endpoint = endpoint_of(requests, "nginx", "GET /cart/:id");
	assert_string_equal(string(endpoint, "grown_part"), "net");
	assert_true(json_is_false(json_object_get(endpoint, "sampled")));
	json_decref(requests);
	sqlite3_close(db);
}

/* Of a request and of all that answer its calls; returns how many these are. */
static size_t check_parts(json_t *request)
{
	json_t *part, *call, *answer;
	json_int_t sum = 0;
	size_t i, count = 1;

	json_array_foreach(json_object_get(request, "parts"), i, part) sum += number(part, "ns");
	assert_int_equal(sum, number(request, "window_ns"));
	json_array_foreach(json_object_get(request, "calls"), i, call)
	{
		answer = json_object_get(call, "answer");
		assert_true((json_is_null(answer) ||
			     number(answer, "window_ns") > number(call, "window_ns")) ==
			    json_is_null(json_object_get(call, "transit_and_queue_ns")));
		if (!json_is_null(answer))
			count += check_parts(answer);
	}
	return count;
}

/* Returns how many requests answer calls of those in the list. */
static size_t check_slowest(json_t *requests, size_t expected)
{
	json_t *slowest = json_object_get(requests, "slowest"), *request;
	json_int_t before_ns = INT64_MAX;
	size_t i, answers = 0;

	assert_int_equal(json_array_size(slowest), expected);
	json_array_foreach(slowest, i, request)
	{
		json_int_t latency_ns = number(request, "queue_ns") + number(request, "window_ns");

		answers += check_parts(request) - 1;
		assert_true(latency_ns <= before_ns);
		before_ns = latency_ns;
	}
	return answers;
}

static void parts_sum_to_the_window(void **state)
{
	sqlite3 *db = session("requests");
	json_t *requests = requests_json(db, (struct report_options){.slowest = 1000});

	(void)state;
	assert_int_equal(check_slowest(requests, 73), 3);
	assert_int_equal(number(json_object_get(requests, "left_out"), "unclosed"), 0);
	json_decref(requests);
	requests = requests_json(db, (struct report_options){0});
	check_slowest(requests, 20);
	json_decref(requests);
	/* What a file says is made to sum, and counted. */
	execute(db, "UPDATE requests SET cpu_ns = cpu_ns + 5 WHERE id = 1;"
		    "UPDATE requests SET cpu_ns = cpu_ns - 5 WHERE id = 2");
	requests = requests_json(db, (struct report_options){.slowest = 1000});
	assert_int_equal(check_slowest(requests, 73), 3);
	assert_int_equal(number(json_object_get(requests, "left_out"), "unclosed"), 2);
	json_decref(requests);
	sqlite3_close(db);
}

static void parts_of_a_session_have_their_own(void **state)
{
	sqlite3 *db = session("requests");
	struct report_options second = {.part.from_ns = 1000000000, .part.to_ns = ~0ULL};
	struct report_options one = {.part.pids = {1001}, .part.pid_count = 1};
	json_t *requests = requests_json(db, second);

	(void)state;
	assert_int_equal(number(endpoint_of(requests, "nginx", "POST /order"), "count"), 80);
	json_decref(requests);
	requests = requests_json(db, one);
	assert_int_equal(json_array_size(json_object_get(requests, "endpoints")), 3);
	assert_int_equal(number(endpoint_of(requests, "postgres", "SELECT items"), "count"), 800);
	json_decref(requests);
	sqlite3_close(db);
}

/* The slowest request that this process answered. */
static json_t *slowest_of(json_t *requests, json_int_t pid, const char *name)
{
	json_t *request;
	size_t i;

	json_array_foreach(json_object_get(requests, "slowest"), i, request)
	{
		if (number(request, "pid") == pid && !strcmp(string(request, "endpoint"), name) &&
		    json_array_size(json_object_get(request, "calls")) &&
		    !json_is_null(json_object_get(
			    json_array_get(json_object_get(request, "calls"), 0), "answer")))
			return request;
	}
	fail_msg("no request of %d with a call that was answered", (int)pid);
	return NULL;
}

static json_t *call_of(json_t *request, size_t at)
{
	json_t *call = json_array_get(json_object_get(request, "calls"), at);

	assert_non_null(call);
	return call;
}

/* From nginx to the application, from there to the database: of whichever part, and of a process.
 */
static void calls_have_the_requests_that_answer_them(void **state)
{
	static const struct report_options rows[] = {
		{.slowest = 1000},
		{.slowest = 1000, .part.from_ns = 1000000000, .part.to_ns = ~0ULL},
		{.slowest = 1000, .part.pids = {801}, .part.pid_count = 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		sqlite3 *db = session("requests");
		json_t *requests, *request, *call;

		/* An answer is written later than it came, maybe. */
		execute(db, "UPDATE requests SET window = 0 WHERE id IN (200, 201)");
		requests = requests_json(db, rows[i]);
		request = slowest_of(requests, 801, "GET /cart/:id");
		call = call_of(request, 0);
		assert_string_equal(string(call, "peer"), "python3 :8000");
		assert_string_equal(string(call, "grade"), "confirmed");
		request = json_object_get(call, "answer");
		assert_int_equal(number(request, "pid"), 900);
		assert_int_equal(number(call, "transit_and_queue_ns"), 30949100 - 21500000);
		assert_int_equal(json_array_size(json_object_get(request, "calls")), 11);
		call = call_of(request, 0);
		assert_string_equal(string(call, "peer"), "postgres :5432");
		assert_int_equal(number(json_object_get(call, "answer"), "pid"), 1001);
		call = call_of(request, 9);
		assert_string_equal(string(call, "peer"), "10.0.0.9:6379");
		assert_string_equal(string(call, "outcome"), "timed_out");
		assert_true(json_is_null(json_object_get(call, "answer")));
		assert_string_equal(string(call_of(request, 10), "peer"), "/run/cache.sock");
		json_decref(requests);
		sqlite3_close(db);
	}
}

/* Of the request with this window that answers a call, or of one that nobody asked for. */
static json_t *longest_wait_of(json_t *list, json_int_t window_ns)
{
	json_t *request, *call, *found = NULL;
	size_t i, k;

	json_array_foreach(list, i, request)
	{
		if (json_is_null(request))
			continue;
		if (number(request, "window_ns") == window_ns)
			return json_object_get(request, "longest_wait");
		json_array_foreach(json_object_get(request, "calls"), k, call)
		{
			json_t *answer = json_pack("[O]", json_object_get(call, "answer"));

			found = found ? found : longest_wait_of(answer, window_ns);
			json_decref(answer);
		}
	}
	return found;
}

/* With all functions; without them where the stack was lost; and none that its part has not. */
static void longest_wait_has_its_stack(void **state)
{
	sqlite3 *db = session("requests");
	json_t *requests = requests_json(db, (struct report_options){.slowest = 1000}), *wait;
	json_t *slowest = json_object_get(requests, "slowest");

	(void)state;
	wait = longest_wait_of(slowest, 18771000);
	assert_string_equal(string(wait, "part"), "signalled");
	assert_int_equal(number(wait, "ns"), 12951990 * 9 / 10);
	assert_int_equal(json_array_size(json_object_get(wait, "frames")), 8);
	wait = longest_wait_of(slowest, 21500000);
	assert_string_equal(string(wait, "part"), "net");
	assert_int_equal(json_array_size(json_object_get(wait, "frames")), 0);
	assert_true(json_is_null(longest_wait_of(slowest, 32979000)));
	wait = json_object_get(endpoint_of(requests, "python3", "GET /cart/:id"), "slow_wait");
	assert_string_equal(string(wait, "part"), "signalled");
	assert_int_equal(json_array_size(json_object_get(wait, "frames")), 8);
	wait = json_object_get(endpoint_of(requests, "nginx", "GET /cart/:id"), "slow_wait");
	assert_true(json_is_null(wait));
	json_decref(requests);
	sqlite3_close(db);
}

/* Below its caller it is shown, and not by itself, too; another one has its place. */
static void slower_than_its_caller_is_listed_once(void **state)
{
	sqlite3 *db = session("requests");
	json_t *requests, *request, *slowest;
	size_t i;

	(void)state;
	execute(db, "UPDATE requests SET window_ns = 90000000, net_ns = 90000000, cpu_ns = 0, "
		    "runq_ns = 0, signalled_ns = 0 WHERE id = 53");
	requests = requests_json(db, (struct report_options){.slowest = 1000});
	check_slowest(requests, 73);
	slowest = json_object_get(requests, "slowest");
	json_array_foreach(slowest, i, request)
	{
		assert_false(number(request, "window_ns") == 90000000);
	}
	json_decref(requests);
	requests = requests_json(db, (struct report_options){.slowest = 2});
	check_slowest(requests, 2);
	json_decref(requests);
	sqlite3_close(db);
}

/* What is kept for its caller alone changes no number of its endpoint. */
static void answers_count_for_none(void **state)
{
	sqlite3 *db = session("requests");
	json_t *with = requests_json(db, (struct report_options){0}), *without;
	static const char *const same[] = {"count", "max_ns", "budget", "slow_budget", "kept"};

	(void)state;
	execute(db, "DELETE FROM requests WHERE weight = 0");
	without = requests_json(db, (struct report_options){0});
	for (size_t i = 0; i < ARRAY_SIZE(same); i++)
		assert_true(json_equal(
			json_object_get(endpoint_of(with, "python3", "GET /cart/:id"), same[i]),
			json_object_get(endpoint_of(without, "python3", "GET /cart/:id"),
					same[i])));
	json_decref(with);
	json_decref(without);
	sqlite3_close(db);
}

/* Two calls at the same time take the time of one. */
static void calls_of_endpoints_are_averages(void **state)
{
	sqlite3 *db = session("requests");
	json_t *requests, *call;

	(void)state;
	execute(db, "DELETE FROM requests; DELETE FROM request_calls;"
		    "INSERT INTO requests (id, window, endpoint, begin_ns, queue_ns, window_ns, "
		    "weight, outcome, model, cpu_ns) VALUES "
		    "(1, 0, 3, 1000, 0, 1000, 30, 'answered', 'loop', 1000),"
		    "(2, 0, 3, 5000, 0, 1000, 10, 'answered', 'loop', 1000);"
		    "INSERT INTO request_calls (id, request, grade, object, port, protocol, name, "
		    "begin_ns, window_ns) VALUES "
		    "(5, 1, 'confirmed', 9003, 5432, 'postgresql', 'SELECT x', 1100, 400),"
		    "(6, 1, 'confirmed', 9003, 5432, 'postgresql', 'SELECT x', 1300, 400),"
		    "(7, 2, 'confirmed', 9003, 5432, 'postgresql', 'SELECT x', 5900, 5000)");
	requests = requests_json(db, (struct report_options){0});
	call = call_of(endpoint_of(requests, "nginx", "POST /order"), 0);
	assert_string_equal(string(call, "peer"), "127.0.0.1:5432");
	assert_int_equal(number(call, "average_ns"), (30 * 600 + 10 * 100) / 40);
	assert_true(json_real_value(json_object_get(call, "per_request")) == 1.75);
	json_decref(requests);
	sqlite3_close(db);
}

static bool calls_peer(json_t *endpoint, const char *peer)
{
	json_t *call;
	size_t i;

	json_array_foreach(json_object_get(endpoint, "calls"), i, call)
	{
		if (!strcmp(string(call, "peer"), peer))
			return true;
	}
	return false;
}

/* Two servers behind Unix sockets, which look alike to who calls them; and one that is not known.
 */
static void peers_behind_unix_sockets_are_told_apart(void **state)
{
	sqlite3 *db = session("requests");
	_cleanup_free_ char *text = NULL;
	json_t *requests, *endpoint;

	(void)state;
	execute(db, "DELETE FROM requests; DELETE FROM request_calls;"
		    "INSERT INTO requests (id, window, endpoint, parent, begin_ns, queue_ns, "
		    "window_ns, "
		    "weight, outcome, model, cpu_ns) VALUES "
		    "(1, 0, 3, 0, 1000, 0, 1000, 30, 'answered', 'loop', 1000),"
		    "(2, 0, 4, 5, 1100, 0, 300, 0, 'answered', 'thread', 300),"
		    "(3, 0, 10, 6, 1500, 0, 400, 0, 'answered', 'thread', 400);"
		    "INSERT INTO request_calls (id, request, grade, object, port, protocol, name, "
		    "begin_ns, window_ns) VALUES "
		    "(5, 1, 'confirmed', 0, 0, '', '(unnamed)', 1100, 300),"
		    "(6, 1, 'confirmed', 0, 0, '', '(unnamed)', 1500, 400),"
		    "(7, 1, 'published', 0, 0, '', '(unnamed)', 1950, 40)");
	requests = requests_json(db, (struct report_options){0});
	endpoint = endpoint_of(requests, "nginx", "POST /order");
	assert_int_equal(json_array_size(json_object_get(endpoint, "calls")), 3);
	assert_true(calls_peer(endpoint, "python3 :8000"));
	assert_true(calls_peer(endpoint, "postgres :5432"));
	assert_true(calls_peer(endpoint, "(unknown peer)"));
	json_decref(requests);
	/* What is published is not supported by one witness only. */
	text = report(db, (struct report_options){.requests = true});
	assert_null(strstr(text, "only one witness"));
	sqlite3_close(db);
}

static json_t *culprit_of(json_t *requests)
{
	return json_object_get(
		json_object_get(call_of(slowest_of(requests, 801, "GET /cart/:id"), 0), "answer"),
		"culprit");
}

/* The thread waited 200 us more in this window than in the request, and 90 % are of a chain. */
static void who_held_up_a_request_is_named(void **state)
{
	sqlite3 *db = session("requests");
	json_t *requests = requests_json(db, (struct report_options){.slowest = 1000}), *culprit;

	(void)state;
	culprit = culprit_of(requests);
	assert_string_equal(string(culprit, "comm"), "exporter");
	assert_string_equal(string(culprit, "part"), "signalled");
	assert_int_equal(number(culprit, "tid"), 905);
	assert_int_equal(number(culprit, "least_ns"), 14000000 * 9 / 10 - 200000);
	culprit =
		json_object_get(endpoint_of(requests, "python3", "GET /cart/:id"), "slow_culprit");
	assert_string_equal(string(culprit, "comm"), "exporter");
	json_decref(requests);
	sqlite3_close(db);
}

/* The least that the culprit held it up after this statement; 0: nobody is named. */
static s64 least_after(const char *statement)
{
	sqlite3 *db = session("requests");
	json_t *requests, *culprit;
	s64 least_ns = 0;

	execute(db, statement);
	requests = requests_json(db, (struct report_options){.slowest = 1000});
	culprit = culprit_of(requests);
	if (!json_is_null(culprit)) {
		assert_int_equal(number(culprit, "tid"), 905);
		least_ns = number(culprit, "least_ns");
	}
	json_decref(requests);
	sqlite3_close(db);
	return least_ns;
}

/* What a connection of its own brought lay there until there was a thread for it. */
static void a_thread_may_be_younger_than_its_request(void **state)
{
	(void)state;
	assert_int_equal(least_after("UPDATE threads SET start_ns = 2068288399 + 8999999 "
				     "WHERE tid = 902"),
			 14000000 * 9 / 10 - 200000);
	assert_int_equal(least_after("UPDATE threads SET start_ns = 2068288399 + 9000001 "
				     "WHERE tid = 902"),
			 0);
}

/*
 * It begins so early in its window that its thread may have been read after that: what it waited in
 * the window before counts, and because of whom.
 */
#define EARLY_FOR_A_LOCK                                                                           \
	"UPDATE requests SET begin_ns = 2010000000, lock_ns = signalled_ns, signalled_ns = 0 "     \
	"WHERE id = 200;"                                                                          \
	"UPDATE ledger SET state = 10, holder = 905 WHERE state = 23;"                             \
	"UPDATE ledger SET end_ns = 2010000001 WHERE window = 0 AND end_ns;"                       \
	"DELETE FROM chains;"

static void who_held_a_lock_before_a_window_counts(void **state)
{
	(void)state;
	assert_int_equal(least_after(EARLY_FOR_A_LOCK), 14000000);
	assert_int_equal(least_after(EARLY_FOR_A_LOCK
				     "INSERT INTO ledger VALUES "
				     "(0, 902, 10, 0, 7000, 903, 903, 1, 3000000, 1, NULL)"),
			 14000000 - 3000000);
	assert_int_equal(
		least_after(EARLY_FOR_A_LOCK "UPDATE ledger SET holder = 903 WHERE window = 0"), 0);
	/* It was read before that: nothing of the window before is of the request. */
	assert_int_equal(least_after(EARLY_FOR_A_LOCK
				     "UPDATE ledger SET holder = 903 WHERE window = 0;"
				     "UPDATE ledger SET end_ns = 2010000000 WHERE window = "
				     "0 AND end_ns"),
			 14000000);
}

/* A wrong culprit is worse than none. */
static void who_may_not_have_is_not_named(void **state)
{
	static const char *const rows[] = {
		/* It waited as long for others, maybe within the request. */
		"UPDATE ledger SET ns = ns + 12000000 WHERE state = 23 AND window = 1",
		/* The wait may have begun in the window before. */
		"UPDATE ledger SET ns = ns + 12000000 WHERE state = 23 AND window = 0;"
		"UPDATE ledger SET end_ns = CASE state WHEN 23 THEN 2000000000 END WHERE window = "
		"0",
		/* The chain has more than the ledger: it began before that, even. */
		"UPDATE chains SET ns = 20000000",
		/* The ledger has less than the request. */
		"UPDATE ledger SET ns = ns / 2 WHERE state = 23",
		/* Another thread had the request. */
		"UPDATE requests SET model = 'pool'",
		"UPDATE requests SET tid = 77 WHERE pid = 900",
		"UPDATE threads SET start_ns = 2900000000 WHERE pid = 900",
		"UPDATE chains SET culprit_tid = 902, part_culprit = 0 WHERE thread = 902",
		/* A part of it is in the file before, or behind the thread's last row. */
		"UPDATE threads SET begin_ns = 2080000000",
		"UPDATE threads SET end_ns = 2070000000;"
		"UPDATE ledger SET end_ns = 2070000000 WHERE end_ns > 2070000000",
		"DELETE FROM windows WHERE id = 0; UPDATE threads SET begin_ns = 2000000000",
		/* Nobody was looking for a time. */
		"UPDATE windows SET end_ns = 1900000000 WHERE id = 0",
		/* So many that the file cannot be believed. */
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 80) "
		"INSERT INTO chains SELECT window, thread, state, call, object, culprit_pid, "
		"5000 + i, culprit_comm, part_state, part_call, part_object, 0, 1 FROM chains, n "
		"WHERE thread = 902",
		"DELETE FROM chains",
		"DELETE FROM ledger",
		"DELETE FROM windows WHERE id = 1",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		sqlite3 *db = session("requests");
		json_t *requests;

		execute(db, rows[i]);
		requests = requests_json(db, (struct report_options){.slowest = 1000});
		if (i + 1 < ARRAY_SIZE(rows))
			if (!json_is_null(culprit_of(requests)))
				fail_msg("%s", rows[i]);
		json_decref(requests);
		sqlite3_close(db);
	}
}

#define AS_LOCK                                                                                    \
	"UPDATE requests SET lock_ns = signalled_ns, signalled_ns = 0 WHERE pid = 900;"            \
	"UPDATE ledger SET state = 10, holder = 905 WHERE state = 23;"

/* What was waited for it is by window, as the thread was read: before that it is another's. */
static void who_held_a_lock_is_named(void **state)
{
	static const struct {
		const char *sql;
		bool is_named;
	} rows[] = {
		{AS_LOCK, true},
		{AS_LOCK "UPDATE ledger SET ns = ns + 12000000, holder = 903 WHERE state = 10 AND "
			 "window = 0",
		 true},
		{AS_LOCK "UPDATE ledger SET ns = ns + 12000000, holder = 903 WHERE state = 10 AND "
			 "window = 0;"
			 "UPDATE ledger SET end_ns = 2070000000 WHERE window = 0 AND end_ns",
		 false},
		{AS_LOCK "UPDATE ledger SET ns = ns + 12000000, holder = 903 WHERE state = 10 AND "
			 "window = 0;"
			 "UPDATE ledger SET end_ns = NULL WHERE window = 0",
		 false},
		{AS_LOCK "UPDATE ledger SET holder = thread WHERE state = 10", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		sqlite3 *db = session("requests");
		json_t *requests, *culprit;

		execute(db, rows[i].sql);
		requests = requests_json(db, (struct report_options){.slowest = 1000});
		culprit = culprit_of(requests);
		assert_int_equal(!json_is_null(culprit), rows[i].is_named);
		if (rows[i].is_named) {
			assert_string_equal(string(culprit, "comm"), "exporter");
			assert_int_equal(number(culprit, "least_ns"), 14000000);
		}
		json_decref(requests);
		sqlite3_close(db);
	}
}

/* A file that says that requests answer their own calls. */
static void circles_are_cut(void **state)
{
	static const char *const rows[] = {
		"UPDATE requests SET parent = 2001 WHERE id = 43",
		"UPDATE request_calls SET request = 201 WHERE id = 2001",
		"UPDATE requests SET parent = 2010",
		"UPDATE requests AS r SET parent = c.id FROM request_calls c WHERE request = r.id",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		sqlite3 *db = session("requests");
		_cleanup_free_ char *text = NULL;

		execute(db, rows[i]);
		text = report(db, (struct report_options){.requests = true, .slowest = 1000});
		assert_non_null(text);
		json_decref(requests_json(db, (struct report_options){.slowest = 1000}));
		sqlite3_close(db);
	}
}

static void many_calls_are_left_out(void **state)
{
	sqlite3 *db = session("requests");
	json_t *requests;

	(void)state;
	execute(db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)"
		    "INSERT INTO request_calls (id, request, grade, port, begin_ns, window_ns) "
		    "SELECT 9000 + i, 43, 'confirmed', 1, 2070000000 + i, 5 FROM n");
	requests = requests_json(db, (struct report_options){.slowest = 1000});
	assert_int_equal(number(json_object_get(requests, "left_out"), "calls"), 101 - 64);
	json_decref(requests);
	execute(db,
		"DELETE FROM requests; DELETE FROM request_calls;"
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120000)"
		"INSERT INTO requests (id, window, endpoint, parent, begin_ns, queue_ns, "
		"window_ns, weight, outcome, model, cpu_ns) SELECT i, 0, 1 + 3 * (i > 60000), "
		"CASE WHEN i > 60000 THEN i - 60000 END, i, 0, 9, i <= 60000, 'answered', "
		"'thread', 9 FROM n;"
		"INSERT INTO request_calls (id, request, grade, port, begin_ns, window_ns) "
		"SELECT id, id, 'confirmed', 8000, begin_ns, 9 FROM requests WHERE weight;"
		"INSERT INTO request_calls (id, request, grade, port, begin_ns, window_ns) "
		"SELECT id, id, 'confirmed', 8000, begin_ns, 9 FROM requests WHERE NOT weight");
	requests = requests_json(db, (struct report_options){.slowest = 1000});
	assert_int_equal(check_slowest(requests, 1000), 1000);
	assert_int_equal(number(json_object_get(requests, "left_out"), "calls"), 20000);
	assert_int_equal(number(json_object_get(requests, "left_out"), "answers"), 0);
	json_decref(requests);
	sqlite3_close(db);
}

static json_t *slowest_at(json_t *requests, size_t at)
{
	return json_array_get(json_object_get(requests, "slowest"), at);
}

/* Of more calls than are read, those of the slowest are; requests without theirs are no average. */
static void calls_of_the_slowest_come_first(void **state)
{
	sqlite3 *db = session("requests");
	json_t *requests, *call;

	(void)state;
	execute(db,
		"DELETE FROM requests; DELETE FROM request_calls;"
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)"
		"INSERT INTO requests (id, window, endpoint, begin_ns, queue_ns, window_ns, weight,"
		"outcome, model, cpu_ns) SELECT i, 0, 3, i, 0, i, 1, 'answered', 'thread', i FROM "
		"n;"
		"INSERT INTO request_calls (request, grade, port, begin_ns, window_ns) "
		"SELECT r.id, 'confirmed', 8000, begin_ns, 1 FROM requests r, json_each('[1,2]')");
	requests = requests_json(db, (struct report_options){.slowest = 2});
	assert_int_equal(json_array_size(json_object_get(slowest_at(requests, 0), "calls")), 2);
	assert_int_equal(json_array_size(json_object_get(slowest_at(requests, 1), "calls")), 2);
	assert_int_equal(number(json_object_get(requests, "left_out"), "calls"), 20000);
	call = call_of(endpoint_of(requests, "nginx", "POST /order"), 0);
	assert_true(json_real_value(json_object_get(call, "per_request")) == 2);
	json_decref(requests);
	sqlite3_close(db);
}

/* Where most are samples, each stands for its weight. */
static void budgets_are_weighted(void **state)
{
	sqlite3 *db = session("requests");
	json_t *requests, *endpoint, *part;

	(void)state;
	execute(db, "DELETE FROM requests; DELETE FROM request_latency;"
		    "INSERT INTO request_latency VALUES (0, 3, '1:100');"
		    "INSERT INTO requests (id, window, endpoint, begin_ns, queue_ns, window_ns, "
		    "weight, outcome, model, cpu_ns, disk_ns) VALUES "
		    "(1, 0, 3, 0, 0, 1000, 30, 'answered', 'loop', 1000, 0),"
		    "(2, 0, 3, 0, 0, 1100, 10, 'answered', 'loop', 0, 1100),"
		    "(3, 0, 3, 0, 0, 9000, 1, 'closed', 'loop', 9000, 0)");
	requests = requests_json(db, (struct report_options){0});
	endpoint = endpoint_of(requests, "nginx", "POST /order");
	part = json_array_get(json_object_get(endpoint, "budget"), 0);
	assert_string_equal(string(part, "part"), "cpu");
	assert_int_equal(number(part, "ns"), 1000);
	/* What was closed without an answer has no latency. */
	assert_int_equal(number(endpoint, "max_ns"), 1100);
	json_decref(requests);
	sqlite3_close(db);
}

/* What is not known, or has no room, is said. */
static void what_is_missing_is_said(void **state)
{
	static const struct {
		const char *sql, *expected;
	} rows[] = {
		{"DELETE FROM requests WHERE endpoint IN (1, 2) AND window_ns > 20000000",
		 "; slow: none was kept"},
		{"UPDATE requests SET begin_ns = 500000000 WHERE id = 38",
		 "status 500; from before the start, pid 800\n"},
		{"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5) "
		 "INSERT INTO requests (id, window, endpoint, parent, begin_ns, queue_ns, "
		 "window_ns, weight, outcome, model, cpu_ns) SELECT 300 + i, 0, 4, CASE WHEN i "
		 "THEN 5000 + i END, 1500000000, 0, 900000000, i = 0, 'answered', 'thread', "
		 "900000000 FROM n;"
		 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6) "
		 "INSERT INTO request_calls (id, request, grade, port, begin_ns, window_ns) "
		 "SELECT 5000 + i, 299 + i, 'confirmed', 8000, 1500000000, 900000000 FROM n",
		 "1 deeper call not shown\n"},
		{"DELETE FROM requests WHERE id > 99; UPDATE request_calls SET grade = 'luck'",
		 "order in which threads\n    read and write\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		sqlite3 *db = session("requests");
		_cleanup_free_ char *text = NULL;

		execute(db, rows[i].sql);
		text = report(db, (struct report_options){.requests = true, .slowest = 10});
		if (!strstr(text, rows[i].expected))
			fail_msg("%s: not in: %s", rows[i].expected, text);
		sqlite3_close(db);
	}
}

/* Schema 1.8 had no calls, and neither the columns for them. */
static void older_sessions_have_their_requests(void **state)
{
	sqlite3 *db = session("requests");
	_cleanup_free_ char *text = NULL;
	json_t *requests, *endpoint;

	(void)state;
	execute(db, "DELETE FROM requests WHERE weight = 0; DROP TABLE request_calls;"
		    "DROP TABLE request_links; ALTER TABLE requests DROP COLUMN turn;"
		    "ALTER TABLE requests DROP COLUMN client_port;"
		    "ALTER TABLE requests DROP COLUMN parent;"
		    "ALTER TABLE requests DROP COLUMN pool_queue_ns");
	requests = requests_json(db, (struct report_options){.slowest = 1000});
	assert_int_equal(check_slowest(requests, 74), 0);
	endpoint = endpoint_of(requests, "nginx", "GET /cart/:id");
	assert_string_equal(string(endpoint, "grown_part"), "net");
	assert_int_equal(json_array_size(json_object_get(endpoint, "calls")), 0);
	json_decref(requests);
	text = report(db, (struct report_options){.requests = true, .slowest = 2});
	assert_null(strstr(text, "calls that"));
	sqlite3_close(db);
}

static void no_requests_are_reported_as_such(void **state)
{
	static const char *const rows[] = {
		"DELETE FROM requests; DELETE FROM request_counts; DELETE FROM endpoints",
		"DROP TABLE requests; DROP TABLE request_counts; DROP TABLE endpoints;"
		"DROP TABLE request_latency",
	};
	struct report_options options = {.requests = true, .slowest = 2};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		sqlite3 *db = session("requests");
		_cleanup_free_ char *text = NULL, *whole = NULL;
		json_t *requests;

		execute(db, rows[i]);
		text = report(db, options);
		assert_non_null(
			strstr(text, "\nno requests were recorded: record with -s requests\n"));
		whole = report(db, (struct report_options){0});
		assert_null(strstr(whole, "REQUESTS"));
		requests = requests_json(db, (struct report_options){0});
		assert_true(!requests == (i == 1));
		json_decref(requests);
		sqlite3_close(db);
	}
}

/* What an enemy may write: it is reported somehow, and nothing breaks. */
static void odd_requests_are_survived(void **state)
{
	static const char *const rows[] = {
		"UPDATE endpoints SET name = char(27) || '[31mred' || char(10), protocol = 'x' || "
		"char(8238)",
		"UPDATE endpoints SET name = CAST(x'c0af80fe' AS TEXT), kind = NULL, port = -1",
		"UPDATE endpoints SET name = zeroblob(100000), protocol = NULL, kind = 'request'",
		"UPDATE endpoints SET pid = 9223372036854775807, start_ns = -1",
		"UPDATE processes SET comm = char(27) || ']0;x' || char(7), service = char(10)",
		"DELETE FROM processes; DELETE FROM threads",
		"UPDATE requests SET status = char(27) || '[2J', outcome = 'luck', model = NULL",
		"UPDATE requests SET weight = 'many', window_ns = 'x', queue_ns = NULL",
		"UPDATE requests SET weight = 1e300, window_ns = 9223372036854775807, queue_ns = "
		"9223372036854775807",
		"UPDATE requests SET cpu_ns = 9223372036854775807, net_ns = -1, window_ns = 0",
		"UPDATE requests SET weight = -1, begin_ns = -1, tid = -1, endpoint = 99",
		"UPDATE request_counts SET requests = 9223372036854775807, answered = -1, "
		"kernel_bytes = 9223372036854775807, received_bytes = 9223372036854775807, "
		"latency_ns = 9223372036854775807, several = 9223372036854775807",
		"UPDATE request_counts SET requests = 0",
		"UPDATE request_counts SET records = 0, thread = 0, loop = 0, pool = 0",
		"UPDATE request_latency SET buckets = 'no buckets'",
		"UPDATE request_latency SET buckets = NULL",
		"UPDATE request_latency SET buckets = '1:4611686018427387904'",
		"DELETE FROM request_latency",
		"DELETE FROM requests",
		"DELETE FROM windows",
		"UPDATE request_calls SET name = char(27) || '[31m', protocol = char(10), status = "
		"char(27) || '[2J', grade = 'luck', outcome = char(13)",
		"UPDATE request_calls SET name = zeroblob(100000), protocol = zeroblob(100000)",
		"UPDATE request_calls SET begin_ns = 9223372036854775807, window_ns = "
		"9223372036854775807, wait_ns = 9223372036854775807",
		"UPDATE request_calls SET begin_ns = -1, window_ns = -1, port = -1, object = 'x'",
		"UPDATE request_calls SET begin_ns = NULL, window_ns = NULL, grade = NULL, request "
		"= 43",
		"UPDATE objects SET name = char(27) || '[31m' || char(10)",
		"UPDATE requests SET parent = id, begin_ns = 9223372036854775807",
		"UPDATE requests SET queue_ns = 0, window_ns = 0",
		"UPDATE request_links SET confirmed = 9223372036854775807, backward = "
		"9223372036854775807, refused = 9223372036854775807, conflict = -1",
		"UPDATE request_links SET window = 'x', pid = 'y'",
		"UPDATE ledger SET ns = -9223372036854775807, end_ns = -1 WHERE state = 23",
		"UPDATE chains SET ns = 9223372036854775807, part_culprit = -1, culprit_tid = -1",
		"UPDATE windows SET begin_ns = 9223372036854775807, end_ns = 0",
		"UPDATE threads SET comm = char(27) || '[31m' || char(10)",
		"DROP TABLE request_calls",
		"DROP TABLE request_links",
		"DROP TABLE chains",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		sqlite3 *db = session("requests");
		struct report_options options = {.requests = true, .slowest = 100, .top = 100};
		_cleanup_free_ char *text = NULL, *whole = NULL;
		json_t *requests;

		execute(db, rows[i]);
		text = report(db, options);
		assert_non_null(text);
		for (const char *at = text; *at; at++)
			assert_true((unsigned char)*at >= 0x20 || *at == '\n');
		whole = report(db, (struct report_options){0});
		assert_non_null(whole);
		requests = requests_json(db, options);
		assert_non_null(requests);
		json_decref(requests);
		sqlite3_close(db);
	}
}

/* More kept requests than are read: the slowest all, of the others some, and each stands for more.
 */
static void many_kept_requests_are_thinned(void **state)
{
	sqlite3 *db = session("requests");
	json_t *requests;
	json_int_t kept;

	(void)state;
	execute(db,
		"DELETE FROM requests;"
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250000)"
		"INSERT INTO requests (id, window, endpoint, begin_ns, queue_ns, window_ns, "
		"weight, outcome, model, cpu_ns) SELECT i, 0, 4, i, 0, i, 1, 'answered', "
		"'thread', i FROM n");
	requests = requests_json(db, (struct report_options){.slowest = 1000});
	check_slowest(requests, 1000);
	assert_int_equal(number(json_object_get(requests, "left_out"), "stride"), 3);
	assert_int_equal(
		number(json_array_get(json_object_get(requests, "slowest"), 999), "window_ns"),
		250000 - 999);
	kept = number(endpoint_of(requests, "python3", "GET /cart/:id"), "kept");
	assert_in_range(kept, 1000 + 249000 / 3 - 1500, 1000 + 249000 / 3 + 1500);
	json_decref(requests);
	sqlite3_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_read_as_before),
		cmocka_unit_test(endpoints_add_up),
		cmocka_unit_test(parts_sum_to_the_window),
		cmocka_unit_test(parts_of_a_session_have_their_own),
		cmocka_unit_test(calls_have_the_requests_that_answer_them),
		cmocka_unit_test(longest_wait_has_its_stack),
		cmocka_unit_test(slower_than_its_caller_is_listed_once),
		cmocka_unit_test(answers_count_for_none),
		cmocka_unit_test(calls_of_endpoints_are_averages),
		cmocka_unit_test(peers_behind_unix_sockets_are_told_apart),
		cmocka_unit_test(who_held_up_a_request_is_named),
		cmocka_unit_test(a_thread_may_be_younger_than_its_request),
		cmocka_unit_test(who_held_a_lock_before_a_window_counts),
		cmocka_unit_test(who_may_not_have_is_not_named),
		cmocka_unit_test(who_held_a_lock_is_named),
		cmocka_unit_test(circles_are_cut),
		cmocka_unit_test(many_calls_are_left_out),
		cmocka_unit_test(calls_of_the_slowest_come_first),
		cmocka_unit_test(budgets_are_weighted),
		cmocka_unit_test(what_is_missing_is_said),
		cmocka_unit_test(older_sessions_have_their_requests),
		cmocka_unit_test(no_requests_are_reported_as_such),
		cmocka_unit_test(odd_requests_are_survived),
		cmocka_unit_test(many_kept_requests_are_thinned),
	};

	return cmocka_run_group_tests_name("report_requests", tests, NULL, NULL);
}
