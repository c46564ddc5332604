// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * How long each wait of a thread was, by what it was for: counted when it is over, and the thread
 * has a CPU again. The ledger's program at this hook comes first, and has left it in the account.
 */
#include "../../bpf/common.bpf.h"

SEC("?tp_btf/sched_switch")
int BPF_PROG(offcpu_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct ledger_task *account = next->pid ? account_of(next) : NULL;
	struct series_key key = {.signal = SIG_OFFCPU};

	if (!account || !account->in_block_ns)
		return 0;
	series_of(&key, account);
	key.detail = (u16)account->block_state;
	series_add(series_find(&key), account->in_block_ns);
	return 0;
}
