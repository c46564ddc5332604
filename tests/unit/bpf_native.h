/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enough of a kernel to run the shared BPF headers in a unit test: types, maps of one entry,
 * helpers that the test steers through `fake`. Include it in place of common.bpf.h.
 */
#ifndef DWELL_TESTS_BPF_NATIVE_H
#define DWELL_TESTS_BPF_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <linux/bpf.h>

#include "../../abi/config.h"
#include "../../abi/records.h"

#undef __always_inline
#define __always_inline			       inline __attribute__((unused))
#define __builtin_preserve_access_index(place) (place)
#define __noinline			       __attribute__((noinline, unused))

struct ns_common {
	unsigned int inum;
};
struct pid_namespace {
	struct ns_common ns;
};
struct upid {
	int nr;
	struct pid_namespace *ns;
};
struct pid {
	unsigned int level;
	struct upid numbers[4];
};
struct list_head {
	struct list_head *next;
};
struct kernfs_node {
	u64 id;
};
struct cgroup;
struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};
struct cgroup_root {
	int hierarchy_id;
};
struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_root *root;
};
struct css_set {
	struct cgroup *dfl_cgrp;
	struct list_head cgrp_links;
};
struct cgrp_cset_link {
	struct cgroup *cgrp;
	struct list_head cgrp_link;
};
struct super_block {
	unsigned int s_dev;
};
struct hlist_node {
	struct hlist_node *next;
};
struct inode {
	struct {
		struct hlist_node *first;
	} i_dentry;
	struct super_block *i_sb;
	unsigned long i_ino;
};
struct dentry {
	struct dentry *d_parent;
	struct {
		u32 len;
		const unsigned char *name;
	} d_name;
};
struct vfsmount {
	struct dentry *mnt_root;
};
struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};
struct file {
	struct {
		struct vfsmount *mnt;
		struct dentry *dentry;
	} f_path;
	struct inode *f_inode;
};
struct mm_struct {
	struct file *exe_file;
};
struct cred {
	struct {
		unsigned int val;
	} uid;
};
struct task_struct {
	int pid, tgid;
	u64 start_boottime;
	struct task_struct *real_parent, *group_leader;
	struct pid *thread_pid;
	struct mm_struct *mm;
	struct cred *real_cred;
	struct css_set *cgroups;
	char comm[16];
};

#define BPF_NO_PRESERVE_ACCESS_INDEX
#define bpf_core_field_exists(...)	   1
#define bpf_core_field_offset(type, field) offsetof(type, field)

/* What the test sets, and what the code under test did. */
static struct {
	struct task_struct *current;
	struct live_config *live; /* NULL: the look-up fails */
	struct filter_key filters[4];
	size_t filter_count;
	u32 random;
	bool ring_is_full;
	u64 ring_waiting;
	u64 submit_flags;
	int submitted;
	struct emit_counts counts;
	u64 record[RECORD_SIZE_MAX / 8];
} fake;

#define KNOB(name, standard, ...) static u32 name __attribute__((unused)) = standard;
FROZEN_KNOBS(KNOB)
#undef KNOB

static int records __attribute__((unused)), emit_counts, live_configs, filters;

static inline u64 bpf_get_current_task(void)
{
	return (u64)(uintptr_t)fake.current;
}

static inline u64 bpf_get_current_pid_tgid(void)
{
	return (u64)fake.current->tgid << 32 | (u32)fake.current->pid;
}

static inline void *bpf_map_lookup_elem(void *map, const void *key)
{
	static u8 present = 1;

	if (map == &emit_counts)
		return &fake.counts;
	if (map == &live_configs)
		return fake.live;
	for (size_t i = 0; map == &filters && i < fake.filter_count; i++)
		if (!memcmp(key, &fake.filters[i], sizeof(fake.filters[i])))
			return &present;
	return NULL;
}

static inline long bpf_probe_read_kernel(void *to, u32 size, const void *from)
{
	memcpy(to, from, size);
	return 0;
}

static inline long bpf_probe_read_kernel_str(void *to, u32 size, const void *from)
{
	size_t length = strnlen(from, size - 1);

	memcpy(to, from, length);
	((char *)to)[length] = '\0';
	return (long)length + 1;
}

static inline void *bpf_ringbuf_reserve(void *map, u64 size, u64 flags)
{
	(void)map;
	(void)size;
	(void)flags;
	return fake.ring_is_full ? NULL : fake.record;
}

static inline u64 bpf_ringbuf_query(void *map, u64 what)
{
	(void)map;
	return what == BPF_RB_AVAIL_DATA ? fake.ring_waiting : RING_BYTES_MIN;
}

static inline void bpf_ringbuf_submit(void *record, u64 flags)
{
	(void)record;
	fake.submit_flags = flags;
	fake.submitted++;
}

static inline u32 bpf_get_smp_processor_id(void)
{
	return 3;
}

static inline u64 bpf_ktime_get_ns(void)
{
	return 1234;
}

static inline u32 bpf_get_prandom_u32(void)
{
	return fake.random;
}

/* As in the kernel, what is read through NULL is 0. */
#define READ_2(a, b)			 ((a) ? (a)->b : (__typeof__((a)->b))0)
#define READ_3(a, b, c)			 READ_2(READ_2(a, b), c)
#define READ_4(a, b, c, d)		 READ_2(READ_3(a, b, c), d)
#define READ_PICK(a, b, c, d, name, ...) name
#define BPF_CORE_READ(...)		 READ_PICK(__VA_ARGS__, READ_4, READ_3, READ_2)(__VA_ARGS__)

struct request {
	void *q;
};

#include "../../bpf/compat.bpf.h"
#include "../../bpf/filter.bpf.h"
#include "../../bpf/emit.bpf.h"
#include "../../bpf/ledger.bpf.h"
#include "../../bpf/ledger_copy.bpf.h"
#include "../../bpf/ledger_mark.bpf.h"
#include "../../bpf/split.bpf.h"
#include "../../bpf/path.bpf.h"

#endif
