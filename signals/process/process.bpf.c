// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Processes: those that were there (process_seed), are made, become another program, and end.
 * A few events per process, none per thread. Needs the ledger, which knows whom it follows.
 */
#include "../../bpf/common.bpf.h"

#define SIGNAL_GROUP_EXIT 0x00000004

struct process_scratch {
	struct rec_process row;
	u32 path_at;
	u8 path[2 * PATH_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct process_scratch);
} process_scratch SEC(".maps");

/* As the ledger has judged: a process of whose time something is told. */
static __always_inline bool process_is_wanted(struct task_struct *task)
{
	return ledger_follows(task);
}

/* The pid namespace that a task lives in; nsproxy has the one that its children will. */
static __always_inline u32 pid_ns_of(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	u32 level = BPF_CORE_READ(pid, level);
	struct upid upid;

	if (level >= PIDNS_LEVELS_MAX ||
	    bpf_probe_read_kernel(&upid, sizeof(upid), pid_numbers(pid) + level))
		return 0;
	return BPF_CORE_READ(upid.ns, ns.inum);
}

/* All but the header, exit_code and exe. */
static __always_inline void fill(struct rec_process *rec, struct task_struct *task, u32 event)
{
	rec->event = event;
	rec->parent = task_tgid(BPF_CORE_READ(task, real_parent));
	rec->uid = BPF_CORE_READ(task, real_cred, uid.val);
	rec->cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
	rec->pid_ns = pid_ns_of(task);
	rec->mnt_ns = BPF_CORE_READ(task, nsproxy, mnt_ns, ns.inum);
	rec->net_ns = BPF_CORE_READ(task, nsproxy, net_ns, ns.inum);
	rec->is_kernel = (BPF_CORE_READ(task, flags) & PF_KTHREAD) != 0;
	bpf_probe_read_kernel(rec->comm, sizeof(rec->comm), task_comm(task));
}

static __always_inline void send(struct task_struct *task, u32 event, s32 exit_code,
				 const char *exe)
{
	struct rec_process *rec = EMIT_RESERVE(PROCESS, process, task);

	if (!rec)
		return; /* counted */
	fill(rec, task, event);
	rec->exit_code = exit_code;
	__builtin_memset(rec->exe, 0, sizeof(rec->exe));
	if (exe)
		bpf_probe_read_kernel_str(rec->exe, sizeof(rec->exe), exe);
	EMIT_SUBMIT(rec);
}

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(process_fork, struct task_struct *parent, struct task_struct *child)
{
	if (child->pid == child->tgid && process_is_wanted(child))
		send(child, PROCESS_FORKED, 0, NULL);
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	if (process_is_wanted(task))
		send(task, PROCESS_EXECED, 0, BPF_CORE_READ(bprm, filename));
	return 0;
}

/* As wait(2) will have it. */
static __always_inline s32 exit_code_of(struct task_struct *task)
{
	if (BPF_CORE_READ(task, signal, flags) & SIGNAL_GROUP_EXIT)
		return BPF_CORE_READ(task, signal, group_exit_code);
	return BPF_CORE_READ(task, group_leader, exit_code);
}

/* Two last threads may both find nobody alive: they then say the same twice. */
SEC("?tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *task)
{
	if (BPF_CORE_READ(task, signal, live.counter) == 0 && process_is_wanted(task))
		send(task, PROCESS_ENDED, exit_code_of(task), NULL);
	return 0;
}

/* Run once, after ledger_seed. Stateless: it runs again for a task when the buffer was full. */
SEC("?iter/task")
int process_seed(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct process_scratch *scratch;
	struct file *exe;
	u32 zero = 0;

	if (!task || task->pid != task->tgid || !process_is_wanted(task))
		return 0;
	scratch = bpf_map_lookup_elem(&process_scratch, &zero);
	if (!scratch)
		return 0;
	emit_header(&scratch->row.hdr, SIG_PROCESS, SIG_VERSION_PROCESS, sizeof(scratch->row), 1,
		    task);
	fill(&scratch->row, task, PROCESS_SEEN);
	scratch->row.exit_code = 0;
	__builtin_memset(scratch->row.exe, 0, sizeof(scratch->row.exe));
	exe = BPF_CORE_READ(task, mm, exe_file);
	if (exe) {
		path_of_file(scratch->path, PATH_BYTES, &scratch->path_at, exe);
		bpf_probe_read_kernel_str(scratch->row.exe, sizeof(scratch->row.exe),
					  &scratch->path[path_index(scratch->path_at, PATH_BYTES)]);
	}
	bpf_seq_write(ctx->meta->seq, &scratch->row, sizeof(scratch->row));
	return 0;
}
