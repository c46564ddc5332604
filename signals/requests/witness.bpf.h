/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Whose a call is, by two witnesses: the request that the thread had read last when it sent, and
 * the request that was answered first after the call's answer had been read. How far each can be
 * trusted goes with it: links.c judges.
 */
#ifndef DWELL_REQUESTS_WITNESS_BPF_H
#define DWELL_REQUESTS_WITNESS_BPF_H

#include "call_sock.bpf.h"
#include "context.bpf.h"
#include "late_send.bpf.h"

/* The request that a thread works for, as far as it shows. */
static __always_inline struct turn_sock *owner_of(const struct ledger_task *account, u64 *ret_sock)
{
	const struct request_watch *watch = &account->request;
	struct turn_sock *entry = NULL;

	*ret_sock = watch->sock;
	if (!watch->is_answered && (!watch->is_loop || watch->read_poll_ns == account->poll_ns))
		entry = unanswered_turn(watch->sock, watch->turn);
	if (entry)
		return entry;
	*ret_sock = watch->lent_sock;
	return unanswered_turn(watch->lent_sock, watch->lent_turn);
}

/* It may work for another one: it was woken by who worked for this one, or has read of several. */
static __always_inline bool is_doubtful_owner(const struct ledger_task *account, u64 owner_sock)
{
	const struct request_watch *watch = &account->request;

	return watch->is_guessed || is_mixed(account) || watch->sock != owner_sock;
}

/* When the thread opens the connection for its owner, or sends. */
static __always_inline void note_doubts(struct call_sock *call, const struct ledger_task *account,
					u64 owner_sock)
{
	call->is_doubtful_owner = is_doubtful_owner(account, owner_sock);
	call->is_further = !account->request.is_unused_read;
}

/* A call whose answer was read. */
struct call_reply {
	struct call_sock *call; /* NULL: its connection was closed since */
	u64 connection, turn, begin_ns;
};

static __always_inline bool has_reply(const struct ledger_task *account)
{
	return account->request.reply_sock || account->request.reply_closed;
}

static __always_inline void forget_reply(struct ledger_task *account)
{
	account->request.reply_sock = account->request.reply_closed = 0;
}

/* The call whose answer this thread has read, and not made use of since. False: there is none. */
static __always_inline bool look_at_reply(const struct ledger_task *account, struct call_reply *ret)
{
	const struct request_watch *watch = &account->request;

	if (watch->is_loop && watch->reply_poll_ns != account->poll_ns)
		return false;
	*ret = (struct call_reply){.connection = watch->reply_closed,
				   .turn = watch->reply_turn,
				   .begin_ns = watch->reply_begin_ns};
	if (watch->reply_closed)
		return true;
	ret->call = watch->reply_sock ? known_call(watch->reply_sock) : NULL;
	if (!ret->call || !ret->call->begin_ns || ret->call->turn != ret->turn)
		return false;
	ret->connection = ret->call->id;
	ret->begin_ns = ret->call->begin_ns;
	return true;
}

/* The call's record was sent when its connection was closed: this one adds who was answered then.
 */
static __noinline int send_witness(struct ledger_task *account, const struct call_reply *reply,
				   const struct request_ref *of)
{
	struct rec_requests *rec;

	if (!account || !reply || !of)
		return 0;
	rec = EMIT_RESERVE(REQUESTS, requests, current_task());
	if (!rec)
		return 0; /* counted */
	EMIT_CLEAR(rec);
	rec->hdr.tgid = account->tgid;
	rec->hdr.start_ns = account->start_ns;
	rec->hdr.tid = account->tid;
	rec->connection = reply->connection;
	rec->turn = reply->turn;
	rec->backward = *of;
	rec->flags = REQUEST_IS_CALL | REQUEST_IS_WITNESS;
	if (is_mixed(account))
		rec->flags |= REQUEST_BACKWARD_IS_DOUBTFUL;
	EMIT_SUBMIT(rec);
	return 0;
}

static __always_inline void set_backward(struct call_sock *call, const struct request_ref *of,
					 bool is_measured, bool is_doubtful)
{
	call->backward = *of;
	call->is_doubtful_answer = is_doubtful;
	call->is_wanted |= is_measured;
}

/* A request is answered right after this thread has read the answer of a call: it is its call. */
static __always_inline void witness_answer(struct ledger_task *account,
					   const struct answered_turn *of)
{
	struct call_reply reply;
	struct call_sock *call;
	bool is_known;

	if (!has_reply(account))
		return;
	is_known = look_at_reply(account, &reply) && reply.begin_ns >= of->begin_ns;
	forget_reply(account);
	if (!is_known)
		return;
	call = reply.call;
	if (!call) {
		send_witness(account, &reply, &of->ref);
		return;
	}
	if (call->backward.connection && !call->is_doubtful_answer)
		return;
	set_backward(call, &of->ref, of->is_measured, is_mixed(account));
	call->owner_sock = of->address;
	call->owner_turn = of->ref.turn;
}

/*
 * This thread has read the answer of a call, and wakes one that works for a request. It may hand
 * the answer over; it may also let go a lock. Who answers after it has read the answer itself knows
 * better.
 */
static __always_inline void witness_wake(struct ledger_task *account, const struct turn_sock *entry)
{
	struct request_ref of = {.connection = entry->id, .turn = entry->turn};
	struct call_reply reply;

	if (look_at_reply(account, &reply) && reply.call && reply.begin_ns >= entry->begin_ns &&
	    !reply.call->backward.connection)
		set_backward(reply.call, &of, entry->is_measured, true);
}

/* Its connection is closed, and who has read its answer makes use of that only now. */
static __always_inline void outlive_connection(const struct call_sock *call, u64 address)
{
	struct ledger_task *account = account_of_current();
	struct request_watch *watch;

	if (!account || !call->begin_ns || !call->is_wanted || call->backward.connection)
		return;
	watch = &account->request;
	if (watch->reply_sock != address || watch->reply_turn != call->turn)
		return;
	watch->reply_sock = 0;
	watch->reply_closed = call->id;
	watch->reply_begin_ns = call->begin_ns;
}

#endif
