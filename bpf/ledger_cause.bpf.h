/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What a thread's waits were for: the causes in its account, which sum up to its states. A wait is
 * named when it ends; until then it has a provisional name, which readers get apart. Compiled for
 * the host too, as ledger.bpf.h is.
 */
#ifndef DWELL_LEDGER_CAUSE_BPF_H
#define DWELL_LEDGER_CAUSE_BPF_H

#include "ledger_task.bpf.h"

/*
 * Places among an account's causes: those told apart fully, from where their hash says onwards, so
 * that few are looked at; classes of them; and one for each state of the run queue.
 */
#define CAUSES_HASHED 16 /* places at which a look begins, a power of two */
#define CAUSES_CLASS  26 /* the first of the classes */
#define CAUSES_QUEUE  29

_Static_assert(CAUSES_QUEUE + STATE_RUNQ_THROTTLED - STATE_RUNQ_WOKEN == CAUSES_MAX - 1,
	       "each state of the run queue has its own place");

static __always_inline struct ledger_cause *ledger_cause_at(struct ledger_task *account, u64 place)
{
	ledger_bound(place, CAUSES_MAX - 1);
	return &account->causes[place];
}

/* What a wait was for, in all that tells causes apart. */
struct cause_name {
	u64 object;
	u32 state;
	u32 call;
	u32 holder;
};

/* All of it in one number, so that the verifier, and the CPU, have one comparison to make. */
static __always_inline u64 ledger_cause_key(const struct cause_name *name)
{
	u64 key = (name->object ^ name->holder) * 0x9e3779b97f4a7c15ULL;

	key ^= (u64)name->state << 56 ^ (u64)name->call << 40 ^ name->holder;
	return key | 1; /* 0: the place is free */
}

static __always_inline u64 *ledger_key_at(struct ledger_task *account, u64 place)
{
	ledger_bound(place, CAUSES_MAX - 1);
	return &account->cause_keys[place];
}

/* 1 if it is 0, else 0; without a branch, which the compiler would put there if it saw through it.
 */
static __always_inline u64 ledger_is_zero(u64 value)
{
	u64 negative = -value;

	ledger_barrier_value(negative);
	return 1 ^ ((value | negative) >> 63);
}

/*
 * 1 + the place of a key, which may be a free one; 0: there is none in these. Without branches: the
 * verifier would go through all that follows once for each.
 */
static __always_inline u32 ledger_find_key(struct ledger_task *account, u64 key, u32 first,
					   u32 count)
{
	u64 place = 0;

	for (u32 i = 0; i < count; i++) {
		u64 there = *ledger_key_at(account, first + i);
		u64 fits = ledger_is_zero(there ^ key) | ledger_is_zero(there);
		u64 mask = -(fits & ledger_is_zero(place));

		ledger_barrier_value(mask);
		place |= mask & (first + i + 1);
	}
	return (u32)place;
}

/* Its place, with the name written there if it is new; 0: there is none. */
static __always_inline u32 ledger_take_place(struct ledger_task *account,
					     const struct cause_name *name, u64 key, u32 first,
					     u32 count)
{
	u64 place = ledger_forget(ledger_find_key(account, key, first, count), account->begin_ns);
	struct ledger_cause *cause;

	if (!place)
		return 0;
	if (*ledger_key_at(account, place - 1) == key)
		return place;
	cause = ledger_cause_at(account, place - 1);
	cause->object = name->object;
	cause->holder = name->holder;
	cause->state = (u8)name->state;
	cause->call = (u16)name->call;
	*ledger_key_at(account, place - 1) = key;
	return place;
}

/* Boyer and Moore's vote, weighted by time: who has more than half of it, is left. */
static __always_inline void ledger_vote(struct ledger_cause *cause, u32 waker, u32 kind, u64 ns)
{
	if (cause->waker == waker && cause->waker_kind == kind) {
		cause->waker_ns += ns;
	} else if (cause->waker_ns >= ns) {
		cause->waker_ns -= ns;
	} else {
		cause->waker = waker;
		cause->waker_kind = (u8)kind;
		cause->waker_ns = ns - cause->waker_ns;
	}
}

/* The run queue's causes have their places: what differs is who ran instead. */
static __always_inline void ledger_end_queue(struct ledger_task *account, u64 ns, u32 ran, u32 kind)
{
	u32 state = account->state;
	struct ledger_cause *cause =
		ledger_cause_at(account, CAUSES_QUEUE + state - STATE_RUNQ_WOKEN);

	cause->state = (u8)state;
	cause->count++;
	cause->ns += ns;
	ledger_vote(cause, ran, kind, ns);
}

/* The cause of a block that is over; NULL: there is no room to name it, which is counted. */
static __always_inline struct ledger_cause *ledger_cause_of(struct ledger_task *account,
							    const struct cause_name *name)
{
	u64 key = ledger_cause_key(name), place = account->cause;

	/* Most threads wait for the same thing again and again. */
	if (!place || *ledger_key_at(account, place - 1) != key)
		place = ledger_take_place(account, name, key, (key >> 40) & (CAUSES_HASHED - 1),
					  CAUSES_CLASS - CAUSES_HASHED + 1);
	if (!place) {
		struct cause_name class = {.state = name->state, .call = name->call};

		place = ledger_take_place(account, &class, ledger_cause_key(&class), CAUSES_CLASS,
					  CAUSES_QUEUE - CAUSES_CLASS);
	}
	place = ledger_forget(place, account->begin_ns);
	account->cause = place;
	if (!place) {
		account->unnamed++;
		return NULL;
	}
	return ledger_cause_at(account, place - 1);
}

#endif
