/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Which tasks are measured. Fails closed: what cannot be looked up is not emitted.
 * Pids are those of dwell's own pid namespace, as its user types them.
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

static __always_inline bool filter_wants_tgid(struct live_config *live, u32 tgid)
{
	if (tgid && (tgid == cfg_self_tgid || tgid == cfg_worker_tgid))
		return false;
	if (live->scope == SCOPE_ALL)
		return true;
	if (live->scope == SCOPE_LISTED)
		return bpf_map_lookup_elem(&filter_tgids, &tgid);
	return false;
}

/* Keeps one event in live->sample_one_in, chosen at random. */
static __always_inline bool filter_samples(struct live_config *live)
{
	u64 one_in = live->sample_one_in;

	return one_in <= 1 || bpf_get_prandom_u32() % one_in == 0;
}

#endif
