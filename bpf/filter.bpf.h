/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Which tasks are measured. Fails closed: what cannot be looked up is not emitted.
 * Pids are those of dwell's own pid namespace, as its user types them. The verdict is taken
 * rarely, not per event; whoever follows tasks keeps it.
 */
#ifndef DWELL_FILTER_BPF_H
#define DWELL_FILTER_BPF_H

/* A pid in dwell's own namespace; 0 if that namespace cannot see the task. */
static __always_inline u32 pid_nr_in_own_ns(struct pid *pid)
{
	struct upid *numbers = pid_numbers(pid);
	u32 level = BPF_CORE_READ(pid, level);
	struct upid upid;

	for (u32 i = 0; i < PIDNS_LEVELS_MAX && i <= level; i++) {
		if (bpf_probe_read_kernel(&upid, sizeof(upid), numbers + i))
			return 0;
		if (BPF_CORE_READ(upid.ns, ns.inum) == cfg_pidns_inum)
			return upid.nr;
	}
	return 0;
}

static __always_inline u32 task_tid(struct task_struct *task)
{
	if (cfg_pidns_inum == PIDNS_INIT_INUM)
		return BPF_CORE_READ(task, pid);
	return pid_nr_in_own_ns(BPF_CORE_READ(task, thread_pid));
}

/* As its own pid namespace numbers it, and the memory of its process names it. */
static __always_inline u32 task_inner_tid(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct upid *numbers = pid_numbers(pid);
	u32 level = BPF_CORE_READ(pid, level);
	struct upid upid;

	if (level >= PIDNS_LEVELS_MAX ||
	    bpf_probe_read_kernel(&upid, sizeof(upid), numbers + level))
		return 0;
	return upid.nr;
}

static __always_inline u32 current_tid(void)
{
	if (cfg_pidns_inum == PIDNS_INIT_INUM)
		return (u32)bpf_get_current_pid_tgid();
	return pid_nr_in_own_ns(BPF_CORE_READ(current_task(), thread_pid));
}

static __always_inline u32 task_tgid(struct task_struct *task)
{
	if (cfg_pidns_inum == PIDNS_INIT_INUM)
		return BPF_CORE_READ(task, tgid);
	return pid_nr_in_own_ns(BPF_CORE_READ(task, group_leader, thread_pid));
}

static __always_inline struct live_config *live_config(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&live_configs, &zero);
}

#define FILTER_DEPTH_MAX 32  /* ancestors of a process that are looked at */
#define FILTER_STEPS_MAX 128 /* cgroups and ancestors of them, over all hierarchies */

static __always_inline bool filter_is_listed(u64 kind, u64 first, u64 second)
{
	struct filter_key key = {.kind = kind, .value = {first, second}};

	return bpf_map_lookup_elem(&filters, &key);
}

/* A name as the kernel will cut it: 15 bytes and NUL. */
static __always_inline bool filter_comm_is_listed(const void *comm)
{
	struct filter_key key = {.kind = FILTER_BY_COMM};

	if (bpf_probe_read_kernel_str(key.value, COMM_BYTES, comm) < 0)
		return false;
	return bpf_map_lookup_elem(&filters, &key);
}

static __always_inline bool filter_exe_is_listed(struct task_struct *task)
{
	struct inode *inode = BPF_CORE_READ(task, mm, exe_file, f_inode);

	return inode && filter_is_listed(FILTER_BY_EXE, BPF_CORE_READ(inode, i_ino),
					 BPF_CORE_READ(inode, i_sb, s_dev));
}

/*
 * Its cgroup or an ancestor of it, in each hierarchy. A task is in one cgroup of each, and those
 * without a controller, as systemd's own on v1, are in this list only. One loop over all of them: a
 * loop in a loop is dear to verify.
 */
static __noinline bool filter_is_in_cgroup(struct task_struct *task, bool with_v1)
{
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	struct list_head *head = css_set_links(set);
	struct list_head *link = with_v1 ? BPF_CORE_READ(head, next) : head;
	struct cgroup *cgroup = with_v1 ? NULL : BPF_CORE_READ(set, dfl_cgrp);
	u64 hierarchy = CGROUP_V2_HIERARCHY;

	for (u32 step = 0; step < FILTER_STEPS_MAX; step++) {
		if (!cgroup) { /* above a root: the next hierarchy */
			if (!link || link == head)
				return false;
			cgroup = BPF_CORE_READ(cgroup_link(link), cgrp);
			hierarchy = (u32)BPF_CORE_READ(cgroup, root, hierarchy_id);
			link = BPF_CORE_READ(link, next);
		}
		if (filter_is_listed(FILTER_BY_CGROUP, BPF_CORE_READ(cgroup, kn, id), hierarchy))
			return true;
		cgroup = BPF_CORE_READ(cgroup, self.parent, cgroup);
	}
	return false;
}

/* For who was there before dwell: an orphan has lost its ancestors, and is not found. */
static __noinline bool filter_is_in_tree(struct task_struct *task)
{
	for (u32 depth = 0; depth < FILTER_DEPTH_MAX && task; depth++) {
		u32 tgid = task_tgid(task);

		if (tgid && filter_is_listed(FILTER_BY_TREE, tgid, 0))
			return true;
		if (BPF_CORE_READ(task, pid) <= 1)
			break; /* process 1, or the idle task, which is its own parent */
		task = BPF_CORE_READ(task, real_parent);
	}
	return false;
}

static __always_inline bool filter_fits(struct task_struct *task, const void *comm, bool in_tree,
					struct live_config *live, u32 tgid)
{
	/* What is never asked for is not even loaded: some of it is dear to verify. */
	u64 kinds = live->filter_kinds & cfg_filter_kinds;

	if (!kinds || kinds != live->filter_kinds)
		return false;
	if ((kinds & FILTER_KIND_BIT(FILTER_BY_PID)) && !filter_is_listed(FILTER_BY_PID, tgid, 0))
		return false;
	if ((kinds & FILTER_KIND_BIT(FILTER_BY_TID)) &&
	    !filter_is_listed(FILTER_BY_TID, task_tid(task), 0))
		return false;
	if ((kinds & FILTER_KIND_BIT(FILTER_BY_COMM)) && !filter_comm_is_listed(comm))
		return false;
	if ((kinds & FILTER_KIND_BIT(FILTER_BY_UID)) &&
	    !filter_is_listed(FILTER_BY_UID, BPF_CORE_READ(task, real_cred, uid.val), 0))
		return false;
	if ((kinds & FILTER_KIND_BIT(FILTER_BY_EXE)) && !filter_exe_is_listed(task))
		return false;
	if ((kinds & FILTER_KIND_BIT(FILTER_BY_TREE)) && !in_tree && !filter_is_in_tree(task))
		return false;
	return !(kinds & FILTER_KIND_BIT(FILTER_BY_CGROUP)) ||
	       filter_is_in_cgroup(task, live->filter_cgroup_v1);
}

/* dwell's own processes: this one, its worker, the spawner and the helpers that it forked. */
static __always_inline bool filter_is_own(struct task_struct *task, u32 tgid)
{
	if (!tgid)
		return false;
	if (tgid == cfg_self_tgid || tgid == cfg_worker_tgid || tgid == cfg_spawner_tgid)
		return true;
	return cfg_spawner_tgid &&
	       task_tgid(BPF_CORE_READ(task, group_leader, real_parent)) == cfg_spawner_tgid;
}

/* in_tree: known to descend from a listed process; else its ancestors are asked. */
static __noinline bool filter_judge(struct task_struct *task, const void *comm, bool in_tree)
{
	struct live_config *live = live_config();
	u32 tgid = task_tgid(task);

	if (!live || filter_is_own(task, tgid))
		return false;
	if (live->scope == SCOPE_LISTED)
		return filter_fits(task, comm, in_tree, live, tgid);
	/* Within a pid namespace, all are those that it can see. */
	return live->scope == SCOPE_ALL && (tgid || cfg_pidns_inum == PIDNS_INIT_INUM);
}

/*
 * The verdict on a task, from all that it is now. Dear: it is taken when a task is first seen, and
 * again only when what it depends on changes.
 */
static __always_inline bool filter_wants(struct task_struct *task)
{
	return filter_judge(task, task_comm(task), false);
}

/* For a task just made: who descends from one that is followed is in its tree. */
static __always_inline bool filter_wants_child(struct task_struct *child, bool parent_is_followed)
{
	return filter_judge(child, task_comm(child), parent_is_followed);
}

/*
 * The verdict again, after an exec or a move to another cgroup (comm is NULL), or at a rename,
 * whose tracepoint comes before the new name is set (comm is it). One followed stays in its tree.
 */
static __always_inline bool filter_wants_still(struct task_struct *task, bool is_followed,
					       const void *comm)
{
	return filter_judge(task, comm ? comm : task_comm(task), is_followed);
}

/* Whether a verdict can change when a task is given another name, program, or place. */
static __always_inline bool filter_uses(u64 kinds)
{
	return cfg_filter_kinds & kinds;
}

/* Keeps one event in live->sample_one_in, chosen at random. */
static __always_inline bool filter_samples(struct live_config *live)
{
	u64 one_in = live->sample_one_in;

	return one_in <= 1 || bpf_get_prandom_u32() % one_in == 0;
}

#endif
