// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * How long threads that could run waited for a CPU: counted when they get one; or, where nobody saw
 * that, when they leave it. The ledger's program at this hook comes first, and has left the wait in
 * the thread's account.
 */
#include "../../bpf/common.bpf.h"

/* A long one is told with its thread, and with who had the CPU last, if that is known. */
static __always_inline void tell_wait(struct task_struct *task, struct task_struct *ran,
				      const struct series_key *key, u64 ns)
{
	struct slow_event event = {.ns = ns};

	event.value[0] = ran && ran->pid ? task_tid(ran) : 0;
	slow_send(task, key, &event);
}

static __always_inline void count_wait(struct task_struct *task, struct task_struct *ran,
				       const struct ledger_task *account)
{
	const struct ledger_over *over = &account->over;
	struct series_key key = {.signal = SIG_RUNQ};

	series_of(&key, account);
	key.detail = (u16)over->queue_state; /* of an unseen one: unattributed */
	if (over->unseen)
		series_count(series_find_of(task, &key), orphan_ends);
	if (!over->queue_ns)
		return;
	series_add(series_find_of(task, &key), over->queue_ns);
	if (slow_is_told(SIG_RUNQ, over->queue_ns))
		tell_wait(task, ran, &key, over->queue_ns);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(runq_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct ledger_task *comes = next->pid ? account_of(next) : NULL;
	struct ledger_task *late = account_of_late(prev);

	if (late)
		count_wait(prev, NULL, late);
	if (comes)
		count_wait(next, prev, comes);
	return 0;
}
