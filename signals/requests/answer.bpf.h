/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* A request is answered: by whom, with what, and whose time that was. */
#ifndef DWELL_REQUESTS_ANSWER_BPF_H
#define DWELL_REQUESTS_ANSWER_BPF_H

#include "hand_over.bpf.h"
#include "late_send.bpf.h"
#include "published.bpf.h"
#include "tls.bpf.h"

#define CONTINUE_LEAST 25 /* "HTTP/1.1 100 Continue" and two ends of lines ... */
#define CONTINUE_MOST  48 /* ... and, from a JDK, "Content-Length: 0" */
#define CONTINUE_HEAD  16

/* "Go on": the request's body is still to come, and its answer. Only what has its length is looked
 * at.
 */
static __always_inline bool is_continue(u64 bytes)
{
	u8 head[CONTINUE_HEAD] = {};

	return bytes >= CONTINUE_LEAST && bytes <= CONTINUE_MOST &&
	       copy_payload(head, CONTINUE_HEAD, bytes) == CONTINUE_HEAD && head[0] == 'H' &&
	       head[5] == '1' && head[7] == '1' && head[8] == ' ' && head[9] == '1' &&
	       head[10] == '0' && head[11] == '0' && head[12] == ' ';
}

/* Not inlined, as begin_turn() is not. */
static __noinline int published_answer(struct turn_sock *entry, const struct ledger_task *account,
				       u64 turn, u64 now)
{
	struct request_trace trace;

	if (!entry || !account)
		return 0;
	note_published(account->tgid, &trace);
	if (!is_turn(entry, turn))
		return 0;
	entry->trace = trace;
	if (is_traced(&entry->trace, now))
		send_trace(entry, turn, now);
	return 0;
}

/* Another thread can be reading the next request at this moment. False: it is. */
static __always_inline bool note_answer(struct turn_sock *entry, u64 turn, u64 bytes, u64 now)
{
	if (!is_turn(entry, turn))
		return false;
	entry->sent += bytes;
	entry->flags |= REQUEST_IS_ANSWERED;
	ledger_store_release(&entry->end_ns, now);
	return true;
}

/* Not by the thread that has read the request: that must find it answered, before all else. */
static __always_inline bool note_answer_of_other(struct turn_sock *entry, u64 turn, u64 bytes,
						 u64 now)
{
	if (!is_turn(entry, turn))
		return false;
	entry->flags |= REQUEST_IS_HANDED_OVER;
	entry->flags &= ~(u32)REQUEST_IS_FOLLOWED;
	return note_answer(entry, turn, bytes, now);
}

/* The thread that has read the request answers it. */
static __always_inline void answer_by_reader(struct turn_sock *entry, struct ledger_task *account,
					     const struct answered_turn *of, u64 bytes, u64 now)
{
	context_answer(account, entry, of->address, now);
	if (entry->pool_tid) { /* a thread of the pool has begun to answer it */
		entry->is_lost = 1;
		entry->flags &= ~(u32)REQUEST_IS_FOLLOWED;
	} else if (account->poll_ns > entry->poll_from) /* else its account began anew */
		entry->poll_ns = account->poll_ns - entry->poll_from;
	if (account->request.is_loop)
		entry->flags |= REQUEST_IS_LOOP;
	note_answer(entry, of->ref.turn, bytes, now);
}

/* of: the turn as it was when this hook began. */
static __always_inline void answer(struct turn_sock *entry, struct ledger_task *account,
				   const struct answered_turn *of, u64 bytes, u64 there)
{
	bool is_first = !entry->sent, has_ended = entry->end_ns != 0;
	bool is_other = entry->tid != account->tid;
	u64 now = bpf_ktime_get_ns();

	count_sent(entry, bytes);
	if ((is_first && (is_continue(there) || tls_is_continue(entry, account))) ||
	    tls_is_farewell(entry, bytes)) {
		entry->answer_seq += (u32)bytes;
		return;
	}
	if (is_other && !note_answer_of_other(entry, of->ref.turn, bytes, now)) {
		pass_late(account, now);
		return;
	}
	if (is_first && entry->tls == TLS_SEEN_PLAIN)
		tls_answer(entry, account);
	else if (is_first && entry->is_measured)
		entry->answer_length = copy_payload(entry->answer, ANSWER_BYTES_MAX, there);
	if (!has_ended)
		published_answer(entry, account, of->ref.turn, now);
	witness_answer(account, of);
	note_send(account);
	if (!is_other) {
		answer_by_reader(entry, account, of, bytes, now);
		return;
	}
	if (entry->is_measured)
		answer_for_reader(entry->address, of->ref.turn, now);
	account->request.lent_sock = 0;
}

#endif
