/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The ledger's core: what one thread's transitions do to its account (ledger_task.bpf.h has what
 * that is, ledger_cause.bpf.h what waits were for). No hook and no clock is read here, so that it
 * can be compiled for the host and tested there.
 *
 * A wake-up leaves its time, and the next switch-in splits the wait there; an interrupt leaves its
 * length per CPU, and the thread's next update takes it up.
 */
#ifndef DWELL_LEDGER_BPF_H
#define DWELL_LEDGER_BPF_H

#include "ledger_task.bpf.h"
#include "ledger_cause.bpf.h"

/* --- time goes to states --- */

static __always_inline void ledger_begin(struct ledger_task *account, u32 state, u32 resume,
					 u64 now)
{
	account->state = state;
	account->last_ns = now;
	account->resume = resume;
	account->entries[ledger_slot(state)] = 1;
	ledger_barrier();
	account->begin_ns = now;
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

/* Time on a CPU goes to a state, but for what interrupts took of it. */
static __always_inline void ledger_charge_cpu(struct ledger_task *account, u32 state,
					      struct ledger_stolen *stolen, u64 now)
{
	u64 left = now - account->last_ns;

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

/*
 * A block ends where the thread was woken; from there on it waited for a CPU, because of ran, the
 * thread that had it, or what kind says.
 */
static __always_inline void ledger_end_wait(struct ledger_task *account, u32 ran, u32 kind, u64 now)
{
	struct ledger_over *over = &account->over;
	u64 woken = account->wake_ns;
	u64 passed;

	over->back_ns = now;
	if (ledger_is_blocked(account->state)) {
		passed = ledger_charge(account, account->state, woken && woken < now ? woken : now);
		ledger_end_cause(account, passed, account->waker, account->waker_kind);
		account->block_ns = passed;
		/* One that was over before it began is one nevertheless, for who counts them. */
		over->block_ns = passed || !woken ? passed : 1;
		over->block_state = account->state;
		over->object = account->wait_object;
		over->holder = account->wait_holder;
		over->lock = account->wait_lock;
		if (!woken)
			return;
		ledger_enter(account, STATE_RUNQ_WOKEN);
		ledger_name_queue(account, STATE_RUNQ_WOKEN);
	}
	passed = ledger_charge(account, account->state, now);
	ledger_end_cause(account, passed, ran, kind);
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
 * more.
 */
static __always_inline void ledger_end_wait_late(struct ledger_task *account, u64 exec_ns, u64 now)
{
	account->missed++;
	account->over = (struct ledger_over){};
	ledger_end_wait(account, 0, WAKER_NONE, now - ledger_ran_ns(account, exec_ns, now));
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
}

/* Leaves its CPU to wait; true if this is a cause not known before. */
static __always_inline bool ledger_switch_out(struct ledger_task *account, const struct wait *wait,
					      struct ledger_stolen *stolen, u64 exec_ns, u64 now)
{
	bool is_new = false;

	ledger_open_waits(account);
	ledger_end_run(account, stolen, exec_ns, now);
	/* Tier B may have been switched off for it meanwhile. */
	account->resume = ledger_is_split(account) ? account->state : (u32)STATE_CPU;
	if (!wait->is_woken)
		account->wake_ns = 0; /* of something before */
	account->waker_stack = 0;     /* likewise: nobody takes one before the state below */
	ledger_note_wait(account, wait);
	account->exec_ns = exec_ns;
	ledger_enter(account, wait->state);
	if (ledger_is_blocked(wait->state))
		is_new = ledger_name_block(account, wait);
	else
		ledger_name_queue(account, wait->state);
	ledger_close_waits(account);
	return is_new;
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
	ledger_open_waits(account);
	account->over = (struct ledger_over){};
	if (ledger_is_on_cpu(account)) {
		/* Its switch-out was missed. It ran first; what it waited for is not known. */
		account->missed++;
		ledger_charge(account, account->state,
			      account->last_ns + ledger_ran_ns(account, exec_ns, now));
		ledger_charge(account, STATE_UNATTRIBUTED, now);
		account->exec_ns = exec_ns;
	} else {
		ledger_end_wait(account, ran, kind, now);
	}
	ledger_enter(account, account->resume);
	ledger_close_waits(account);
}

/* Another CPU's doing: only the time and who it was are left; the account is not touched. */
static __always_inline void ledger_wake(struct ledger_task *account, u32 waker, u32 kind, u64 now)
{
	if (account->wake_ns)
		return;
	account->waker = waker;
	account->waker_kind = kind;
	account->wake_ns = now;
}

#endif
