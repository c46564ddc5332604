// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Locks of the kernel's, from 5.19: how long threads waited for each. Those that spin stay on their
 * CPU, and so their start does; those that sleep have it in the thread's account.
 */
#include "../../bpf/common.bpf.h"
#include "kernel.bpf.h"

struct kernel_waits_map lock_kernel_waits SEC(".maps");

/* A mutex is spun for first, by one who sleeps then: it is one wait. */
static __always_inline u32 type_of(u32 flags)
{
	if (flags & CONTENTION_MUTEX)
		return LOCK_MUTEX;
	if (flags & CONTENTION_PERCPU)
		return LOCK_PERCPU;
	if (flags & CONTENTION_RT)
		return LOCK_RT;
	if (flags & CONTENTION_SPIN) {
		if (flags & CONTENTION_READ)
			return LOCK_READ_SPIN;
		return flags & CONTENTION_WRITE ? LOCK_WRITE_SPIN : LOCK_SPIN;
	}
	return flags & CONTENTION_READ ? LOCK_READ_SEM : LOCK_WRITE_SEM;
}

static __always_inline bool spins(u32 type)
{
	return type == LOCK_SPIN || type == LOCK_READ_SPIN || type == LOCK_WRITE_SPIN;
}

/* Inside an interrupt the thread is not to blame, and not the one who waits. */
static __always_inline bool is_interrupt(void)
{
	struct ledger_cpu *cpu = this_cpu_account();

	return cpu && (cpu->irq || cpu->softirq);
}

SEC("?tp_btf/contention_begin")
int BPF_PROG(locks_contention_begin, void *lock, unsigned int flags)
{
	struct ledger_task *account = account_of_current();
	struct kernel_waits *here = kernel_waits_here();
	u32 type = type_of(flags);

	if (!account || !here || is_interrupt())
		return 0;
	if (spins(type)) {
		here->spin_lock = (u64)lock;
		here->spin_ns = bpf_ktime_get_ns() << 2 | (type - LOCK_SPIN);
	} else if (account->lock.kernel_lock != (u64)lock) {
		account->lock.kernel_lock = (u64)lock;
		account->lock.kernel_ns = bpf_ktime_get_ns();
		account->lock.kernel_type = type;
	}
	return 0;
}

/* Of those between two switches that find no place, the last ones are not counted. */
static __always_inline void note(struct kernel_waits *here, const struct ledger_task *account,
				 u64 lock, u32 type, u64 ns)
{
	struct series_share *share;
	struct kernel_wait *wait;
	u64 place = here->count;

	if (place >= KERNEL_WAITS_MAX) {
		share = series_share_of(SIG_LOCKS);
		if (share)
			__sync_fetch_and_add(&share->lost, 1);
		return;
	}
	ledger_bound(place, KERNEL_WAITS_MAX - 1);
	wait = &here->waits[place];
	wait->start_ns = account->start_ns;
	wait->tgid = account->tgid;
	wait->type = type;
	wait->lock = lock;
	wait->ns = ns;
	here->count++;
}

SEC("?tp_btf/contention_end")
int BPF_PROG(locks_contention_end, void *lock, int error)
{
	struct ledger_task *account = account_of_current();
	struct kernel_waits *here = kernel_waits_here();
	u64 now = bpf_ktime_get_ns(), begin_ns;
	u32 type;

	if (!account || !here || is_interrupt())
		return 0;
	if (here->spin_lock == (u64)lock) {
		begin_ns = here->spin_ns >> 2;
		type = LOCK_SPIN + (here->spin_ns & 3);
		here->spin_lock = 0;
	} else if (account->lock.kernel_lock == (u64)lock) {
		begin_ns = account->lock.kernel_ns;
		type = (u32)account->lock.kernel_type;
		account->lock.kernel_lock = 0;
	} else {
		return 0; /* it began before we looked, or another came in between */
	}
	note(here, account, (u64)lock, type, now > begin_ns ? now - begin_ns : 0);
	return 0;
}
