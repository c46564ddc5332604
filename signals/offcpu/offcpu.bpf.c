// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * How long each wait of a thread was, by what it was for: counted when it is over, and the thread
 * has a CPU again; or, where nobody saw that, leaves it. The ledger's program at this hook comes
 * first, and has left the wait in the account.
 */
#include "../../bpf/common.bpf.h"

static __always_inline void count_wait(struct task_struct *task, const struct ledger_task *account)
{
	const struct ledger_over *over = &account->over;
	struct series_key key = {.signal = SIG_OFFCPU};

	series_of(&key, account);
	key.detail = (u16)over->block_state; /* of an unseen one: unattributed */
	if (over->unseen == UNSEEN_BLOCKED)
		series_count(series_find_of(task, &key), orphan_ends);
	if (over->block_ns)
		series_add(series_find_of(task, &key), over->block_ns);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(offcpu_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct ledger_task *comes = next->pid ? account_of(next) : NULL;
	struct ledger_task *late = account_of_late(prev);

	if (late)
		count_wait(prev, late);
	if (comes)
		count_wait(next, comes);
	return 0;
}
