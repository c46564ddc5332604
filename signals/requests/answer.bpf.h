/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* A request is answered: by whom, with what, and whose time that was. */
#ifndef DWELL_REQUESTS_ANSWER_BPF_H
#define DWELL_REQUESTS_ANSWER_BPF_H

#include "hand_over.bpf.h"
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
				       u64 now)
{
	if (!entry || !account)
		return 0;
	note_published(account->tgid, &entry->trace);
	if (is_traced(&entry->trace, now))
		send_trace(entry, now);
	return 0;
}

static __always_inline void answer(struct turn_sock *entry, struct ledger_task *account,
				   u64 address, u64 bytes, u64 there)
{
	u64 now = bpf_ktime_get_ns();

	if ((!entry->sent && (is_continue(there) || tls_is_continue(entry, account))) ||
	    tls_is_farewell(entry, bytes)) {
		entry->out.in_turns += bytes;
		return;
	}
	if (!entry->sent && entry->tls == TLS_SEEN_PLAIN)
		tls_answer(entry, account);
	else if (!entry->sent && entry->is_measured)
		entry->answer_length = copy_payload(entry->answer, ANSWER_BYTES_MAX, there);
	if (!entry->end_ns)
		published_answer(entry, account, now);
	witness_answer(account, entry, address);
	note_send(account);
	if (entry->tid != account->tid) {
		entry->flags |= REQUEST_IS_HANDED_OVER;
		if (entry->is_measured)
			answer_for_reader(entry->address, now);
		account->request.lent_sock = 0;
	} else {
		context_answer(account, entry, address, now);
		if (entry->pool_tid) { /* a thread of the pool has begun to answer it */
			entry->is_lost = 1;
			entry->flags &= ~(u32)REQUEST_IS_FOLLOWED;
		} else if (account->poll_ns > entry->poll_from) /* else its account began anew */
			entry->poll_ns = account->poll_ns - entry->poll_from;
		if (account->request.is_loop)
			entry->flags |= REQUEST_IS_LOOP;
	}
	entry->flags |= REQUEST_IS_ANSWERED;
	entry->end_ns = now;
	entry->sent += bytes;
	entry->out.in_turns += bytes;
}

#endif
