// SPDX-License-Identifier: Apache-2.0
/*
 * Probes as they are typed, and what a pool's numbers say.
 */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "../../src/base/log.h"
#include "../../src/cmd/trace.h"
#include "../../src/model/signal.h"

static void expect_word(const char *text, enum trace_kind kind, bool at_return, const char *file,
			const char *name)
{
	struct trace_word word;

	assert_int_equal(trace_word_parse_whole(text, &word), 0);
	assert_int_equal(word.kind, kind);
	assert_int_equal(word.at_return, at_return);
	assert_string_equal(word.file, file);
	assert_string_equal(word.name, name);
}

static void probes_are_read_as_typed(void **state)
{
	(void)state;
	expect_word("u:/bin/a:main", TRACE_USER, false, "/bin/a", "main");
	expect_word("ur:./a:ns::f(int)", TRACE_USER, true, "./a", "ns::f(int)");
	expect_word("u:a:0x10", TRACE_USER, false, "a", "0x10");
	expect_word("k:tcp_sendmsg", TRACE_KERNEL, false, "", "tcp_sendmsg");
	expect_word("kr:tcp_*", TRACE_KERNEL, true, "", "tcp_*");
	expect_word("t:sched:sched_switch", TRACE_TRACEPOINT, false, "", "sched:sched_switch");
	expect_word("U:postgres:query__start", TRACE_USDT, false, "", "postgres:query__start");
	expect_word("U:/bin/p:postgres:q", TRACE_USDT, false, "/bin/p", "postgres:q");
}

static void what_is_no_probe_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",	 "u",	    "u:",	  "u:a",     "u::main", "u:a:", "k:", "k:a b",
		"k:a:b", "t:sched", "tr:sched:x", "U:alone", "x:a:b",	"main", "ur", "r:a:b",
	};
	char longest[600];
	struct trace_word word;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(trace_word_parse_whole(wrong[i], &word), -EINVAL);
	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "u:b:", 4);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(trace_word_parse_whole(longest, &word), -EINVAL);
}

/* --- a pool --- */

static struct series_row rows[FUNC_KIND_COUNT];

static void add(enum func_kind kind, u64 count, u64 sum)
{
	rows[kind] = (struct series_row){.key = {.signal = SIG_FUNC, .kind = (u8)kind},
					 .hist = {.count = count, .sum = sum}};
}

static const char *judge(u64 queueing, u64 idle_queueing, u64 execution, u64 blocked, u64 runnable)
{
	static struct remarks remarks;
	const struct series_row *set_rows[FUNC_KIND_COUNT];
	struct series_set set = {.rows = set_rows};

	memset(rows, 0, sizeof(rows));
	add(FUNC_KIND_QUEUEING, 10, queueing);
	add(FUNC_KIND_IDLE_QUEUEING, idle_queueing ? 10 : 0, idle_queueing);
	add(FUNC_KIND_EXECUTION, 10, execution);
	add(FUNC_KIND_BLOCKED, 10, blocked);
	add(FUNC_KIND_RUNNABLE, 10, runnable);
	add(FUNC_KIND_SOJOURN, 10, queueing + execution);
	for (int i = 0; i < FUNC_KIND_COUNT; i++)
		if (rows[i].hist.count)
			set_rows[set.count++] = &rows[i];
	remarks.count = 0;
	signal_func.view->judge(&set, &remarks);
	assert_int_equal(remarks.count, 1);
	return remarks.text[0];
}

#define MS 1000000ULL

static void pool_is_judged(void **state)
{
	(void)state;
	assert_non_null(strstr(judge(1 * MS, 0, 100 * MS, 50 * MS, 0), "no queue to speak of"));
	assert_non_null(strstr(judge(500 * MS, 0, 100 * MS, 90 * MS, 0), "pool: blocking"));
	assert_non_null(strstr(judge(500 * MS, 0, 100 * MS, 5 * MS, 5 * MS), "pool: starvation"));
	assert_non_null(strstr(judge(500 * MS, 0, 100 * MS, 5 * MS, 5 * MS), "more workers"));
	assert_non_null(strstr(judge(500 * MS, 0, 100 * MS, 5 * MS, 60 * MS), "more CPUs"));
	assert_non_null(strstr(judge(500 * MS, 0, 100 * MS, 50 * MS, 0), "pool: mixed"));
	assert_non_null(strstr(judge(500 * MS, 400 * MS, 100 * MS, 90 * MS, 0), "idle workers"));
	/* That idle ones take a moment to wake up is no fault. */
	assert_non_null(strstr(judge(500 * MS, 5 * MS, 100 * MS, 90 * MS, 0), "pool: blocking"));
}

static void calls_alone_are_not_judged(void **state)
{
	const struct series_row row = {.hist = {.count = 5, .sum = 5}};
	const struct series_row *set_rows[] = {&row};
	const struct series_set set = {.rows = set_rows, .count = 1};
	struct remarks remarks = {0};

	(void)state;
	signal_func.view->judge(&set, &remarks);
	assert_int_equal(remarks.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probes_are_read_as_typed),
		cmocka_unit_test(what_is_no_probe_is_refused),
		cmocka_unit_test(pool_is_judged),
		cmocka_unit_test(calls_alone_are_not_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
