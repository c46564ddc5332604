// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * The ledger, Tier A: a few scheduler hooks, no syscall hook. A thread is followed if it has an
 * account in task storage; it gets one when it is seeded (ledger_seed) or made by one that has.
 */
#include "../../bpf/common.bpf.h"
#include "blocked.bpf.h"
#include "wake.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct rec_ledger);
} ledger_scratch SEC(".maps");

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

#define ROW_ATTEMPTS 3

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
	row->kernel_delay_ns = task->sched_info.run_delay - account->delay_before_ns;
	row->flags = flags | (account->flags & ACCOUNT_KERNEL ? LEDGER_KERNEL : 0);
	row->threads = 1;
	row->inner_tid = account->inner_tid;
	row->unused = 0;
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

static __always_inline void note_told(struct ledger_told *told, const struct rec_ledger *row)
{
	for (u32 i = 0; i < STATE_COUNT; i++) {
		told->ns[i] = row->ns[i];
		told->entries[i] = row->entries[i];
	}
	told->exec_ns = row->kernel_exec_ns;
	told->delay_ns = row->kernel_delay_ns;
	told->end_ns = row->end_ns;
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
}

static __always_inline void leave_cpu(struct task_struct *task, struct ledger_stolen *stolen,
				      u64 now)
{
	struct ledger_task *account = account_of(task);
	u64 exec_ns = task->se.sum_exec_runtime;
	struct object object = {};
	struct wait wait = {};
	u64 nvcsw = task->nvcsw;

	if (!account)
		return;
	if (nvcsw == account->nvcsw)
		account->involuntary++;
	else
		account->voluntary++;
	/* One that wanted to block, but has a signal to see to, stays runnable. */
	if (nvcsw == account->nvcsw || !task_state(task))
		wait.state = is_throttled(task) ? STATE_RUNQ_THROTTLED : STATE_RUNQ_PREEMPTED;
	account->nvcsw = nvcsw;
	wait.is_woken = (task_state(task) & TASK_WAKING) != 0;
	if ((task_state(task) & TASK_DEAD) || account->is_unwanted) {
		ledger_finish(account, stolen, exec_ns, now);
		if (account->is_left)
			close_account(account);
		else
			send_last_word(account, task, exec_ns);
		if (!cfg_task_storage)
			drop_account(task); /* storage goes with its task */
		return;
	}
	if (!wait.state)
		judge_block(task, &wait, &object, true);
	if (wait.is_resumed && account->cause)
		wait_as_before(account, &wait);
	if (ledger_switch_out(account, &wait, stolen, exec_ns, now) && object.file)
		object_send(task, &object);
}

static __always_inline u32 use_of(struct task_struct *task, bool is_followed)
{
	if (!task->pid)
		return CPU_USE_IDLE;
	if (task->flags & PF_KTHREAD)
		return CPU_USE_KERNEL;
	if ((u32)task->tgid == cfg_self_tgid || (u32)task->tgid == cfg_worker_tgid)
		return CPU_USE_DWELL;
	return is_followed ? CPU_USE_FOLLOWED : CPU_USE_OTHER;
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
		cpu->begin_ns = now;
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

static __always_inline void take_cpu(struct task_struct *task, struct task_struct *prev,
				     struct ledger_cpu *cpu, u64 now)
{
	struct ledger_task *account = task->pid ? account_of(task) : NULL;
	u32 kind = prev->pid ? WAKER_RAN : WAKER_IDLE;

	if (cpu) {
		cpu->use = use_of(task, account);
		cpu->pid = (u32)task->pid;
		cpu->task = (u64)task;
		cpu->exec_ns = task->se.sum_exec_runtime;
		cpu->irq = cpu->softirq = 0; /* no interrupt switches */
		cpu->stolen.irq_taken_ns = cpu->stolen.irq_ns;
		cpu->stolen.softirq_taken_ns = cpu->stolen.softirq_ns;
		if (account)
			cpu->queue_ns += queued_ns(account, now);
	}
	if (!account)
		return;
	if (prev->pid && task->nr_cpus_allowed < (int)cfg_cpus &&
	    idle_cpu_is_forbidden(task, account, now))
		kind = WAKER_NOT_ALLOWED;
	if (ledger_is_on_cpu(account)) /* its switch-out was missed */
		account->nvcsw = task->nvcsw;
	ledger_switch_in(account, kind == WAKER_RAN ? task_tid(prev) : 0, kind,
			 task->se.sum_exec_runtime, now);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(ledger_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u64 now = bpf_ktime_get_ns();
	struct ledger_cpu *cpu = this_cpu_account();
	struct ledger_stolen stolen = {};

	if (cpu) {
		cpu->seq++;
		ledger_barrier();
		charge_cpu_account(cpu, prev, now);
		stolen = cpu->stolen;
	}
	/* The one with many ways comes last: the verifier goes through what follows for each. */
	take_cpu(next, prev, cpu, now);
	if (cpu) {
		ledger_barrier();
		cpu->seq++;
	}
	if (prev->pid)
		leave_cpu(prev, &stolen, now);
	return 0;
}

static __always_inline int wake(struct task_struct *task)
{
	struct ledger_task *account = account_of(task);
	u32 waker = 0;
	u32 kind;

	if (!account || account->wake_ns)
		return 0;
	kind = wake_context(account->state);
	if (kind == WAKER_THREAD || kind == WAKER_NONE)
		waker = current_tid();
	ledger_wake(account, waker, kind, bpf_ktime_get_ns());
	return 0;
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(ledger_waking, struct task_struct *task)
{
	return wake(task);
}

/* The first one of a new thread, when its parent is done with making it. */
SEC("?tp_btf/sched_wakeup_new")
int BPF_PROG(ledger_wakeup_new, struct task_struct *task)
{
	return wake(task);
}

/*
 * Interrupts: the context of a wake-up, and in Tier B what they took of the CPU's time. Not every
 * end of one reaches us: each beginning, and each switch, puts it right.
 */
static __always_inline int irq_entry(void)
{
	struct ledger_cpu *cpu = this_cpu_account();

	if (!cpu)
		return 0;
	cpu->irq = 1;
	if (cfg_split)
		cpu->irq_since_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int irq_exit(void)
{
	struct ledger_cpu *cpu = this_cpu_account();
	u64 took;

	if (!cpu || !cpu->irq)
		return 0;
	cpu->irq = 0;
	if (!cfg_split)
		return 0;
	took = bpf_ktime_get_ns() - cpu->irq_since_ns;
	cpu->stolen.irq_ns += took;
	if (cpu->softirq)
		cpu->softirq_since_ns += took; /* it was interrupted itself */
	return 0;
}

SEC("?tp_btf/softirq_entry")
int BPF_PROG(ledger_softirq_entry, unsigned int vector)
{
	struct ledger_cpu *cpu = this_cpu_account();

	if (!cpu)
		return 0;
	cpu->irq = 0; /* a soft one is not served within a hard one */
	cpu->softirq = (u16)vector + 1;
	if (cfg_split)
		cpu->softirq_since_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("?tp_btf/softirq_exit")
int BPF_PROG(ledger_softirq_exit, unsigned int vector)
{
	struct ledger_cpu *cpu = this_cpu_account();

	if (!cpu || !cpu->softirq)
		return 0;
	cpu->softirq = 0;
	if (cfg_split)
		cpu->stolen.softirq_ns += bpf_ktime_get_ns() - cpu->softirq_since_ns;
	return 0;
}

SEC("?tp_btf/irq_handler_entry")
int BPF_PROG(ledger_irq_entry)
{
	return irq_entry();
}

SEC("?tp_btf/irq_handler_exit")
int BPF_PROG(ledger_irq_exit)
{
	return irq_exit();
}

/* Work that an interrupt was asked to do, and the CPU's own timer, do not come as an irq on x86. */
SEC("?tp_btf/irq_work_entry")
int BPF_PROG(ledger_work_entry)
{
	return irq_entry();
}

SEC("?tp_btf/irq_work_exit")
int BPF_PROG(ledger_work_exit)
{
	return irq_exit();
}

SEC("?tp_btf/local_timer_entry")
int BPF_PROG(ledger_timer_entry)
{
	return irq_entry();
}

SEC("?tp_btf/local_timer_exit")
int BPF_PROG(ledger_timer_exit)
{
	return irq_exit();
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
	if (is_split(account->tgid))
		account->flags |= ACCOUNT_SPLIT;
}

/* A new thread, too, goes on inside the system call that made it. */
static __always_inline u32 first_state_on_cpu(const struct ledger_task *account,
					      const struct wait *wait)
{
	if (!(account->flags & ACCOUNT_SPLIT))
		return STATE_CPU;
	return wait->call || wait->state == STATE_BLOCKED_FORK ? STATE_CPU_SYSCALL : STATE_CPU_USER;
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
	if (!account) {
		EMIT_LOSE(LEDGER, no_storage);
		return NULL;
	}
	note_task(account, task);
	if (ledger_is_blocked(wait->state))
		ledger_name_block(account, wait);
	if (state == STATE_CPU_SYSCALL && !(account->flags & ACCOUNT_SPLIT))
		state = STATE_CPU;
	ledger_begin(account, state, first_state_on_cpu(account, wait), now);
	return account;
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

	if (!task)
		return 0;
	account = account_of(task);
	is_wanted = filter_wants_still(task, account != NULL, NULL);
	if (account) {
		account->is_unwanted = !is_wanted;
		return 0;
	}
	if (!is_wanted || task->exit_state)
		return 0;
	/* One that runs just now is found out at its next switch, by its run time. */
	if (task_state(task))
		judge_block(task, &wait, &object, false);
	if (open_account(task, &wait, bpf_ktime_get_ns()) && object.file)
		object_send(task, &object);
	return 0;
}

/* Up to now; what it is busy with is closed on paper. False if a switch came between. */
static __always_inline bool copy_cpu(const struct ledger_cpu *cpu, struct rec_cpu *row, u64 now)
{
	u32 seq = ledger_read_seq(&cpu->seq);
	u64 last = cpu->last_ns;
	u32 use = cpu->use;

	for (u32 i = 0; i < CPU_USE_COUNT; i++)
		row->ns[i] = cpu->ns[i] + (i == use && now > last ? now - last : 0);
	row->begin_ns = cpu->begin_ns;
	row->end_ns = now > last ? now : last;
	row->queue_ns = cpu->queue_ns;
	row->switches = cpu->switches;
	row->missed = cpu->missed;
	return ledger_is_whole(&cpu->seq, seq);
}

/* False if there is no room left; the whole program is then run again. */
static __always_inline bool write_cpu(struct seq_file *seq, u32 number)
{
	struct ledger_cpu *cpu = cpu_account(number);
	struct rec_cpu row = {};
	u64 now;

	if (!cpu || !cpu->begin_ns)
		return true;
	emit_header(&row.hdr, SIG_CPU, SIG_VERSION_CPU, sizeof(row), 1, current_task());
	row.cpu = number;
	now = bpf_ktime_get_ns();
	/* Twice, and not in a loop: older verifiers do not take one within another after a call. */
	if (!copy_cpu(cpu, &row, now) && !copy_cpu(cpu, &row, now)) {
		EMIT_LOSE(CPU, torn);
		return true;
	}
	return !bpf_seq_write(seq, &row, sizeof(row));
}

/* A sleeper that has not moved since it was last read has nothing new to say. */
static __always_inline bool is_as_before(const struct ledger_task *account)
{
	struct live_config *live = live_config();

	return account->read_seq == account->seq && ledger_is_blocked(account->state) &&
	       !account->wake_ns && !account->is_unwanted && live && !live->all_rows;
}

/* Rows of all that live. Stateless: it runs again for a task when the buffer was full. */
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
		for (u32 i = 0; i < CPUS_MAX && i < cfg_cpus; i++)
			if (!write_cpu(ctx->meta->seq, i))
				break;
		return 0;
	}
	account = account_of(task);
	row = bpf_map_lookup_elem(&ledger_scratch, &zero);
	if (!account || !row || account->is_left || is_as_before(account))
		return 0;
	now = bpf_ktime_get_ns();
	for (int attempt = 0; attempt < ROW_ATTEMPTS && !is_whole; attempt++) {
		seq = account->seq;
		is_whole = ledger_copy(account, row, now);
	}
	if (!is_whole) {
		EMIT_LOSE(LEDGER, torn);
		return 0;
	}
	emit_header(&row->hdr, SIG_LEDGER, SIG_VERSION_LEDGER, sizeof(*row), 1, task);
	/* A sleeper that is no longer wanted would be followed until it wakes up. */
	leaves = account->is_unwanted && ledger_is_blocked(row->open_state);
	fill_row(row, account, task, task->se.sum_exec_runtime, leaves ? LEDGER_LAST : 0);
	if (!bpf_seq_write(ctx->meta->seq, row, sizeof(*row))) {
		account->is_left = leaves;
		account->read_seq = seq;
		note_told(&account->told, row);
	}
	return 0;
}
