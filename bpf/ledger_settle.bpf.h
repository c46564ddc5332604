/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What a wait was for, by how it ended: the call that began it (poll, futex) serves every purpose.
 * Compiled for the host too, as ledger.bpf.h is.
 */
#ifndef DWELL_LEDGER_SETTLE_BPF_H
#define DWELL_LEDGER_SETTLE_BPF_H

#include "ledger_cause.bpf.h"

#define HELD_LEAST_NS 20000  /* to submit a request takes time, too */
#define RETRY_GAP_NS  200000 /* who waits again after so short a time has not got what it wanted */

static __always_inline u32 ledger_state_by_end(const struct ledger_task *account)
{
	u32 ends = account->wait_ends;

	if (ends == ENDS_AS_BEGUN) /* but for memory that comes back from a swap device */
		return account->state == STATE_BLOCKED_PAGEIN &&
				       account->wake_state == STATE_BLOCKED_MEMORY
			       ? (u32)STATE_BLOCKED_MEMORY
			       : account->state;
	if (account->waker_kind == WAKER_TIMER)
		return STATE_BLOCKED_SLEEP; /* it had asked for no more */
	if (ends == ENDS_IN_TIME)
		return account->state;
	if (account->wake_state)
		return account->wake_state;
	if (account->waker_kind == WAKER_NETWORK && account->wait_net_state)
		return account->wait_net_state;
	return STATE_BLOCKED_OTHER;
}

/* One part of a wait, by its name. One of them is counted as the wait. */
static __always_inline void ledger_settle_part(struct ledger_task *account,
					       const struct cause_name *name, u64 ns,
					       bool is_counted)
{
	struct ledger_cause *cause = ledger_cause_of(account, name);

	account->ns[ledger_slot(name->state)] += ns;
	if (is_counted || name->state == STATE_BLOCKED_DISK_HELD)
		account->entries[ledger_slot(name->state)]++;
	if (!cause)
		return;
	cause->ns += ns;
	cause->count += is_counted || name->state == STATE_BLOCKED_DISK_HELD;
	if (account->wait_is_held_back)
		ledger_vote(cause, 0, WAKER_NAGLE, ns);
	else
		ledger_vote(cause, account->waker, account->waker_kind, ns);
}

static __always_inline bool ledger_is_lock_state(u32 state)
{
	return state == STATE_BLOCKED_LOCK || state == STATE_BLOCKED_KERNEL_LOCK;
}

/* A thread holds no lock against itself. */
static __always_inline u32 ledger_other_thread(const struct ledger_task *account, u32 inner_tid)
{
	return inner_tid == account->inner_tid ? 0 : inner_tid;
}

/*
 * Who held the lock when the wait ended: its waker, if it had it from the beginning of the wait on,
 * or it is known since when it had it.
 */
static __always_inline u32 ledger_last_holder(const struct ledger_task *account)
{
	u32 first = ledger_other_thread(account, account->wait_holder);
	u32 last = ledger_other_thread(account, account->wake_holder);

	if (!last || (first && first != last && !account->wake_since_ns))
		return first;
	return last;
}

/*
 * The first part of a wait that has another name than its end: a disk's request did not exist yet;
 * a lock was held by the one that had it when the wait began. Returns its length.
 */
static __always_inline u64 ledger_first_part(const struct ledger_task *account,
					     const struct cause_name *name, u64 passed,
					     struct cause_name *ret_first)
{
	u64 since = account->wake_since_ns, length = since - account->last_ns;
	u64 least = 1;

	if (since <= account->last_ns || length > passed)
		return 0;
	*ret_first = *name;
	if (ledger_is_lock_state(name->state)) {
		ret_first->holder = ledger_other_thread(account, account->wait_holder);
	} else if (name->state == STATE_BLOCKED_DISK || name->state == STATE_BLOCKED_PAGEIN) {
		ret_first->state = STATE_BLOCKED_DISK_HELD;
		least = HELD_LEAST_NS;
	} else {
		return 0;
	}
	return length >= least ? length : 0;
}

/* What was told as sleep stays that: a window before this one cannot be corrected. */
static __always_inline u64 ledger_untold_sleep(const struct ledger_task *account)
{
	u64 slept = account->ns[STATE_BLOCKED_SLEEP];
	u64 told = account->told.ns[STATE_BLOCKED_SLEEP];

	return slept > told ? slept - told : 0;
}

/*
 * A wait for a futex that times out, and another one right after it: whoever gets it then has
 * waited for it all the time. Returns how much of its sleep was such, and takes it from there.
 */
static __always_inline u64 ledger_take_retries(struct ledger_task *account, u32 state, u64 passed)
{
	u64 begin = account->last_ns, untold = ledger_untold_sleep(account), retries = 0;
	struct ledger_cause *slept;

	if (account->wait_ends != ENDS_BY_FUTEX && account->wait_lock != LOCK_FUTEX)
		return 0;
	if (account->retry_object == account->wait_object &&
	    begin - account->retry_end_ns < RETRY_GAP_NS)
		retries = account->retry_ns;
	account->retry_object = account->wait_object;
	account->retry_end_ns = account->over.back_ns;
	account->retry_ns = state == STATE_BLOCKED_SLEEP ? retries + passed : 0;
	if (!retries || (state != STATE_BLOCKED_SIGNALLED && state != STATE_BLOCKED_LOCK))
		return 0;
	if (retries > untold)
		retries = untold;
	slept = account->cause ? ledger_cause_at(account, account->cause - 1) : NULL;
	if (!slept || slept->state != STATE_BLOCKED_SLEEP || slept->ns < retries)
		return 0;
	slept->ns -= retries;
	if (slept->waker_ns > slept->ns)
		slept->waker_ns = slept->ns;
	account->ns[STATE_BLOCKED_SLEEP] -= retries;
	return retries;
}

/* A reader has told it as open: so it learns what became of it. */
static __always_inline void ledger_note_settled(struct ledger_task *account,
						const struct cause_name *name, u64 begin)
{
	account->settled.ns = account->settled.waker_ns = 0;
	account->settled.count = 1;
	account->settled.object = name->object;
	account->settled.holder = name->holder;
	account->settled.state = (u8)name->state;
	account->settled.call = (u16)name->call;
	account->settled_since_ns = begin;
}

/*
 * The block under way is over after `passed` ns: it gets its name, and its time goes there. Returns
 * its state. is_told: a reader has seen it open.
 */
static __always_inline u32 ledger_settle(struct ledger_task *account, u64 passed, bool is_told)
{
	struct cause_name first, name = {.state = ledger_state_by_end(account),
					 .call = account->wait_call,
					 .object = account->wait_object};
	u64 unknown = account->begin_ns, begin = account->last_ns, before;
	bool is_lock;

	if (account->wake_object && name.state != STATE_BLOCKED_SLEEP)
		name.object = account->wake_object;
	if (ledger_is_lock_state(name.state))
		name.holder = ledger_last_holder(account);
	name.state = ledger_forget(name.state, unknown);
	name.holder = ledger_forget(name.holder, unknown);
	before = ledger_first_part(account, &name, passed, &first);
	/* A wait for a lock is counted with the one that had it when it began. */
	is_lock = ledger_is_lock_state(name.state);
	if (before)
		ledger_settle_part(account, &first, before, is_lock);
	ledger_settle_part(account, &name,
			   passed - before + ledger_take_retries(account, name.state, passed),
			   !before || !is_lock);
	if (is_told)
		ledger_note_settled(account, &name, begin);
	return name.state;
}

#endif
