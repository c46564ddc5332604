// SPDX-License-Identifier: Apache-2.0
/* What a thread did while another one waited for it. The ledger's core, compiled for the host. */
#include "unit.h"

#include "bpf_native.h"

#include "../../bpf/ledger_chain.bpf.h"

#define MS 1000000ULL

static struct ledger_task culprit, waiter;
static struct ledger_chain chain;

static int start(void **state)
{
	(void)state;
	memset(&culprit, 0, sizeof(culprit));
	memset(&waiter, 0, sizeof(waiter));
	memset(&chain, 0, sizeof(chain));
	culprit.inner_tid = 7;
	ledger_begin(&culprit, STATE_CPU, STATE_CPU, 1 * MS);
	return 0;
}

/* The culprit is away from begin to back, the last `queued` of it for want of a CPU. */
static void go_away(u32 state, u64 object, u64 begin, u64 back, u64 queued)
{
	const struct wait wait = {.state = state, .object = object, .call = 75};
	const struct wake wake = {.kind = WAKER_THREAD, .waker = 9};

	ledger_switch_out(&culprit, &wait, NULL, 0, begin);
	ledger_wake(&culprit, &wake, back - queued);
	ledger_switch_in(&culprit, 3, WAKER_RAN, 0, back);
}

static u64 part_ns(u32 state, u64 object)
{
	u64 ns = 0;

	for (int i = 0; i < LEDGER_CHAIN_PARTS; i++)
		if (chain.parts[i].state == state && chain.parts[i].object == object)
			ns += chain.parts[i].ns;
	return ns;
}

static u64 sum_of_parts(const struct ledger_chain *of)
{
	u64 sum = 0;

	for (int i = 0; i < LEDGER_CHAIN_PARTS; i++)
		sum += of->parts[i].ns;
	return sum;
}

/* A wait from 12 to 30 ms: the rest of one absence, then it ran, waited for a CPU, and for a file.
 */
static void wait_is_laid_over_absences(void **state)
{
	(void)state;
	go_away(STATE_BLOCKED_NET, 11, 5 * MS, 14 * MS, 0);
	go_away(STATE_BLOCKED_DISK, 22, 16 * MS, 27 * MS, 3 * MS);
	ledger_explain(&chain, &culprit, 12 * MS, 30 * MS);
	assert_int_equal(chain.ns, 18 * MS);
	assert_int_equal(sum_of_parts(&chain), 18 * MS);
	assert_int_equal(part_ns(STATE_BLOCKED_NET, 11), 2 * MS);
	assert_int_equal(part_ns(STATE_BLOCKED_DISK, 22), 8 * MS);
	assert_int_equal(part_ns(STATE_RUNQ_WOKEN, 0), 3 * MS);
	assert_int_equal(part_ns(STATE_CPU, 0), 2 * MS + 3 * MS);
	assert_int_equal(part_ns(STATE_UNATTRIBUTED, 0), 0);
	assert_int_equal(chain.parts[CHAIN_FIRST].culprit, 9);
}

static void thread_that_was_never_away_ran(void **state)
{
	(void)state;
	ledger_explain(&chain, &culprit, 12 * MS, 30 * MS);
	assert_int_equal(part_ns(STATE_CPU, 0), 18 * MS);
	assert_int_equal(sum_of_parts(&chain), 18 * MS);
}

/* More absences than are kept: what was before them is not known, and is not called running. */
static void what_is_not_kept_is_not_known(void **state)
{
	(void)state;
	for (u64 i = 0; i < 2 * ABSENCES_MAX; i++)
		go_away(STATE_BLOCKED_PIPE, 33, (10 + 10 * i) * MS, (18 + 10 * i) * MS, 0);
	ledger_explain(&chain, &culprit, 10 * MS, 330 * MS);
	assert_int_equal(sum_of_parts(&chain), 320 * MS);
	assert_int_equal(part_ns(STATE_BLOCKED_PIPE, 33), ABSENCES_MAX * 8 * MS);
	assert_int_equal(part_ns(STATE_CPU, 0), ABSENCES_MAX * 2 * MS);
	assert_int_equal(part_ns(STATE_UNATTRIBUTED, 0), 160 * MS);
}

static void keep(u32 who, u64 ns)
{
	waiter.chain = (struct ledger_chain){.ns = ns, .culprit = who};
	waiter.chain.parts[CHAIN_CPU] = (struct ledger_chain_part){.ns = ns, .state = STATE_CPU};
	waiter.has_chain = 1;
	waiter.over.block_state = STATE_BLOCKED_LOCK;
	waiter.over.object = 44;
	ledger_keep_chain(&waiter);
}

static void chains_of_one_culprit_are_added_up(void **state)
{
	(void)state;
	for (u32 i = 0; i < 10; i++)
		keep(100, 5);
	assert_int_equal(waiter.chains[0].ns, 50);
	assert_int_equal(sum_of_parts(&waiter.chains[0]), 50);
	assert_int_equal(waiter.chains_ns, 50);
}

/* One with less gives way; the sum of all has it nevertheless. */
static void those_with_most_time_are_kept(void **state)
{
	bool is_kept = false;

	(void)state;
	for (u32 who = 1; who <= LEDGER_CHAINS; who++)
		keep(who, 10 * who);
	keep(50, 5);
	keep(60, 100);
	for (int i = 0; i < LEDGER_CHAINS; i++) {
		is_kept |= waiter.chains[i].culprit == 60;
		assert_true(waiter.chains[i].culprit != 50 && waiter.chains[i].culprit != 1);
		assert_int_equal(sum_of_parts(&waiter.chains[i]), waiter.chains[i].ns);
	}
	assert_true(is_kept);
	assert_int_equal(waiter.chains_ns, 10 + 20 + 30 + 40 + 5 + 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(wait_is_laid_over_absences, start),
		cmocka_unit_test_setup(thread_that_was_never_away_ran, start),
		cmocka_unit_test_setup(what_is_not_kept_is_not_known, start),
		cmocka_unit_test_setup(chains_of_one_culprit_are_added_up, start),
		cmocka_unit_test_setup(those_with_most_time_are_kept, start),
	};

	return cmocka_run_group_tests_name("chain", tests, NULL, NULL);
}
