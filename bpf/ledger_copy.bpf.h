/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * A reader's side of the ledger's core: copies of an account that are whole, made while its thread
 * goes on. Compiled for the host too, as ledger.bpf.h is.
 */
#ifndef DWELL_LEDGER_COPY_BPF_H
#define DWELL_LEDGER_COPY_BPF_H

/* What the wait under way is for, as far as is known: it may be renamed when it ends. */
static __always_inline void ledger_copy_open(const struct ledger_task *account,
					     struct rec_ledger *row, u32 state, u64 last)
{
	row->open = (struct ledger_cause){.count = 1,
					  .object = account->wait_object,
					  .holder = account->wait_holder,
					  .call = (u16)account->wait_call,
					  .state = (u8)state};
	row->open_since_ns = last;
}

/* Of those that are no wait for something: it waits for a CPU. */
static __always_inline bool ledger_is_queued(u32 state)
{
	return state > STATE_CPU_SOFTIRQ && !ledger_is_blocked(state);
}

/*
 * The open interval, on paper: where it would go if it ended now. How much of it is a wait for a
 * CPU is in kernel_delay_ns, to which the caller adds what the kernel has counted.
 */
static __always_inline void ledger_close_on_paper(struct rec_ledger *row, u32 state, u64 last,
						  u64 woken, u64 now)
{
	bool is_blocked = ledger_is_blocked(state);
	u64 until = is_blocked && woken > last && woken < now ? woken : now;

	row->ns[ledger_slot(state)] += until - last;
	row->ns[STATE_RUNQ_WOKEN] += now - until;
	row->kernel_delay_ns = ledger_is_queued(state) ? now - last : now - until;
	row->open_state = until < now ? (u32)STATE_RUNQ_WOKEN : state;
	if (is_blocked) {
		row->entries[ledger_slot(state)]++;
		row->open.ns = until - last;
	} else if (ledger_is_queued(state)) {
		u64 place = CAUSES_QUEUE + state - STATE_RUNQ_WOKEN;

		ledger_bound(place, CAUSES_MAX - 1);
		row->causes[place].ns += now - last;
	}
}

#define LEDGER_CPU_ATTEMPTS 8

/* What changes without a switch, with each system call: so little that it can be caught. */
static __always_inline bool ledger_copy_cpu(const struct ledger_task *account,
					    struct rec_ledger *row, u32 *ret_state, u64 *ret_last)
{
	for (u32 attempt = 0; attempt < LEDGER_CPU_ATTEMPTS; attempt++) {
		u32 seq = ledger_read_seq(&account->seq);

		for (u32 i = 0; i <= STATE_CPU_SOFTIRQ; i++)
			row->ns[i] = account->ns[i];
		*ret_state = account->state;
		*ret_last = account->last_ns;
		if (ledger_is_whole(&account->seq, seq))
			return true;
	}
	return false;
}

/* A copy whose open interval is closed on paper. True if it is whole. */
static __always_inline bool ledger_copy(const struct ledger_task *account, struct rec_ledger *row,
					u64 now)
{
	u32 waits_seq = ledger_read_seq(&account->waits_seq);
	u64 woken, last;
	u32 state;

	__builtin_memcpy(row->ns, account->ns, sizeof(row->ns));
	__builtin_memcpy(row->entries, account->entries, sizeof(row->entries));
	for (u32 i = 0; i < CAUSES_MAX; i++)
		row->causes[i] = account->causes[i];
	row->begin_ns = account->begin_ns;
	row->voluntary = account->voluntary;
	row->involuntary = account->involuntary;
	row->missed = account->missed;
	row->unnamed = account->unnamed;
	row->settled = account->settled;
	row->settled_since_ns = account->settled_since_ns;
	row->rivals_ns = account->rivals_ns;
	for (u32 i = 0; i < RIVALS_MAX; i++)
		row->rivals[i] = account->rivals[i];
	row->turns = account->turns;
	row->chains_ns = account->chains_ns;
	for (u32 i = 0; i < LEDGER_CHAINS; i++)
		row->chains[i] = account->chains[i];
	row->open = (struct ledger_cause){};
	row->open_since_ns = row->kernel_delay_ns = 0;
	woken = account->wake_ns;
	if (!ledger_copy_cpu(account, row, &state, &last))
		return false;
	if (ledger_is_blocked(state))
		ledger_copy_open(account, row, state, last);
	if (!ledger_is_whole(&account->waits_seq, waits_seq))
		return false;
	if (now < last)
		now = last;
	ledger_close_on_paper(row, state, last, woken, now);
	row->end_ns = now;
	return true;
}

/*
 * By its account it waits for a CPU, and has run since: it ran when it was first seen, or nobody
 * saw it get one. What it ran, it ran last, as its next switch will find (ledger_end_wait_late()).
 * exec_ns is the kernel's count of its run time.
 */
static __always_inline void ledger_copy_run(const struct ledger_task *account,
					    struct rec_ledger *row, u64 exec_ns)
{
	u64 place = CAUSES_QUEUE + row->open_state - STATE_RUNQ_WOKEN;
	u64 ran = exec_ns - account->exec_ns;

	/* After a block, the wait for a CPU is not the account's yet. */
	if (exec_ns <= account->exec_ns || row->open_since_ns || !ledger_is_queued(row->open_state))
		return;
	if (ran > row->kernel_delay_ns)
		ran = row->kernel_delay_ns;
	ledger_bound(place, CAUSES_MAX - 1);
	row->causes[place].ns -= ran;
	row->ns[ledger_slot(row->open_state)] -= ran;
	row->ns[ledger_slot(account->resume)] += ran;
	row->kernel_delay_ns -= ran;
}

#endif
