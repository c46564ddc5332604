// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * The ledger, Tier A: a few scheduler hooks, no syscall hook. A thread is followed if it has an
 * account in task storage; it gets one when it is seeded (ledger_seed) or made by one that has.
 */
#include "../../bpf/common.bpf.h"
#include "blocked.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct ledger_task);
} ledger_tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct rec_ledger);
} ledger_scratch SEC(".maps");

#define ROW_ATTEMPTS 4

static __always_inline struct ledger_task *account_of(struct task_struct *task)
{
	struct ledger_task *account = bpf_task_storage_get(&ledger_tasks, task, NULL, 0);

	return account && account->begin_ns ? account : NULL;
}

/* What the kernel itself counts, so that a report can hold the two against each other. */
static __always_inline void note_kernel_counts(struct ledger_task *account,
					       struct task_struct *task)
{
	account->nvcsw = account->nvcsw_before = task->nvcsw;
	account->nivcsw_before = task->nivcsw;
	account->exec_ns = account->exec_before_ns = task->se.sum_exec_runtime;
	account->delay_before_ns = task->sched_info.run_delay;
}

static __always_inline void fill_row(struct rec_ledger *row, const struct ledger_task *account,
				     struct task_struct *task)
{
	row->thread_start_ns = task->start_boottime;
	row->kernel_voluntary = task->nvcsw - account->nvcsw_before;
	row->kernel_involuntary = task->nivcsw - account->nivcsw_before;
	row->kernel_exec_ns = task->se.sum_exec_runtime - account->exec_before_ns;
	row->kernel_delay_ns = task->sched_info.run_delay - account->delay_before_ns;
	row->threads = 1;
	row->unnamed = 0;
	__builtin_memset(row->causes, 0, sizeof(row->causes));
	bpf_probe_read_kernel(row->comm, sizeof(row->comm), task->comm);
}

/* The last switch of a thread: its account goes out. */
static __always_inline void send_last_word(struct ledger_task *account, struct task_struct *task)
{
	struct rec_ledger *row = EMIT_RESERVE(LEDGER, ledger, task);

	if (!row)
		return; /* counted */
	ledger_copy(account, row, account->last_ns);
	fill_row(row, account, task);
	row->flags = LEDGER_LAST;
	EMIT_SUBMIT(row);
	account->begin_ns = 0; /* closed: a zombie spends no more time */
}

static __always_inline void leave_cpu(struct task_struct *task, u64 now)
{
	struct ledger_task *account = account_of(task);
	u64 nvcsw;

	if (!account)
		return;
	nvcsw = task->nvcsw;
	if (nvcsw == account->nvcsw) {
		account->involuntary++;
		ledger_switch_out(account, STATE_RUNQ_PREEMPTED, task->se.sum_exec_runtime, now);
		return;
	}
	account->nvcsw = nvcsw;
	account->voluntary++;
	ledger_switch_out(account, blocked_state(task), task->se.sum_exec_runtime, now);
	if (task_state(task) & TASK_DEAD)
		send_last_word(account, task);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(ledger_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u64 now = bpf_ktime_get_ns();
	struct ledger_task *account;

	if (prev->pid)
		leave_cpu(prev, now);
	if (!next->pid)
		return 0;
	account = account_of(next);
	if (account)
		ledger_switch_in(account, STATE_CPU, next->se.sum_exec_runtime, now);
	return 0;
}

static __always_inline int wake(struct task_struct *task)
{
	struct ledger_task *account = account_of(task);

	if (account)
		ledger_wake(account, (u32)bpf_get_current_pid_tgid(), bpf_ktime_get_ns());
	return 0;
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(ledger_waking, struct task_struct *task)
{
	return wake(task);
}

/* Where the waking came before the switch-out had been seen, this is the second chance. */
SEC("?tp_btf/sched_wakeup")
int BPF_PROG(ledger_wakeup, struct task_struct *task)
{
	return wake(task);
}

/* The first one of a new thread, when its parent is done with making it. */
SEC("?tp_btf/sched_wakeup_new")
int BPF_PROG(ledger_wakeup_new, struct task_struct *task)
{
	return wake(task);
}

static __always_inline void open_account(struct task_struct *task, u32 state, u64 now)
{
	struct ledger_task *account =
		bpf_task_storage_get(&ledger_tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!account)
		EMIT_LOSE(LEDGER, no_storage);
	if (!account || account->begin_ns)
		return;
	note_kernel_counts(account, task);
	ledger_begin(account, state, now);
}

/* Whom a followed thread makes is followed from its start on, which the kernel has stamped. */
SEC("?tp_btf/task_newtask")
int BPF_PROG(ledger_newtask, struct task_struct *task, u64 clone_flags)
{
	if (account_of(bpf_get_current_task_btf()))
		open_account(task, STATE_BLOCKED_FORK, task->start_time);
	return 0;
}

/* Run once, before anything else: threads in scope get their account as they stand. */
SEC("?iter/task")
int ledger_seed(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct live_config *live = live_config();
	u32 state;

	if (!task || !live || !filter_wants_tgid(live, task_tgid(task)))
		return 0;
	/* One that runs just now is found out at its next switch, by its run time. */
	state = task_state(task) ? blocked_state(task) : STATE_RUNQ_PREEMPTED;
	open_account(task, state, bpf_ktime_get_ns());
	return 0;
}

/* Rows of all that live. Stateless: it runs again for a task when the buffer was full. */
SEC("?iter/task")
int ledger_rows(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct ledger_task *account;
	struct rec_ledger *row;
	u32 zero = 0;

	if (!task)
		return 0;
	account = account_of(task);
	row = bpf_map_lookup_elem(&ledger_scratch, &zero);
	if (!account || !row)
		return 0;
	for (int attempt = 0; attempt < ROW_ATTEMPTS; attempt++) {
		if (!ledger_copy(account, row, bpf_ktime_get_ns()))
			continue;
		emit_header(&row->hdr, SIG_LEDGER, SIG_VERSION_LEDGER, sizeof(*row), 1, task);
		fill_row(row, account, task);
		row->flags = 0;
		bpf_seq_write(ctx->meta->seq, row, sizeof(*row));
		return 0;
	}
	EMIT_LOSE(LEDGER, torn);
	return 0;
}
