/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Which lock a thread waited for, as the series of locks have it; and their stacks. These are taken
 * by samples, which count them here: so none is taken twice, and it does not matter which program
 * comes first at a hook, which kprobes turn round.
 */
#ifndef DWELL_LOCK_BPF_H
#define DWELL_LOCK_BPF_H

#include "../abi/locks.h"

/* The kernel's flags of a lock that is contended (LCB_F_*). */
#define CONTENTION_SPIN	  1
#define CONTENTION_READ	  2
#define CONTENTION_WRITE  4
#define CONTENTION_RT	  8
#define CONTENTION_PERCPU 16
#define CONTENTION_MUTEX  32

static __always_inline bool lock_is_futex(u32 type)
{
	return type == LOCK_FUTEX || type == LOCK_PI;
}

/* An address means something in its process alone; a file's id is one already. */
static __always_inline u64 lock_id(u32 type, u64 object, const struct ledger_task *account)
{
	if (!lock_is_futex(type) && type != LOCK_CONDITION)
		return object;
	return object_mix(object, account->tgid);
}

/* Of a wait that is over. */
static __always_inline void lock_wait_key(struct series_key *key, const struct ledger_task *account)
{
	const struct ledger_over *over = &account->over;

	key->signal = SIG_LOCKS;
	key->kind = lock_is_futex(over->lock) ? LOCKS_WAIT : LOCKS_FILE_WAIT;
	key->detail = (u16)over->lock;
	key->object = lock_id(over->lock, over->object, account);
	series_of(key, account);
}

/* Has it a series of its own, or is it among the others? */
static __always_inline bool lock_has_place(u32 slot)
{
	struct series_slot *place = bpf_map_lookup_elem(&series_slots, &slot);

	return place && place->key.object != SERIES_OTHER;
}

static __always_inline void lock_tell_slow(struct task_struct *task,
					   const struct ledger_task *account,
					   const struct series_key *key, u64 ns, u64 stack)
{
	u32 holder = account->over.holder == account->tid ? 0 : account->over.holder;
	struct slow_event event = {
		.ns = ns,
		.stack = stack,
		.value = {holder, account->waker},
	};

	if (slow_is_told(SIG_LOCKS, ns))
		slow_send(task, key, &event);
}

/* How many waits of this length that is, up or down by chance, so that it is right on average. */
static __always_inline u64 lock_weight(u64 weight_ns, u64 ns)
{
	u64 whole = weight_ns / ns, rest = weight_ns % ns;

	return whole + (rest && bpf_get_prandom_u32() % ns < rest);
}

/* weight_ns: what the stack stands for; 0: none was taken. */
static __always_inline void lock_count_stacks(struct task_struct *task,
					      const struct ledger_task *account, u64 ns,
					      u64 weight_ns, u64 stack)
{
	struct series_key key = {};

	if (account->over.block_state != STATE_BLOCKED_LOCK || !ns)
		return;
	if (!weight_ns)
		stack = 0;
	lock_wait_key(&key, account);
	lock_tell_slow(task, account, &key, ns, stack);
	if (!lock_has_place(series_find(&key)))
		return;
	if (stack) {
		key.kind = LOCKS_WAIT_STACK;
		key.more = stack;
		series_add_weighted(series_find(&key), ns, lock_weight(weight_ns, ns));
	}
	if (account->waker_stack && account->waker_kind == WAKER_THREAD) {
		key.kind = LOCKS_HOLDER_STACK;
		key.more = account->waker_stack;
		series_add(series_find(&key), ns);
	}
}

#endif
