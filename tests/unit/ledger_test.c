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
	ledger_begin(&account, STATE_CPU, 1000);
	return 0;
}

static u64 parts(const u64 *ns)
{
	u64 sum = 0;

	for (int i = 0; i < STATE_LIMIT; i++)
		sum += ns[i];
	return sum;
}

static void wait_is_split_where_it_was_woken(void **state)
{
	(void)state;
	ledger_switch_out(&account, STATE_BLOCKED_SLEEP, 100, 1100);
	ledger_wake(&account, 7, 1600);
	ledger_wake(&account, 8, 1700); /* the first one counts */
	ledger_switch_in(&account, STATE_CPU, 100, 1650);
	assert_int_equal(account.ns[STATE_CPU], 100);
	assert_int_equal(account.ns[STATE_BLOCKED_SLEEP], 500);
	assert_int_equal(account.ns[STATE_RUNQ_WOKEN], 50);
	assert_int_equal(account.waker_tid, 7);
	assert_int_equal(account.missed, 0);
}

static void preempted_thread_waits_for_a_cpu(void **state)
{
	(void)state;
	ledger_switch_out(&account, STATE_RUNQ_PREEMPTED, 100, 1100);
	ledger_wake(&account, 7, 1200); /* it was not asleep: no matter */
	ledger_switch_in(&account, STATE_CPU, 100, 1400);
	assert_int_equal(account.ns[STATE_RUNQ_PREEMPTED], 300);
	assert_int_equal(account.ns[STATE_RUNQ_WOKEN], 0);
}

/* It slept until 1600, was switched in unseen at 1700, ran 300 and is seen leaving at 2000. */
static void missed_switch_in_is_found_by_run_time(void **state)
{
	(void)state;
	ledger_switch_out(&account, STATE_BLOCKED_SLEEP, 100, 1100);
	ledger_wake(&account, 7, 1600);
	ledger_switch_out(&account, STATE_BLOCKED_PIPE, 400, 2000);
	assert_int_equal(account.ns[STATE_BLOCKED_SLEEP], 500);
	assert_int_equal(account.ns[STATE_RUNQ_WOKEN], 100);
	assert_int_equal(account.ns[STATE_CPU], 400);
	assert_int_equal(account.ns[STATE_UNATTRIBUTED], 0);
	assert_int_equal(account.missed, 1);
}

/* It ran 300, left unseen at 1300, and is seen coming back at 2000. */
static void missed_switch_out_leaves_the_rest_unattributed(void **state)
{
	(void)state;
	ledger_switch_in(&account, STATE_CPU, 300, 2000);
	assert_int_equal(account.ns[STATE_CPU], 300);
	assert_int_equal(account.ns[STATE_UNATTRIBUTED], 700);
	assert_int_equal(account.missed, 1);
}

static void clock_that_is_behind_moves_nothing(void **state)
{
	(void)state;
	ledger_switch_out(&account, STATE_BLOCKED_SLEEP, 0, 900);
	assert_int_equal(parts(account.ns), 0);
	assert_int_equal(account.last_ns, 1000);
	ledger_wake(&account, 7, 950);
	ledger_switch_in(&account, STATE_CPU, 0, 1500);
	assert_int_equal(parts(account.ns), 500);
}

static void row_closes_the_open_interval_on_paper(void **state)
{
	(void)state;
	ledger_switch_out(&account, STATE_BLOCKED_POLL, 100, 1100);
	ledger_wake(&account, 7, 1300);
	assert_true(ledger_copy(&account, &row, 1500));
	assert_int_equal(row.ns[STATE_BLOCKED_POLL], 200);
	assert_int_equal(row.ns[STATE_RUNQ_WOKEN], 200);
	assert_int_equal(parts(row.ns), row.end_ns - row.begin_ns);
	assert_int_equal(account.ns[STATE_BLOCKED_POLL], 0); /* the account itself is untouched */
}

static void row_that_is_being_written_is_refused(void **state)
{
	(void)state;
	ledger_open_write(&account);
	assert_false(ledger_copy(&account, &row, 1500));
	ledger_close_write(&account);
	assert_true(ledger_copy(&account, &row, 1500));
}

/* A million transitions in any order, also impossible ones: the parts are the wall. */
static void parts_are_the_wall_whatever_comes(void **state)
{
	u64 now = 1000, exec = 0;

	(void)state;
	srand(1);
	for (int i = 0; i < 1000000; i++) {
		u32 chosen = (u32)rand() % STATE_COUNT;

		now += (u64)rand() % 1000;
		exec += (u64)rand() % 300;
		switch (rand() % 3) {
		case 0:
			ledger_switch_out(&account, chosen, exec, now);
			break;
		case 1:
			ledger_switch_in(&account, STATE_CPU, exec, now);
			break;
		default:
			ledger_wake(&account, 1, now - (u64)rand() % 2000);
		}
		if (i % 1000)
			continue;
		assert_true(ledger_copy(&account, &row, now));
		assert_int_equal(parts(row.ns), row.end_ns - row.begin_ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(wait_is_split_where_it_was_woken, start),
		cmocka_unit_test_setup(preempted_thread_waits_for_a_cpu, start),
		cmocka_unit_test_setup(missed_switch_in_is_found_by_run_time, start),
		cmocka_unit_test_setup(missed_switch_out_leaves_the_rest_unattributed, start),
		cmocka_unit_test_setup(clock_that_is_behind_moves_nothing, start),
		cmocka_unit_test_setup(row_closes_the_open_interval_on_paper, start),
		cmocka_unit_test_setup(row_that_is_being_written_is_refused, start),
		cmocka_unit_test_setup(parts_are_the_wall_whatever_comes, start),
	};

	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
