/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The ledger's core: what one thread's transitions do to its account (ledger_task.bpf.h has what
 * that is, ledger_cause.bpf.h what waits were for). No hook and no clock is read here, so that it
 * can be compiled for the host and tested there.
 *
 * A wake-up leaves its time and what it knows of the end, and the next switch-in splits the wait
 * there and gives it its name (ledger_settle.bpf.h); an interrupt leaves its
 * length per CPU, and the thread's next update takes it up.
 */
#ifndef DWELL_LEDGER_BPF_H
#define DWELL_LEDGER_BPF_H

#include "ledger_task.bpf.h"
#include "ledger_settle.bpf.h"

/* --- time goes to states --- */

static __always_inline void ledger_begin(struct ledger_task *account, u32 state, u32 resume,
					 u64 now)
{
	account->state = state;
	account->last_ns = now;
	account->resume = resume;
	if (!ledger_is_blocked(state)) /* which is counted when it ends */
		account->entries[ledger_slot(state)] = 1;
	ledger_store_release(&account->begin_ns, now);
}

/* Time up to now goes to a state. A clock that is behind last_ns moves nothing. */
static __always_inline u64 ledger_charge(struct ledger_task *account, u32 state, u64 now)
{
	u64 passed = now - account->last_ns;

	if (now <= account->last_ns)
		return 0;
	account->ns[ledger_slot(state)] += passed;
	account->last_ns = now;
	return passed;
}

static __always_inline void ledger_enter(struct ledger_task *account, u32 state)
{
	account->state = state;
	account->entries[ledger_slot(state)]++;
}

static __always_inline u64 ledger_take(struct ledger_task *account, u32 state, u64 wanted, u64 left)
{
	u64 taken = wanted < left ? wanted : left;

	if (taken) {
		account->ns[state] += taken;
		account->entries[state]++;
	}
	return taken;
}

/* A program of the thread's own writes here just now, and was preempted: nobody else may. */
static __always_inline bool ledger_is_open(const struct ledger_task *account)
{
	return ledger_own(&account->seq) & 1;
}

static __always_inline void ledger_go_away(struct ledger_task *account, u64 now)
{
	account->away_since_ns = now;
	if (!account->away_from_ns)
		account->away_from_ns = now;
}

static __always_inline void ledger_come_back(struct ledger_task *account, u64 now)
{
	u64 since = account->away_since_ns, passed = now > since ? now - since : 0;

	account->away_since_ns = 0;
	account->away_ns += passed;
	account->away_count++;
	account->over = (struct ledger_over){
		.back_ns = now, .queue_ns = passed, .queue_state = STATE_RUNQ_PREEMPTED};
	account->block_ns = 0;
}

/* It waited for a CPU while an earlier update of its account was under way. */
static __always_inline void ledger_settle_away(struct ledger_task *account, u64 now)
{
	u64 passed = account->away_ns;

	if (!account->away_from_ns || account->away_from_ns >= now)
		return;
	if (passed > now - account->last_ns || now <= account->last_ns)
		return; /* it was during this one, and is the next one's */
	account->ns[STATE_RUNQ_PREEMPTED] += passed;
	account->entries[STATE_RUNQ_PREEMPTED] += (u32)account->away_count;
	account->last_ns += passed;
	account->away_from_ns = account->away_ns = account->away_count = 0;
}

/* Time on a CPU goes to a state, but for what interrupts took of it. */
static __always_inline void ledger_charge_cpu(struct ledger_task *account, u32 state,
					      struct ledger_stolen *stolen, u64 now)
{
	u64 left;

	if (account->away_from_ns)
		ledger_settle_away(account, now);
	left = now - account->last_ns;
	if (now <= account->last_ns)
		return;
	if (stolen) {
		u64 irq_ns = stolen->irq_ns, softirq_ns = stolen->softirq_ns;

		left -= ledger_take(account, STATE_CPU_IRQ, irq_ns - stolen->irq_taken_ns, left);
		left -= ledger_take(account, STATE_CPU_SOFTIRQ,
				    softirq_ns - stolen->softirq_taken_ns, left);
		stolen->irq_taken_ns = irq_ns;
		stolen->softirq_taken_ns = softirq_ns;
	}
	account->ns[ledger_slot(state)] += left;
	account->last_ns = now;
}

/* --- waits end --- */

#define ABSENCE_LEAST_NS 16000 /* shorter ones are not worth a slot */

/* A thread has a CPU again: whoever waited for it may ask what it did. */
static __always_inline void ledger_note_absence(struct ledger_task *account)
{
	const struct ledger_over *over = &account->over;
	struct lock_watch *watch = &account->lock;
	struct lock_absence *absence;
	u64 place;

	if (over->queue_ns + over->block_ns < ABSENCE_LEAST_NS)
		return;
	place = watch->absence_count++;
	ledger_bound(place, ABSENCES_MAX - 1);
	absence = &watch->absences[place];
	absence->back_ns = over->back_ns;
	absence->cpu_ns = ledger_cpu_ns(account);
	absence->object = over->object;
	absence->queue_us = (u32)(over->queue_ns / 1000);
	absence->block_us = (u32)(over->block_ns / 1000);
	absence->culprit = over->holder ? over->holder : account->waker;
	if (!absence->culprit && account->has_chain) /* who answered over the network */
		absence->culprit = account->chain.culprit;
	absence->call = (u16)account->wait_call;
	absence->state = (u8)over->block_state;
}

/*
 * An event loop's turn begins when work comes; also when a timer runs out, of a thread to which
 * work comes so. Who polls for the answer of a peer has no loop.
 */
static __always_inline void ledger_begin_turn(struct ledger_task *account,
					      const struct ledger_over *over)
{
	bool is_work = over->block_state == STATE_BLOCKED_IDLE;

	account->poll_end_ns =
		is_work || (over->block_state == STATE_BLOCKED_SLEEP && account->turns.count)
			? over->back_ns
			: 0;
}

static __always_inline void ledger_end_block(struct ledger_task *account, u64 until, bool is_told)
{
	u64 passed = until > account->last_ns ? until - account->last_ns : 0;
	struct ledger_over *over = &account->over;

	over->block_state = ledger_settle(account, passed, is_told);
	if (passed)
		account->last_ns = until;
	account->block_ns = passed;
	/* One that was over before it began is one nevertheless, for who counts them. */
	over->block_ns = passed || !account->wake_ns ? passed : 1;
	over->object = account->wake_object && over->block_state != STATE_BLOCKED_SLEEP
			       ? account->wake_object
			       : account->wait_object;
	over->holder = account->wait_holder;
	over->lock = account->wait_lock;
	if (over->block_state == STATE_BLOCKED_LOCK) {
		over->holder = ledger_last_holder(account);
		account->lock.object = account->wait_object;
		account->lock.got_ns = over->back_ns;
	}
	if (account->wait_ends == ENDS_BY_POLL) {
		account->poll_ns += passed;
		ledger_begin_turn(account, over);
	}
}

/* Nobody saw who ended this wait: what is left here is of one before. */
static __always_inline void ledger_forget_waker(struct ledger_task *account)
{
	account->waker = account->waker_kind = account->wake_state = account->wake_holder = 0;
	account->wake_object = account->wake_since_ns = 0;
}

/*
 * A block ends where the thread was woken; from there on it waited for a CPU, because of ran, the
 * thread that had it, or what kind says.
 */
static __always_inline void ledger_end_wait(struct ledger_task *account, u32 ran, u32 kind,
					    bool is_told, u64 now)
{
	struct ledger_over *over = &account->over;
	u64 woken = account->wake_ns;
	u64 passed;

	over->back_ns = now;
	if (ledger_is_blocked(account->state)) {
		if (!woken)
			ledger_forget_waker(account);
		ledger_end_block(account, woken && woken < now ? woken : now, is_told);
		if (!woken)
			return;
		ledger_enter(account, STATE_RUNQ_WOKEN);
	}
	passed = ledger_charge(account, account->state, now);
	ledger_end_queue(account, passed, ran, kind);
	over->queue_ns = passed;
	over->queue_state = account->state;
}

/*
 * Not every switch reaches us. Which one did not, the state tells; when it must have been, the
 * kernel's own count of the thread's run time: exec_ns is that count now.
 */
static __always_inline u64 ledger_ran_ns(const struct ledger_task *account, u64 exec_ns, u64 now)
{
	u64 ran = exec_ns - account->exec_ns;
	u64 gap = now > account->last_ns ? now - account->last_ns : 0;

	return ran < gap ? ran : gap;
}

/*
 * The wait of a thread that is on a CPU by now: its switch-in was missed. What it ran since, it ran
 * last. Signals count this wait now (account_of_late()); but where it waited, its stack tells no
 * more. It gets its state, and no cause: to look for one here would take the verifier too long.
 */
static __always_inline void ledger_end_wait_late(struct ledger_task *account, u64 exec_ns, u64 now)
{
	struct ledger_over *over = &account->over;
	u64 back_ns = now - ledger_ran_ns(account, exec_ns, now), until = back_ns;

	account->missed++;
	account->unnamed++;
	if (!account->wake_ns)
		ledger_forget_waker(account);
	*over = (struct ledger_over){.back_ns = back_ns};
	if (ledger_is_blocked(account->state)) {
		over->block_state = ledger_state_by_end(account);
		account->entries[ledger_slot(over->block_state)]++;
		if (account->wake_ns && account->wake_ns < back_ns)
			until = account->wake_ns;
		over->block_ns = ledger_charge(account, over->block_state, until);
		if (!over->block_ns && account->wake_ns)
			over->block_ns = 1;
		over->object = account->wait_object;
		over->holder = account->wait_holder;
		over->lock = account->wait_lock;
		ledger_enter(account, STATE_RUNQ_WOKEN);
	}
	over->queue_state = account->state;
	over->queue_ns = ledger_charge(account, account->state, back_ns);
	account->block_ns = 0;
	ledger_enter(account, account->resume);
}

/* Up to now it was on a CPU, whether its coming there was seen or not. */
static __always_inline void ledger_end_run(struct ledger_task *account,
					   struct ledger_stolen *stolen, u64 exec_ns, u64 now)
{
	if (!ledger_is_on_cpu(account))
		ledger_end_wait_late(account, exec_ns, now);
	ledger_charge_cpu(account, account->state, stolen, now);
}

/* What a block is for, until it is over. */
static __always_inline void ledger_note_wait(struct ledger_task *account, const struct wait *wait)
{
	account->wait_object = wait->object;
	account->wait_holder = wait->holder;
	account->wait_lock = wait->lock;
	account->wait_call = wait->call;
	account->wait_ends = wait->ends;
	account->wait_net_state = wait->net_state;
	account->wait_is_held_back = wait->is_held_back;
}

/* An event loop asks for its next events: the turn that its last ones began is over. */
static __always_inline void ledger_end_turn(struct ledger_task *account, u64 now)
{
	struct ledger_turns *turns = &account->turns;
	u64 ns = now - account->poll_end_ns;

	if (!account->poll_end_ns || now <= account->poll_end_ns)
		return;
	account->poll_end_ns = 0; /* the next one begins when work comes */
	turns->count++;
	if (ns < LOOP_LONG_NS)
		return;
	turns->long_count++;
	turns->long_ns += ns;
	if (ns > turns->max_ns)
		turns->max_ns = ns;
}

/* Leaves its CPU to wait. */
static __always_inline void ledger_switch_out(struct ledger_task *account, const struct wait *wait,
					      struct ledger_stolen *stolen, u64 exec_ns, u64 now)
{
	bool is_woken;

	if (ledger_is_open(account)) {
		ledger_go_away(account, now);
		return;
	}
	is_woken =
		wait->is_woken && ledger_is_on_cpu(account) && account->wake_ns > account->last_ns;
	ledger_open_waits(account);
	ledger_end_run(account, stolen, exec_ns, now);
	/* Tier B may have been switched off for it meanwhile. */
	account->resume = ledger_is_split(account) ? account->state : (u32)STATE_CPU;
	if (!is_woken)
		account->wake_ns = 0; /* of something before */
	account->waker_stack = 0;     /* likewise: nobody takes one before the state below */
	account->has_chain = 0;
	ledger_note_wait(account, wait);
	account->exec_ns = exec_ns;
	if (ledger_is_blocked(wait->state)) {
		account->state = wait->state; /* it is counted when it ends, by its name then */
		if (wait->ends == ENDS_BY_POLL)
			ledger_end_turn(account, now);
	} else {
		ledger_enter(account, wait->state);
	}
	ledger_close_waits(account);
}

/* Leaves its CPU for good. */
static __always_inline void ledger_finish(struct ledger_task *account, struct ledger_stolen *stolen,
					  u64 exec_ns, u64 now)
{
	ledger_open_waits(account);
	ledger_end_run(account, stolen, exec_ns, now);
	ledger_close_waits(account);
}

/* Gets a CPU, which ran had before. */
static __always_inline void ledger_switch_in(struct ledger_task *account, u32 ran, u32 kind,
					     u64 exec_ns, u64 now)
{
	bool is_told = account->read_seq == ledger_read_seq(&account->seq);

	if (account->away_since_ns) {
		ledger_come_back(account, now);
		return;
	}
	ledger_open_waits(account);
	account->over = (struct ledger_over){};
	account->block_ns = 0;
	if (ledger_is_on_cpu(account)) {
		/* Its switch-out was missed. It ran first; what it waited for is not known. */
		account->missed++;
		ledger_charge(account, account->state,
			      account->last_ns + ledger_ran_ns(account, exec_ns, now));
		ledger_charge(account, STATE_UNATTRIBUTED, now);
		account->exec_ns = exec_ns;
	} else {
		ledger_end_wait(account, ran, kind, is_told, now);
		ledger_note_absence(account);
	}
	ledger_enter(account, account->resume);
	ledger_close_waits(account);
}

/*
 * Of a wait, the first wake-up counts. One that comes to a thread on a CPU is of the wait that this
 * is about to begin, or of none: so it takes the place of what woke the thread before.
 */
static __always_inline bool ledger_awaits_wake(const struct ledger_task *account)
{
	return !account->wake_ns || ledger_is_on_cpu(account);
}

/* Another CPU's doing: only what it knows is left; the account is not touched. */
static __always_inline void ledger_wake(struct ledger_task *account, const struct wake *wake,
					u64 now)
{
	if (!ledger_awaits_wake(account))
		return;
	account->waker = wake->waker;
	account->waker_kind = wake->kind;
	account->wake_state = wake->state;
	account->wake_object = wake->object;
	account->wake_since_ns = wake->since_ns;
	account->wake_holder = wake->holder;
	account->wake_ns = now;
}

#endif
