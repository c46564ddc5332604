/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What each CPU does: charged at each switch, and read out with the threads' rows.
 */
#ifndef DWELL_LEDGER_CPUS_BPF_H
#define DWELL_LEDGER_CPUS_BPF_H

static __always_inline bool is_own(struct task_struct *task)
{
	u32 tgid = (u32)task->tgid;

	if (tgid == cfg_self_tgid || tgid == cfg_worker_tgid)
		return true;
	return cfg_spawner_tgid &&
	       (tgid == cfg_spawner_tgid || (u32)task->real_parent->tgid == cfg_spawner_tgid);
}

static __always_inline u32 use_of(struct task_struct *task, bool is_followed)
{
	if (!task->pid)
		return CPU_USE_IDLE;
	if (task->flags & PF_KTHREAD)
		return CPU_USE_KERNEL;
	if (is_followed)
		return CPU_USE_FOLLOWED;
	return is_own(task) ? CPU_USE_DWELL : CPU_USE_OTHER;
}

/*
 * How much of a stretch without a switch that we saw belongs to whom we saw come: a missed switch
 * was in it. The kernel's own count of that one's run time tells, if it can still be read.
 */
static __always_inline u64 ran_before_missed(const struct ledger_cpu *cpu, u64 passed)
{
	struct task_struct *task = (struct task_struct *)cpu->task;
	u64 ran;

	if (!cpu->pid || (u32)BPF_CORE_READ(task, pid) != cpu->pid)
		return 0;
	ran = BPF_CORE_READ(task, se.sum_exec_runtime) - cpu->exec_ns;
	return ran < passed ? ran : passed;
}

static __always_inline void add_use(struct ledger_cpu *cpu, u32 use, u64 ns)
{
	if (use < CPU_USE_COUNT)
		cpu->ns[use] += ns;
}

/*
 * Its first switch: who leaves has had it since the accounts began, or from an unknown time on. The
 * reader begins accounts by a clock of another CPU.
 */
static __always_inline void charge_first(struct ledger_cpu *cpu, struct task_struct *prev, u64 now)
{
	u64 since_ns = cpu->before.end_ns;

	if (!cpu->first_use || !since_ns || since_ns > now)
		since_ns = now;
	add_use(cpu, use_of(prev, account_of(prev) != NULL), now - since_ns);
	cpu->begin_ns = since_ns;
}

/* The CPU's own account, up to now. What interrupts took, the thread's account takes next. */
static __always_inline void charge_cpu_account(struct ledger_cpu *cpu, struct task_struct *prev,
					       u64 now)
{
	u64 passed = now - cpu->last_ns;
	u64 irq_ns = cpu->stolen.irq_ns - cpu->irq_told_ns;
	u64 softirq_ns = cpu->stolen.softirq_ns - cpu->softirq_told_ns;

	cpu->irq_told_ns += irq_ns;
	cpu->softirq_told_ns += softirq_ns;
	cpu->switches++;
	cpu->last_ns = now;
	if (!cpu->begin_ns) {
		charge_first(cpu, prev, now);
		return;
	}
	if (cpu->pid != (u32)prev->pid) {
		u64 ran = ran_before_missed(cpu, passed);

		cpu->missed++;
		add_use(cpu, cpu->use, ran);
		passed -= ran;
		cpu->use = use_of(prev, account_of(prev) != NULL);
	}
	if (irq_ns + softirq_ns <= passed) {
		cpu->ns[CPU_USE_IRQ] += irq_ns;
		cpu->ns[CPU_USE_SOFTIRQ] += softirq_ns;
		passed -= irq_ns + softirq_ns;
	}
	add_use(cpu, cpu->use, passed);
}

/* It has had no switch: false if one came between. */
static __always_inline bool copy_unswitched(const struct ledger_cpu *cpu, struct rec_cpu *row,
					    u64 now)
{
	u32 use = cpu->first_use - 1;

	row->begin_ns = cpu->before.end_ns;
	row->end_ns = now;
	if (use < CPU_USE_COUNT)
		row->ns[use] = now - row->begin_ns;
	return !cpu->begin_ns;
}

/*
 * Since the recording began, up to now; what it is busy with is closed on paper. False if a switch
 * came between.
 */
static __always_inline bool copy_cpu(const struct ledger_cpu *cpu, struct rec_cpu *row, u64 now)
{
	const struct cpu_before *before = &cpu->before;
	u32 seq = ledger_read_seq(&cpu->seq);
	u64 last = cpu->last_ns;
	u32 use = cpu->use;

	if (!cpu->begin_ns)
		return copy_unswitched(cpu, row, now);
	for (u32 i = 0; i < CPU_USE_COUNT; i++)
		row->ns[i] = cpu->ns[i] + (i == use && now > last ? now - last : 0) - before->ns[i];
	row->begin_ns = cpu->begin_ns > before->end_ns ? cpu->begin_ns : before->end_ns;
	row->end_ns = now > last ? now : last;
	row->queue_ns = cpu->queue_ns - before->queue_ns;
	row->switches = cpu->switches - before->switches;
	row->missed = cpu->missed - (u32)before->missed;
	return ledger_is_whole(&cpu->seq, seq);
}

/*
 * Its account begins with the recording. One that is being written begins later, unless this is the
 * last chance: then it keeps all it has, from its own begin on. Not static: the verifier goes
 * through it once, and not for each call.
 */
__noinline int ledger_begin_cpu(u32 number, u32 is_last)
{
	struct ledger_cpu *cpu = number < cfg_cpus ? cpu_account(number) : NULL;
	u64 now = bpf_ktime_get_ns();
	struct rec_cpu row = {};

	if (!cpu || cpu->before.end_ns)
		return 0; /* it has begun */
	if (cpu->begin_ns && !copy_cpu(cpu, &row, now) && !copy_cpu(cpu, &row, now)) {
		if (!is_last)
			return 0;
		__builtin_memset(&row, 0, sizeof(row));
	}
	__builtin_memcpy(cpu->before.ns, row.ns, sizeof(row.ns));
	cpu->before.queue_ns = row.queue_ns;
	cpu->before.switches = row.switches;
	cpu->before.missed = row.missed;
	cpu->before.end_ns = row.end_ns ? row.end_ns : cpu->begin_ns ? 1 : now;
	/* Without a switch it is idle, unless a thread is found that has it: note_first_use(). One
	 * that may be offline begins with its first switch. */
	cpu->first_use = number < cfg_cpus_online ? 1 + CPU_USE_IDLE : 0;
	return 0;
}

/* A thread that has a CPU all the time is not seen to leave it. */
static __always_inline void note_first_use(struct task_struct *task, bool is_wanted)
{
	struct ledger_cpu *cpu = task_is_on_cpu(task) ? cpu_account(task_cpu(task)) : NULL;

	if (cpu && !cpu->begin_ns)
		cpu->first_use = 1 + use_of(task, is_wanted);
}

/* The accounts of all CPUs begin with the first thread; of those that cannot, one tries again with
 * each later thread. */
static __always_inline void ledger_begin_cpus(u64 thread)
{
	if (thread) {
		ledger_begin_cpu(cfg_cpus ? (u32)thread % cfg_cpus : 0, false);
		return;
	}
	for (u32 i = 0; i < CPUS_MAX && i < cfg_cpus; i++)
		ledger_begin_cpu(i, false);
}

/* The last chance. */
static __always_inline void ledger_cpus_have_begun(void)
{
	for (u32 i = 0; i < CPUS_MAX && i < cfg_cpus; i++)
		ledger_begin_cpu(i, true);
}

/*
 * 1: it is being written, and the iterator is to come again after a pause. A row that finds no room
 * is written again by the kernel's next call.
 */
static __always_inline int write_cpu(struct seq_file *seq, u32 number, bool can_come_again)
{
	struct ledger_cpu *cpu = number < cfg_cpus ? cpu_account(number) : NULL;
	struct rec_cpu row = {};
	u64 now;

	if (!cpu || !(cpu->begin_ns || cpu->first_use))
		return 0;
	emit_header(&row.hdr, SIG_CPU, SIG_VERSION_CPU, sizeof(row), 1, current_task());
	row.cpu = number;
	now = bpf_ktime_get_ns();
	/* Twice, and not in a loop: older verifiers do not take one within another after a call. */
	if (!copy_cpu(cpu, &row, now) && !copy_cpu(cpu, &row, now)) {
		if (can_come_again && is_read_again(&cpu->torn_reads))
			return 1;
		EMIT_LOSE(CPU, torn);
	} else {
		bpf_seq_write(seq, &row, sizeof(row));
	}
	cpu->torn_reads = 0;
	return 0;
}

#endif
