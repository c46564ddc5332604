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

#define EVENT_FRESH_NS 50000 /* what a thread did so long ago did not cause its next wake-up */

/* A device's interrupt does not say whose it is; most that wake a thread are its disk's. */
static __always_inline u32 context_of_interrupt(const struct ledger_cpu *cpu, u32 state)
{
	if (cpu->irq == CPU_IRQ_TIMER)
		return WAKER_TIMER;
	if (state == STATE_BLOCKED_DISK || state == STATE_BLOCKED_PAGEIN)
		return WAKER_DISK;
	/* Where the CPU's own timer is a device like others, this is all that there is to tell. */
	return state == STATE_BLOCKED_SLEEP ? WAKER_TIMER : WAKER_INTERRUPT;
}

/*
 * In what context a wake-up happens: `current` inside an interrupt is whoever was interrupted, and
 * not to blame.
 */
static __always_inline u32 wake_context(const struct ledger_cpu *cpu, u32 state)
{
	if (!cpu)
		return WAKER_NONE;
	if (cpu->irq)
		return context_of_interrupt(cpu, state);
	return cpu->softirq ? context_of_softirq(cpu->softirq - 1) : WAKER_THREAD;
}

/* The socket that got data just now, and so ends a poll. */
static __always_inline void wake_by_socket(struct task_struct *task, struct ledger_cpu *cpu,
					   struct wake *wake, u64 now)
{
	u64 sk = cpu->event.sock, found;

	if (!sk || (cpu->event.sock_ns && now - cpu->event.sock_ns > EVENT_FRESH_NS))
		return;
	cpu->event.sock = 0; /* it wakes one */
	found = socket_judge(sk);
	wake->state = found & SOCKET_STATE;
	if (!(found & SOCKET_INET))
		return;
	wake->object = socket_object(sk, found & SOCKET_SERVED);
	object_send_sock(task, wake->object, (struct sock *)sk, (found & SOCKET_SERVED) != 0);
}

/* The request whose end this is, and the file that was read. */
static __always_inline void wake_by_disk(struct task_struct *task,
					 const struct ledger_task *account,
					 const struct ledger_cpu *cpu, struct wake *wake, u64 now)
{
	struct object object = {.inode = (struct inode *)cpu->event.inode};

	if (!cpu->event.done_ns || now - cpu->event.done_ns > EVENT_FRESH_NS)
		return;
	wake->kind = WAKER_DISK;
	wake->waker = 0;
	wake->state = STATE_BLOCKED_DISK; /* of a wait for any of several things, as io_uring's */
	wake->since_ns = cpu->event.request_ns;
	if (account->state == STATE_BLOCKED_PAGEIN && !object.inode)
		wake->state = STATE_BLOCKED_MEMORY; /* no file's page: one that was swapped out */
	if (account->wait_object || !object.inode)
		return;
	object_identify(&object);
	wake->object = object.id;
	object_send_inode(task, &object);
}

/* Who lets go of a lock held it, since when its own account knows if it had waited for it. */
static __always_inline void wake_by_holder(const struct ledger_task *account, struct wake *wake)
{
	const struct ledger_task *waker = account_of_current();

	if (!waker)
		return;
	wake->holder = waker->inner_tid;
	if (waker->lock.object == account->wait_object)
		wake->since_ns = waker->lock.got_ns;
}

static __always_inline void wake_by_thread(struct task_struct *task,
					   const struct ledger_task *account, struct wake *wake)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;

	wake->waker = current_tid();
	wake->state = tgid == (u32)task->tgid ? STATE_BLOCKED_SIGNALLED : STATE_BLOCKED_IPC;
	if (ledger_is_lock_state(account->state))
		wake_by_holder(account, wake);
}

/* Whether the current thread is just sending on the other end of this socket: it is who answers. */
static __always_inline bool is_sender(u64 address)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct sock *sk = (struct sock *)address, *own;
	struct object object = {};
	struct call call;

	if (!sk || (task->flags & PF_KTHREAD) || !read_call(task, &call) || call.number < 0 ||
	    !object_of_fd(task, (u32)call.first, &object) || object.mode != MODE_SOCKET)
		return false;
	own = object_sock(object.file);
	return BPF_CORE_READ(own, __sk_common.skc_num) ==
	       __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
}

/* Lays the wait over what the current thread did, as a function that the verifier checks once. */
__attribute__((weak)) int ledger_chain_to(struct ledger_task *waiter, struct ledger_task *culprit,
					  u64 now)
{
	struct ledger_chain *chain;

	if (!waiter || !culprit)
		return 0;
	chain = &waiter->chain;
	for (u32 i = 0; i < LEDGER_CHAIN_PARTS; i++)
		chain->parts[i] = (struct ledger_chain_part){};
	chain->culprit = culprit->tid;
	chain->culprit_tgid = culprit->tgid;
	bpf_get_current_comm(chain->comm, sizeof(chain->comm));
	ledger_explain(chain, culprit, waiter->last_ns, now);
	waiter->has_chain = 1;
	return 0;
}

static __always_inline bool is_long_wait(const struct ledger_task *account,
					 const struct live_config *live, u64 now)
{
	return ledger_is_blocked(account->state) && now > account->last_ns &&
	       now - account->last_ns >= live->min_block_ns;
}

/* Long waits that a thread ends, or answers over the network, lead to that thread. */
static __always_inline void wake_chain(struct ledger_task *account, u32 kind, u64 sock, u64 now)
{
	struct ledger_task *culprit;

	if (kind != WAKER_THREAD && (kind != WAKER_NETWORK || !is_sender(sock)))
		return;
	culprit = account_of_current();
	if (culprit && culprit != account)
		ledger_chain_to(account, culprit, now);
}

/* All that the waking CPU knows of the end of a wait. */
static __always_inline void judge_wake(struct task_struct *task, const struct ledger_task *account,
				       struct ledger_cpu *cpu, struct wake *wake, u64 now)
{
	u32 state = account->state;

	wake->kind = wake_context(cpu, state);
	if (!cpu)
		return;
	if (wake->kind == WAKER_DISK)
		wake->state = STATE_BLOCKED_DISK;
	if (wake->kind == WAKER_THREAD)
		wake_by_thread(task, account, wake);
	if (state == STATE_BLOCKED_DISK || state == STATE_BLOCKED_PAGEIN ||
	    (state == STATE_BLOCKED_POLL &&
	     (wake->kind == WAKER_INTERRUPT || wake->kind == WAKER_DISK)))
		wake_by_disk(task, account, cpu, wake, now);
	else if (cpu->event.sock && wake->kind != WAKER_TIMER &&
		 (state == STATE_BLOCKED_POLL || !ledger_is_blocked(state)))
		wake_by_socket(task, cpu, wake, now);
}

/* True if it ends a long wait. */
static __always_inline bool wake(struct task_struct *task, const bool has_chains)
{
	struct ledger_task *account = account_of(task);
	struct live_config *live = live_config();
	struct ledger_cpu *cpu;
	struct wake wake = {};
	bool is_long;
	u64 now, sock;

	if (!account || !ledger_awaits_wake(account) || !live)
		return false;
	cpu = this_cpu_account();
	now = bpf_ktime_get_ns();
	sock = cpu ? cpu->event.sock : 0;
	judge_wake(task, account, cpu, &wake, now);
	is_long = is_long_wait(account, live, now);
	if (has_chains && is_long && !live->no_detail)
		wake_chain(account, wake.kind, sock, now);
	ledger_wake(account, &wake, now);
	return is_long;
}

/* What the end of a long wait is worth beyond this: the waker's stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} ledger_after_waking SEC(".maps");

/* How long a thread that gets a CPU now has waited for it. */
static __always_inline u64 queued_ns(const struct ledger_task *account, u64 now)
{
	u64 since = account->last_ns;

	if (account->away_since_ns)
		since = account->away_since_ns;
	else if (ledger_is_on_cpu(account))
		return 0;
	if (ledger_is_blocked(account->state)) {
		if (!account->wake_ns)
			return 0;
		/* A wake-up may come before the switch that it ends. */
		since = account->wake_ns > since ? account->wake_ns : since;
	}
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
