/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The ledger's core: what one thread's transitions do to its account. No hook and no clock is
 * read here, so that it can be compiled for the host and tested there.
 *
 * One writer: only the switch of a thread writes its account. A wake-up leaves its time, and the
 * next switch-in splits the wait there. A reader on another CPU looks at seq: odd, or changed
 * while it copied, means try again.
 */
#ifndef DWELL_LEDGER_BPF_H
#define DWELL_LEDGER_BPF_H

struct ledger_task {
	u32 seq;       /* odd while it is being written */
	u32 state;     /* enum ledger_state, since last_ns */
	u64 begin_ns;  /* 0: not yet followed */
	u64 last_ns;   /* when the state was entered */
	u64 wake_ns;   /* when it was woken from it; 0: not yet */
	u32 waker_tid; /* by whom */
	u32 missed;
	u64 ns[STATE_LIMIT];
	u32 entries[STATE_LIMIT];
	u64 voluntary;
	u64 involuntary;
	u64 exec_ns; /* the kernel's count of its run time, at the last switch */
	u64 nvcsw; /* the kernel's count at the last switch: it advances if and only if it blocks */
	u64 nvcsw_before; /* the kernel's counts when it was first followed */
	u64 nivcsw_before;
	u64 exec_before_ns;
	u64 delay_before_ns;
};

#define ledger_barrier() __asm__ volatile("" ::: "memory")

/* A state as an index, bounded where every verifier sees it: older ones lose track otherwise. */
static __always_inline u64 ledger_slot(u64 state)
{
#ifdef __bpf__
	__asm__ volatile("%0 &= %1" : "+r"(state) : "i"(STATE_LIMIT - 1));
	return state;
#else
	return state & (STATE_LIMIT - 1);
#endif
}

static __always_inline void ledger_open_write(struct ledger_task *account)
{
	account->seq++;
	ledger_barrier();
}

static __always_inline void ledger_close_write(struct ledger_task *account)
{
	ledger_barrier();
	account->seq++;
}

static __always_inline void ledger_begin(struct ledger_task *account, u32 state, u64 now)
{
	account->state = state;
	account->last_ns = now;
	account->entries[ledger_slot(state)] = 1;
	ledger_barrier();
	account->begin_ns = now;
}

/* Time up to now goes to a state. A clock that is behind last_ns moves nothing. */
static __always_inline void ledger_charge(struct ledger_task *account, u32 state, u64 now)
{
	if (now <= account->last_ns)
		return;
	account->ns[ledger_slot(state)] += now - account->last_ns;
	account->last_ns = now;
}

static __always_inline void ledger_enter(struct ledger_task *account, u32 state)
{
	account->state = state;
	account->entries[ledger_slot(state)]++;
}

static __always_inline bool ledger_is_on_cpu(const struct ledger_task *account)
{
	return account->state >= STATE_CPU && account->state <= STATE_CPU_SOFTIRQ;
}

/* A wait ends where it was woken; from there on it waited for a CPU. */
static __always_inline void ledger_end_wait(struct ledger_task *account, u64 now)
{
	u64 woken = account->wake_ns;

	if (account->state < STATE_BLOCKED_LOCK || !woken) {
		ledger_charge(account, account->state, now);
		return;
	}
	ledger_charge(account, account->state, woken < now ? woken : now);
	ledger_enter(account, STATE_RUNQ_WOKEN);
	ledger_charge(account, STATE_RUNQ_WOKEN, now);
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

/* Leaves its CPU for the given state. */
static __always_inline void ledger_switch_out(struct ledger_task *account, u32 state, u64 exec_ns,
					      u64 now)
{
	ledger_open_write(account);
	if (!ledger_is_on_cpu(account)) {
		/* Its switch-in was missed. What it ran since, it ran last. */
		account->missed++;
		ledger_end_wait(account, now - ledger_ran_ns(account, exec_ns, now));
		ledger_enter(account, STATE_CPU);
	}
	ledger_charge(account, account->state, now);
	account->wake_ns = 0;
	account->exec_ns = exec_ns;
	ledger_enter(account, state);
	ledger_close_write(account);
}

/* Gets a CPU. */
static __always_inline void ledger_switch_in(struct ledger_task *account, u32 state, u64 exec_ns,
					     u64 now)
{
	ledger_open_write(account);
	if (ledger_is_on_cpu(account)) {
		/* Its switch-out was missed. It ran first; what it waited for is not known. */
		account->missed++;
		ledger_charge(account, account->state,
			      account->last_ns + ledger_ran_ns(account, exec_ns, now));
		ledger_charge(account, STATE_UNATTRIBUTED, now);
		account->exec_ns = exec_ns;
	} else {
		ledger_end_wait(account, now);
	}
	ledger_enter(account, state);
	ledger_close_write(account);
}

/* Another CPU's doing: only the time and who it was are left; the account is not touched. */
static __always_inline void ledger_wake(struct ledger_task *account, u32 waker_tid, u64 now)
{
	if (account->wake_ns)
		return;
	account->waker_tid = waker_tid;
	account->wake_ns = now;
}

/* A copy whose open interval is closed on paper. True if it is whole. */
static __always_inline bool ledger_copy(const struct ledger_task *account, struct rec_ledger *row,
					u64 now)
{
	u32 seq = *(volatile const u32 *)&account->seq;
	u64 woken, last;
	u32 state;

	ledger_barrier();
	for (u32 i = 0; i < STATE_LIMIT; i++) {
		row->ns[i] = account->ns[i];
		row->entries[i] = account->entries[i];
	}
	row->begin_ns = account->begin_ns;
	row->voluntary = account->voluntary;
	row->involuntary = account->involuntary;
	row->missed = account->missed;
	state = account->state;
	last = account->last_ns;
	woken = account->wake_ns;
	ledger_barrier();
	if ((seq & 1) || seq != *(volatile const u32 *)&account->seq)
		return false;
	if (now < last)
		now = last;
	if (state >= STATE_BLOCKED_LOCK && woken > last && woken < now) {
		row->ns[ledger_slot(state)] += woken - last;
		row->ns[STATE_RUNQ_WOKEN] += now - woken;
	} else {
		row->ns[ledger_slot(state)] += now - last;
	}
	row->end_ns = now;
	return true;
}

#endif
