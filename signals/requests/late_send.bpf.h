/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * A send whose hook comes late: it is behind the send, so a client can have the answer and ask
 * again, and another thread can read that, before the one that sent comes to the hook. TCP's own
 * number of what was written tells.
 */
#ifndef DWELL_REQUESTS_LATE_SEND_BPF_H
#define DWELL_REQUESTS_LATE_SEND_BPF_H

#include "hand_over.bpf.h"

/* What was sent, and was not told yet. */
static __always_inline u32 untold_bytes(struct turn_sock *entry, u64 address)
{
	u32 write_seq, untold;

	if (entry->family == FAMILY_UNIX || entry->is_coarse)
		return 0;
	write_seq = BPF_CORE_READ((struct tcp_sock *)address, write_seq);
	untold = write_seq - entry->told_seq;
	entry->told_seq = write_seq;
	return entry->begin_ns && untold < 1U << 31 ? untold : 0;
}

/* Where the kernel does TLS, its numbers are of other bytes; a FIN has a number, too. */
static __always_inline bool has_own_numbers(struct sock *sk)
{
	u8 state = BPF_CORE_READ(sk, __sk_common.skc_state);

	return (state == TCP_ESTABLISHED || state == TCP_CLOSE_WAIT) &&
	       !BPF_CORE_READ((struct inet_connection_sock *)sk, icsk_ulp_ops);
}

__noinline int note_untold(u64 address, u32 untold, u64 now)
{
	struct turn_sock *entry = known_sock(address);
	u64 ready_ns;

	if (!entry || !has_own_numbers((struct sock *)address))
		return 0;
	entry->late_bytes = untold;
	entry->late_ns = now;
	entry->sent += untold;
	entry->out.in_turns += untold;
	if (entry->end_ns)
		return 0;
	ready_ns = entry->ready_ns;
	entry->end_ns = ready_ns > entry->begin_ns && ready_ns < now ? ready_ns : now;
	entry->is_lost = 1; /* who answered it, and with what, comes too late */
	entry->flags |= REQUEST_IS_ANSWERED | REQUEST_IS_HANDED_OVER;
	entry->flags &= ~(u32)REQUEST_IS_FOLLOWED;
	return 0;
}

#define LATE_MOST_NS 1000000000ULL /* who has sent comes to the hook within this, or never */

/* True: that was untold. Not of the thread that has read since: it has told before that. */
static __always_inline bool is_late(struct turn_sock *entry, struct ledger_task *account, u64 bytes)
{
	u64 late = entry->late_bytes;

	if (!late || account->tid == entry->tid ||
	    bpf_ktime_get_ns() - entry->late_ns > LATE_MOST_NS) {
		entry->told_seq += (u32)bytes;
		return false;
	}
	if (late > bytes)
		late = bytes;
	entry->late_bytes -= (u32)late;
	entry->told_seq += (u32)(bytes - late);
	entry->out.in_turns += bytes - late;
	forget_reply(account);
	note_send(account);
	return true;
}

#endif
