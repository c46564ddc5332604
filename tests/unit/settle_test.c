// SPDX-License-Identifier: Apache-2.0
/*
 * A wait is named by how it ended; culprits are weighted by time. The ledger's core, compiled for
 * the host.
 */
#include "unit.h"

#include "../../src/base/cleanup.h"
#include "bpf_native.h"

#include "../../bpf/ledger_rivals.bpf.h"

#define OWN	100
#define FLUSHER 200
#define WORKER	300
#define MUTEX	0x7000

static struct ledger_task account;
static struct ledger_runs runs;

static int start(void **state)
{
	(void)state;
	memset(&account, 0, sizeof(account));
	memset(&runs, 0, sizeof(runs));
	account.inner_tid = OWN;
	ledger_begin(&account, STATE_CPU, STATE_CPU, 1000);
	return 0;
}

/* It waits from begin to end as `wait` says, is woken as `wake` says, and runs at once. */
static void pass(const struct wait *wait, const struct wake *wake, u64 begin, u64 end)
{
	ledger_switch_out(&account, wait, NULL, 0, begin);
	ledger_wake(&account, wake, end);
	ledger_switch_in(&account, 9, WAKER_RAN, 0, end);
}

static const struct ledger_cause *cause_of(u32 state, u64 object, u32 holder)
{
	for (int i = 0; i < CAUSES_MAX; i++) {
		const struct ledger_cause *cause = &account.causes[i];

		if ((cause->count || cause->ns) && cause->state == state &&
		    cause->object == object && cause->holder == holder)
			return cause;
	}
	fail_msg("no cause of state %u, object %llu, holder %u", state, (unsigned long long)object,
		 holder);
	return NULL;
}

static void end_of_a_poll_names_it(void **state)
{
	const struct wait wait = {.state = STATE_BLOCKED_POLL, .ends = ENDS_BY_POLL, .call = 8};
	const struct wake wakes[] = {
		{.kind = WAKER_NETWORK, .state = STATE_BLOCKED_NET, .object = 11},
		{.kind = WAKER_NETWORK, .state = STATE_BLOCKED_IDLE, .object = 22},
		{.kind = WAKER_TIMER},
		{.kind = WAKER_THREAD, .state = STATE_BLOCKED_SIGNALLED, .waker = 5},
		{.kind = WAKER_THREAD, .state = STATE_BLOCKED_IPC, .waker = 6},
		{.kind = WAKER_INTERRUPT},
	};

	(void)state;
	for (u64 i = 0; i < ARRAY_SIZE(wakes); i++)
		pass(&wait, &wakes[i], 2000 + i * 100, 2000 + i * 100 + 10 * (i + 1));
	assert_int_equal(cause_of(STATE_BLOCKED_NET, 11, 0)->ns, 10);
	assert_int_equal(cause_of(STATE_BLOCKED_IDLE, 22, 0)->ns, 20);
	assert_int_equal(account.ns[STATE_BLOCKED_SLEEP], 30);
	assert_int_equal(account.ns[STATE_BLOCKED_SIGNALLED], 40);
	assert_int_equal(account.ns[STATE_BLOCKED_IPC], 50);
	assert_int_equal(account.ns[STATE_BLOCKED_OTHER], 60); /* idle has to be proven */
	assert_int_equal(account.ns[STATE_BLOCKED_POLL], 0);
	/* Work began one turn, and the timeout after it another. */
	assert_int_equal(account.turns.count, 2);
}

/* Where a switch was missed, the turn before it is not counted again. */
static void turns_are_counted_once(void **state)
{
	const struct wait poll = {.state = STATE_BLOCKED_POLL, .ends = ENDS_BY_POLL};
	const struct wake work = {.kind = WAKER_NETWORK, .state = STATE_BLOCKED_IDLE};
	const u64 ms = 1000000;

	(void)state;
	pass(&poll, &work, 10 * ms, 20 * ms);
	ledger_switch_out(&account, &poll, NULL, 0, 50 * ms);
	ledger_wake(&account, &work, 60 * ms);
	ledger_switch_out(&account, &poll, NULL, 0, 90 * ms); /* its switch-in was missed */
	assert_int_equal(account.turns.count, 1);
	assert_int_equal(account.turns.long_ns, 30 * ms);
}

/* Of a poll of one file it is known what a packet means, also where no socket is seen. */
static void packet_ends_a_poll_of_one_socket(void **state)
{
	const struct wait wait = {.state = STATE_BLOCKED_POLL,
				  .ends = ENDS_BY_POLL,
				  .object = 33,
				  .net_state = STATE_BLOCKED_NET};
	const struct wake packet = {.kind = WAKER_NETWORK}, timeout = {.kind = WAKER_TIMER};

	(void)state;
	pass(&wait, &packet, 2000, 2100);
	pass(&wait, &timeout, 3000, 3500);
	assert_int_equal(cause_of(STATE_BLOCKED_NET, 33, 0)->ns, 100);
	assert_int_equal(cause_of(STATE_BLOCKED_SLEEP, 33, 0)->ns, 500);
}

static void timeout_ends_what_else_would_be_known(void **state)
{
	const struct wait receive = {
		.state = STATE_BLOCKED_NET, .ends = ENDS_IN_TIME, .object = 44};
	const struct wait disk = {.state = STATE_BLOCKED_DISK};
	const struct wake timer = {.kind = WAKER_TIMER};

	(void)state;
	pass(&receive, &timer, 2000, 2100);
	pass(&disk, &timer, 3000, 3100);
	assert_int_equal(account.ns[STATE_BLOCKED_NET], 0);
	assert_int_equal(cause_of(STATE_BLOCKED_SLEEP, 44, 0)->ns, 100);
	assert_int_equal(account.ns[STATE_BLOCKED_DISK], 100);
}

static const struct wait futex = {
	.state = STATE_BLOCKED_SIGNALLED, .ends = ENDS_BY_FUTEX, .object = MUTEX};
static const struct wake timeout = {.kind = WAKER_TIMER};
static const struct wake signal = {
	.kind = WAKER_THREAD, .state = STATE_BLOCKED_SIGNALLED, .waker = WORKER};

/* As Python waits for its lock: 5 ms at a time, until it gets it. */
static void retries_belong_to_what_they_were_for(void **state)
{
	(void)state;
	pass(&futex, &timeout, 10000000, 15000000);
	pass(&futex, &timeout, 15000000 + RETRY_GAP_NS / 2, 20000000);
	pass(&futex, &signal, 20000000 + RETRY_GAP_NS / 2, 22000000);
	assert_int_equal(account.ns[STATE_BLOCKED_SLEEP], 0);
	assert_int_equal(account.ns[STATE_BLOCKED_SIGNALLED], 12000000 - RETRY_GAP_NS);
	/* One that has done something else between was asleep. */
	pass(&futex, &timeout, 30000000, 35000000);
	pass(&futex, &signal, 36000000, 37000000);
	assert_int_equal(account.ns[STATE_BLOCKED_SLEEP], 5000000);
}

/* A reader has told the first of them as sleep by then: its window is over. */
static void retries_that_were_told_stay_sleep(void **state)
{
	(void)state;
	pass(&futex, &timeout, 10000000, 15000000);
	account.told.ns[STATE_BLOCKED_SLEEP] = account.ns[STATE_BLOCKED_SLEEP];
	pass(&futex, &timeout, 15100000, 20000000);
	pass(&futex, &signal, 20100000, 22000000);
	assert_int_equal(account.ns[STATE_BLOCKED_SLEEP], 5000000);
	assert_int_equal(account.ns[STATE_BLOCKED_SIGNALLED], 4900000 + 1900000);
}

/* The flusher held it when the wait began; a worker that had waited itself got it first. */
static void lock_is_charged_to_its_holders_by_time(void **state)
{
	const struct wait wait = {.state = STATE_BLOCKED_LOCK,
				  .ends = ENDS_IN_TIME,
				  .object = MUTEX,
				  .holder = FLUSHER,
				  .lock = LOCK_FUTEX};
	const struct wake worker = {
		.kind = WAKER_THREAD, .waker = WORKER, .holder = WORKER, .since_ns = 2900};
	const struct wake flusher = {.kind = WAKER_THREAD, .waker = FLUSHER, .holder = FLUSHER};
	const struct wake unseen = {.kind = WAKER_THREAD, .waker = WORKER, .holder = WORKER};

	(void)state;
	pass(&wait, &worker, 2000, 3000);
	pass(&wait, &flusher, 4000, 4500);
	pass(&wait, &unseen, 5000, 5100); /* since when that one had it is not known */
	assert_int_equal(cause_of(STATE_BLOCKED_LOCK, MUTEX, FLUSHER)->ns, 900 + 500 + 100);
	assert_int_equal(cause_of(STATE_BLOCKED_LOCK, MUTEX, WORKER)->ns, 100);
	assert_int_equal(account.ns[STATE_BLOCKED_LOCK], 1600);
	assert_int_equal(account.entries[STATE_BLOCKED_LOCK], 3);
}

static void thread_holds_no_lock_against_itself(void **state)
{
	const struct wait wait = {
		.state = STATE_BLOCKED_LOCK, .object = MUTEX, .holder = OWN, .lock = LOCK_FUTEX};
	const struct wake wake = {.kind = WAKER_THREAD, .waker = OWN, .holder = OWN};

	(void)state;
	pass(&wait, &wake, 2000, 3000);
	assert_int_equal(cause_of(STATE_BLOCKED_LOCK, MUTEX, 0)->ns, 1000);
}

/* What was before the request existed is not the device's. */
static void wait_for_a_disk_is_split_where_its_request_begins(void **state)
{
	const struct wait wait = {.state = STATE_BLOCKED_DISK, .object = 55};
	const struct wake held = {.kind = WAKER_DISK, .since_ns = 1080000};
	const struct wake at_once = {.kind = WAKER_DISK, .since_ns = 2000005};
	const struct wake before = {.kind = WAKER_DISK, .since_ns = 500};

	(void)state;
	pass(&wait, &held, 1000000, 1100000);
	pass(&wait, &at_once, 2000000, 2100000);
	pass(&wait, &before, 3000000, 3100000);
	assert_int_equal(cause_of(STATE_BLOCKED_DISK_HELD, 55, 0)->ns, 80000);
	assert_int_equal(cause_of(STATE_BLOCKED_DISK, 55, 0)->ns, 20000 + 200000);
	assert_int_equal(account.entries[STATE_BLOCKED_DISK], 3);
	assert_int_equal(account.entries[STATE_BLOCKED_DISK_HELD], 1);
}

/* A reader that saw it open learns its name, and which wait that was. */
static void wait_that_was_read_is_settled(void **state)
{
	const struct wait wait = {.state = STATE_BLOCKED_POLL, .ends = ENDS_BY_POLL};
	const struct wake wake = {.kind = WAKER_NETWORK, .state = STATE_BLOCKED_NET, .object = 66};
	struct rec_ledger row;

	(void)state;
	ledger_switch_out(&account, &wait, NULL, 0, 2000);
	assert_true(ledger_copy(&account, &row, 2500));
	account.read_seq = account.seq;
	assert_int_equal(row.open.state, STATE_BLOCKED_POLL);
	assert_int_equal(row.open.ns, 500);
	assert_int_equal(row.open_since_ns, 2000);
	assert_int_equal(row.settled_since_ns, 0);
	ledger_wake(&account, &wake, 3000);
	ledger_switch_in(&account, 9, WAKER_RAN, 0, 3000);
	assert_true(ledger_copy(&account, &row, 3500));
	assert_int_equal(row.open_since_ns, 0);
	assert_int_equal(row.settled_since_ns, 2000);
	assert_int_equal(row.settled.state, STATE_BLOCKED_NET);
	assert_int_equal(row.settled.object, 66);
	assert_int_equal(row.ns[STATE_BLOCKED_NET], 1000);
}

static u64 laid_of(u32 pid)
{
	u64 ns = 0;

	for (int i = 0; i < RIVALS_MAX; i++)
		if (runs.laid[i].rival.pid == pid)
			ns += runs.laid[i].rival.ns;
	return ns;
}

/* The last one that ran is not the one that had the CPU. */
static void wait_for_a_cpu_is_laid_over_its_runs(void **state)
{
	(void)state;
	ledger_note_run(&runs, 1, 11, 0, 1000);
	ledger_note_run(&runs, 2, 22, 0, 5000);
	ledger_note_run(&runs, 1, 11, 0, 9000);
	ledger_note_run(&runs, 3, 33, 0, 9900);
	assert_int_equal(ledger_lay_over(&runs, 2000, 10000), 8000);
	assert_int_equal(laid_of(11), 3000 + 900);
	assert_int_equal(laid_of(22), 4000);
	assert_int_equal(laid_of(33), 100);
	/* What was before the first that is known is nobody's. */
	assert_int_equal(ledger_lay_over(&runs, 500, 10000), 9000);
}

static void only_the_last_runs_are_known(void **state)
{
	(void)state;
	for (u64 i = 0; i < 100; i++)
		ledger_note_run(&runs, i, (u32)(i % 5), 0, i * 10);
	assert_int_equal(ledger_lay_over(&runs, 0, 1000), RUNS_MAX * 10);
	for (u32 pid = 0; pid < 5; pid++)
		assert_in_range(laid_of(pid), RUNS_MAX * 10 / 5 - 10, RUNS_MAX * 10 / 5 + 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(end_of_a_poll_names_it, start),
		cmocka_unit_test_setup(turns_are_counted_once, start),
		cmocka_unit_test_setup(packet_ends_a_poll_of_one_socket, start),
		cmocka_unit_test_setup(timeout_ends_what_else_would_be_known, start),
		cmocka_unit_test_setup(retries_belong_to_what_they_were_for, start),
		cmocka_unit_test_setup(retries_that_were_told_stay_sleep, start),
		cmocka_unit_test_setup(lock_is_charged_to_its_holders_by_time, start),
		cmocka_unit_test_setup(thread_holds_no_lock_against_itself, start),
		cmocka_unit_test_setup(wait_for_a_disk_is_split_where_its_request_begins, start),
		cmocka_unit_test_setup(wait_that_was_read_is_settled, start),
		cmocka_unit_test_setup(wait_for_a_cpu_is_laid_over_its_runs, start),
		cmocka_unit_test_setup(only_the_last_runs_are_known, start),
	};

	return cmocka_run_group_tests_name("settle", tests, NULL, NULL);
}
