/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What is known of each client socket of a process that serves requests itself, by its address: its
 * call under way, and the record of that when it is over.
 */
#ifndef DWELL_REQUESTS_CALL_SOCK_BPF_H
#define DWELL_REQUESTS_CALL_SOCK_BPF_H

#include "payload.bpf.h"
#include "published.bpf.h"
#include "turn.bpf.h"

#define CALL_TCP_MAX  8192
#define CALL_UNIX_MAX 2048

struct call_sock {
	u64 id;				      /* of the connection */
	u64 address;			      /* as in struct turn_sock */
	u64 object;			      /* of the peer */
	u64 socket;			      /* as in struct turn_sock */
	u64 opened_for_sock, opened_for_turn; /* who worked for these opened it; 0: not known */
	u64 start_ns;
	u32 tgid, tid; /* who sent */
	u32 error;     /* as in struct turn_sock */
	u32 family;
	u16 port, client_port;
	u16 request_length, answer_length;

	/* The call. */
	u64 turn;	 /* its number, as that of a turn */
	u64 wire;	 /* as in struct turn_sock */
	u64 begin_ns;	 /* 0: none is under way */
	u64 first_ns;	 /* of its answer; 0: none yet */
	u64 end_ns;	 /* of what came of its answer until now */
	u64 last_end_ns; /* of the one before */
	u64 received, sent;
	u64 owner_sock; /* address of the socket of the request that it is of; 0: not known */
	u64 owner_turn;
	struct request_ref forward, backward, previous;
	struct request_trace trace; /* published when it was sent */
	u8 is_wanted;		    /* its request has a record, and so it has one */
	u8 is_looked_at;
	u8 is_loop;	       /* an event loop has sent it */
	u8 is_doubtful_owner;  /* forward is */
	u8 is_doubtful_answer; /* backward is */
	u8 is_further;	       /* as in enum request_flags */
	u8 unused[2];
	u32 unlinked; /* calls since the last record that are of no request, as far as it shows */
	u8 request[REQUEST_BYTES_MAX];
	u8 answer[ANSWER_BYTES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CALL_TCP_MAX);
	__type(key, u64); /* address of the socket */
	__type(value, struct call_sock);
} request_calls SEC(".maps");

/* As request_unix. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CALL_UNIX_MAX);
	__type(key, u64);
	__type(value, struct call_sock);
} request_calls_unix SEC(".maps");

/* What a new one begins as. Never written. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct call_sock);
} request_call_empty SEC(".maps");

static __always_inline struct call_sock *known_call_of(u64 address, u32 family)
{
	if (family == FAMILY_UNIX)
		return bpf_map_lookup_elem(&request_calls_unix, &address);
	return bpf_map_lookup_elem(&request_calls, &address);
}

static __always_inline struct call_sock *known_call(u64 address)
{
	struct call_sock *call = bpf_map_lookup_elem(&request_calls, &address);

	return call ? call : bpf_map_lookup_elem(&request_calls_unix, &address);
}

/* --- the record --- */

__noinline int send_call(u64 address, u32 end)
{
	struct call_sock *call = known_call(address);
	struct rec_requests *rec;

	if (!call)
		return 0;
	rec = EMIT_RESERVE(REQUESTS, requests, current_task());
	if (!rec)
		return 0; /* counted */
	EMIT_CLEAR(rec);
	rec->hdr.tgid = call->tgid;
	rec->hdr.start_ns = call->start_ns;
	rec->hdr.tid = call->tid;
	rec->connection = call->id;
	rec->turn = call->turn;
	rec->wire = call->wire;
	rec->object = call->object;
	rec->weight = 1;
	rec->ready_ns = call->first_ns;
	rec->begin_ns = call->begin_ns;
	rec->end_ns = call->end_ns;
	rec->received = call->received;
	rec->sent = call->sent;
	rec->forward = call->forward;
	rec->backward = call->backward;
	rec->previous = call->previous;
	fill_trace(rec, &call->trace);
	rec->flags = REQUEST_HAS_TURN | REQUEST_IS_CALL;
	if (call->first_ns)
		rec->flags |= REQUEST_IS_ANSWERED;
	if (call->is_loop)
		rec->flags |= REQUEST_IS_LOOP;
	if (call->is_doubtful_owner)
		rec->flags |= REQUEST_FORWARD_IS_DOUBTFUL;
	if (call->is_doubtful_answer)
		rec->flags |= REQUEST_BACKWARD_IS_DOUBTFUL;
	if (call->is_further)
		rec->flags |= REQUEST_IS_FURTHER;
	rec->end = end;
	rec->port = call->port;
	rec->client_port = call->client_port;
	rec->request_length = call->request_length;
	rec->answer_length = call->answer_length;
	__builtin_memcpy(rec->request, call->request, sizeof(rec->request));
	__builtin_memcpy(rec->answer, call->answer, sizeof(rec->answer));
	EMIT_SUBMIT(rec);
	return 0;
}

/* Those that are of no request are counted: in a record of their own, at the end of the window. */
static __noinline int send_unlinked(struct call_sock *call)
{
	struct rec_requests *rec;

	if (!call || !call->unlinked)
		return 0;
	rec = EMIT_RESERVE(REQUESTS, requests, current_task());
	if (!rec)
		return 0; /* counted; the next one has them, too */
	EMIT_CLEAR(rec);
	rec->hdr.tgid = call->tgid;
	rec->hdr.start_ns = call->start_ns;
	rec->hdr.tid = call->tid;
	rec->connection = call->id;
	rec->weight = call->unlinked;
	rec->flags = REQUEST_IS_CALL;
	rec->end = REQUEST_END_NEXT;
	call->unlinked = 0;
	EMIT_SUBMIT(rec);
	return 0;
}

static __always_inline void end_call(struct call_sock *call, u32 end)
{
	if (!call->begin_ns)
		return;
	if (call->is_wanted)
		send_call(call->address, end);
	else if (!call->forward.connection && !call->backward.connection)
		call->unlinked++;
	call->last_end_ns = call->end_ns;
	call->begin_ns = 0;
}

/* --- a connection --- */

static __always_inline void name_peer(struct call_sock *call, struct sock *sk)
{
	call->port = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
	call->object = object_id_of_sock(sk, 0);
	object_send_sock(current_task(), call->object, sk, false);
}

/* NULL: there is no slot. */
static __noinline struct call_sock *make_call(struct sock *sk)
{
	u32 family = BPF_CORE_READ(sk, __sk_common.skc_family), zero = 0;
	struct call_sock *call, *empty;
	u64 address = (u64)sk;

	empty = bpf_map_lookup_elem(&request_call_empty, &zero);
	if (!empty)
		return NULL;
	if (family == FAMILY_UNIX)
		bpf_map_update_elem(&request_calls_unix, &address, empty, BPF_NOEXIST);
	else
		bpf_map_update_elem(&request_calls, &address, empty, BPF_NOEXIST);
	call = known_call_of(address, family);
	if (!call) {
		EMIT_LOSE(REQUESTS, no_room);
		return NULL;
	}
	call->id = object_mix(bpf_ktime_get_ns(), bpf_get_prandom_u32());
	call->turn = first_turn();
	call->address = address_as_number(sk);
	call->family = family;
	call->socket = (u64)BPF_CORE_READ(sk, sk_socket);
	if (family != FAMILY_UNIX)
		name_peer(call, sk);
	return call;
}

/* Else its address is another Unix socket's now. */
static __always_inline bool is_same_call(const struct call_sock *call, struct sock *sk, u32 family)
{
	return family != FAMILY_UNIX || call->socket == (u64)BPF_CORE_READ(sk, sk_socket);
}

/* The address of a Unix socket that was closed is another's now. */
static __always_inline void renew_call(struct call_sock *call, struct sock *sk)
{
	u64 socket = (u64)BPF_CORE_READ(sk, sk_socket);

	if (call->socket == socket)
		return;
	end_call(call, REQUEST_END_CLOSED);
	send_unlinked(call);
	call->id = object_mix(bpf_ktime_get_ns(), bpf_get_prandom_u32());
	call->turn = first_turn();
	call->last_end_ns = 0;
	call->socket = socket;
}

#endif
