/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Other kernels' forms of a struct: CO-RE ignores what follows ___ in a name. Apart from
 * vmlinux.h, since a generated one does not have them. Each may be absent on any kernel.
 */
#ifndef DWELL_FLAVOURS_H
#define DWELL_FLAVOURS_H

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#endif

struct task_struct___state { /* from 5.14 */
	unsigned int __state;
};

struct task_struct___old { /* before */
	long state;
};

struct task_struct___on_cpu { /* on kernels for several CPUs */
	unsigned int on_cpu;  /* one byte in 7.2: CO-RE fits the load of what is unsigned */
};

struct thread_info___cpu {
	unsigned int cpu;
};

struct task_struct___info { /* from 5.16 */
	struct thread_info___cpu thread_info;
};

struct task_struct___cpu { /* before */
	unsigned int cpu;
};

struct task_struct___lock { /* on kernels for several CPUs, where spin locks queue */
	struct {
		struct {
			struct {
				int counter;
			} val;
		} raw_lock;
	} pi_lock;
};

struct task_struct___throttled { /* from 6.18: tasks are throttled, not whole queues */
	bool throttled;
};

struct task_struct___blocker { /* from 6.16, where the kernel looks for tasks that hang */
	unsigned long blocker; /* the mutex, semaphore or rwsem for which it sleeps; 0: none */
};

struct task_struct___memstall { /* where the kernel has pressure stall information */
	unsigned int in_memstall : 1;
};

struct dentry___union { /* before 7.2 */
	union {
		struct hlist_node d_alias;
	} d_u;
};

struct dentry___plain { /* from 7.2 on: the union has no name any more */
	struct hlist_node d_alias;
};

struct folio___new { /* from 5.16: what a page is part of */
	struct address_space *mapping;
};

struct page___old { /* before */
	struct address_space *mapping;
};

struct request___disk { /* before 5.17 */
	struct gendisk *rq_disk;
};

struct request_queue___disk { /* from 5.15 */
	struct gendisk *disk;
};

struct cgroup_subsys_state___any { /* these: of kernels with cgroups for block devices */
	struct cgroup *cgroup;
};

struct blkcg___any {
	struct cgroup_subsys_state___any css;
};

struct blkcg_gq___any {
	struct blkcg___any *blkcg;
};

struct bio___any {
	struct blkcg_gq___any *bi_blkg;
};

struct return_instance___any { /* these: of kernels with uprobes */
	unsigned long stack;
	unsigned long orig_ret_vaddr;
	struct return_instance___any *next;
};

struct uprobe_task___any {
	struct return_instance___any *return_instances;
};

struct task_struct___uprobes {
	struct uprobe_task___any *utask;
};

struct percpu_counter___rss {
	s64 count;
};

struct mm_struct___counters { /* from 6.2: a counter for each CPU, and their sum now and then */
	struct percpu_counter___rss rss_stat[4];
};

struct file_lock___old { /* before 6.9 */
	struct list_head fl_list;
	unsigned int fl_pid;
};

struct file_lock_core___new { /* from 6.9: what file locks and leases share, at their beginning */
	struct list_head flc_list;
	int flc_pid;
};

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute pop
#endif

#endif
