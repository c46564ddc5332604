// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * The ledger, Tier A: a few scheduler hooks, no syscall hook. A thread is followed if it has an
 * account in task storage; it gets one when it is seeded (ledger_seed) or made by one that has.
 */
#include "../../bpf/common.bpf.h"
#include "blocked.bpf.h"
#include "wake.bpf.h"
#include "read_out.bpf.h"
#include "cpus.bpf.h"
#include "open.bpf.h"
#include "rivals.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct rec_ledger);
} ledger_scratch SEC(".maps");

/* Throttled by a quota: from 6.18 the task itself is marked, before that its queue. */
static __always_inline bool is_throttled(struct task_struct *task)
{
	struct task_struct___throttled *marked = (void *)task;

	if (bpf_core_field_exists(marked->throttled) && marked->throttled)
		return true;
	return bpf_core_field_exists(struct cfs_rq, throttle_count) &&
	       BPF_CORE_READ(task, se.cfs_rq, throttle_count) > 0;
}

static __always_inline void wait_as_before(struct ledger_task *account, struct wait *wait)
{
	const struct ledger_cause *cause = ledger_cause_at(account, account->cause - 1);

	wait->state = cause->state;
	wait->call = cause->call;
	wait->object = cause->object;
	wait->holder = cause->holder;
	wait->lock = account->wait_lock;
}

/* What it waits for gets its name, unless it is what it waited for last. */
static __always_inline void send_name(struct task_struct *task, struct ledger_task *account,
				      const struct object *object)
{
	u64 id = object->mmap_lock ? object->mmap_lock : object->id;

	if ((!object->file && !object->mmap_lock) ||
	    (account->cause && ledger_cause_at(account, account->cause - 1)->object == id))
		return;
	if (object->mmap_lock)
		object_send_mmap_lock(task, id);
	else
		object_send(task, object);
}

/* Not inlined: what it needs of the stack is not needed while the other one takes the CPU. */
static __noinline int leave_cpu(struct task_struct *task, struct ledger_cpu *cpu,
				struct ledger_stolen *stolen, u64 now)
{
	struct ledger_task *account = account_of(task);
	u64 exec_ns = task->se.sum_exec_runtime;
	struct object object = {};
	struct wait wait = {};
	u64 nvcsw = task->nvcsw;

	if (!account)
		return 0;
	if (cpu)
		cpu->is_late = !ledger_is_on_cpu(account);
	if (nvcsw == account->nvcsw)
		account->involuntary++;
	else
		account->voluntary++;
	/* One that wanted to block, but has a signal to see to, stays runnable. */
	if (nvcsw == account->nvcsw || !task_state(task))
		wait.state = is_throttled(task) ? STATE_RUNQ_THROTTLED : STATE_RUNQ_PREEMPTED;
	account->nvcsw = nvcsw;
	wait.is_woken = (task_state(task) & TASK_WAKING) || task_is_being_woken(task);
	if ((task_state(task) & TASK_DEAD) || (account->is_unwanted && !ledger_is_open(account))) {
		ledger_finish(account, stolen, exec_ns, now);
		if (account->is_left)
			close_account(account);
		else
			send_last_word(account, task, exec_ns);
		if (!cfg_task_storage)
			drop_account(task); /* storage goes with its task */
		return 0;
	}
	if (!wait.state)
		judge_block(task, &wait, &object, account);
	if (wait.is_resumed && account->cause)
		wait_as_before(account, &wait);
	ledger_switch_out(account, &wait, stolen, exec_ns, now);
	send_name(task, account, &object);
	return 0;
}

/*
 * What the end of a wait does to an account, as functions that the verifier checks by themselves,
 * once: inlined, it would go through all that follows for each way in which a wait can end, and
 * take a quarter of a second. Kernels before 5.12 do not take a pointer here.
 */
__attribute__((weak)) int ledger_get_cpu(struct ledger_task *account, u32 ran, u32 kind,
					 u64 exec_ns, u64 now)
{
	if (account)
		ledger_switch_in(account, ran, kind, exec_ns, now);
	return 0;
}

__attribute__((weak)) int ledger_get_chain(struct ledger_task *account)
{
	if (account)
		ledger_keep_chain(account);
	return 0;
}

__attribute__((weak)) int ledger_get_rivals(struct ledger_task *account, u32 number, u64 begin,
					    u64 now)
{
	if (account)
		note_rivals(account, number, begin, now);
	return 0;
}

static __always_inline void take_cpu(struct task_struct *task, struct task_struct *prev,
				     struct ledger_cpu *cpu, u64 now, const bool is_inlined)
{
	struct ledger_task *account = task->pid ? account_of(task) : NULL;
	u32 kind = prev->pid ? WAKER_RAN : WAKER_IDLE;
	bool is_unseen;

	if (cpu) {
		cpu->use = use_of(task, account);
		cpu->pid = (u32)task->pid;
		cpu->task = (u64)task;
		cpu->exec_ns = task->se.sum_exec_runtime;
		cpu->irq = cpu->softirq = 0; /* no interrupt switches */
		cpu->event.sock = 0;	     /* what the last thread did wakes nobody any more */
		cpu->is_late = 0;
		cpu->stolen.irq_taken_ns = cpu->stolen.irq_ns;
		cpu->stolen.softirq_taken_ns = cpu->stolen.softirq_ns;
		if (account) {
			u64 queued = queued_ns(account, now);

			cpu->queue_ns += queued;
			if (queued && account->state != STATE_RUNQ_THROTTLED &&
			    !ledger_add_last_run(account, &cpu->runs, now - queued, now)) {
				u32 number = bpf_get_smp_processor_id();

				if (is_inlined)
					note_rivals(account, number, now - queued, now);
				else
					ledger_get_rivals(account, number, now - queued, now);
			}
		}
		ledger_note_run(&cpu->runs, (u64)task, (u32)task->tgid, task->policy, now);
	}
	if (cpu)
		cpu->block_ns = 0;
	if (!account)
		return;
	if (prev->pid && task->nr_cpus_allowed < (int)cfg_cpus &&
	    idle_cpu_is_forbidden(task, account, now))
		kind = WAKER_NOT_ALLOWED;
	is_unseen = ledger_is_on_cpu(account) && !account->away_since_ns; /* missed */
	if (is_inlined)
		ledger_switch_in(account, kind == WAKER_RAN ? task_tid(prev) : 0, kind,
				 task->se.sum_exec_runtime, now);
	else
		ledger_get_cpu(account, kind == WAKER_RAN ? task_tid(prev) : 0, kind,
			       task->se.sum_exec_runtime, now);
	if (!is_inlined && account->has_chain)
		ledger_get_chain(account);
	if (cpu)
		cpu->block_ns = account->block_ns;
	if (is_unseen) {
		account->over.unseen =
			account->nvcsw == task->nvcsw ? UNSEEN_QUEUED : UNSEEN_BLOCKED;
		account->nvcsw = task->nvcsw;
	}
}

/* A frame of its own: beside that of leave_cpu there is no room for its parts. */
static __noinline int take_cpu_inlined(struct task_struct *task, struct task_struct *prev,
				       struct ledger_cpu *cpu, u64 now)
{
	take_cpu(task, prev, cpu, now, true);
	return 0;
}

static __always_inline int on_switch(struct task_struct *prev, struct task_struct *next,
				     const bool is_inlined)
{
	u64 now = bpf_ktime_get_ns();
	struct ledger_cpu *cpu = this_cpu_account();
	struct ledger_stolen stolen = {};

	if (cpu) {
		ledger_seq_open(&cpu->seq);
		charge_cpu_account(cpu, prev, now);
		stolen = cpu->stolen;
	}
	/* The one with many ways comes last: the verifier goes through what follows for each. */
	if (is_inlined)
		take_cpu_inlined(next, prev, cpu, now);
	else
		take_cpu(next, prev, cpu, now, false);
	if (cpu)
		ledger_seq_close(&cpu->seq);
	if (prev->pid)
		leave_cpu(prev, cpu, &stolen, now);
	return 0;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(ledger_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return on_switch(prev, next, false);
}

/* For kernels before 5.12. */
SEC("?tp_btf/sched_switch")
int BPF_PROG(ledger_switch_inlined, bool preempt, struct task_struct *prev,
	     struct task_struct *next)
{
	return on_switch(prev, next, true);
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(ledger_waking, struct task_struct *task)
{
	if (wake(task, true))
		bpf_tail_call(ctx, &ledger_after_waking, 0);
	return 0;
}

/* For kernels before 5.12, which do not take pointers as arguments of functions. */
SEC("?tp_btf/sched_waking")
int BPF_PROG(ledger_waking_alone, struct task_struct *task)
{
	wake(task, false);
	return 0;
}

/* The first one of a new thread, when its parent is done with making it. */
SEC("?tp_btf/sched_wakeup_new")
int BPF_PROG(ledger_wakeup_new, struct task_struct *task)
{
	wake(task, false);
	return 0;
}

/* Whom a followed thread makes is followed from its start on, which the kernel has stamped. */
SEC("?tp_btf/task_newtask")
int BPF_PROG(ledger_newtask, struct task_struct *task, u64 clone_flags)
{
	struct wait wait = {.state = STATE_BLOCKED_FORK};

	if (filter_wants_child(task, account_of_current() != NULL))
		open_account(task, &wait, task->start_time);
	return 0;
}

/*
 * A second chance: where many threads are made at once, the kernel's small stock of storage may
 * have been used up a moment ago, and is filled by now.
 */
SEC("?tp_btf/sched_process_fork")
int BPF_PROG(ledger_fork, struct task_struct *parent, struct task_struct *task)
{
	struct wait wait = {.state = STATE_BLOCKED_FORK};

	if (account_place(task) || !filter_wants_child(task, account_of_current() != NULL))
		return 0;
	open_account(task, &wait, task->start_time);
	count_if_none(task);
	return 0;
}

/*
 * The filter's verdict again, when what it depends on has changed. One that is no longer wanted is
 * closed at its next switch: only its own CPU may write into its account. One that is wanted now is
 * opened if it runs here, inside a system call; others are found by ledger_seed.
 */
static __always_inline void judge_again(struct task_struct *task, bool was_followed,
					const char *comm)
{
	bool is_wanted = filter_wants_still(task, was_followed, comm);
	struct ledger_task *account = account_of(task);

	if (account)
		account->is_unwanted = !is_wanted;
	else if (is_wanted && (u32)task->pid == (u32)bpf_get_current_pid_tgid())
		open_here(task);
}

/* In the hash it still has its old number; its start is that of the old leader by now. */
static __always_inline struct ledger_task *account_before_exec(struct task_struct *task, u32 pid)
{
	struct ledger_task *account;

	if (cfg_task_storage)
		return account_of(task);
	account = bpf_map_lookup_elem(&ledger_pids, &pid);
	return account && account->begin_ns ? account : NULL;
}

/* By an exec, one that is not the leader becomes it: another thread, as far as tids go. */
SEC("?tp_btf/sched_process_exec")
int BPF_PROG(ledger_exec, struct task_struct *task, int old_pid)
{
	struct ledger_task *account = account_before_exec(task, (u32)old_pid);

	if (account && task->pid != old_pid)
		close_here(account, task, bpf_ktime_get_ns());
	judge_again(task, account != NULL, NULL); /* also opens the new one's account */
	return 0;
}

SEC("?tp_btf/task_rename")
int BPF_PROG(ledger_rename, struct task_struct *task, const char *comm)
{
	if (filter_uses(FILTER_KIND_BIT(FILTER_BY_COMM)))
		judge_again(task, ledger_follows(task), comm);
	return 0;
}

SEC("?tp_btf/cgroup_attach_task")
int BPF_PROG(ledger_cgroup, struct cgroup *to, const char *path, struct task_struct *task)
{
	if (filter_uses(FILTER_KIND_BIT(FILTER_BY_CGROUP)))
		judge_again(task, ledger_follows(task), NULL);
	return 0;
}

/*
 * Run before anything else, and again where verdicts can change unseen: a whole process is moved to
 * a cgroup, or another user's.
 */
SEC("?iter/task")
int ledger_seed(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct object object = {};
	struct wait wait = {.state = STATE_RUNQ_PREEMPTED};
	struct ledger_task *account;
	bool is_wanted;

	if (!task) {
		ledger_cpus_have_begun();
		return 0;
	}
	ledger_begin_cpus(ctx->meta->seq_num);
	account = account_of(task);
	is_wanted = filter_wants_still(task, account != NULL, NULL);
	note_first_use(task, is_wanted);
	if (account) {
		account->is_unwanted = !is_wanted;
		return 0;
	}
	if (!is_wanted || task->exit_state)
		return 0;
	/* One that runs just now is found out at its next switch, by its run time. */
	if (task_state(task))
		judge_block(task, &wait, &object, NULL);
	account = open_account(task, &wait, bpf_ktime_get_ns());
	if (account)
		send_name(task, account, &object);
	count_if_none(task);
	return 0;
}

/*
 * Rows of all that live. Stateless: it runs again for a task when the buffer was full. CPUs come
 * one with each thread: together, more than 227 would not fit into the buffer, and only with a
 * thread does the kernel come again for one that is being written.
 */
SEC("?iter/task")
int ledger_rows(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct ledger_task *account;
	struct rec_ledger *row;
	bool is_whole = false, leaves;
	u32 zero = 0, seq = 0;
	u64 now;

	if (!task) {
		/* Of more CPUs than threads. */
		for (u32 i = 0; i < CPUS_MAX && i < cfg_cpus; i++)
			if (i > ctx->meta->seq_num)
				write_cpu(ctx->meta->seq, i, false);
		return 0;
	}
	if (write_cpu(ctx->meta->seq, (u32)ctx->meta->seq_num, true))
		return 1;
	account = account_of(task);
	row = bpf_map_lookup_elem(&ledger_scratch, &zero);
	if (!account || !row || account->is_left || is_as_before(account))
		return 0;
	now = bpf_ktime_get_ns();
	for (int attempt = 0; attempt < ROW_ATTEMPTS && !is_whole; attempt++) {
		seq = account->seq;
		is_whole = ledger_copy(account, row, now);
	}
	if (!is_whole && is_read_again(&account->torn_reads))
		return 1;
	account->torn_reads = 0;
	if (!is_whole) {
		EMIT_LOSE(LEDGER, torn);
		return 0;
	}
	if (!row->begin_ns)
		return 0; /* its account was closed meanwhile: its last word has all */
	emit_header(&row->hdr, SIG_LEDGER, SIG_VERSION_LEDGER, sizeof(*row), 1, task);
	/* A sleeper that is no longer wanted would be followed until it wakes up. */
	leaves = account->is_unwanted && ledger_is_blocked(row->open_state);
	ledger_copy_run(account, row, task->se.sum_exec_runtime);
	fill_row(row, account, task, task->se.sum_exec_runtime, leaves ? LEDGER_LAST : 0);
	if (!bpf_seq_write(ctx->meta->seq, row, sizeof(*row))) {
		account->is_left = leaves;
		account->read_seq = seq;
		note_told(&account->told, row);
	}
	return 0;
}
