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
		"server (500): newfstatat is 50 % of its system calls, 1,000 a second; 93 % of "
		"these fail, most in /usr/lib/b/: it looks for files that do not exist");
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
		"10 % of the waits lasted about one scheduler tick, 4 ms (1/HZ): those threads "
		"got a CPU only when the scheduler took it from another one at the tick");
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
static void add_slow_disk(struct made_up *made, const char *name, u64 queue_ns, u64 service_ns)
{
	const u64 ns[] = {queue_ns, service_ns, queue_ns + service_ns};

	for (u8 kind = 0; kind < 3; kind++) { /* queue, service, total */
		struct series_row *row = add_row(made, kind, 0, name);

		row->key.object = (u64)name[0];
		add_values(row, ns[kind], 100);
	}
}

static void slow_disk_has_its_own_time_alone(void **state)
{
	struct made_up made = {0};

	(void)state;
	add_slow_disk(&made, "sda", 2 * NS_PER_MS, 50 * NS_PER_MS);
	assert_string_equal(judge(&signal_block, &made),
			    "sda is slow: the device took 50.0 ms or more for one request in a "
			    "hundred; of the time from insert to completion, 4 % was before the "
			    "device had them");
	made = (struct made_up){0};
	add_slow_disk(&made, "sda", 50 * NS_PER_MS, 2 * NS_PER_MS);
	assert_string_equal(
		judge(&signal_block, &made),
		"sda queues: of the time from insert to completion, requests spent "
		"96 % before the device had them (p99 50.0 ms); the device took 2.00 ms "
		"of each on average");
}

/* A cgroup's limit on the disk below is not the loop device's doing. */
static void limit_is_not_blamed_on_the_device(void **state)
{
	struct made_up made = {0};

	(void)state;
	add_slow_disk(&made, "loop0", 0, 59 * NS_PER_MS);
	add_slow_disk(&made, "vda", 0, 4180000);
	assert_string_equal(
		judge(&signal_block, &made),
		"loop0: requests took 5.90 s in sum from issue to completion, but its "
		"data is on other disks, whose requests took 418 ms: the rest was spent "
		"above them, as by a cgroup's I/O limit, a file system or a wait for a "
		"CPU");
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
	assert_non_null(strstr(judge(&signal_sched, &made), "3 times, up to 250 ms: starvation"));
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
	assert_non_null(strstr(said, "10.0.0.1:443 sent its first reply after 8"));
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
		cmocka_unit_test(slow_disk_has_its_own_time_alone),
		cmocka_unit_test(limit_is_not_blamed_on_the_device),
		cmocka_unit_test(storm_of_wakeups_is_told),
		cmocka_unit_test(starvation_is_told),
		cmocka_unit_test(peer_that_answers_late_is_told),
		cmocka_unit_test(lost_handshakes_are_told),
	};

	return cmocka_run_group_tests_name("judges", tests, NULL, NULL);
}
