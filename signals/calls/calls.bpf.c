// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Tier B: system calls and page faults of threads whose time on a CPU is to be split. The ledger
 * owns the accounts; interrupts are its own hooks'. Other threads pay one look-up per system call.
 */
#include "../../bpf/common.bpf.h"

#define ERRNO_MAX 4095

struct calls_task {
	u64 begin_ns; /* of the account that this belongs to */
	u64 thread_start_ns;
	u32 tid;
	u32 unused;
	u64 count; /* of all, so that a reader sees whether there is news */
	u64 read;  /* the reader's own: count when it last read */
	struct call_cost other;
	struct call_cost calls[CALLS_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct calls_task);
} calls_tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct rec_calls);
} calls_scratch SEC(".maps");

static __always_inline struct ledger_task *split_account(struct task_struct *task)
{
	struct ledger_task *account = account_of(task);

	return account && ledger_is_split(account) ? account : NULL;
}

static __always_inline struct ledger_stolen *stolen_here(void)
{
	struct ledger_cpu *cpu = this_cpu_account();

	return cpu ? &cpu->stolen : NULL;
}

/* The same; one that was taken out of Tier B since then turns to what it is without. */
static __always_inline struct ledger_task *split_account_or_leave(struct task_struct *task)
{
	struct ledger_task *account = account_of(task);

	if (!account || ledger_is_split(account))
		return account;
	if (account->resume != STATE_CPU)
		split_leave(account, stolen_here(), bpf_ktime_get_ns());
	return NULL;
}

static __always_inline u32 call_of(struct task_struct *task, long number)
{
#if defined(__TARGET_ARCH_x86)
	if (task->thread_info.status & TS_COMPAT)
		return (u32)(number + 1) | CALL_COMPAT;
#endif
	return (u32)(number + 1);
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(calls_enter, struct pt_regs *regs, long number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct ledger_task *account = split_account_or_leave(task);

	if (account)
		split_call_begin(account, call_of(task, number), stolen_here(), bpf_ktime_get_ns());
	return 0;
}

static __always_inline void fill_calls(struct rec_calls *row, const struct ledger_task *account,
				       const struct calls_task *calls, u64 is_last)
{
	row->is_last = is_last;
	row->hdr.tgid = account->tgid;
	row->hdr.tid = calls->tid;
	row->hdr.start_ns = account->start_ns;
	row->thread_start_ns = calls->thread_start_ns;
	row->begin_ns = calls->begin_ns;
	row->recent = 0;
	row->faults_begun = account->faults_begun;
	row->faults_ended = account->faults_ended;
	row->faults_failed = account->faults_failed;
	row->other = calls->other;
	for (u32 i = 0; i < CALLS_MAX; i++)
		row->calls[i] = calls->calls[i];
}

static __always_inline void send_calls(struct task_struct *task, const struct ledger_task *account,
				       const struct calls_task *calls)
{
	struct rec_calls *row = EMIT_RESERVE(CALLS, calls, task);

	if (!row)
		return; /* counted */
	fill_calls(row, account, calls, 1);
	EMIT_SUBMIT(row);
}

/* Those of a thread's account; of one that an exec has closed, the last word is sent. */
static __always_inline struct calls_task *calls_of(struct task_struct *task,
						   const struct ledger_task *account)
{
	struct calls_task *calls = bpf_task_storage_get(&calls_tasks, task, NULL, 0);

	if (calls && calls->begin_ns == account->begin_ns)
		return calls;
	if (calls) {
		send_calls(task, account, calls);
		bpf_task_storage_delete(&calls_tasks, task);
	}
	calls = bpf_task_storage_get(&calls_tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!calls)
		return NULL;
	calls->begin_ns = account->begin_ns;
	calls->thread_start_ns = account->thread_start_ns;
	calls->tid = account->tid;
	return calls;
}

static __always_inline void add_cost(struct task_struct *task, const struct ledger_task *account,
				     const struct call_cost *cost)
{
	struct calls_task *calls = calls_of(task, account);

	if (!calls) {
		EMIT_LOSE(CALLS, no_storage);
		return;
	}
	calls->count++;
	split_add_cost(split_cost_of(calls->calls, &calls->other, cost->call), cost);
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(calls_exit, struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct ledger_task *account = split_account_or_leave(task);
	struct call_cost cost = {};

	if (!account ||
	    !split_call_end(account, STATE_CPU_USER, stolen_here(), bpf_ktime_get_ns(), &cost))
		return 0;
	cost.failed = result < 0 && result >= -ERRNO_MAX;
	add_cost(task, account, &cost);
	return 0;
}

/* One that was not to happen, as in a careful read within an interrupt, is none of the thread's. */
static __always_inline int fault_begin(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct ledger_task *account = split_account(task);

	if (account && !task->pagefault_disabled)
		split_fault_begin(account, stolen_here(), bpf_ktime_get_ns());
	return 0;
}

SEC("?tp_btf/page_fault_user")
int BPF_PROG(calls_fault_user)
{
	return fault_begin();
}

SEC("?tp_btf/page_fault_kernel")
int BPF_PROG(calls_fault_kernel)
{
	return fault_begin();
}

/* Both kinds of page fault are counted by the kernel when they are done. */
SEC("?perf_event")
int calls_fault_end(void *ctx)
{
	struct ledger_task *account = split_account(bpf_get_current_task_btf());

	if (account)
		split_fault_end(account, stolen_here(), bpf_ktime_get_ns());
	return 0;
}

SEC("?tp_btf/signal_deliver")
int BPF_PROG(calls_signal)
{
	struct ledger_task *account = split_account(bpf_get_current_task_btf());

	if (account)
		split_signal(account, stolen_here(), bpf_ktime_get_ns());
	return 0;
}

/* The system call in which a thread ends never does: it counts up to here. */
static __always_inline void end_last_call(struct task_struct *task, struct ledger_task *account)
{
	struct call_cost cost = {};

	if (split_call_end(account, STATE_CPU_SYSCALL, stolen_here(), bpf_ktime_get_ns(), &cost))
		add_cost(task, account, &cost);
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(calls_last, struct task_struct *task)
{
	struct ledger_task *account = account_of(task);
	struct calls_task *calls;

	if (!account)
		return 0;
	if (ledger_is_split(account))
		end_last_call(task, account);
	calls = bpf_task_storage_get(&calls_tasks, task, NULL, 0);
	if (calls)
		send_calls(task, account, calls);
	return 0;
}

/* Of all that live and made a call since the last time, also if Tier B has left them since. */
SEC("?iter/task")
int calls_rows(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct ledger_task *account;
	struct calls_task *calls;
	struct rec_calls *row;
	u32 zero = 0;

	if (!task)
		return 0;
	account = account_of(task);
	calls = bpf_task_storage_get(&calls_tasks, task, NULL, 0);
	row = bpf_map_lookup_elem(&calls_scratch, &zero);
	if (!account || !calls || !row || calls->read == calls->count)
		return 0;
	emit_header(&row->hdr, SIG_CALLS, SIG_VERSION_CALLS, sizeof(*row), 1, task);
	fill_calls(row, account, calls, 0);
	row->recent = calls->count - calls->read;
	if (!bpf_seq_write(ctx->meta->seq, row, sizeof(*row)))
		calls->read = calls->count;
	return 0;
}

/*
 * Takes threads out of Tier B, or back into it, as the map split_off and the knob no_split say. One
 * that comes back may have been inside a call when it left, which is over by now: nobody else
 * writes that while it is out.
 */
SEC("?iter/task")
int calls_turn(struct bpf_iter__task *ctx)
{
	struct live_config *live = live_config();
	struct task_struct *task = ctx->task;
	struct ledger_task *account;
	u32 tgid;

	account = task && live ? account_of(task) : NULL;
	if (!account || !(account->flags & ACCOUNT_SPLIT))
		return 0;
	tgid = account->tgid;
	if (live->no_split || bpf_map_lookup_elem(&split_off, &tgid)) {
		account->is_split_no_more = 1;
	} else if (account->is_split_no_more) {
		account->call_ns = 0;
		account->is_split_no_more = 0;
	}
	return 0;
}
