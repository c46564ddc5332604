// SPDX-License-Identifier: Apache-2.0
/*
 * Marks of an account: what a thread did between two of them sums to the time between, whatever
 * the ledger knows at that moment.
 */
#include "unit.h"

#include "bpf_native.h"

static struct ledger_task account;
static struct account_mark mark;
static u64 sums[STATE_COUNT];

static int start(void **state)
{
	(void)state;
	memset(&account, 0, sizeof(account));
	memset(&mark, 0, sizeof(mark));
	memset(sums, 0, sizeof(sums));
	ledger_begin(&account, STATE_CPU, STATE_CPU, 1000);
	return 0;
}

static u64 total(void)
{
	u64 sum = 0;

	for (int i = 0; i < STATE_COUNT; i++)
		sum += sums[i];
	return sum;
}

static void wait_for(u32 state, u32 ends, u64 now)
{
	const struct wait wait = {.state = state, .ends = ends, .call = 1};

	ledger_switch_out(&account, &wait, NULL, 0, now);
}

static void come_back(u64 woken_ns, u64 now)
{
	const struct wake wake = {.waker = 7, .kind = WAKER_THREAD};

	ledger_wake(&account, &wake, woken_ns);
	ledger_switch_in(&account, 9, WAKER_RAN, 0, now);
}

static void mark_sums_to_the_time_between(void **state)
{
	(void)state;
	ledger_mark_move(&account, &mark, 1200, NULL);
	wait_for(STATE_BLOCKED_DISK, ENDS_AS_BEGUN, 1500);
	come_back(4000, 4700);
	ledger_mark_move(&account, &mark, 5000, sums);
	assert_int_equal(total(), 5000 - 1200);
	assert_int_equal(sums[STATE_CPU], 300 + 300);
	assert_int_equal(sums[STATE_BLOCKED_DISK], 2500);
	assert_int_equal(sums[STATE_RUNQ_WOKEN], 700);
}

static void mark_without_sums_only_moves(void **state)
{
	(void)state;
	ledger_mark_move(&account, &mark, 2000, NULL);
	assert_int_equal(total(), 0);
	ledger_mark_move(&account, &mark, 2000, sums);
	assert_int_equal(total(), 0);
}

/* Two marks in a row share no time, and leave none out. */
static void marks_in_a_row_sum_up(void **state)
{
	(void)state;
	ledger_mark_move(&account, &mark, 1100, NULL);
	for (u64 now = 1200; now <= 2000; now += 100)
		ledger_mark_move(&account, &mark, now, sums);
	assert_int_equal(total(), 900);
	assert_int_equal(sums[STATE_CPU], 900);
}

/* The switch back was missed: it waited until it was woken; what came then is not known. */
static void missed_switch_is_a_wait_until_its_wake_up(void **state)
{
	const struct wake wake = {.waker = 7, .kind = WAKER_THREAD};

	(void)state;
	ledger_mark_move(&account, &mark, 1000, NULL);
	wait_for(STATE_BLOCKED_SLEEP, ENDS_AS_BEGUN, 1500);
	ledger_wake(&account, &wake, 9500);
	ledger_mark_move(&account, &mark, 9600, sums);
	assert_int_equal(total(), 8600);
	assert_int_equal(sums[STATE_BLOCKED_SLEEP], 8000);
	assert_int_equal(sums[STATE_UNATTRIBUTED], 100);
}

/* Time in polls is known beside the states by which polls end. */
static void polls_are_counted_apart(void **state)
{
	(void)state;
	ledger_mark_move(&account, &mark, 1000, NULL);
	wait_for(STATE_BLOCKED_POLL, ENDS_BY_POLL, 2000);
	come_back(5000, 5100);
	wait_for(STATE_BLOCKED_DISK, ENDS_AS_BEGUN, 6000);
	come_back(7000, 7100);
	assert_int_equal(account.poll_ns, 3000);
	assert_int_equal(account.poll_ns - mark.poll_ns, 3000);
	ledger_mark_move(&account, &mark, 8000, sums);
	assert_int_equal(mark.poll_ns, account.poll_ns);
	assert_int_equal(total(), 7000);
}

static void assert_same_mark(const struct account_mark *a, const struct account_mark *b)
{
	assert_memory_equal(a->ns, b->ns, sizeof(a->ns));
	assert_int_equal(a->poll_ns, b->poll_ns);
	assert_int_equal(a->at_ns, b->at_ns);
	assert_int_equal(a->seq, b->seq);
}

/* The short way leaves the same mark, and the same sums, as the long one. */
static void mark_within_a_run_is_moved_as_any(void **state)
{
	struct account_mark other;
	u64 others[STATE_COUNT] = {};

	(void)state;
	ledger_mark_move(&account, &mark, 1200, NULL);
	other = mark;
	for (u64 now = 1200; now <= 2000; now += 400) {
		assert_true(ledger_mark_move_within(&account, &mark, now, sums));
		ledger_mark_move(&account, &other, now, others);
	}
	assert_int_equal(total(), 800);
	assert_memory_equal(sums, others, sizeof(sums));
	assert_same_mark(&mark, &other);
	assert_true(ledger_mark_move_within(&account, &mark, 2100, NULL));
	assert_int_equal(total(), 800);
	/* And the long way goes on from there. */
	wait_for(STATE_BLOCKED_DISK, ENDS_AS_BEGUN, 2500);
	come_back(4000, 4700);
	ledger_mark_move(&account, &mark, 5000, sums);
	assert_int_equal(total(), 800 + 2900);
}

static void mark_that_may_be_older_is_not_moved_so(void **state)
{
	(void)state;
	assert_false(ledger_mark_move_within(&account, &mark, 1100, sums)); /* it was never set */
	ledger_mark_move(&account, &mark, 1200, NULL);
	assert_false(ledger_mark_move_within(&account, &mark, 1199, sums)); /* another clock's */
	wait_for(STATE_BLOCKED_DISK, ENDS_AS_BEGUN, 1500);
	assert_false(ledger_mark_move_within(&account, &mark, 1600,
					     sums)); /* its switch back was missed */
	ledger_mark_move(&account, &mark, 1600, NULL);
	assert_false(ledger_mark_move_within(&account, &mark, 1700, sums));
	come_back(1800, 1900);
	assert_false(ledger_mark_move_within(&account, &mark, 2000, sums));
	assert_int_equal(total(), 0);
	ledger_mark_move(&account, &mark, 2000, NULL);
	assert_true(ledger_mark_move_within(&account, &mark, 2100, sums));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(mark_sums_to_the_time_between, start),
		cmocka_unit_test_setup(mark_without_sums_only_moves, start),
		cmocka_unit_test_setup(marks_in_a_row_sum_up, start),
		cmocka_unit_test_setup(missed_switch_is_a_wait_until_its_wake_up, start),
		cmocka_unit_test_setup(polls_are_counted_apart, start),
		cmocka_unit_test_setup(mark_within_a_run_is_moved_as_any, start),
		cmocka_unit_test_setup(mark_that_may_be_older_is_not_moved_so, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
