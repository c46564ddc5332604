// SPDX-License-Identifier: Apache-2.0
/*
 * The ledger's core, compiled for the host: what transitions do to an account, also those that
 * never came.
 */
#include "unit.h"

#include <stdlib.h>

#include "bpf_native.h"

static struct ledger_task account;
static struct rec_ledger row;

static int start(void **state)
{
	(void)state;
	memset(&account, 0, sizeof(account));
	ledger_begin(&account, STATE_CPU, STATE_CPU, 1000);
	return 0;
}

static void wait_for(u32 state, u64 object, u64 exec_ns, u64 now)
{
	struct wait wait = {.state = state, .object = object, .call = 1};

	ledger_switch_out(&account, &wait, NULL, exec_ns, now);
}

static void woken(u32 waker, u32 kind, u64 now)
{
	const struct wake wake = {.waker = waker, .kind = kind};

	ledger_wake(&account, &wake, now);
}

static void get_cpu(u64 exec_ns, u64 now)
{
	ledger_switch_in(&account, 9, WAKER_RAN, exec_ns, now);
}

static u64 parts(const u64 *ns)
{
	u64 sum = 0;

	for (int i = 0; i < STATE_LIMIT; i++)
		sum += ns[i];
	return sum;
}

/* The causes of a state sum up to it at most, in a row as in the account. */
static void assert_causes_fit(const struct rec_ledger *of)
{
	u64 named[STATE_LIMIT] = {0};

	for (int i = 0; i < CAUSES_MAX; i++)
		named[of->causes[i].state] += of->causes[i].ns;
	for (int i = 0; i < STATE_LIMIT; i++)
		assert_true(named[i] <= of->ns[i]);
}

static void wait_is_split_where_it_was_woken(void **state)
{
	(void)state;
	wait_for(STATE_BLOCKED_SLEEP, 0, 100, 1100);
	woken(7, WAKER_THREAD, 1600);
	woken(8, WAKER_THREAD, 1700); /* the first one counts */
	get_cpu(100, 1650);
	assert_int_equal(account.ns[STATE_CPU], 100);
	assert_int_equal(account.ns[STATE_BLOCKED_SLEEP], 500);
	assert_int_equal(account.ns[STATE_RUNQ_WOKEN], 50);
	assert_int_equal(account.waker, 7);
	assert_int_equal(account.missed, 0);
}

/* Its wake-up comes while it is still on its CPU, and has decided to sleep. */
static void wake_up_may_come_before_the_switch(void **state)
{
	struct wait lock = {.state = STATE_BLOCKED_LOCK,
			    .object = 77,
			    .lock = LOCK_FUTEX,
			    .ends = ENDS_IN_TIME,
			    .is_woken = 1};

	(void)state;
	wait_for(STATE_BLOCKED_SLEEP, 0, 100, 1100);
	woken(0, WAKER_TIMER, 1600);
	get_cpu(100, 1650);
	woken(7, WAKER_THREAD, 1700);
	ledger_switch_out(&account, &lock, NULL, 160, 1710);
	get_cpu(160, 1800);
	assert_int_equal(account.over.block_state, STATE_BLOCKED_LOCK);
	assert_int_equal(account.over.block_ns, 1); /* it is a wait, for who counts them */
	assert_int_equal(account.ns[STATE_BLOCKED_LOCK], 0);
	assert_int_equal(account.ns[STATE_RUNQ_WOKEN], 50 + 90);
	assert_int_equal(account.waker, 7);
}

/* What woke it before, it was woken from: that ends no wait that begins later. */
static void wake_up_is_of_one_wait(void **state)
{
	struct wait lock = {.state = STATE_BLOCKED_LOCK, .ends = ENDS_IN_TIME, .is_woken = 1};

	(void)state;
	wait_for(STATE_BLOCKED_SLEEP, 0, 100, 1100);
	woken(0, WAKER_TIMER, 1600);
	get_cpu(100, 1650);
	ledger_switch_out(&account, &lock, NULL, 160, 1710); /* by what its lock says, woken */
	assert_int_equal(account.wake_ns, 0);
	get_cpu(160, 1800); /* its wake-up was missed */
	assert_int_equal(account.over.block_state, STATE_BLOCKED_LOCK);
	assert_int_equal(account.over.block_ns, 90);
	assert_int_equal(account.waker_kind, WAKER_NONE);
}

/* Where nothing ran when the thread came back, what it left behind is not the next wait's. */
static void stack_of_a_waker_is_of_its_wait(void **state)
{
	(void)state;
	wait_for(STATE_BLOCKED_SLEEP, 0, 100, 1100);
	account.waker_stack = 5;
	get_cpu(100, 1650);
	assert_int_equal(account.waker_stack, 5);
	wait_for(STATE_BLOCKED_SLEEP, 0, 200, 1750);
	assert_int_equal(account.waker_stack, 0);
}

static void preempted_thread_waits_for_a_cpu(void **state)
{
	(void)state;
	wait_for(STATE_RUNQ_PREEMPTED, 0, 100, 1100);
	woken(7, WAKER_THREAD, 1200); /* it was not asleep: no matter */
	get_cpu(100, 1400);
	assert_int_equal(account.ns[STATE_RUNQ_PREEMPTED], 300);
	assert_int_equal(account.ns[STATE_RUNQ_WOKEN], 0);
}

/* It slept until 1600, was switched in unseen at 1700, ran 300 and is seen leaving at 2000. */
static void missed_switch_in_is_found_by_run_time(void **state)
{
	(void)state;
	wait_for(STATE_BLOCKED_SLEEP, 0, 100, 1100);
	woken(7, WAKER_THREAD, 1600);
	wait_for(STATE_BLOCKED_PIPE, 0, 400, 2000);
	assert_int_equal(account.ns[STATE_BLOCKED_SLEEP], 500);
	assert_int_equal(account.ns[STATE_RUNQ_WOKEN], 100);
	assert_int_equal(account.ns[STATE_CPU], 400);
	assert_int_equal(account.ns[STATE_UNATTRIBUTED], 0);
	assert_int_equal(account.missed, 1);
}

/* For signals, a wait that ended unseen is the one that was, though the next has begun by then. */
static void wait_that_ended_unseen_is_told_late(void **state)
{
	struct wait lock = {
		.state = STATE_BLOCKED_LOCK, .object = 77, .holder = 5, .lock = LOCK_FUTEX};

	(void)state;
	ledger_switch_out(&account, &lock, NULL, 100, 1100);
	woken(7, WAKER_THREAD, 1600);
	wait_for(STATE_BLOCKED_PIPE, 88, 400, 2000);
	assert_int_equal(account.over.block_ns, 500);
	assert_int_equal(account.over.block_state, STATE_BLOCKED_LOCK);
	assert_int_equal(account.over.object, 77);
	assert_int_equal(account.over.holder, 5);
	assert_int_equal(account.over.lock, LOCK_FUTEX);
	assert_int_equal(account.over.queue_ns, 100);
	assert_int_equal(account.over.queue_state, STATE_RUNQ_WOKEN);
	assert_int_equal(account.over.back_ns, 1700);
	assert_int_equal(account.wait_object, 88);
	assert_int_equal(account.block_ns, 0); /* its stack is not that of the wait */

	/* The next one is seen to end, and is another. */
	get_cpu(400, 2300);
	assert_int_equal(account.over.block_ns, 300);
	assert_int_equal(account.over.object, 88);
	assert_int_equal(account.over.lock, 0);
	assert_int_equal(account.over.queue_ns, 0);
	assert_int_equal(account.over.back_ns, 2300);
}

/* Seen on its way to sleep when it was seeded, but it had a signal to see to, and went on. */
static void wait_that_never_was_is_not_told(void **state)
{
	(void)state;
	wait_for(STATE_BLOCKED_POLL, 0, 100, 1100);
	wait_for(STATE_RUNQ_PREEMPTED, 0, 600, 1600);
	assert_int_equal(account.over.block_ns, 0);
	assert_int_equal(account.over.queue_ns, 0);
	assert_int_equal(account.over.back_ns, 1100);
}

/* As many waits are over as began, of each state, whichever switches in are missed. */
static void each_wait_is_told_once(void **state)
{
	u64 began = 0, told = 0, told_ns = 0, now = 1000, exec = 0;

	(void)state;
	srand(1);
	for (int i = 0; i < 100000; i++) {
		now += 100;
		exec += 100; /* it ran all the time since it came */
		wait_for(STATE_BLOCKED_PIPE, (u64)rand() % 20, exec, now);
		told += began && account.over.back_ns == now - 100;
		began++;
		now += 50;
		woken(1, WAKER_THREAD, now);
		now += 10;
		if (rand() % 3)
			get_cpu(exec, now);
		told_ns += 60;
	}
	assert_int_equal(told, began - 1);
	wait_for(STATE_RUNQ_PREEMPTED, 0, exec + 100, now + 100);
	assert_int_equal(account.ns[STATE_BLOCKED_PIPE] + account.ns[STATE_RUNQ_WOKEN], told_ns);
}

/* It ran 300, left unseen at 1300, and is seen coming back at 2000. */
static void missed_switch_out_leaves_the_rest_unattributed(void **state)
{
	(void)state;
	get_cpu(300, 2000);
	assert_int_equal(account.ns[STATE_CPU], 300);
	assert_int_equal(account.ns[STATE_UNATTRIBUTED], 700);
	assert_int_equal(account.missed, 1);
	assert_int_equal(account.over.block_ns + account.over.queue_ns, 0);
}

static void clock_that_is_behind_moves_nothing(void **state)
{
	(void)state;
	wait_for(STATE_BLOCKED_SLEEP, 0, 0, 900);
	assert_int_equal(parts(account.ns), 0);
	assert_int_equal(account.last_ns, 1000);
	woken(7, WAKER_THREAD, 950);
	get_cpu(0, 1500);
	assert_int_equal(parts(account.ns), 500);
}

static void row_closes_the_open_interval_on_paper(void **state)
{
	(void)state;
	wait_for(STATE_BLOCKED_POLL, 0, 100, 1100);
	woken(7, WAKER_THREAD, 1300);
	assert_true(ledger_copy(&account, &row, 1500));
	assert_int_equal(row.ns[STATE_BLOCKED_POLL], 200);
	assert_int_equal(row.ns[STATE_RUNQ_WOKEN], 200);
	assert_int_equal(parts(row.ns), row.end_ns - row.begin_ns);
	assert_int_equal(account.ns[STATE_BLOCKED_POLL], 0); /* the account itself is untouched */
	assert_int_equal(row.kernel_delay_ns, 200);
}

/* One that runs when it is first seen is queued by its account, until its next switch. */
static void row_of_one_that_was_seen_first_while_it_ran_has_its_run(void **state)
{
	(void)state;
	memset(&account, 0, sizeof(account));
	account.exec_ns = 500;
	ledger_begin(&account, STATE_RUNQ_PREEMPTED, STATE_CPU, 1000);
	assert_true(ledger_copy(&account, &row, 2000));
	ledger_copy_run(&account, &row, 1400);
	assert_int_equal(row.ns[STATE_RUNQ_PREEMPTED], 100);
	assert_int_equal(row.ns[STATE_CPU], 900);
	assert_int_equal(row.kernel_delay_ns, 100);
	assert_int_equal(parts(row.ns), row.end_ns - row.begin_ns);
	/* Nor more than there is, nor where it has not run or is asleep. */
	assert_true(ledger_copy(&account, &row, 2000));
	ledger_copy_run(&account, &row, 9000);
	assert_int_equal(row.ns[STATE_RUNQ_PREEMPTED], 0);
	assert_int_equal(row.ns[STATE_CPU], 1000);
	assert_true(ledger_copy(&account, &row, 2000));
	ledger_copy_run(&account, &row, 400);
	assert_int_equal(row.ns[STATE_RUNQ_PREEMPTED], 1000);
	/* What its next switch makes of it is what was told. */
	wait_for(STATE_BLOCKED_POLL, 0, 1400, 2000);
	assert_int_equal(account.ns[STATE_RUNQ_PREEMPTED], 100);
	assert_int_equal(account.ns[STATE_CPU], 900);
	woken(7, WAKER_THREAD, 2100);
	assert_true(ledger_copy(&account, &row, 2300));
	ledger_copy_run(&account, &row, 1500);
	assert_int_equal(row.ns[STATE_RUNQ_WOKEN], 200);
}

/* The kernel counts it when it ends, which may be in a later file of the recording. */
static void row_has_what_has_passed_of_a_wait_for_a_cpu(void **state)
{
	(void)state;
	assert_true(ledger_copy(&account, &row, 1050));
	assert_int_equal(row.kernel_delay_ns, 0); /* it runs */
	wait_for(STATE_RUNQ_PREEMPTED, 0, 100, 1100);
	assert_true(ledger_copy(&account, &row, 1500));
	assert_int_equal(row.kernel_delay_ns, 400);
	get_cpu(100, 1600);
	assert_true(ledger_copy(&account, &row, 1700));
	assert_int_equal(row.kernel_delay_ns, 0); /* by now it is the kernel's to count */
}

static void row_that_is_being_written_is_refused(void **state)
{
	(void)state;
	ledger_open_write(&account);
	assert_false(ledger_copy(&account, &row, 1500));
	ledger_close_write(&account);
	assert_true(ledger_copy(&account, &row, 1500));
	ledger_open_waits(&account);
	assert_false(ledger_copy(&account, &row, 1500));
	ledger_close_waits(&account);
	assert_true(ledger_copy(&account, &row, 1500));
}

/* A million transitions in any order, also impossible ones: the parts are the wall. */
static void parts_are_the_wall_whatever_comes(void **state)
{
	struct ledger_stolen stolen = {0};
	struct call_cost cost;
	u64 now = 1000, exec = 0;

	(void)state;
	srand(1);
	for (int i = 0; i < 1000000; i++) {
		u32 chosen = STATE_RUNQ_WOKEN + (u32)rand() % (STATE_COUNT - STATE_RUNQ_WOKEN);

		now += (u64)rand() % 1000;
		exec += (u64)rand() % 300;
		stolen.irq_ns += (u64)rand() % 200;
		switch (rand() % 6) {
		case 0:
			wait_for(chosen, (u64)rand() % 20, exec, now);
			break;
		case 1:
			get_cpu(exec, now);
			break;
		case 2:
			split_call_begin(&account, 1, &stolen, now);
			break;
		case 3:
			split_call_end(&account, STATE_CPU_USER, &stolen, now, &cost);
			break;
		case 4:
			split_fault_begin(&account, &stolen, now);
			break;
		default:
			woken(1, WAKER_THREAD, now - (u64)rand() % 2000);
		}
		if (i % 1000)
			continue;
		assert_true(ledger_copy(&account, &row, now));
		assert_int_equal(parts(row.ns), row.end_ns - row.begin_ns);
		assert_causes_fit(&row);
	}
	assert_int_equal(account.faults_begun,
			 account.faults_ended + account.faults_failed + account.in_fault);
}

static void each_thing_waited_for_is_a_cause(void **state)
{
	const struct ledger_cause *cause;

	(void)state;
	wait_for(STATE_BLOCKED_PIPE, 77, 100, 1100);
	woken(7, WAKER_THREAD, 1300);
	get_cpu(100, 1350);
	cause = &account.causes[account.cause - 1];
	wait_for(STATE_BLOCKED_PIPE, 77, 100, 1400);
	woken(7, WAKER_THREAD, 1500);
	get_cpu(100, 1550);
	assert_int_equal(cause->object, 77);
	assert_int_equal(cause->count, 2);
	assert_int_equal(cause->ns, 300);
	assert_int_equal(cause->waker, 7);
	assert_int_equal(account.causes[CAUSES_QUEUE].ns, 100);
	assert_int_equal(account.causes[CAUSES_QUEUE].waker, 9); /* who ran instead */
	assert_causes_fit(&row);
}

/* More things than places: the rest are one class, and nothing is lost of the state. */
static void causes_without_a_place_are_one_class(void **state)
{
	u64 now = 1000, named = 0, exact = 0;

	(void)state;
	for (u64 object = 1; object <= 50; object++) {
		wait_for(STATE_BLOCKED_DISK, object, 0, now += 10);
		get_cpu(0, now += 10);
	}
	for (int i = 0; i < CAUSES_MAX; i++) {
		named += account.causes[i].ns;
		exact += account.causes[i].object != 0;
	}
	assert_true(exact >= 20);
	assert_int_equal(account.causes[CAUSES_CLASS].object, 0);
	assert_int_equal(account.causes[CAUSES_CLASS].count, 50 - exact);
	assert_int_equal(named, account.ns[STATE_BLOCKED_DISK]);
	assert_int_equal(account.unnamed, 0);
}

static void waker_of_most_of_the_time_wins(void **state)
{
	struct ledger_cause cause = {0};

	(void)state;
	ledger_vote(&cause, 1, WAKER_THREAD, 10);
	ledger_vote(&cause, 2, WAKER_THREAD, 100);
	ledger_vote(&cause, 1, WAKER_THREAD, 20);
	ledger_vote(&cause, 0, WAKER_TIMER, 30);
	assert_int_equal(cause.waker, 2);
}

static void call_is_split_from_the_threads_own_code(void **state)
{
	struct ledger_stolen stolen = {0};
	struct call_cost cost = {0};

	(void)state;
	account.flags = ACCOUNT_SPLIT;
	account.resume = account.state = STATE_CPU_USER;
	split_call_begin(&account, 5, &stolen, 1100);
	stolen.irq_ns = 10;
	wait_for(STATE_BLOCKED_PIPE, 1, 0, 1150);
	get_cpu(0, 1250);
	stolen.irq_taken_ns = stolen.irq_ns; /* as a switch-in does */
	stolen.irq_ns += 10;
	split_fault_begin(&account, &stolen, 1300);
	split_fault_end(&account, &stolen, 1310);
	assert_true(split_call_end(&account, STATE_CPU_USER, &stolen, 1320, &cost));
	assert_int_equal(cost.call, 5);
	assert_int_equal(cost.total_ns, 220);
	assert_int_equal(cost.cpu_ns, 50 + 40 + 10);
	assert_int_equal(account.ns[STATE_CPU_USER], 100);
	assert_int_equal(account.ns[STATE_CPU_FAULT], 10);
	assert_int_equal(account.ns[STATE_CPU_IRQ], 10);
	assert_int_equal(account.state, STATE_CPU_USER);
}

/* From 1150 to 1250 it waits for a CPU, while its program writes what was up to 1100. */
static void program_that_is_preempted_while_it_writes(void **state)
{
	const struct wait wait = {.state = STATE_RUNQ_PREEMPTED};

	(void)state;
	account.flags = ACCOUNT_SPLIT;
	account.resume = account.state = STATE_CPU_USER;
	ledger_open_write(&account);
	ledger_switch_out(&account, &wait, NULL, 0, 1150);
	ledger_switch_in(&account, 0, WAKER_RAN, 0, 1250);
	assert_int_equal(account.over.queue_ns, 100);
	ledger_charge_cpu(&account, account.state, NULL, 1100);
	ledger_enter(&account, STATE_CPU_SYSCALL);
	account.resume = STATE_CPU_SYSCALL;
	ledger_close_write(&account);
	assert_int_equal(account.seq & 1, 0);
	split_turn(&account, STATE_CPU_USER, NULL, 1300);
	assert_int_equal(account.ns[STATE_CPU_USER], 100);
	assert_int_equal(account.ns[STATE_RUNQ_PREEMPTED], 100);
	assert_int_equal(account.entries[STATE_RUNQ_PREEMPTED], 1);
	assert_int_equal(account.ns[STATE_CPU_SYSCALL], 100);
	assert_int_equal(account.last_ns, 1300);
}

static void fault_without_an_end_has_failed(void **state)
{
	(void)state;
	account.resume = account.state = STATE_CPU_USER;
	split_fault_begin(&account, NULL, 1100);
	split_signal(&account, NULL, 1200);
	split_fault_begin(&account, NULL, 1300);
	split_fault_begin(&account, NULL, 1400);
	split_fault_end(&account, NULL, 1500);
	split_fault_end(&account, NULL, 1600); /* one that began before we looked */
	assert_int_equal(account.faults_begun, 3);
	assert_int_equal(account.faults_ended, 1);
	assert_int_equal(account.faults_failed, 2);
	assert_int_equal(account.state, STATE_CPU_USER);
}

static void calls_without_a_place_are_added_up(void **state)
{
	static struct call_cost calls[CALLS_MAX], other;
	struct call_cost one = {.total_ns = 1};
	u64 sum = 0;

	(void)state;
	for (u32 call = 1; call <= 200; call++)
		split_add_cost(split_cost_of(calls, &other, call), &one);
	for (int i = 0; i < CALLS_MAX; i++)
		sum += calls[i].count;
	assert_int_equal(sum + other.count, 200);
	assert_int_equal(sum, CALLS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(wait_is_split_where_it_was_woken, start),
		cmocka_unit_test_setup(wake_up_may_come_before_the_switch, start),
		cmocka_unit_test_setup(wake_up_is_of_one_wait, start),
		cmocka_unit_test_setup(stack_of_a_waker_is_of_its_wait, start),
		cmocka_unit_test_setup(preempted_thread_waits_for_a_cpu, start),
		cmocka_unit_test_setup(missed_switch_in_is_found_by_run_time, start),
		cmocka_unit_test_setup(wait_that_ended_unseen_is_told_late, start),
		cmocka_unit_test_setup(wait_that_never_was_is_not_told, start),
		cmocka_unit_test_setup(each_wait_is_told_once, start),
		cmocka_unit_test_setup(missed_switch_out_leaves_the_rest_unattributed, start),
		cmocka_unit_test_setup(clock_that_is_behind_moves_nothing, start),
		cmocka_unit_test_setup(row_closes_the_open_interval_on_paper, start),
		cmocka_unit_test_setup(row_of_one_that_was_seen_first_while_it_ran_has_its_run,
				       start),
		cmocka_unit_test_setup(row_has_what_has_passed_of_a_wait_for_a_cpu, start),
		cmocka_unit_test_setup(row_that_is_being_written_is_refused, start),
		cmocka_unit_test_setup(each_thing_waited_for_is_a_cause, start),
		cmocka_unit_test_setup(causes_without_a_place_are_one_class, start),
		cmocka_unit_test(waker_of_most_of_the_time_wins),
		cmocka_unit_test_setup(call_is_split_from_the_threads_own_code, start),
		cmocka_unit_test_setup(program_that_is_preempted_while_it_writes, start),
		cmocka_unit_test_setup(fault_without_an_end_has_failed, start),
		cmocka_unit_test(calls_without_a_place_are_added_up),
		cmocka_unit_test_setup(parts_are_the_wall_whatever_comes, start),
	};

	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
