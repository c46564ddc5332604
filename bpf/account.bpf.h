/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The accounts of threads and CPUs: where they are kept. The ledger opens and closes them; other
 * signals ask whether a thread is followed, and Tier B writes into them.
 *
 * Threads' accounts are in task storage. Kernels before 5.12 have that for other programs only:
 * there, and where cfg_task_storage says so, they are in a hash by pid, which costs more per
 * look-up and holds ACCOUNTS_MAX threads.
 */
#ifndef DWELL_ACCOUNT_BPF_H
#define DWELL_ACCOUNT_BPF_H

struct ledger_tasks_map {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct ledger_task);
};

#define ACCOUNTS_MAX 8192

struct ledger_pids_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ACCOUNTS_MAX);
	__type(key, u32);
	__type(value, struct ledger_task);
};

enum cpu_irq { CPU_IRQ_NONE, CPU_IRQ_DEVICE, CPU_IRQ_TIMER };

/*
 * What has just happened on a CPU that may end a wait: the wake-up that follows reads it. It holds
 * for as long as the interrupt or the thread that it happened in.
 */
struct cpu_event {
	u64 sock;	/* a socket got data; 0: none */
	u64 sock_ns;	/* when, if a thread and no interrupt did it; else 0 */
	u64 request_ns; /* a disk's request is done that existed since then */
	u64 done_ns;	/* when it was done; 0: none was */
	u64 inode;	/* of the file that was read by it, as an address; 0: not known */
};

/* What a CPU's account had when the recording began: the hooks were there before, and count too. */
struct cpu_before {
	u64 end_ns; /* when that was; 0: it has not begun */
	u64 ns[CPU_USE_COUNT];
	u64 queue_ns;
	u64 switches;
	u64 missed;
};

/*
 * What one CPU does. Written by itself alone, but for what is the reader's own; others look whether
 * it is idle.
 */
struct ledger_cpu {
	u64 begin_ns; /* 0: nothing seen yet */
	u64 last_ns;
	u64 ns[CPU_USE_COUNT];
	u64 queue_ns;
	u64 switches;
	u64 task;    /* who has it since: an address, never to be trusted */
	u64 exec_ns; /* the kernel's count of that one's run time, at last_ns */
	u32 use;     /* enum cpu_use since last_ns */
	u32 pid;     /* who has it since */
	u32 missed;
	u32 seq;      /* odd while it is being written */
	u16 softirq;  /* 1 + vector of the one under way; 0: none */
	u16 irq;      /* enum cpu_irq: a hard one is under way */
	u32 is_late;  /* 1: who left last had come unseen, and with it a wait is over */
	u64 block_ns; /* how long the one who has it since was blocked, for who takes its stack, and
			 clears it then; 0: not at all */
	struct ledger_stolen stolen;
	u64 irq_told_ns;      /* of stolen, what is in ns[] */
	u64 softirq_told_ns;  /* likewise */
	u64 irq_since_ns;     /* Tier B: when it began */
	u64 softirq_since_ns; /* likewise */
	struct cpu_event event;
	struct ledger_runs runs;
	/* The reader's own: */
	struct cpu_before before;
	u32 torn_reads; /* attempts in a row that found it being written */
	u32 first_use;	/* 1 + enum cpu_use from before.end_ns until its first switch; 0: unknown */
	u32 apart[6];	/* no cache line is shared with the next one's */
};

_Static_assert(sizeof(struct ledger_cpu) % 64 == 0, "a CPU's account has cache lines of its own");

struct ledger_cpus_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CPUS_MAX);
	__type(key, u32);
	__type(value, struct ledger_cpu);
};

struct split_off_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SPLIT_OFF_MAX);
	__type(key, u32);
	__type(value, u8);
};

extern struct split_off_map split_off SEC(".maps"); /* processes that cost too much for Tier B */
extern struct ledger_tasks_map ledger_tasks SEC(".maps");
extern struct ledger_pids_map ledger_pids SEC(".maps");
extern struct ledger_cpus_map ledger_cpus SEC(".maps");

/* In the hash, a number may be another thread's by now. */
static __always_inline struct ledger_task *account_of_pid(u32 pid, u64 thread_start_ns)
{
	struct ledger_task *account = bpf_map_lookup_elem(&ledger_pids, &pid);

	return account && account->thread_start_ns == thread_start_ns ? account : NULL;
}

/* Its place, also if it is closed. */
static __always_inline struct ledger_task *account_place(struct task_struct *task)
{
	u32 pid = task->pid;

	if (cfg_task_storage)
		return bpf_task_storage_get(&ledger_tasks, task, NULL, 0);
	return account_of_pid(pid, task->start_boottime);
}

static __always_inline struct ledger_task *account_of(struct task_struct *task)
{
	struct ledger_task *account = account_place(task);

	return account && ledger_load_acquire(&account->begin_ns) ? account : NULL;
}

static __always_inline struct ledger_task *account_of_current(void)
{
	struct ledger_task *account;
	u32 pid;

	if (cfg_task_storage)
		return account_of(bpf_get_current_task_btf());
	pid = (u32)bpf_get_current_pid_tgid();
	account = bpf_map_lookup_elem(&ledger_pids, &pid);
	return account && account->begin_ns ? account : NULL;
}

/* In NMI, for which the hash by pid is not: where there is no task storage, this does not load. */
static __always_inline struct ledger_task *account_of_current_nmi(void)
{
	struct ledger_task *account =
		bpf_task_storage_get(&ledger_tasks, bpf_get_current_task_btf(), NULL, 0);

	return account && ledger_load_acquire(&account->begin_ns) ? account : NULL;
}

static __always_inline bool ledger_follows(struct task_struct *task)
{
	return account_of(task) != NULL;
}

static __always_inline struct ledger_cpu *cpu_account(u32 cpu)
{
	return bpf_map_lookup_elem(&ledger_cpus, &cpu);
}

static __always_inline struct ledger_cpu *this_cpu_account(void)
{
	return cpu_account(bpf_get_smp_processor_id());
}

/*
 * The account of the thread that leaves this CPU, if nobody saw it come: what it had waited for
 * before is over by now, and for signals to count. After the ledger's program at this hook; it may
 * be closed by then. A thread whose switch is seen is next there, and has its account of
 * account_of().
 */
static __always_inline struct ledger_task *account_of_late(struct task_struct *leaves)
{
	struct ledger_cpu *cpu = this_cpu_account();

	return cpu && cpu->is_late ? account_place(leaves) : NULL;
}

#endif
