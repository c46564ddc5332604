/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * A reader's side of the ledger's core: copies of an account that are whole, made while its thread
 * goes on. Compiled for the host too, as ledger.bpf.h is.
 */
#ifndef DWELL_LEDGER_COPY_BPF_H
#define DWELL_LEDGER_COPY_BPF_H

/* The open interval, on paper: where it would go if it ended now. */
static __always_inline void ledger_close_on_paper(struct rec_ledger *row, u32 state, u32 cause,
						  u64 last, u64 woken, u64 now)
{
	u64 until = ledger_is_blocked(state) && woken > last && woken < now ? woken : now;

	cause = state > STATE_CPU_SOFTIRQ ? ledger_place(state, cause) : 0;
	row->ns[ledger_slot(state)] += until - last;
	row->ns[STATE_RUNQ_WOKEN] += now - until;
	if (cause) {
		u64 place = cause - 1;

		ledger_bound(place, CAUSES_MAX - 1);
		row->causes[place].ns += until - last;
	}
	row->open_state = until < now ? (u32)STATE_RUNQ_WOKEN : state;
	row->open_cause = until < now ? 0 : cause;
}

#define LEDGER_CPU_ATTEMPTS 8

static __always_inline u32 ledger_read_seq(const u32 *seq)
{
	u32 now = *(volatile const u32 *)seq;

	ledger_barrier();
	return now;
}

/* Whether what was copied since seq was read is whole. */
static __always_inline bool ledger_is_whole(const u32 *seq, u32 before)
{
	ledger_barrier();
	return !(before & 1) && before == *(volatile const u32 *)seq;
}

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
	u32 state, cause;
	u64 woken, last;

	__builtin_memcpy(row->ns, account->ns, sizeof(row->ns));
	__builtin_memcpy(row->entries, account->entries, sizeof(row->entries));
	for (u32 i = 0; i < CAUSES_MAX; i++)
		row->causes[i] = account->causes[i];
	row->begin_ns = account->begin_ns;
	row->voluntary = account->voluntary;
	row->involuntary = account->involuntary;
	row->missed = account->missed;
	row->unnamed = account->unnamed;
	cause = account->cause;
	woken = account->wake_ns;
	if (!ledger_copy_cpu(account, row, &state, &last) ||
	    !ledger_is_whole(&account->waits_seq, waits_seq))
		return false;
	if (now < last)
		now = last;
	ledger_close_on_paper(row, state, cause, last, woken, now);
	row->end_ns = now;
	return true;
}

#endif
