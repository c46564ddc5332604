/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Differences between kernels, one accessor each, naming the version that changed it.
 */
#ifndef DWELL_COMPAT_BPF_H
#define DWELL_COMPAT_BPF_H

#include "flavours.h"

#define TS_COMPAT	 0x02 /* x86: the task is in a 32-bit system call */
#define PF_EXITING	 0x00000004
#define PF_IO_WORKER	 0x00000010
#define PF_WQ_WORKER	 0x00000020
#define PF_USER_WORKER	 0x00004000 /* from 6.4: vhost's, too */
#define PF_KTHREAD	 0x00200000
#define PIDNS_LEVELS_MAX 32 /* the kernel's MAX_PID_NS_LEVEL */

/* From 6.2; the UAPI headers of older distributions do not name it. */
#define MAP_TYPE_CGROUP_STORAGE 32

/* bpf_get_current_task_btf() is from 5.11; this form serves all, at the price of probe reads. */
static __always_inline struct task_struct *current_task(void)
{
	return (struct task_struct *)bpf_get_current_task();
}

/* task->state became __state, and unsigned int, in 5.14. For tasks that the verifier trusts. */
static __always_inline u64 task_state(struct task_struct *task)
{
	struct task_struct___state *now = (void *)task;

	if (bpf_core_field_exists(now->__state))
		return now->__state;
	return ((struct task_struct___old *)(void *)task)->state;
}

/* A CPU has it just now. For tasks that the verifier trusts, as is the next one. */
static __always_inline bool task_is_on_cpu(struct task_struct *task)
{
	struct task_struct___on_cpu *running = (void *)task;

	return bpf_core_field_exists(running->on_cpu) && running->on_cpu;
}

/* The CPU that has it, or had it last. It is in thread_info from 5.16 on. */
static __always_inline u32 task_cpu(struct task_struct *task)
{
	struct task_struct___info *now = (void *)task;

	if (bpf_core_field_exists(now->thread_info.cpu))
		return now->thread_info.cpu;
	return ((struct task_struct___cpu *)(void *)task)->cpu;
}

/*
 * A wake-up is under way on another CPU, or a rare change of the task's settings: that CPU holds
 * this lock meanwhile. For tasks that the verifier trusts.
 */
static __always_inline bool task_is_being_woken(struct task_struct *task)
{
	struct task_struct___lock *locked = (void *)task;

	return bpf_core_field_exists(locked->pi_lock.raw_lock.val.counter) &&
	       locked->pi_lock.raw_lock.val.counter;
}

/* pid->numbers was an array of one and is a flexible array from 6.4: only its start is named. */
static __always_inline struct upid *pid_numbers(struct pid *pid)
{
	return __builtin_preserve_access_index(&pid->numbers[0]);
}

/* A request's disk was its own until 5.17, and is its queue's from 5.15. Of requests that the
 * verifier trusts. */
static __always_inline struct gendisk *request_disk(struct request *request)
{
	struct request___disk *old = (void *)request;

	if (bpf_core_field_exists(old->rq_disk))
		return old->rq_disk;
	return ((struct request_queue___disk *)(void *)request->q)->disk;
}

/* A name of an inode, by its place in the inode's list of them: in a union that has lost its name.
 */
static __always_inline struct dentry *dentry_of_alias(void *alias)
{
	if (bpf_core_field_exists(struct dentry___union, d_u))
		return alias - bpf_core_field_offset(struct dentry___union, d_u.d_alias);
	return alias - bpf_core_field_offset(struct dentry___plain, d_alias);
}

/* Places inside a kernel struct, for probe reads. */
static __always_inline const void *task_comm(struct task_struct *task)
{
	return __builtin_preserve_access_index(&task->comm);
}

static __always_inline struct list_head *css_set_links(struct css_set *set)
{
	return __builtin_preserve_access_index(&set->cgrp_links);
}

static __always_inline struct cgrp_cset_link *cgroup_link(struct list_head *link)
{
	return (void *)link - bpf_core_field_offset(struct cgrp_cset_link, cgrp_link);
}

#endif
