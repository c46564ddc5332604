// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * The least that a signal could do at its hook, for each hook: read the clock, look up the thread's
 * storage, add; and at a uprobe nothing at all. What signals cost is compared with it.
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
} hooks_tasks SEC(".maps");

/* By the name of its hook: "x" has the program hook_x. */
#define HOOK(name)                                                                                 \
	SEC("?tp_btf/" #name)                                                                      \
	int BPF_PROG(hook_##name)                                                                  \
	{                                                                                          \
		struct task_struct *task = bpf_get_current_task_btf();                             \
		struct account *account = bpf_task_storage_get(&hooks_tasks, task, NULL, 0);       \
		u64 now = bpf_ktime_get_ns();                                                      \
                                                                                                   \
		if (!account)                                                                      \
			return 0;                                                                  \
		account->sum += now - account->last;                                               \
		account->last = now;                                                               \
		return 0;                                                                          \
	}

HOOK(sched_switch)
HOOK(sched_waking)
HOOK(sched_migrate_task)
HOOK(sys_enter)
HOOK(sys_exit)
HOOK(page_fault_user)
HOOK(block_rq_insert)
HOOK(block_rq_issue)
HOOK(block_rq_complete)
HOOK(inet_sock_set_state)
HOOK(tcp_retransmit_skb)
HOOK(tcp_destroy_sock)
HOOK(sock_send_length)
HOOK(sock_recv_length)
HOOK(netif_receive_skb)
HOOK(sk_data_ready)
HOOK(softirq_raise)
HOOK(softirq_entry)
HOOK(softirq_exit)
HOOK(contention_begin)
HOOK(contention_end)
HOOK(kmalloc)
HOOK(mm_page_alloc)
HOOK(rss_stat)

/* Not at the hooks themselves: nothing may be allocated there. */
SEC("?tp_btf/task_newtask")
int BPF_PROG(hooks_newtask, struct task_struct *task, u64 flags)
{
	bpf_task_storage_get(&hooks_tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}
