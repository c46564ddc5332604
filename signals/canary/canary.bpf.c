// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * The canary: one small program per kind of hook, each sending one fixed record through the
 * same filter, ring buffer and queue as every other signal. `dwell doctor` tries them one at a
 * time; a row of src/doctor/features.c says how each is attached and made to fire.
 */
#include "../../bpf/common.bpf.h"
#include <bpf/usdt.bpf.h>
#include "canary.bpf.h"

#define STACK_BYTES 512

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u8[STACK_BYTES]);
} canary_scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 64);
	__type(key, u32);
	__type(value, u64[STACK_BYTES / 8]);
} canary_stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, u64);
} canary_tasks SEC(".maps");

struct {
	__uint(type, MAP_TYPE_CGROUP_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, u64);
} canary_cgroups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_USER_RINGBUF);
	__uint(max_entries, 4096);
} canary_orders SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 64);
	__type(key, u32);
	__type(value, u64);
} canary_sparse SEC(".maps");

/* Hooks that tell of themselves alone. */

SEC("?raw_tp/sys_enter")
int canary_raw_tp(struct bpf_raw_tracepoint_args *ctx)
{
	return canary_at_syscall(ctx->args[1], 1);
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(canary_tp_btf, struct pt_regs *regs, long id)
{
	return canary_at_syscall(id, 1);
}

SEC("?tp/raw_syscalls/sys_enter")
int canary_tracepoint(struct trace_event_raw_sys_enter *ctx)
{
	return canary_at_syscall(ctx->id, 1);
}

SEC("?perf_event")
int canary_perf(void *ctx)
{
	return canary_send(current_task(), 1);
}

/* In NMI. The filters are a hash: so it is our child that is meant, which is the trigger. */
SEC("?perf_event")
int canary_cycles(void *ctx)
{
	struct task_struct *task = current_task();
	struct live_config *live = live_config();

	if (!live || live->scope == SCOPE_NONE || task_tgid(task) == cfg_worker_tgid ||
	    task_tgid(BPF_CORE_READ(task, group_leader, real_parent)) != cfg_self_tgid)
		return 0;
	return canary_emit(&records_nmi, live, task, 1);
}

SEC("?kprobe")
int canary_kprobe(struct pt_regs *ctx)
{
	return canary_send(current_task(), 1);
}

SEC("?kretprobe")
int canary_kretprobe(struct pt_regs *ctx)
{
	return canary_send(current_task(), 1);
}

SEC("?kprobe.multi")
int canary_kmulti(struct pt_regs *ctx)
{
	return canary_send(current_task(), 1);
}

SEC("?fentry/hrtimer_nanosleep")
int canary_fentry(void *ctx)
{
	return canary_send(current_task(), 1);
}

SEC("?fexit/hrtimer_nanosleep")
int canary_fexit(void *ctx)
{
	return canary_send(current_task(), 1);
}

SEC("?uprobe")
int canary_uprobe(struct pt_regs *ctx)
{
	UPROBE_BEGIN(ctx);
	return canary_send(current_task(), 1);
}

SEC("?uretprobe")
int canary_uretprobe(struct pt_regs *ctx)
{
	UPROBE_BEGIN(ctx);
	return canary_send(current_task(), 1);
}

SEC("?uprobe")
int canary_umulti(struct pt_regs *ctx)
{
	UPROBE_BEGIN(ctx);
	return canary_send(current_task(), 1);
}

SEC("?uprobe")
int canary_cookie(struct pt_regs *ctx)
{
	UPROBE_BEGIN(ctx);
	return canary_send(current_task(), bpf_get_attach_cookie(ctx));
}

SEC("?uprobe.s")
int canary_sleepable(struct pt_regs *ctx)
{
	UPROBE_BEGIN(ctx);
	u64 seen = 0;

	bpf_copy_from_user(&seen, sizeof(seen), (void *)PT_REGS_PARM1(ctx));
	return canary_send(current_task(), seen);
}

SEC("?usdt")
int BPF_USDT(canary_usdt, u64 value)
{
	UPROBE_BEGIN(ctx);
	return canary_send(current_task(), value);
}

/* Tracepoints of one kernel part or another. */

SEC("?tp_btf/sched_switch")
int BPF_PROG(canary_sched, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return canary_send(prev, 1);
}

SEC("?tp_btf/contention_begin")
int canary_contention(void *ctx)
{
	return canary_send(current_task(), 1);
}

SEC("?tp_btf/mmap_lock_start_locking")
int canary_mmap_lock(void *ctx)
{
	return canary_send(current_task(), 1);
}

/* Block requests are often issued by a kernel thread: any task's will do. */
SEC("?tp_btf/block_rq_issue")
int canary_block(void *ctx)
{
	return canary_send_for_any(current_task(), 1);
}

SEC("?tp_btf/block_io_start")
int canary_block_io(void *ctx)
{
	return canary_send_for_any(current_task(), 1);
}

SEC("?tp_btf/inet_sock_set_state")
int canary_sock_state(void *ctx)
{
	return canary_send(current_task(), 1);
}

SEC("?tp_btf/sock_send_length")
int canary_sock_len(void *ctx)
{
	return canary_send(current_task(), 1);
}

/* Helpers and maps. */

static __always_inline void *scratch(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&canary_scratch, &zero);
}

static __always_inline u64 frames_of(long stack_bytes)
{
	return stack_bytes > 0 ? stack_bytes / sizeof(u64) : 0;
}

SEC("?perf_event")
int canary_ustack(void *ctx)
{
	void *stack = scratch();

	if (!stack)
		return 0;
	return canary_send(current_task(),
			   frames_of(bpf_get_stack(ctx, stack, STACK_BYTES, BPF_F_USER_STACK)));
}

SEC("?raw_tp/sys_enter")
int canary_kstack(struct bpf_raw_tracepoint_args *ctx)
{
	void *stack = scratch();

	if (!stack || !canary_hears(ctx->args[1]))
		return 0;
	return canary_at_syscall(ctx->args[1],
				 frames_of(bpf_get_stack(ctx, stack, STACK_BYTES, 0)));
}

SEC("?raw_tp/sys_enter")
int canary_stackid(struct bpf_raw_tracepoint_args *ctx)
{
	long id;

	if (!canary_hears(ctx->args[1]))
		return 0;
	id = bpf_get_stackid(ctx, &canary_stacks, BPF_F_USER_STACK | BPF_F_REUSE_STACKID);
	return canary_send(current_task(), id >= 0);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(canary_tstack, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	void *stack = scratch();

	if (!stack)
		return 0;
	return canary_send(prev, frames_of(bpf_get_task_stack(prev, stack, STACK_BYTES, 0)));
}

SEC("?perf_event")
int canary_buildid(void *ctx)
{
	struct bpf_stack_build_id *stack = scratch();
	long bytes;

	if (!stack)
		return 0;
	bytes = bpf_get_stack(ctx, stack, STACK_BYTES, BPF_F_USER_STACK | BPF_F_USER_BUILD_ID);
	return canary_send(current_task(), bytes > 0 && stack->status == BPF_STACK_BUILD_ID_VALID);
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(canary_storage, struct pt_regs *regs, long id)
{
	u64 *mine;

	if (!canary_hears(id))
		return 0;
	mine = bpf_task_storage_get(&canary_tasks, bpf_get_current_task_btf(), NULL,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
	return canary_send(current_task(), mine != NULL);
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(canary_cgroup, struct pt_regs *regs, long id)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u64 *ours;

	if (!canary_hears(id))
		return 0;
	ours = bpf_cgrp_storage_get(&canary_cgroups, task->cgroups->dfl_cgrp, NULL,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
	return canary_send(current_task(), ours != NULL);
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(canary_regs, struct pt_regs *regs, long id)
{
	struct pt_regs *saved = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

	return canary_at_syscall(id, PT_REGS_IP_CORE(saved) != 0);
}

static long vma_found(struct task_struct *task, struct vm_area_struct *vma, u64 *found)
{
	*found = vma->vm_start != 0;
	return 0;
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(canary_vma, struct pt_regs *regs, long id)
{
	u64 found = 0;

	if (!canary_hears(id))
		return 0;
	bpf_find_vma(bpf_get_current_task_btf(), PT_REGS_IP_CORE(regs), vma_found, &found, 0);
	return canary_send(current_task(), found);
}

static long count_up(u32 index, u64 *count)
{
	(*count)++;
	return 0;
}

SEC("?raw_tp/sys_enter")
int canary_loop(struct bpf_raw_tracepoint_args *ctx)
{
	u64 count = 0;

	if (!canary_hears(ctx->args[1]))
		return 0;
	bpf_loop(CANARY_LOOPS, count_up, &count, 0);
	return canary_send(current_task(), count);
}

SEC("?raw_tp/sys_enter")
int canary_bounded(struct bpf_raw_tracepoint_args *ctx)
{
	volatile u64 count = 0;

	if (!canary_hears(ctx->args[1]))
		return 0;
#pragma clang loop unroll(disable)
	for (u32 i = 0; i < CANARY_LOOPS; i++)
		count++;
	return canary_send(current_task(), count);
}

static long order_taken(struct bpf_dynptr *order, void *unused)
{
	return 0;
}

SEC("?raw_tp/sys_enter")
int canary_orders_in(struct bpf_raw_tracepoint_args *ctx)
{
	if (!canary_hears(ctx->args[1]))
		return 0;
	return canary_send(current_task(),
			   bpf_user_ringbuf_drain(&canary_orders, order_taken, NULL, 0) >= 0);
}

SEC("?perf_event")
int canary_sparse_add(void *ctx)
{
	u32 key = 1;
	u64 one = 1;

	return canary_send(current_task(),
			   bpf_map_update_elem(&canary_sparse, &key, &one, BPF_ANY) == 0);
}

/* A tail call: the first program sends nothing, the second does. */

SEC("?raw_tp/sys_enter")
int canary_tail_to(struct bpf_raw_tracepoint_args *ctx)
{
	return canary_at_syscall(ctx->args[1], 1);
}

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} canary_tails SEC(".maps"); /* user space puts canary_tail_to there */

SEC("?raw_tp/sys_enter")
int canary_tail(struct bpf_raw_tracepoint_args *ctx)
{
	bpf_tail_call(ctx, &canary_tails, 0);
	return 0;
}

/* Iterators: the reader asks, and each task in scope answers. */

SEC("?iter/task")
int canary_it_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	return task ? canary_send(task, 1) : 0;
}

SEC("?iter/task_vma")
int canary_it_vma(struct bpf_iter__task_vma *ctx)
{
	struct task_struct *task = ctx->task;

	return task && ctx->vma ? canary_send(task, 1) : 0;
}

SEC("?iter/task_file")
int canary_it_file(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;

	return task && ctx->file ? canary_send(task, 1) : 0;
}

/* Two that no kernel takes: they prove that a refusal takes only its own probe with it. */

SEC("?raw_tp/sys_enter")
int canary_refused(struct bpf_raw_tracepoint_args *ctx)
{
	u64 *nowhere = NULL;

	return canary_at_syscall(ctx->args[1], *(volatile u64 *)nowhere);
}

SEC("?tp_btf/dwell_no_such_hook")
int canary_absent(void *ctx)
{
	return canary_send(current_task(), 1);
}
