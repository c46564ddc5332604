/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Who wakes a thread, and why it then waits for a CPU.
 */
#ifndef DWELL_LEDGER_WAKE_BPF_H
#define DWELL_LEDGER_WAKE_BPF_H

/* The kernel's soft interrupts, as softirq_entry numbers them. */
enum softirq_vector {
	VECTOR_TIMER = 1,
	VECTOR_NET_TX = 2,
	VECTOR_NET_RX = 3,
	VECTOR_BLOCK = 4,
	VECTOR_HRTIMER = 8,
};

static __always_inline u32 context_of_softirq(u32 vector)
{
	switch (vector) {
	case VECTOR_TIMER:
	case VECTOR_HRTIMER:
		return WAKER_TIMER;
	case VECTOR_NET_TX:
	case VECTOR_NET_RX:
		return WAKER_NETWORK;
	case VECTOR_BLOCK:
		return WAKER_DISK;
	}
	return WAKER_INTERRUPT;
}

/* An interrupt does not say whose it is; most that wake a thread are its timer's or its disk's. */
static __always_inline u32 context_of_interrupt(u32 state)
{
	switch (state) {
	case STATE_BLOCKED_DISK:
	case STATE_BLOCKED_PAGEIN:
		return WAKER_DISK;
	case STATE_BLOCKED_SLEEP:
	case STATE_BLOCKED_POLL:
	case STATE_BLOCKED_LOCK:
	case STATE_BLOCKED_IDLE:
		return WAKER_TIMER;
	}
	return WAKER_INTERRUPT;
}

/*
 * In what context a wake-up happens: `current` inside an interrupt is whoever was interrupted, and
 * not to blame.
 */
static __always_inline u32 wake_context(u32 state)
{
	struct ledger_cpu *cpu = this_cpu_account();

	if (!cpu)
		return WAKER_NONE;
	if (cpu->irq)
		return context_of_interrupt(state);
	return cpu->softirq ? context_of_softirq(cpu->softirq - 1) : WAKER_THREAD;
}

/* How long a thread that gets a CPU now has waited for it. */
static __always_inline u64 queued_ns(const struct ledger_task *account, u64 now)
{
	u64 since = account->last_ns;

	if (ledger_is_on_cpu(account))
		return 0;
	if (ledger_is_blocked(account->state))
		since = account->wake_ns;
	return since && since < now ? now - since : 0;
}

#define AFFINITY_CPUS_MAX 64		 /* on larger machines only the first ones are looked at */
#define AFFINITY_WAIT_NS  50000		 /* shorter waits are not worth the look */
#define CPU_SILENT_NS	  60000000000ULL /* a CPU that is idle so long is not online */

/* While it waited, a CPU was idle all the time on which it may not run. */
static __always_inline bool idle_cpu_is_forbidden(struct task_struct *task,
						  const struct ledger_task *account, u64 now)
{
	u64 since = ledger_is_blocked(account->state) ? account->wake_ns : account->last_ns;
	u64 allowed;

	if (now - since < AFFINITY_WAIT_NS || (task->flags & PF_KTHREAD))
		return false;
	allowed = BPF_CORE_READ(task, cpus_ptr, bits[0]);
	for (u32 i = 0; i < AFFINITY_CPUS_MAX && i < cfg_cpus; i++) {
		struct ledger_cpu *cpu = cpu_account(i);

		if (cpu && cpu->use == CPU_USE_IDLE && cpu->begin_ns && cpu->last_ns <= since &&
		    now - cpu->last_ns < CPU_SILENT_NS && !(allowed >> i & 1))
			return true;
	}
	return false;
}

#endif
