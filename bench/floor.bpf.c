// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * The least that a ledger could do at a context switch, and at the other hooks that one passes:
 * read the clock, look up the task's storage, add. What dwell costs is compared with it.
 */
#include <vmlinux.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

struct account {
	u64 last, sum;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct account);
} floor_tasks SEC(".maps");

static __always_inline int count(struct task_struct *task)
{
	struct account *account = bpf_task_storage_get(&floor_tasks, task, NULL, 0);
	u64 now = bpf_ktime_get_ns();

	if (!account)
		return 0;
	account->sum += now - account->last;
	account->last = now;
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(floor_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return count(prev);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(floor_waking, struct task_struct *task)
{
	return count(task);
}

/* From 6.14. */
SEC("?tp_btf/sched_exit_tp")
int BPF_PROG(floor_resume, bool is_switch)
{
	return is_switch ? count(bpf_get_current_task_btf()) : 0;
}

/* What the kernel's clock on programs adds to every figure. */
SEC("tp_btf/sched_switch")
int BPF_PROG(floor_empty, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return 0;
}

/* Not in the switch: nothing may be allocated there. */
SEC("tp_btf/task_newtask")
int BPF_PROG(floor_newtask, struct task_struct *task, u64 flags)
{
	bpf_task_storage_get(&floor_tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}
