/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * A send whose hook comes late: it is behind the send, so a client can have the answer and ask
 * again, and another thread can read that, before the one that sent comes to the hook, or while it
 * is there. TCP numbers each byte when it is written: what was written since a turn began answers
 * it, whether the hook has been there or not, and what was written before does not. Where several
 * threads send on one connection at once, a hook can take the bytes of another one for its own.
 */
#ifndef DWELL_REQUESTS_LATE_SEND_BPF_H
#define DWELL_REQUESTS_LATE_SEND_BPF_H

#include "turn.bpf.h"

/* A turn that is being answered. */
struct answered_turn {
	u64 address; /* of its socket */
	u64 begin_ns;
	struct request_ref ref;
	bool is_measured;
};

static __always_inline bool is_turn(const struct turn_sock *entry, u64 turn)
{
	return ledger_word(&entry->turn) == turn;
}

/*
 * Two threads may send at once, and a third one make a record. Of 0, as before 6.3, clang would
 * make an operation that 5.10 does not have.
 */
static __always_inline void count_sent(struct turn_sock *entry, u64 bytes)
{
	if (bytes)
		__sync_fetch_and_add(&entry->out.in_turns, bytes);
}

static __always_inline bool has_numbers(const struct turn_sock *entry)
{
	return entry->family != FAMILY_UNIX && !entry->is_coarse;
}

/* The number of the next byte that will be written. */
static __always_inline u32 next_seq(const struct turn_sock *entry, u64 address)
{
	return has_numbers(entry) ? BPF_CORE_READ((struct tcp_sock *)address, write_seq) : 0;
}

/* Where the kernel does TLS, its numbers are of other bytes; a FIN has a number, too. */
static __always_inline bool has_own_numbers(struct sock *sk)
{
	u8 state = BPF_CORE_READ(sk, __sk_common.skc_state);

	return (state == TCP_ESTABLISHED || state == TCP_CLOSE_WAIT) &&
	       !BPF_CORE_READ((struct inet_connection_sock *)sk, icsk_ulp_ops);
}

/* Something of the turn's answer is written, as far as is known by numbers alone. */
static __always_inline bool is_written_to(const struct turn_sock *entry, u32 next)
{
	return entry->begin_ns && !entry->end_ns && has_numbers(entry) && next != entry->answer_seq;
}

/* So many bytes of its answer are written, and no hook has told: who sent them, comes too late. */
__noinline int note_answered(u64 address, u32 bytes, u64 now)
{
	struct turn_sock *entry = known_sock(address);
	u64 ready_ns;

	if (!entry || bytes >= 1U << 31 || !has_own_numbers((struct sock *)address))
		return 0;
	ready_ns = entry->ready_ns;
	entry->end_ns = ready_ns > entry->begin_ns && ready_ns < now ? ready_ns : now;
	entry->sent += bytes;
	entry->is_lost = 1;
	entry->flags |= REQUEST_IS_ANSWERED | REQUEST_IS_HANDED_OVER;
	entry->flags &= ~(u32)REQUEST_IS_FOLLOWED;
	return 0;
}

#define ANSWER_JUDGED_MAX (1U << 30) /* bytes: the numbers are of 32 bits */

/* What was sent is of a turn that is over. Who has read the one under way has told before that. */
static __always_inline bool is_late(const struct turn_sock *entry,
				    const struct ledger_task *account, u64 address, u64 bytes)
{
	if (account->tid == entry->tid || !(u32)entry->turn || !has_numbers(entry) ||
	    entry->sent >= ANSWER_JUDGED_MAX)
		return false;
	return next_seq(entry, address) - (u32)bytes - entry->answer_seq >= 1U << 31 &&
	       has_own_numbers((struct sock *)address);
}

#endif
