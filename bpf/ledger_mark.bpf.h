/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Marks of an account: what a thread did between two moments of its own, for any signal. In the
 * thread's own context, where no wait is open. Compiled for the host too, as ledger.bpf.h is.
 */
#ifndef DWELL_LEDGER_MARK_BPF_H
#define DWELL_LEDGER_MARK_BPF_H

/* Since the last transition: so long in one state, and the rest in another. */
struct account_open {
	u32 state, rest_state;
	u64 ns, rest_ns;
};

/* The thread runs. If the ledger has it blocked, the switch was missed: it was so until its
 * wake-up. */
static __always_inline void ledger_mark_open(const struct ledger_task *account, u64 now,
					     struct account_open *ret)
{
	u64 last = account->last_ns, woken = account->wake_ns;

	ret->state = account->state;
	ret->rest_state = STATE_UNATTRIBUTED;
	ret->ns = now > last ? now - last : 0;
	ret->rest_ns = 0;
	if (ledger_is_on_cpu(account))
		return;
	ret->rest_ns = ret->ns;
	ret->ns = 0;
	if (ledger_is_blocked(account->state) && woken > last && woken < now) {
		ret->ns = woken - last;
		ret->rest_ns = now - woken;
	}
}

/*
 * As ledger_mark_move(), where nothing was charged to the thread since: all of the time is of the
 * state it was and is in, and the rest of the mark is as it was. False: it may have been.
 */
static __always_inline bool ledger_mark_move_within(const struct ledger_task *account,
						    struct account_mark *mark, u64 now, u64 *sums)
{
	u32 state = account->state;
	u64 since_ns = mark->at_ns;

	if (!since_ns || mark->seq != account->seq || since_ns < account->last_ns ||
	    now < since_ns || state < STATE_CPU || state > STATE_CPU_SOFTIRQ)
		return false;
	if (sums)
		sums[state] += now - since_ns;
	mark->ns[state] += now - since_ns;
	mark->at_ns = now;
	return true;
}

/*
 * Moves a mark to now, and adds what the thread did since it was set to sums, if there are any. A
 * correction that the ledger made meanwhile can make a state smaller: it counts as 0.
 */
static __always_inline void ledger_mark_move(const struct ledger_task *account,
					     struct account_mark *mark, u64 now, u64 *sums)
{
	struct account_open open;

	ledger_mark_open(account, now, &open);
	for (u32 i = 0; i < STATE_COUNT; i++) {
		u64 ns = account->ns[i] + (i == open.state ? open.ns : 0) +
			 (i == open.rest_state ? open.rest_ns : 0);

		if (sums && ns > mark->ns[i])
			sums[i] += ns - mark->ns[i];
		mark->ns[i] = ns;
	}
	mark->poll_ns = account->poll_ns;
	mark->at_ns = now;
	mark->seq = account->seq;
}

#endif
