/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The client's side: calls that a process makes while it serves requests itself. A call goes from
 * its first send to the last receive before the next send.
 */
#ifndef DWELL_REQUESTS_CALL_BPF_H
#define DWELL_REQUESTS_CALL_BPF_H

#include "call_sock.bpf.h"
#include "witness.bpf.h"

/* --- it is sent --- */

static __always_inline u64 wire_of_call(const struct call_sock *call, u64 address, u64 bytes)
{
	struct turn_sock *server;
	u64 peer;
	u32 seq;

	if (call->family != FAMILY_UNIX) {
		seq = BPF_CORE_READ((struct tcp_sock *)address, write_seq);
		return wire_of_tcp(call->client_port, seq - (u32)bytes);
	}
	peer = (u64)BPF_CORE_READ((struct unix_sock *)address, peer);
	server = bpf_map_lookup_elem(&request_unix, &peer);
	if (!server)
		return 0;
	if (!call->last_end_ns) /* of one that was there before it is not known how far it is */
		return (u32)server->turn ? 0 : wire_of_unix(server, server->turn + 1);
	return wire_of_unix(server, server->turn + !(server->begin_ns > call->last_end_ns));
}

/* That it is asked is noted: the server, if it is of this host, will keep its request, too. */
static __always_inline void note_asked(u64 wire, u64 now)
{
	struct request_common *common = request_common();

	if (!common || !wire)
		return;
	bpf_map_update_elem(&request_asked, &wire, &now, BPF_ANY);
	common->asked = 1;
}

__noinline int begin_call(u64 address, u64 bytes, u64 now)
{
	struct ledger_task *account = account_of_current();
	struct call_sock *call = known_call(address);
	struct call_reply previous = {};
	struct turn_sock *owner;

	if (!call || !account)
		return 0;
	if (has_reply(account) && !is_mixed(account))
		look_at_reply(account, &previous);
	forget_reply(account);
	end_call(call, REQUEST_END_NEXT);
	if (call->family != FAMILY_UNIX && !(u32)call->turn)
		call->client_port = BPF_CORE_READ((struct sock *)address, __sk_common.skc_num);
	owner = (u32)call->turn ? NULL : open_turn(call->opened_for_sock, call->opened_for_turn);
	call->owner_sock = call->opened_for_sock;
	if (!owner) {
		owner = owner_of(account, &call->owner_sock);
		note_doubts(call, account, call->owner_sock);
	}
	call->turn++;
	call->tgid = account->tgid;
	call->tid = account->tid;
	call->start_ns = account->start_ns;
	call->wire = wire_of_call(call, address, bytes);
	call->begin_ns = now;
	call->first_ns = call->end_ns = call->received = call->sent = 0;
	call->forward = call->backward = call->previous = (struct request_ref){};
	call->owner_turn = 0;
	call->answer_length = call->request_length = 0;
	call->is_wanted = call->is_doubtful_answer = 0;
	call->is_loop = account->request.is_loop != 0;
	call->is_looked_at = !owner || owner->is_measured;
	if (owner) {
		call->forward.connection = owner->id;
		call->forward.turn = call->owner_turn = owner->turn;
		call->is_wanted = owner->is_measured;
	} else {
		call->owner_sock = 0;
	}
	call->previous.connection = previous.connection;
	call->previous.turn = previous.turn;
	note_published(account->tgid, &call->trace);
	if (is_traced(&call->trace, now))
		call->is_wanted = call->is_looked_at = 1;
	if (call->is_wanted)
		note_asked(call->wire, now);
	return 0;
}

static __noinline int look_at_call(struct call_sock *call, u64 bytes)
{
	if (call)
		call->request_length = copy_payload(call->request, REQUEST_BYTES_MAX, bytes);
	return 0;
}

static __always_inline int call_sent(struct sock *sk, u32 family, u64 bytes)
{
	u64 address = (u64)sk, now;
	struct ledger_task *account;
	struct call_sock *call;

	account = account_of_current();
	call = known_call_of(address, family);
	if (!account || (!call && !is_serving(account->tgid))) {
		if (family != FAMILY_UNIX)
			set_passed(address, PASSED_ALL);
		return 0;
	}
	if (!call)
		call = make_call(sk);
	if (!call)
		return 0; /* counted */
	if (family == FAMILY_UNIX)
		renew_call(call, sk);
	else
		set_passed(address, PASSED_CALL);
	now = bpf_ktime_get_ns();
	if (call->first_ns || !call->begin_ns) {
		begin_call(call->address, bytes, now);
		if (call->is_looked_at)
			look_at_call(call, bytes);
		note_send(account);
	}
	call->sent += bytes;
	return 0;
}

/* --- its answer is read --- */

/* From here on the thread works for the request that made the call. */
static __always_inline void enter_owner(struct ledger_task *account, const struct call_sock *call)
{
	struct turn_sock *entry = open_turn(call->owner_sock, call->owner_turn);
	struct request_watch *watch = &account->request;

	if (entry && entry->tid == account->tid)
		context_enter(account, entry, call->owner_sock);
	else if (watch->is_loop)
		watch->sock = 0;
}

/* It has the answer, or more of it. */
static __always_inline void take_up(struct ledger_task *account, const struct call_sock *call,
				    u64 address)
{
	if (call->owner_turn)
		note_read(account, call->owner_sock, call->owner_turn);
	else
		note_read(account, address, call->turn);
	enter_owner(account, call);
	account->request.is_guessed = call->is_doubtful_owner && !call->backward.connection;
	forget_reply(account);
	account->request.reply_sock = address;
	account->request.reply_turn = call->turn;
	account->request.reply_poll_ns = account->poll_ns;
}

__noinline int read_answer(u64 address, u64 bytes)
{
	struct ledger_task *account = account_of_current();
	struct call_sock *call = known_call(address);
	u64 now = bpf_ktime_get_ns();

	if (!call || !account)
		return 0;
	context_leave(account, now);
	if (!call->first_ns) {
		call->first_ns = now;
		if (call->is_looked_at)
			call->answer_length = copy_payload(call->answer, ANSWER_BYTES_MAX, bytes);
	}
	call->end_ns = now;
	call->received += bytes;
	take_up(account, call, address);
	return 0;
}

static __always_inline int call_received(struct sock *sk, u32 family, u64 bytes)
{
	struct call_sock *call = known_call_of((u64)sk, family);

	if (call && call->begin_ns && is_same_call(call, sk, family))
		read_answer(call->address, bytes);
	return 0;
}

/* The server has closed: there, too, some notice only by it that they have the whole answer. */
__noinline int read_end(u64 address)
{
	struct ledger_task *account = account_of_current();
	struct call_sock *call = known_call(address);

	if (!call || !account || !unanswered_turn(call->owner_sock, call->owner_turn))
		return 0; /* long done */
	context_leave(account, bpf_ktime_get_ns());
	take_up(account, call, address);
	return 0;
}

static __always_inline void call_closed(struct sock *sk, u32 family)
{
	struct call_sock *call = known_call_of((u64)sk, family);

	if (call && call->begin_ns && call->first_ns && is_same_call(call, sk, family))
		read_end(call->address);
}

/* --- it is over --- */

#define CALL_SETTLED_NS 1000000000ULL /* what has been answered so long ago is */

/* At the end of a window: it was answered, and its request, too. */
static __always_inline void settle_call(struct call_sock *call, bool is_last, u64 now)
{
	send_unlinked(call);
	if (!call->begin_ns)
		return;
	if (is_last && !call->first_ns) { /* it goes on in the recording's next file */
		if (call->is_wanted)
			send_call(call->address, REQUEST_END_RECORDING);
		return;
	}
	if (!is_last) {
		if (!call->first_ns || now - call->end_ns < CALL_SETTLED_NS)
			return;
		if (unanswered_turn(call->owner_sock, call->owner_turn))
			return;
	}
	end_call(call, REQUEST_END_NEXT);
	if (is_last)
		send_unlinked(call);
}

#endif
