// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * How long threads that could run waited for a CPU: counted when they get one. The ledger's program
 * at this hook comes first, and has left the wait in the thread's account.
 */
#include "../../bpf/common.bpf.h"

/* A long one is told with its thread, and with who had the CPU last. */
static __always_inline void tell_wait(struct task_struct *task, struct task_struct *ran,
				      const struct series_key *key, u64 ns)
{
	struct slow_event event = {.ns = ns};

	event.value[0] = ran->pid ? task_tid(ran) : 0;
	slow_send(task, key, &event);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(runq_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct ledger_task *account = next->pid ? account_of(next) : NULL;
	struct series_key key = {.signal = SIG_RUNQ};

	if (!account || !account->in_queue_ns)
		return 0;
	series_of(&key, account);
	key.detail = (u16)account->in_queue_state;
	series_add(series_find(&key), account->in_queue_ns);
	if (slow_is_told(SIG_RUNQ, account->in_queue_ns))
		tell_wait(next, prev, &key, account->in_queue_ns);
	return 0;
}
