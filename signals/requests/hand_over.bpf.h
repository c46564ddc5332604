/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Requests that one thread reads and another one of its process answers. A thread that wakes
 * another one may hand over what it works for: that one is lent the request. If it then answers
 * this very request, what it did since its wake-up was for it. So was what a thread did since its
 * last answer, if it has not waited for anybody since: it took the next request from a queue.
 */
#ifndef DWELL_REQUESTS_HAND_OVER_BPF_H
#define DWELL_REQUESTS_HAND_OVER_BPF_H

#include "witness.bpf.h"
#include "context.bpf.h"

/* What a thread that is asleep has done until now, but for this sleep. */
static __always_inline void mark_sleeper(struct ledger_task *sleeper, u64 now)
{
	struct request_watch *watch = &sleeper->request;
	u32 seq = ledger_load_acquire(&sleeper->seq);
	u64 woken_ns;

	watch->lent_ns = 0;
	if ((seq & 1) || !ledger_is_blocked(sleeper->state) || now < sleeper->last_ns)
		return;
	for (u32 i = 0; i < STATE_COUNT; i++)
		watch->mark.ns[i] = sleeper->ns[i];
	watch->mark.poll_ns = sleeper->poll_ns;
	watch->mark.at_ns = 0;
	/* If the ledger has been told of the wake-up already, it takes that for the end. */
	woken_ns = sleeper->wake_ns > sleeper->last_ns ? sleeper->wake_ns : now;
	watch->lent_wait_ns = woken_ns - sleeper->last_ns;
	if (ledger_load_acquire(&sleeper->seq) == seq)
		watch->lent_ns = watch->mark_ns = now;
}

/* Does it work for something that it read itself? */
static __always_inline bool has_own_turn(const struct ledger_task *account)
{
	const struct request_watch *watch = &account->request;

	return !watch->is_answered && unanswered_turn(watch->sock, watch->turn);
}

static __noinline int lend(struct ledger_task *account, struct ledger_task *woken, u64 now)
{
	struct turn_sock *entry, *served;
	u64 address = 0, served_at = 0;

	if (!account || !woken)
		return 0;
	entry = owner_of(account, &address);
	served = owner_of(woken, &served_at);
	/* Who works for a request that it read itself may wake anybody: a lock is let go. */
	if (served && has_reply(account) && !has_own_turn(account))
		witness_wake(account, served);
	if (!entry || served || has_own_turn(woken))
		return 0; /* it has something to do */
	woken->request.lent_sock = address;
	woken->request.lent_turn = entry->turn;
	woken->request.lent_ns = 0;
	if (entry->tid != account->tid || !entry->is_measured || woken->request.measured)
		return 0;
	charge(account, entry, now); /* until here it was its own work */
	mark_sleeper(woken, now);
	return 0;
}

/* In the thread's own context, by the state of this CPU. */
static __always_inline bool is_by_thread(void)
{
	struct ledger_cpu *cpu = this_cpu_account();

	return cpu && !cpu->irq && !cpu->softirq;
}

static __always_inline bool has_to_lend(const struct ledger_task *account)
{
	const struct request_watch *watch = &account->request;

	return (watch->sock && !watch->is_answered) || watch->lent_sock || has_reply(account);
}

/* --- it is answered by another thread than the one that read it --- */

/* Time in which a thread waited to be told something by another one, or slept. */
static __always_inline u64 waits_in(const u64 *ns)
{
	return ns[STATE_BLOCKED_SIGNALLED] + ns[STATE_BLOCKED_IDLE] + ns[STATE_BLOCKED_POLL] +
	       ns[STATE_BLOCKED_OTHER] + ns[STATE_BLOCKED_IPC] + ns[STATE_BLOCKED_PIPE] +
	       ns[STATE_BLOCKED_SLEEP];
}

/* The wait that the wake-up ended is before the mark, and in the sums all the same. */
static __always_inline bool take_out_wait(struct turn_sock *entry, u64 ns)
{
	if (entry->own[STATE_BLOCKED_SIGNALLED] >= ns)
		entry->own[STATE_BLOCKED_SIGNALLED] -= ns;
	else if (entry->own[STATE_BLOCKED_LOCK] >= ns)
		entry->own[STATE_BLOCKED_LOCK] -= ns;
	else
		return false;
	return true;
}

/* It works for nothing that is known from here on. is_moved: its mark is of now already. */
static __always_inline void mark_anew(struct ledger_task *account, u64 now, bool is_moved)
{
	struct request_watch *watch = &account->request;

	if (!watch->measured && !is_moved)
		ledger_mark_move(account, &watch->mark, now, NULL);
	watch->mark_ns = now;
	watch->lent_ns = watch->lent_wait_ns = 0;
}

/* What it has sent is of a turn that is over, and has had its record. */
static __noinline int pass_late(struct ledger_task *account, u64 now)
{
	if (!account)
		return 0;
	forget_reply(account);
	note_send(account);
	mark_anew(account, now, false);
	account->request.lent_sock = 0;
	return 0;
}

/* What the thread did for it is known, or the turn's time stays a remainder. */
__noinline int answer_for_reader(u64 address, u64 turn, u64 now)
{
	struct ledger_task *account = account_of_current();
	struct turn_sock *entry = known_sock(address);
	struct request_watch *watch;
	bool is_lent, is_followed = false;
	u64 waits;

	if (!entry || !account)
		return 0;
	watch = &account->request;
	if (!is_turn(entry, turn)) { /* the one that read it has read another one meanwhile */
		mark_anew(account, now, false);
		return 0;
	}
	is_lent = watch->lent_sock == address && watch->lent_turn == turn;
	if (!entry->pool_tid) {
		/* The one that read it has polled for others since. */
		entry->own[STATE_BLOCKED_POLL] = entry->own[STATE_BLOCKED_IDLE] = 0;
		entry->poll_own = entry->poll_ns = 0;
	}
	waits = waits_in(entry->own);
	if (watch->measured || (entry->pool_tid && entry->pool_tid != account->tid)) {
		entry->is_lost = 1;
	} else if (is_lent && watch->lent_ns >= entry->begin_ns) {
		ledger_mark_move(account, &watch->mark, now, entry->own);
		is_followed = take_out_wait(entry, watch->lent_wait_ns);
	} else if (watch->mark_ns >= entry->begin_ns) {
		ledger_mark_move(account, &watch->mark, now, entry->own);
		is_followed = waits_in(entry->own) == waits;
	}
	mark_anew(account, now, is_followed);
	if (!is_turn(entry, turn)) { /* and what was added is in that one's account */
		entry->is_lost = 1;
		return 0;
	}
	entry->pool_tid = account->tid;
	entry->is_lost |= !is_followed;
	entry->flags |= REQUEST_IS_HANDED_OVER | REQUEST_IS_FOLLOWED;
	if (entry->is_lost)
		entry->flags &= ~(u32)REQUEST_IS_FOLLOWED;
	return 0;
}

#endif
