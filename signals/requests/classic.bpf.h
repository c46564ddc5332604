/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Before 6.3 there are no tracepoints at receive and send: by what there is. Calls are not followed
 * there. Included by requests.bpf.c, whose turns these are.
 */
#ifndef DWELL_REQUESTS_CLASSIC_BPF_H
#define DWELL_REQUESTS_CLASSIC_BPF_H

static __always_inline struct turn_sock *sock_of_old(struct sock *sk, u32 family, u64 received)
{
	struct turn_sock *entry;

	if (passed((u64)sk) != PASSED_NOT)
		return NULL;
	entry = sock_of(sk, family, received, 0);
	if (!entry)
		set_passed((u64)sk, PASSED_ALL);
	return entry;
}

/* A new one: what it has sent nothing for yet is its first request, all of it. */
static __always_inline u32 first_bytes(struct turn_sock *entry)
{
	if (entry->tgid || !entry->moved_in)
		return 0;
	if (entry->moved_out)
		return 1; /* of what was read before the rest */
	entry->in.before = 0;
	return (u32)entry->moved_in;
}

/* After data was copied to who reads: how far, the socket says. */
SEC("?tp_btf/tcp_rcv_space_adjust")
int BPF_PROG(requests_receive_copy, struct sock *sk)
{
	u32 family = family_of_interest(sk), read_seq, bytes;
	struct turn_sock *entry;

	if (!family || family == FAMILY_UNIX)
		return 0;
	entry = sock_of_old(sk, family, 1);
	if (!entry)
		return 0;
	read_seq = BPF_CORE_READ((struct tcp_sock *)sk, copied_seq);
	bytes = read_seq - entry->read_seq;
	if (!bytes)
		bytes = first_bytes(entry);
	entry->read_seq = read_seq;
	return bytes && bytes < 1U << 31 ? received(sk, entry, bytes) : 0;
}

/* How much of it will be taken is not known yet. */
SEC("?kprobe")
int requests_send_begin(struct pt_regs *ctx)
{
	struct sock *sk = (struct sock *)PT_REGS_PARM1(ctx);
	struct turn_sock *entry = sock_of_old(sk, FAMILY_INET, 0);

	if (!entry || !PT_REGS_PARM3(ctx))
		return 0;
	entry->is_coarse = 1;
	return sent(sk, entry, 0, PT_REGS_PARM3(ctx));
}

#endif
