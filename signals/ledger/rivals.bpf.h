/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Who ran while a thread waited for a CPU. The work is done in functions that the verifier checks
 * by themselves, once, and that find this CPU's runs by its number.
 */
#ifndef DWELL_LEDGER_RIVALS_HOOK_BPF_H
#define DWELL_LEDGER_RIVALS_HOOK_BPF_H

__attribute__((weak)) u64 rivals_lay_over(u32 number, u64 begin, u64 now)
{
	struct ledger_cpu *cpu = cpu_account(number);

	return cpu ? ledger_lay_over(&cpu->runs, begin, now) : 0;
}

/* A name is read when a thread first has this rival: it may have ended, but not long ago. */
__attribute__((weak)) int rivals_name(u32 number, u64 place)
{
	struct ledger_cpu *cpu = cpu_account(number);
	struct task_struct *task;
	struct ledger_laid *laid;

	if (!cpu)
		return 0;
	ledger_bound(place, RIVALS_MAX - 1);
	laid = &cpu->runs.laid[place];
	task = (struct task_struct *)laid->task;
	laid->rival.tid = laid->rival.tgid = 0;
	__builtin_memset(laid->rival.comm, 0, sizeof(laid->rival.comm));
	if (!laid->rival.pid || (u32)BPF_CORE_READ(task, tgid) != laid->rival.pid)
		return 0;
	laid->rival.tid = task_tid(task);
	laid->rival.tgid = task_tgid(task);
	task = BPF_CORE_READ(task, group_leader);
	bpf_probe_read_kernel(laid->rival.comm, sizeof(laid->rival.comm), task_comm(task));
	return 0;
}

/* A thread gets this CPU, for which it had waited since begin. */
static __always_inline void note_rivals(struct ledger_task *account, u32 number, u64 begin, u64 now)
{
	struct ledger_cpu *cpu = cpu_account(number);

	if (!cpu)
		return;
	account->rivals_ns += rivals_lay_over(number, begin, now);
	for (u32 i = 0; i < RIVALS_MAX; i++) {
		struct ledger_rival *rival = &account->rivals[i];
		const struct ledger_rival *laid = &cpu->runs.laid[i].rival;

		if (!laid->ns)
			continue;
		if (rival->ns && rival->pid == laid->pid) {
			rival->ns += laid->ns;
			if (laid->policy)
				rival->policy = laid->policy;
		} else if (rival->ns < laid->ns) {
			rivals_name(number, i);
			*rival = *laid;
		}
	}
}

#endif
