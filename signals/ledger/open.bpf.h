/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Accounts: how one is opened, what goes out of it, and how it is closed.
 */
#ifndef DWELL_LEDGER_OPEN_BPF_H
#define DWELL_LEDGER_OPEN_BPF_H

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct rec_ledger);
} ledger_blank SEC(".maps"); /* never written */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct ledger_task);
} ledger_blank_task SEC(".maps"); /* likewise; only for accounts that are not in task storage */

struct process_key {
	u64 start_ns;
	u64 tgid;
};

/* Of processes some of whose threads' last words found no room: the sum of these. One is nobody's.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LEDGER_SUMS_MAX + 1);
	__type(key, struct process_key);
	__type(value, struct rec_ledger);
} ledger_sums SEC(".maps");

static __always_inline struct ledger_task *make_account(struct task_struct *task)
{
	u32 pid = task->pid, zero = 0;
	struct ledger_task *blank;

	if (cfg_task_storage)
		return bpf_task_storage_get(&ledger_tasks, task, NULL,
					    BPF_LOCAL_STORAGE_GET_F_CREATE);
	blank = bpf_map_lookup_elem(&ledger_blank_task, &zero);
	if (blank)
		bpf_map_update_elem(&ledger_pids, &pid, blank, BPF_NOEXIST);
	return bpf_map_lookup_elem(&ledger_pids, &pid);
}

static __always_inline void drop_account(struct task_struct *task)
{
	u32 pid = task->pid;

	if (cfg_task_storage)
		bpf_task_storage_delete(&ledger_tasks, task);
	else
		bpf_map_delete_elem(&ledger_pids, &pid);
}

static __always_inline void fill_identity(struct rec_ledger *row, const struct ledger_task *account)
{
	row->hdr.tgid = account->tgid;
	row->hdr.tid = account->tid;
	row->hdr.start_ns = account->start_ns;
	row->thread_start_ns = account->thread_start_ns;
}

static __always_inline void fill_row(struct rec_ledger *row, const struct ledger_task *account,
				     struct task_struct *task, u64 exec_ns, u32 flags)
{
	fill_identity(row, account);
	row->kernel_voluntary = task->nvcsw - account->nvcsw_before;
	row->kernel_involuntary = task->nivcsw - account->nivcsw_before;
	row->kernel_exec_ns = exec_ns - account->exec_before_ns;
	/* The kernel counts a wait when it ends: of one that lasts, our own time is added. */
	if (!task->sched_info.last_queued)
		row->kernel_delay_ns = 0;
	row->kernel_delay_ns += task->sched_info.run_delay - account->delay_before_ns;
	row->flags = flags | (account->flags & ACCOUNT_KERNEL ? LEDGER_KERNEL : 0);
	row->threads = 1;
	row->inner_tid = account->inner_tid;
	bpf_probe_read_kernel(row->comm, sizeof(row->comm), task->comm);
}

/*
 * What nobody has been told yet of a thread. Threads of one process die on several CPUs at once. A
 * difference may be negative, where a wait that was told as open ended before: the reader knows.
 */
static __always_inline void add_to_sum(struct rec_ledger *sum, const struct ledger_task *account,
				       struct task_struct *task)
{
	const struct ledger_told *told = &account->told;
	u64 since = told->end_ns ? told->end_ns : account->begin_ns;

	for (u32 i = 0; i < STATE_COUNT; i++) {
		__sync_fetch_and_add(&sum->ns[i], account->ns[i] - told->ns[i]);
		__sync_fetch_and_add(&sum->entries[i], account->entries[i] - told->entries[i]);
	}
	__sync_fetch_and_add(&sum->end_ns, account->last_ns - since);
	__sync_fetch_and_add(&sum->kernel_exec_ns,
			     task->se.sum_exec_runtime - account->exec_before_ns - told->exec_ns);
	__sync_fetch_and_add(&sum->kernel_delay_ns, task->sched_info.run_delay -
							    account->delay_before_ns -
							    told->delay_ns);
	__sync_fetch_and_add(&sum->threads, 1);
}

static __always_inline struct rec_ledger *sum_of(const struct process_key *key)
{
	struct rec_ledger *sum = bpf_map_lookup_elem(&ledger_sums, key);
	struct rec_ledger *blank;
	u32 zero = 0;

	if (sum)
		return sum;
	blank = bpf_map_lookup_elem(&ledger_blank, &zero);
	if (blank)
		bpf_map_update_elem(&ledger_sums, key, blank, BPF_NOEXIST);
	return bpf_map_lookup_elem(&ledger_sums, key);
}

/*
 * A last word that finds no room costs its detail; its time is kept with its process's. Where there
 * are too many of these, with that of nobody in particular, whose place is the first to be taken.
 */
static __always_inline void keep_sum(const struct ledger_task *account, struct task_struct *task)
{
	struct process_key key = {.start_ns = account->start_ns, .tgid = account->tgid};
	struct process_key nobody = {};
	struct rec_ledger *rest = sum_of(&nobody);
	struct rec_ledger *sum = sum_of(&key);

	if (!sum) {
		key = nobody;
		sum = rest;
	}
	if (!sum) {
		EMIT_NOT_COALESCED(LEDGER, no_room);
		return;
	}
	emit_header(&sum->hdr, SIG_LEDGER, SIG_VERSION_LEDGER, sizeof(*sum), 1, task);
	sum->hdr.tgid = (u32)key.tgid;
	sum->hdr.start_ns = key.start_ns;
	sum->hdr.tid = 0;
	sum->flags = LEDGER_SUM;
	if (key.tgid)
		bpf_probe_read_kernel(sum->comm, sizeof(sum->comm), task->comm);
	add_to_sum(sum, account, task);
}

static __always_inline void close_account(struct ledger_task *account)
{
	account->begin_ns = 0;
	account->is_closed = 1;
}

/* The account goes out, and is closed: a zombie spends no more time. */
static __always_inline void send_last_word(struct ledger_task *account, struct task_struct *task,
					   u64 exec_ns)
{
	struct rec_ledger *row = EMIT_RESERVE(LEDGER, ledger, task);

	if (row) {
		ledger_copy(account, row, account->last_ns);
		fill_row(row, account, task, exec_ns, LEDGER_LAST);
		EMIT_SUBMIT(row);
	} else {
		keep_sum(account, task);
	}
	close_account(account);
}

/* Whether Tier B takes this process: the governor may have given it up, for it or for all. */
static __always_inline bool is_split(u32 tgid)
{
	struct live_config *live = cfg_split ? live_config() : NULL;

	return live && !live->no_split && !bpf_map_lookup_elem(&split_off, &tgid);
}

/* What the kernel itself counts, so that a report can hold the two against each other. */
static __always_inline void note_task(struct ledger_task *account, struct task_struct *task)
{
	account->tgid = task_tgid(task);
	account->tid = task_tid(task);
	account->inner_tid = task_inner_tid(task); /* a dying thread has it no more */
	account->start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	account->thread_start_ns = task->start_boottime;
	account->nvcsw = account->nvcsw_before = task->nvcsw;
	account->nivcsw_before = task->nivcsw;
	account->exec_ns = account->exec_before_ns = task->se.sum_exec_runtime;
	account->delay_before_ns = task->sched_info.run_delay;
	account->flags = task->flags & PF_KTHREAD ? ACCOUNT_KERNEL : 0;
	if (cfg_split)
		account->flags |= ACCOUNT_SPLIT;
	account->is_split_no_more = !is_split(account->tgid);
}

/* A new thread, too, goes on inside the system call that made it. */
static __always_inline u32 first_state_on_cpu(const struct ledger_task *account,
					      const struct wait *wait)
{
	if (!ledger_is_split(account))
		return STATE_CPU;
	return wait->call || wait->state == STATE_BLOCKED_FORK ? STATE_CPU_SYSCALL : STATE_CPU_USER;
}

/* After the last attempt to open one: a thread that is not followed for want of memory is a loss.
 */
static __always_inline void count_if_none(struct task_struct *task)
{
	if (!account_place(task))
		EMIT_LOSE(LEDGER, no_storage);
}

/* NULL if it has one, or there is no memory for it. */
static __always_inline struct ledger_task *open_account(struct task_struct *task,
							const struct wait *wait, u64 now)
{
	struct ledger_task *account = account_place(task);
	u32 state = wait->state;

	if (account && !account->is_closed)
		return NULL; /* or somebody else is just opening it */
	if (account)	     /* it was followed before: an exec, or a filter that changed */
		drop_account(task);
	account = make_account(task);
	if (!account)
		return NULL; /* for want of memory: see count_if_none() */
	note_task(account, task);
	ledger_note_wait(account, wait);
	if (state == STATE_CPU_SYSCALL && !ledger_is_split(account))
		state = STATE_CPU;
	ledger_begin(account, state, first_state_on_cpu(account, wait), now);
	return account;
}

/* The kernel's count of the run time of whom runs here is as old as its last switch or tick. */
static __always_inline u64 exec_ns_here(struct task_struct *task, u64 now)
{
	struct ledger_cpu *cpu = this_cpu_account();

	if (cpu && cpu->begin_ns && cpu->pid == (u32)task->pid)
		return cpu->exec_ns + (now - cpu->last_ns);
	return task->se.sum_exec_runtime;
}

/* Closes the account of the thread that runs here. */
static __always_inline void close_here(struct ledger_task *account, struct task_struct *task,
				       u64 now)
{
	struct ledger_cpu *cpu = this_cpu_account();
	u64 exec_ns = exec_ns_here(task, now);

	ledger_finish(account, cpu ? &cpu->stolen : NULL, exec_ns, now);
	send_last_word(account, task, exec_ns);
}

static __always_inline void open_here(struct task_struct *task)
{
	struct wait wait = {.state = STATE_CPU_SYSCALL};
	u64 now = bpf_ktime_get_ns();
	struct ledger_task *account = open_account(task, &wait, now);

	if (account)
		account->exec_ns = account->exec_before_ns = exec_ns_here(task, now);
	else
		count_if_none(task);
}

#endif
