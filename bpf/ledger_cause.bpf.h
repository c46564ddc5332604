/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What a thread's waits were for: the causes in its account, which sum up to its states. Compiled
 * for the host too, as ledger.bpf.h is.
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

static __always_inline bool ledger_cause_is(const struct ledger_cause *cause,
					    const struct wait *wait, u64 object, u32 holder)
{
	return cause->count && cause->object == object && cause->state == wait->state &&
	       cause->call == wait->call && cause->holder == holder;
}

/* Whether a cause has this place, or can have it: then it is written there. */
static __always_inline bool ledger_cause_fits(struct ledger_cause *cause, const struct wait *wait,
					      u64 object, u32 holder)
{
	if (ledger_cause_is(cause, wait, object, holder))
		return true;
	if (cause->count)
		return false;
	cause->object = object;
	cause->holder = holder;
	cause->state = (u8)wait->state;
	cause->call = (u16)wait->call;
	return true;
}

/* 1 + place, or 0. */
static __always_inline u32 ledger_find_exact(struct ledger_task *account, const struct wait *wait)
{
	u64 mixed = (wait->object ^ wait->holder ^ wait->call) * 0x9e3779b97f4a7c15ULL;
	u32 first = (mixed >> 40) & (CAUSES_HASHED - 1);

	for (u32 i = 0; i <= CAUSES_CLASS - CAUSES_HASHED; i++)
		if (ledger_cause_fits(ledger_cause_at(account, first + i), wait, wait->object,
				      wait->holder))
			return first + i + 1;
	return 0;
}

static __always_inline u32 ledger_find_class(struct ledger_task *account, const struct wait *wait)
{
	for (u32 i = CAUSES_CLASS; i < CAUSES_QUEUE; i++)
		if (ledger_cause_fits(&account->causes[i], wait, 0, 0))
			return i + 1;
	return 0;
}

/* The run queue's causes have their places: what differs is who ran instead. */
static __always_inline void ledger_name_queue(struct ledger_task *account, u32 state)
{
	struct ledger_cause *cause =
		ledger_cause_at(account, CAUSES_QUEUE + state - STATE_RUNQ_WOKEN);

	cause->state = (u8)state;
	cause->count++;
}

/* Opens the cause of a block that begins; true if it was not known before. */
static __always_inline bool ledger_name_block(struct ledger_task *account, const struct wait *wait)
{
	struct ledger_cause *cause;
	u32 place = account->cause;

	/* Most threads wait for the same thing again and again. */
	if (!place ||
	    !ledger_cause_is(ledger_cause_at(account, place - 1), wait, wait->object, wait->holder))
		place = ledger_find_exact(account, wait);
	if (!place)
		place = ledger_find_class(account, wait);
	place = ledger_forget(place, account->begin_ns);
	account->cause = place;
	if (!place) {
		account->unnamed++;
		return false;
	}
	cause = ledger_cause_at(account, place - 1);
	return cause->count++ == 0;
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

/* 1 + place of the cause of the wait under way. */
static __always_inline u32 ledger_place(u32 state, u32 block_cause)
{
	return ledger_is_blocked(state) ? block_cause : CAUSES_QUEUE + state - STATE_RUNQ_WOKEN + 1;
}

/* The wait under way lasted so long, and so it ended. */
static __always_inline void ledger_end_cause(struct ledger_task *account, u64 ns, u32 waker,
					     u32 kind)
{
	u32 place = ledger_place(account->state, account->cause);
	struct ledger_cause *cause;

	if (!place)
		return;
	cause = ledger_cause_at(account, place - 1);
	cause->ns += ns;
	ledger_vote(cause, waker, kind, ns);
}

#endif
