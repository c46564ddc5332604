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

static void check_slowest(json_t *requests, size_t expected)
{
	json_t *slowest = json_object_get(requests, "slowest"), *request, *part;
	json_int_t before_ns = INT64_MAX;
	size_t i, j;

	assert_int_equal(json_array_size(slowest), expected);
	json_array_foreach(slowest, i, request)
	{
		json_int_t latency_ns = number(request, "queue_ns") + number(request, "window_ns");
		json_int_t sum = 0;

		json_array_foreach(json_object_get(request, "parts"), j, part) sum +=
			number(part, "ns");
		assert_int_equal(sum, number(request, "window_ns"));
		assert_true(latency_ns <= before_ns);
		before_ns = latency_ns;
	}
}

static void parts_sum_to_the_window(void **state)
{
	sqlite3 *db = session("requests");
	json_t *requests = requests_json(db, (struct report_options){.slowest = 1000});

	(void)state;
	check_slowest(requests, 75);
	assert_int_equal(number(json_object_get(requests, "left_out"), "unclosed"), 0);
	json_decref(requests);
	requests = requests_json(db, (struct report_options){0});
	check_slowest(requests, 20);
	json_decref(requests);
	/* What a file says is made to sum, and counted. */
	execute(db, "UPDATE requests SET cpu_ns = cpu_ns + 5 WHERE id = 1;"
		    "UPDATE requests SET cpu_ns = cpu_ns - 5 WHERE id = 2");
	requests = requests_json(db, (struct report_options){.slowest = 1000});
	check_slowest(requests, 75);
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
		cmocka_unit_test(budgets_are_weighted),
		cmocka_unit_test(no_requests_are_reported_as_such),
		cmocka_unit_test(odd_requests_are_survived),
		cmocka_unit_test(many_kept_requests_are_thinned),
	};

	return cmocka_run_group_tests_name("report_requests", tests, NULL, NULL);
}
