// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * How long threads that could run waited for a CPU: counted when they get one. The ledger's program
 * at this hook comes first, and has left the wait in the thread's account.
 */
#include "../../bpf/common.bpf.h"

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
	return 0;
}
