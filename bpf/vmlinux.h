/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The kernel's types, written by hand: only the structs and fields that dwell reads.
 * CO-RE finds each field's real place at load time; tests/unit/vmlinux_test compares every
 * size and sign with a kernel's BTF. `make GEN_VMLINUX=1` builds with a generated one instead.
 */
#ifndef __VMLINUX_H__ /* this name tells bpf_tracing.h that registers have kernel names */
#define __VMLINUX_H__

#include <linux/bpf.h>
#include <stdbool.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#endif

typedef struct {
	int counter;
} atomic_t;

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct mnt_namespace {
	struct ns_common ns;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct socket;

struct net_device {
	int ifindex;
	possible_net_t nd_net;
	char name[16];
};

struct sk_buff {
	struct net_device *dev;
};

struct nsproxy {
	struct mnt_namespace *mnt_ns;
	struct net *net_ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct list_head {
	struct list_head *next;
};

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct kernfs_node {
	const char *name;
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

struct file_lock_context {
	struct list_head flc_flock;
	struct list_head flc_posix;
};

struct inode {
	unsigned short i_mode;
	struct hlist_head i_dentry;
	struct super_block *i_sb;
	unsigned long i_ino;
	struct file_lock_context *i_flctx;
	u32 i_generation;
};

struct qstr {
	u32 len;
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	struct inode *f_inode;
	struct path f_path;
	void *private_data;
};

struct in6_addr {
	union {
		u8 u6_addr8[16];
	} in6_u;
};

struct sock_common {
	possible_net_t skc_net;
	unsigned int skc_daddr;
	unsigned int skc_rcv_saddr;
	unsigned short skc_dport;
	unsigned short skc_num;
	unsigned short skc_family;
	unsigned char skc_state;
	unsigned long skc_flags;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sk_buff_head {
	u32 qlen;
};

struct sock {
	struct sock_common __sk_common;
	struct sk_buff_head sk_receive_queue;
	atomic_t sk_drops;
	int sk_rcvbuf;
	int sk_sndbuf;
	int sk_err;
	u32 sk_ack_backlog;
	u32 sk_max_ack_backlog;
	u16 sk_type;
	u16 sk_protocol;
	struct pid *sk_peer_pid;
	struct socket *sk_socket;
};

struct unix_address;

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
};

struct inet_sock {
	unsigned short inet_sport;
};

struct minmax_sample {
	u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct inet_connection_sock {
	const void *icsk_ulp_ops;
};

struct tcp_sock {
	u32 rcv_nxt;
	u32 copied_seq;
	u32 snd_nxt;
	u32 write_seq;
	u32 packets_out;
	u64 bytes_received;
	u64 bytes_sent;
	u64 bytes_retrans;
	u32 srtt_us;
	u32 mss_cache;
	u32 snd_cwnd;
	u32 total_retrans;
	struct minmax rtt_min;
};

struct socket {
	struct sock *sk;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct cfs_rq {
	int throttle_count;
};

typedef struct {
	s64 counter;
} atomic_long_t;

struct rw_semaphore {
	atomic_long_t owner;
};

struct mutex {
	atomic_long_t owner;
};

struct mm_struct {
	struct rw_semaphore mmap_lock;
	struct file *exe_file;
	unsigned long brk;
};

typedef struct {
	unsigned int val;
} kuid_t;

struct cred {
	kuid_t uid;
};

struct signal_struct {
	atomic_t live;
	int group_exit_code;
	unsigned int flags;
};

struct linux_binprm {
	const char *filename;
};

struct sched_entity {
	u64 sum_exec_runtime;
	struct cfs_rq *cfs_rq;
};

struct cpumask {
	unsigned long bits[1]; /* as many as the kernel was built for */
};

struct thread_info {
	u32 status;
};

struct sched_info {
	unsigned long long run_delay;
	unsigned long long last_queued;
};

#if defined(__TARGET_ARCH_x86)
struct thread_struct {
	unsigned long fsbase;
};

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	unsigned long ip;
	unsigned long sp;
};
#elif defined(__TARGET_ARCH_arm64)
struct thread_struct {
	struct {
		unsigned long tp_value;
	} uw;
};

struct user_pt_regs {
	u64 regs[31];
	u64 sp;
	u64 pc;
	u64 pstate;
};
struct pt_regs {
	struct user_pt_regs user_regs;
	s32 syscallno;
};
#endif

struct task_struct {
	struct thread_info thread_info;
	int pid;
	int tgid;
	void *stack;
	unsigned int flags;
	unsigned int in_iowait : 1;
	unsigned int policy;
	int nr_cpus_allowed;
	const struct cpumask *cpus_ptr;
	int exit_code;
	int exit_state;
	int pagefault_disabled;
	u64 start_time;
	u64 start_boottime;
	unsigned long nvcsw;
	unsigned long nivcsw;
	struct sched_entity se;
	struct sched_info sched_info;
	struct mm_struct *mm;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct cred *real_cred;
	struct css_set *cgroups;
	struct files_struct *files;
	struct nsproxy *nsproxy;
	struct signal_struct *signal;
	char comm[16];
	struct thread_struct thread;
};

struct gendisk {
	int major;
	int first_minor;
	char disk_name[32];
};

struct request_queue;
struct address_space {
	struct inode *host;
};

struct page;

struct bio_vec {
	struct page *bv_page;
};

struct bio {
	struct bio_vec *bi_io_vec;
};

struct request {
	struct request_queue *q;
	struct bio *bio;
	unsigned int cmd_flags;
	unsigned int __data_len;
	u64 __sector;
	u64 start_time_ns;
};

struct vm_area_struct {
	unsigned long vm_start;
};

struct trace_event_raw_sys_enter {
	long id;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	u64 seq_num;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__task_vma {
	struct task_struct *task;
	struct vm_area_struct *vma;
};

struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
	void *key;
	void *value;
};

struct bpf_iter__task_file {
	struct task_struct *task;
	struct file *file;
};

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute pop
#endif

#endif
