/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Who submitted a request. A request is often made in a context that is not its submitter's: by
 * the kernel's worker that sends on what an I/O limit held back, or in a softirq, which interrupts
 * whoever runs. So the current thread is the owner only if it can be. Of other requests it is known
 * which cgroup they are charged to, and no process is named.
 */
#ifndef DWELL_BLOCK_OWNER_BPF_H
#define DWELL_BLOCK_OWNER_BPF_H

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CGROUPS_MAX);
	__type(key, u64);
	__type(value, u8);
} block_cgroups SEC(".maps"); /* those whose name was sent, the last ones */

/* Is the current thread who submits? Not in an interrupt, and not a worker for others. */
static __always_inline bool current_submits(void)
{
	struct ledger_cpu *cpu = this_cpu_account();
	struct task_struct *task = current_task();

	if (!cpu || cpu->irq || cpu->softirq)
		return false;
	return !(BPF_CORE_READ(task, flags) & PF_WQ_WORKER);
}

/* The cgroup that pays for a bio; NULL: not known. Of bios that the verifier trusts. */
static __always_inline struct cgroup *bio_cgroup(struct bio *bio)
{
	struct bio___any *any = (void *)bio;

	if (!bpf_core_field_exists(any->bi_blkg))
		return NULL;
	return any->bi_blkg->blkcg->css.cgroup;
}

static __noinline void cgroup_send(u64 id, struct cgroup *cgroup)
{
	struct rec_block *rec;
	u8 one = 1;

	if (bpf_map_lookup_elem(&block_cgroups, &id))
		return;
	rec = EMIT_RESERVE(BLOCK_IO, block, current_task());
	if (!rec)
		return; /* counted; it is tried again with its next request */
	rec->device = BLOCK_NAME_CGROUP;
	rec->region = 0;
	rec->bytes = id;
	rec->over_bytes = rec->requests = 0;
	__builtin_memset(rec->name, 0, sizeof(rec->name));
	bpf_probe_read_kernel_str(rec->name, sizeof(rec->name), BPF_CORE_READ(cgroup, kn, name));
	EMIT_SUBMIT(rec);
	bpf_map_update_elem(&block_cgroups, &id, &one, BPF_ANY);
}

/* As a key's object; 0: not known. Its name is sent once. */
static __always_inline u64 cgroup_object(struct bio *bio)
{
	struct cgroup *cgroup = bio ? bio_cgroup(bio) : NULL;
	u64 id = cgroup ? BPF_CORE_READ(cgroup, kn, id) : 0;

	if (!id)
		return 0;
	cgroup_send(id, cgroup);
	return BLOCK_CGROUP_BIT | id;
}

#endif
