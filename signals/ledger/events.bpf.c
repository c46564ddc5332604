// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * What ends waits: data on a socket, a disk's request that is done. Each leaves a word for the
 * wake-up that follows on the same CPU. And which ports have a listener, so that the two ends of a
 * connection can be told apart.
 */
#include "../../bpf/common.bpf.h"

static __always_inline int data_ready(u64 sock)
{
	struct ledger_cpu *cpu = this_cpu_account();

	if (!cpu)
		return 0;
	cpu->event.sock = sock;
	/* An interrupt's word ends with it; that of a thread is to be fresh. */
	cpu->event.sock_ns = cpu->softirq ? 0 : bpf_ktime_get_ns();
	return 0;
}

SEC("?tp_btf/sk_data_ready")
int BPF_PROG(ledger_data_ready, const struct sock *sk)
{
	return data_ready((u64)sk);
}

/* Kernels before 6.3 have no such tracepoint: what it would be in. */
SEC("?kprobe")
int ledger_data_ready_kprobe(struct pt_regs *ctx)
{
	return data_ready(PT_REGS_PARM1(ctx));
}

/* The file whose page a request has read; 0: it was no page of a file's. */
static __always_inline u64 inode_of_request(struct request *request)
{
	void *page = BPF_CORE_READ(request, bio, bi_io_vec, bv_page);
	struct address_space *mapping;

	if (!page)
		return 0;
	if (bpf_core_type_exists(struct folio___new))
		mapping = BPF_CORE_READ((struct folio___new *)page, mapping);
	else
		mapping = BPF_CORE_READ((struct page___old *)page, mapping);
	if (!mapping || ((u64)mapping & 3)) /* anonymous memory, and the like */
		return 0;
	return (u64)BPF_CORE_READ(mapping, host);
}

/* Before its waiters are woken, on the same CPU. */
SEC("?tp_btf/block_rq_complete")
int BPF_PROG(ledger_request_done, struct request *request)
{
	struct ledger_cpu *cpu = this_cpu_account();

	if (!cpu)
		return 0;
	cpu->event.request_ns = request->start_time_ns;
	cpu->event.inode = inode_of_request(request);
	cpu->event.done_ns = bpf_ktime_get_ns();
	return 0;
}

/* Its name is sent with its process: who serves may never be seen to wait for work. */
static __always_inline void note_listener(struct sock *sk, struct task_struct *task)
{
	struct listener_key key;
	struct rec_object *rec;
	u64 one = 1;

	socket_listener_key(sk, &key);
	bpf_map_update_elem(&listeners, &key, &one, BPF_ANY);
	rec = object_begin(task,
			   object_id_of_port(key.port, BPF_CORE_READ(sk, __sk_common.skc_family)));
	if (!rec)
		return;
	object_fill_sock(rec, sk, true);
	rec->kind = OBJECT_TCP;
	rec->peer_pid = task_tgid(task);
	EMIT_SUBMIT(rec);
}

SEC("?tp_btf/inet_sock_set_state")
int BPF_PROG(ledger_listen, const struct sock *sk, const int old_state, const int new_state)
{
	if (new_state == TCP_LISTEN)
		note_listener((struct sock *)sk, current_task());
	return 0;
}

/* Those that listen already. */
SEC("?iter/task_file")
int ledger_listeners_seed(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct inode *inode;
	struct sock *sk;
	u32 family;

	if (!task || !file)
		return 0;
	inode = BPF_CORE_READ(file, f_inode);
	if ((BPF_CORE_READ(inode, i_mode) & MODE_TYPE) != MODE_SOCKET)
		return 0;
	sk = object_sock(file);
	family = BPF_CORE_READ(sk, __sk_common.skc_family);
	if ((family == FAMILY_INET || family == FAMILY_INET6) &&
	    BPF_CORE_READ(sk, sk_type) == SOCK_STREAM &&
	    BPF_CORE_READ(sk, __sk_common.skc_state) == TCP_LISTEN)
		note_listener(sk, task);
	return 0;
}

/* --- what a thread is about to sleep for inside the kernel --- */

static __always_inline u64 blocker_type(u32 flags)
{
	if (flags & CONTENTION_MUTEX)
		return BLOCKER_MUTEX;
	if (flags & (CONTENTION_RT | CONTENTION_PERCPU))
		return BLOCKER_SEM;
	if (flags & CONTENTION_READ)
		return BLOCKER_READER;
	return flags & CONTENTION_WRITE ? BLOCKER_WRITER : BLOCKER_SEM;
}

SEC("?tp_btf/contention_begin")
int BPF_PROG(ledger_contended, void *lock, unsigned int flags)
{
	struct ledger_task *account;

	if (flags & CONTENTION_SPIN)
		return 0;
	account = account_of_current();
	if (account)
		account->blocker = (u64)lock | blocker_type(flags);
	return 0;
}

SEC("?tp_btf/contention_end")
int BPF_PROG(ledger_contention_over, void *lock, int ret)
{
	struct ledger_task *account = account_of_current();

	if (account)
		account->blocker = 0;
	return 0;
}
