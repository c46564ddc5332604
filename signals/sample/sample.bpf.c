// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Samples: of threads that run, by the clock of each CPU; and of threads that were blocked, when
 * they run again, as only then it is known how long they were. Needs the ledger, which knows who is
 * followed and in which state; its programs come first at each hook.
 */
#include "../../bpf/common.bpf.h"
#include "choice.bpf.h"

/* --- on a CPU --- */

/*
 * An interrupt's time is not the thread's own: the CPU knows whether one is under way. The clock's
 * tick is one itself, and can fall into no other; the CPU's counter does not wait for them to end.
 */
static __always_inline u32 state_now(const struct ledger_task *account, u32 mode, bool is_nmi)
{
	struct ledger_cpu *cpu = this_cpu_account();

	if (mode == MODE_KERNEL && ledger_is_split(account) && cpu && ledger_is_on_cpu(account)) {
		if (is_nmi && cpu->irq)
			return STATE_CPU_IRQ;
		if (cpu->softirq)
			return STATE_CPU_SOFTIRQ;
	}
	return account->state;
}

static __always_inline bool is_mismatch(const struct ledger_task *account, u32 state, u32 mode)
{
	if (!ledger_is_on_cpu(account))
		return true;
	if (state == STATE_CPU)
		return false;
	return (state == STATE_CPU_USER) != (mode == MODE_USER);
}

static __always_inline void fill_sample(struct rec_sample *rec, const struct ledger_task *account)
{
	rec->hdr.tgid = account->tgid;
	rec->hdr.tid = account->tid;
	rec->hdr.start_ns = account->start_ns;
	rec->thread_start_ns = account->thread_start_ns;
	rec->unused = 0;
	rec->unused2 = 0;
}

/* Of the programs that the clock runs, and of nobody else: they may interrupt all others. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} sample_ticks SEC(".maps");

/* What this tick stands for; 0: it is no sample. */
static __always_inline u64 weight_of_tick(void)
{
	struct live_config *live = live_config();
	u32 zero = 0;
	u64 *ticks = bpf_map_lookup_elem(&sample_ticks, &zero);

	return live && ticks ? choose_tick(ticks, live->tick_one_in) * cfg_sample_period_ns : 0;
}

/* The context of a perf event begins with the registers that it found. */
static __always_inline int tick(struct cpu_regs *ctx, bool is_nmi)
{
	u64 key, weight_ns = weight_of_tick();
	struct ledger_task *account;
	struct stack_scratch *scratch;
	struct rec_sample *rec;
	u32 state, stop, mode = MODE_USER;

	if (!weight_ns)
		return 0;
	account = is_nmi ? account_of_current_nmi() : account_of_current();
	if (!account)
		return 0;
#if defined(__TARGET_ARCH_x86)
	if (!(ctx->cs & CS_USER_MASK))
		mode = MODE_KERNEL;
#else
	if ((s64)ctx->pc < 0)
		mode = MODE_KERNEL;
#endif
	struct stack_wish wish = {
		.context = STACK_CPU,
		.tgid = account->tgid,
		.kind = SAMPLE_CPU,
		.has_user = true,
		.has_kernel = mode == MODE_KERNEL,
		.is_nmi = is_nmi,
	};
	scratch = stack_claim(STACK_CPU);
	if (scratch && mode == MODE_USER) {
		scratch->regs = *ctx;
		wish.regs = &scratch->regs;
	}
	state = state_now(account, mode, is_nmi);
	key = stack_take_in(ctx, &wish, scratch, &stop);
	rec = EMIT_RESERVE_ON(records_ring(is_nmi), SAMPLE, sample, current_task());
	if (!rec)
		return 0; /* counted */
	fill_sample(rec, account);
	rec->stack = key;
	rec->waker_stack = 0;
	rec->weight_ns = weight_ns;
	rec->ns = 0;
	rec->kind = SAMPLE_CPU;
	rec->state = (u8)state;
	rec->mode = (u8)mode;
	rec->stop = (u8)stop;
	rec->is_mismatch = is_mismatch(account, state, mode);
	rec->waker_kind = WAKER_NONE;
	rec->waker = 0;
	EMIT_SUBMIT_ON(records_ring(is_nmi), rec);
	return 0;
}

/*
 * By the CPU's own counter, where it has one: it sees also what runs with interrupts off, as it
 * runs in NMI (nmi.bpf.h).
 */
SEC("?perf_event")
int sample_cycles(struct cpu_regs *ctx)
{
	return tick(ctx, true);
}

SEC("?perf_event")
int sample_clock(struct cpu_regs *ctx)
{
	return tick(ctx, false);
}

/* --- blocked --- */

static __always_inline u64 take_block(void *ctx, const struct ledger_task *account, u32 *ret_stop)
{
	struct stack_wish wish = {
		.context = STACK_RESUME,
		.tgid = account->tgid,
		.kind = SAMPLE_BLOCKED,
		.has_user = true,
		.has_kernel = true,
	};

	return stack_take(ctx, &wish, ret_stop);
}

static __always_inline void send_block(struct task_struct *task, const struct ledger_task *account,
				       u64 ns, u64 weight_ns, u64 key, u32 stop)
{
	struct rec_sample *rec = EMIT_RESERVE(SAMPLE, sample, task);

	if (!rec)
		return; /* counted */
	fill_sample(rec, account);
	rec->stack = key;
	rec->waker_stack = account->waker_stack;
	rec->weight_ns = weight_ns;
	rec->ns = ns;
	rec->kind = SAMPLE_BLOCKED;
	rec->state = (u8)account->over.block_state;
	rec->mode = MODE_KERNEL;
	rec->stop = (u8)stop;
	rec->is_mismatch = 0;
	rec->waker_kind = (u8)account->waker_kind;
	rec->waker = account->waker;
	EMIT_SUBMIT(rec);
}

/* For the request that the thread works for: its longest wait is shown with its stack. */
static __always_inline void note_longest(struct ledger_task *account, u64 ns, u64 key, u32 stop)
{
	struct request_wait *wait = &account->request.wait;

	if (!key || !account->request.measured || ns <= wait->ns)
		return;
	wait->ns = ns;
	wait->stack = key;
	wait->state = account->over.block_state;
	wait->stop = stop;
}

/*
 * Runs after each switch: so what the ledger has left in the CPU's own account is looked at first,
 * and the thread's only if its stack is taken. Where a switch was missed, that is of another
 * thread.
 */
static __always_inline int resume(void *ctx)
{
	struct ledger_cpu *cpu = this_cpu_account();
	struct ledger_task *account;
	u64 ns, weight_ns, key = 0;
	u32 stop;

	if (!cpu || !cpu->block_ns)
		return 0;
	ns = cpu->block_ns;
	cpu->block_ns = 0;
	weight_ns = choose_wait(ns, cpu->last_ns);
	if (!weight_ns && !SIGNAL_IS_ON(LOCKS))
		return 0;
	account = cpu->task == (u64)current_task() ? account_of_current() : NULL;
	if (!account)
		return 0;
	if (weight_ns) {
		key = take_block(ctx, account, &stop);
		send_block(current_task(), account, ns, weight_ns, key, stop);
		note_longest(account, ns, key, stop);
	}
	if (SIGNAL_IS_ON(LOCKS))
		lock_count_stacks(current_task(), account, ns, weight_ns, key);
	account->waker_stack = 0;
	return 0;
}

/* From 6.14: in the context of the thread that was switched to, when all locks are released. */
SEC("?tp_btf/sched_exit_tp")
int BPF_PROG(sample_resume, bool is_switch)
{
	return is_switch ? resume(ctx) : 0;
}

/* The same moment on kernels without it. */
SEC("?kprobe")
int sample_resume_kprobe(struct pt_regs *ctx)
{
	return resume(ctx);
}

static __always_inline void enter_block(void *ctx, struct ledger_task *account)
{
	u32 stop;

	account->out_weight = choose_any();
	if (!account->out_weight)
		return;
	account->out_stack = take_block(ctx, account, &stop);
	account->out_stop = stop;
}

static __always_inline void leave_block(struct task_struct *task, struct ledger_task *account)
{
	if (account->block_ns && account->out_weight) {
		send_block(task, account, account->block_ns,
			   weigh(account->block_ns, account->out_weight), account->out_stack,
			   (u32)account->out_stop);
		note_longest(account, account->block_ns, account->out_stack,
			     (u32)account->out_stop);
	}
	if (SIGNAL_IS_ON(LOCKS))
		lock_count_stacks(
			task, account, account->block_ns,
			account->out_weight ? weigh(account->block_ns, account->out_weight) : 0,
			account->out_stack);
	account->block_ns = account->waker_stack = 0;
	account->out_weight = 0;
}

/*
 * Where nothing tells that a thread runs again, its stack is taken when it leaves its CPU. How long
 * it will wait is not known then: some are taken, whatever their length, and stand for the others.
 */
SEC("?tp_btf/sched_switch")
int BPF_PROG(sample_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct ledger_task *leaves = prev->pid ? account_of(prev) : NULL;
	struct ledger_task *comes = next->pid ? account_of(next) : NULL;

	if (comes)
		leave_block(next, comes);
	if (leaves && ledger_is_blocked(leaves->state))
		enter_block(ctx, leaves);
	return 0;
}

/* --- who ended a wait --- */

/*
 * After the ledger's own program at this hook, which has found out from where the wake-up comes.
 * That one calls it, of long waits alone; or it is attached itself.
 */
SEC("?tp_btf/sched_waking")
int BPF_PROG(sample_waking, struct task_struct *task)
{
	struct ledger_task *account = account_of(task);
	struct stack_wish wish = {.context = STACK_WAKE, .kind = SAMPLE_CPU, .has_kernel = true};
	struct ledger_task *waker;
	u32 stop;

	if (!account || !ledger_is_blocked(account->state) || account->waker_stack ||
	    !choose_waker(bpf_ktime_get_ns() - account->last_ns))
		return 0;
	/* Of a thread that is not followed, the kernel's part alone. */
	waker = account->waker_kind == WAKER_THREAD ? account_of_current() : NULL;
	if (waker) {
		wish.has_user = true;
		wish.tgid = waker->tgid;
	}
	account->waker_stack = stack_take(ctx, &wish, &stop);
	return 0;
}

/* --- what becomes of processes --- */

static __always_inline void forget(u32 tgid)
{
	struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &tgid);
	u32 generation;

	if (!process)
		return;
	generation = process->generation;
	bpf_map_delete_elem(&unwind_processes, &tgid);
	if (cfg_nmi)
		unwind_range_forget(tgid);
	unwind_request(&unwind_requests, tgid, UNWIND_WANT_GONE, generation);
}

/* A child has its parent's mappings; user space learns of it later. */
SEC("?tp_btf/sched_process_fork")
int BPF_PROG(sample_fork, struct task_struct *parent, struct task_struct *child)
{
	struct ledger_task *from = account_of(parent), *to = account_of(child);
	struct unwind_process *process;
	u32 tgid;

	if (child->pid != child->tgid || !from || !to)
		return 0;
	tgid = from->tgid;
	process = bpf_map_lookup_elem(&unwind_processes, &tgid);
	if (!process || !process->generation)
		return 0;
	struct unwind_process copy = *process;

	tgid = to->tgid;
	bpf_map_update_elem(&unwind_processes, &tgid, &copy, BPF_ANY);
	if (cfg_nmi)
		unwind_range_set(tgid, &copy);
	unwind_request(&unwind_requests, tgid, UNWIND_WANT_FORKED, copy.generation);
	return 0;
}

/* Another program. Where all are followed, the first sample asks: few that exec are ever sampled.
 */
SEC("?tp_btf/sched_process_exec")
int BPF_PROG(sample_exec, struct task_struct *task)
{
	struct ledger_task *account = account_of(task);
	struct live_config *live = live_config();

	if (!account)
		return 0;
	forget(account->tgid);
	if (live && live->scope == SCOPE_LISTED)
		unwind_ask(account->tgid, NULL);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(sample_exit, struct task_struct *task)
{
	struct ledger_task *account = account_of(task);

	if (account && BPF_CORE_READ(task, signal, live.counter) == 0)
		forget(account->tgid);
	return 0;
}

/*
 * Run before threads are followed: whoever will be has tables from its first sample on. Where all
 * are followed, only those that run are worth it, and their first sample asks.
 */
SEC("?iter/task")
int sample_ask(struct bpf_iter__task *ctx)
{
	struct live_config *live = live_config();
	struct task_struct *task = ctx->task;

	if (task && task->pid == task->tgid && !(task->flags & PF_KTHREAD) && live &&
	    live->scope == SCOPE_LISTED && filter_wants(task))
		unwind_ask(task_tgid(task), NULL);
	return 0;
}
