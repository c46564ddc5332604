// SPDX-License-Identifier: Apache-2.0
/* What signals conclude from their numbers, and from which they conclude nothing. */
#include <string.h>

#include "../../signals/tcp/kinds.h"
#include "../../src/base/clock.h"
#include "../../src/model/signal.h"
#include "unit.h"

#define ROWS_MAX 8

struct made_up {
	struct series_row rows[ROWS_MAX];
	const struct series_row *order[ROWS_MAX];
	struct series_set set;
};

static struct series_row *add_row(struct made_up *made, u8 kind, u16 detail, const char *object)
{
	struct series_row *row = &made->rows[made->set.count];

	*row = (struct series_row){.key = {.tgid = 500, .kind = kind, .detail = detail},
				   .detail_name = "newfstatat",
				   .object_name = object,
				   .process = "server (500)"};
	made->order[made->set.count++] = row;
	made->set.rows = made->order;
	return row;
}

static void add_values(struct series_row *row, u64 value, u64 count)
{
	while (count--)
		hist_add(&row->hist, value);
}

/* The remark, NULL if there is none. */
static const char *judge(const struct signal *signal, struct made_up *made)
{
	static struct remarks remarks;

	remarks.count = 0;
	made->set.span_ns = 10 * NS_PER_S;
	made->set.cpus = 2;
	made->set.tick_ns = 4 * NS_PER_MS;
	signal->view->judge(&made->set, &remarks);
	assert_true(remarks.count <= 1);
	return remarks.count ? remarks.text[0] : NULL;
}

static void storm_of_failures_is_told(void **state)
{
	struct made_up made = {0};

	(void)state;
	add_values(add_row(&made, 0, 263, ""), 400, 700);
	add_values(add_row(&made, 0, 1, ""), 400, 10000);
	assert_null(judge(&signal_syscalls, &made));
	add_values(add_row(&made, 1, 263, "ENOENT"), 400, 9300);
	add_values(add_row(&made, 2, 263, "/usr/lib/a/"), 400, 3000);
	add_values(add_row(&made, 2, 263, "/usr/lib/b/"), 400, 6300);
	assert_string_equal(
		judge(&signal_syscalls, &made),
		"server (500): newfstatat is 50 % of its calls, 1,000 a second, and 93 % "
		"of them fail, most in /usr/lib/b/: it looks for what is not there");
}

static void few_failures_are_not(void **state)
{
	struct made_up made = {0};

	(void)state;
	add_values(add_row(&made, 0, 263, ""), 400, 100000);
	add_values(add_row(&made, 1, 263, "ENOENT"), 400, 9300);
	assert_null(judge(&signal_syscalls, &made));
}

static void hump_at_the_tick_is_told(void **state)
{
	struct made_up made = {0};
	struct series_row *row = add_row(&made, 0, 0, "");

	(void)state;
	add_values(row, 20000, 900);
	assert_null(judge(&signal_runq, &made));
	add_values(row, 4 * NS_PER_MS, 50);
	add_values(row, 4 * NS_PER_MS + 50000, 50);
	assert_string_equal(
		judge(&signal_runq, &made),
		"10 % of the waits lasted one tick of the scheduler's clock, 4 ms (1/HZ): "
		"those threads got a CPU only when the one before had used up its slice");
}

static void waits_around_the_tick_are_no_hump(void **state)
{
	struct made_up made = {0};
	struct series_row *row = add_row(&made, 0, 0, "");

	(void)state;
	for (u64 ns = NS_PER_MS; ns < 16 * NS_PER_MS; ns += 50000)
		add_values(row, ns, 1);
	assert_null(judge(&signal_runq, &made));
}

/* In units that fit: 24 us are not 0.02 ms. */
static void tail_of_a_disk_is_told(void **state)
{
	struct made_up made = {0};
	const char *said;

	(void)state;
	for (u8 kind = 1; kind <= 2; kind++) { /* service, total */
		struct series_row *row = add_row(&made, kind, 0, "sda");

		add_values(row, 24000, 4900);
		add_values(row, 5 * NS_PER_MS, 100);
	}
	said = judge(&signal_block, &made);
	assert_non_null(strstr(said, "sda: its average, 124 us, hides its tail: half of the "));
	assert_non_null(strstr(said, "took up to 23.7 us, and one in a hundred 5.00 ms or more"));
}

/* A disk that takes 50 ms for each request, after some time in the queue. */
static const char *judge_slow_disk(u64 queue_ns)
{
	const u64 ns[] = {queue_ns, 50 * NS_PER_MS, queue_ns + 50 * NS_PER_MS};
	struct made_up made = {0};

	for (u8 kind = 0; kind < 3; kind++) /* queue, service, total */
		add_values(add_row(&made, kind, 0, "sda"), ns[kind], 100);
	return judge(&signal_block, &made);
}

static void little_time_in_a_queue_is_in_words(void **state)
{
	(void)state;
	assert_non_null(strstr(judge_slow_disk(1000),
			       "and next to none of the time was spent in the queue"));
	assert_non_null(strstr(judge_slow_disk(2 * NS_PER_MS),
			       "and only 4 % of the time was spent in the queue"));
}

static void storm_of_wakeups_is_told(void **state)
{
	struct made_up made = {0};
	struct series_row *row = add_row(&made, 3, SERIES_NO_CPU, "");

	(void)state;
	add_values(row, 1, 1000);
	assert_null(judge(&signal_sched, &made));
	for (u64 value = 2; value <= 64; value++)
		add_values(row, value, 20);
	assert_non_null(strstr(judge(&signal_sched, &made), "wakes up to 64 threads within 1 ms"));
}

static void starvation_is_told(void **state)
{
	struct made_up made = {0};

	(void)state;
	add_values(add_row(&made, 4, SERIES_NO_CPU, ""), 250 * NS_PER_MS, 3);
	assert_non_null(
		strstr(judge(&signal_sched, &made), "3 times, at worst 250 ms: it starves"));
}

static void peer_that_answers_late_is_told(void **state)
{
	struct made_up made = {0};
	const char *said;

	(void)state;
	add_values(add_row(&made, TCP_KIND_FIRST_REPLY, 0, "10.0.0.1:443"), 80 * NS_PER_MS, 40);
	assert_null(judge(&signal_tcp, &made)); /* its round trip is not known */
	add_values(add_row(&made, TCP_KIND_RTT, 0, "10.0.0.1:443"), 30 * NS_PER_MS, 40);
	assert_null(judge(&signal_tcp, &made)); /* it is far away */
	made.rows[1].hist = (struct hist){0};
	add_values(&made.rows[1], NS_PER_MS / 2, 40);
	said = judge(&signal_tcp, &made);
	assert_non_null(said);
	assert_non_null(strstr(said, "10.0.0.1:443 answers after 8"));
	made.rows[1].key.object = 7; /* another peer's */
	assert_null(judge(&signal_tcp, &made));
}

static void lost_handshakes_are_told(void **state)
{
	struct made_up made = {0};
	struct series_row *row = add_row(&made, TCP_KIND_CONNECT, 0, "10.0.0.1:443");

	(void)state;
	add_values(row, 300 * NS_PER_MS, 38); /* some are far away */
	assert_null(judge(&signal_tcp, &made));
	add_values(row, 1020 * NS_PER_MS, 2);
	assert_non_null(strstr(judge(&signal_tcp, &made), "2 of 40 connections to 10.0.0.1:443"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(storm_of_failures_is_told),
		cmocka_unit_test(few_failures_are_not),
		cmocka_unit_test(hump_at_the_tick_is_told),
		cmocka_unit_test(waits_around_the_tick_are_no_hump),
		cmocka_unit_test(tail_of_a_disk_is_told),
		cmocka_unit_test(little_time_in_a_queue_is_in_words),
		cmocka_unit_test(storm_of_wakeups_is_told),
		cmocka_unit_test(starvation_is_told),
		cmocka_unit_test(peer_that_answers_late_is_told),
		cmocka_unit_test(lost_handshakes_are_told),
	};

	return cmocka_run_group_tests_name("judges", tests, NULL, NULL);
}
