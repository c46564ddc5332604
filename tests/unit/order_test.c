// SPDX-License-Identifier: Apache-2.0
/*
 * What one thread writes and another reads, by the sequence counters of the ledger's core and by
 * each of the four words of bpf/order.bpf.h. The two take turns, and whose turn it is says nothing
 * about memory (it is a relaxed word): so whatever ThreadSanitizer finds ordered is ordered by the
 * code under test. Built by itself with ThreadSanitizer by tests/unit/order.sh.
 */
#include "unit.h"

#include <pthread.h>
#include <sched.h>

#include "bpf_native.h"

#define ROUNDS 2000

enum turn { WRITER, READER };

static struct {
	u32 turn;
	struct ledger_task account;
	struct ledger_cpu_like {
		u32 seq;
		u64 ns;
	} cpu;
	struct unwind_mapping mapping;
	u64 payload;
	u64 torn, wrong;
} shared;

static void wait_for_turn(u32 turn)
{
	while (__atomic_load_n(&shared.turn, __ATOMIC_RELAXED) != turn)
		sched_yield();
}

static void end_turn(u32 next)
{
	__atomic_store_n(&shared.turn, next, __ATOMIC_RELAXED);
}

typedef void step(u64 round);

static void each_turn(u32 turn, step *run)
{
	for (u64 round = 1; round <= ROUNDS; round++) {
		wait_for_turn(turn);
		run(round);
		end_turn(!turn);
	}
}

static void *write_all(void *run)
{
	each_turn(WRITER, *(step **)run);
	return NULL;
}

static void run_both(step *writer, step *reader)
{
	pthread_t thread;

	memset(&shared, 0, sizeof(shared));
	assert_int_equal(pthread_create(&thread, NULL, write_all, &writer), 0);
	each_turn(READER, reader);
	pthread_join(thread, NULL);
	assert_int_equal(shared.torn, 0);
	assert_int_equal(shared.wrong, 0);
}

/* --- an account, by its own functions --- */

static void write_account(u64 round)
{
	struct wait wait = {.state = STATE_BLOCKED_SLEEP, .call = 1};
	u64 now = round * 1000;

	if (round == 1)
		ledger_begin(&shared.account, STATE_CPU, STATE_CPU, now);
	else if (round % 2)
		ledger_switch_in(&shared.account, 9, WAKER_RAN, now / 2, now);
	else
		ledger_switch_out(&shared.account, &wait, NULL, now / 2, now);
}

static void read_account(u64 round)
{
	struct rec_ledger row;
	u64 now = round * 1000 + 500, sum = 0;

	if (!ledger_load_acquire(&shared.account.begin_ns)) {
		shared.wrong++;
		return;
	}
	if (!ledger_copy(&shared.account, &row, now)) {
		shared.torn++;
		return;
	}
	for (u32 i = 0; i < STATE_LIMIT; i++)
		sum += row.ns[i];
	shared.wrong += sum != now - row.begin_ns;
}

static void account_is_read_as_it_was_written(void **state)
{
	(void)state;
	run_both(write_account, read_account);
}

/* --- a sequence counter by itself, as a CPU's account has it --- */

static void write_cpu(u64 round)
{
	ledger_seq_open(&shared.cpu.seq);
	shared.cpu.ns = round;
	ledger_seq_close(&shared.cpu.seq);
}

static void read_cpu(u64 round)
{
	u32 seq = ledger_read_seq(&shared.cpu.seq);
	u64 ns = shared.cpu.ns;

	shared.torn += !ledger_is_whole(&shared.cpu.seq, seq);
	shared.wrong += ns != round;
}

static void sequence_counter_orders_what_it_covers(void **state)
{
	(void)state;
	run_both(write_cpu, read_cpu);
}

/* --- a mapping, as user space writes it and the unwinder reads it --- */

static void write_mapping(u64 round)
{
	ledger_store_first(&shared.mapping.generation, 0);
	shared.mapping.bias = round;
	ledger_store_release(&shared.mapping.generation, (u32)round);
}

static void read_mapping(u64 round)
{
	u32 generation = ledger_load_acquire(&shared.mapping.generation);
	u64 bias = shared.mapping.bias;

	shared.torn += ledger_load_last(&shared.mapping.generation) != generation;
	shared.wrong += generation != (u32)round || bias != round;
}

static void generation_orders_its_mapping(void **state)
{
	(void)state;
	run_both(write_mapping, read_mapping);
}

/* --- and while both run: nothing torn is taken for whole --- */

#ifndef __SANITIZE_THREAD__ /* here they do race, on purpose: a copy is read, then judged */

#define RACES 200000

static void *write_without_turns(void *unused)
{
	(void)unused;
	for (u64 round = 1; round <= RACES; round++)
		write_account(round);
	end_turn(WRITER);
	return NULL;
}

static void racing_copies_are_whole_or_refused(void **state)
{
	struct rec_ledger row;
	pthread_t thread;
	u64 whole = 0;

	(void)state;
	memset(&shared, 0, sizeof(shared));
	shared.turn = READER;
	assert_int_equal(pthread_create(&thread, NULL, write_without_turns, NULL), 0);
	while (__atomic_load_n(&shared.turn, __ATOMIC_RELAXED) == READER) {
		u64 now = 1000000000000, sum = 0;

		if (!ledger_load_acquire(&shared.account.begin_ns) ||
		    !ledger_copy(&shared.account, &row, now))
			continue;
		whole++;
		for (u32 i = 0; i < STATE_LIMIT; i++)
			sum += row.ns[i];
		shared.wrong += sum != now - row.begin_ns;
	}
	pthread_join(thread, NULL);
	assert_int_equal(shared.wrong, 0);
	(void)whole; /* on one CPU there may be few */
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(account_is_read_as_it_was_written),
		cmocka_unit_test(sequence_counter_orders_what_it_covers),
		cmocka_unit_test(generation_orders_its_mapping),
#ifndef __SANITIZE_THREAD__
		cmocka_unit_test(racing_copies_are_whole_or_refused),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
