/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What is known of each server socket, by its address: its turn under way, and where its bytes
 * went. A turn begins with the first receive, and ends with the last send before the next one.
 */
#ifndef DWELL_REQUESTS_TURN_BPF_H
#define DWELL_REQUESTS_TURN_BPF_H

#include "series.h"

#define REQUEST_TCP_MAX	 16384
#define REQUEST_UNIX_MAX 4096

#define REQUEST_SHAPE_WORDS 4

struct turn_sock {
	u64 id;
	u64 object;   /* of the listener */
	u64 socket;   /* address of its struct socket: a Unix socket that lost it was closed */
	u64 ready_ns; /* data came that was not read yet; 0: none did */
	u64 start_ns; /* with tgid, the process that serves it */
	u32 tgid, tid;
	u32 is_untracked; /* of a Unix socket: its process is not followed */
	u32 error;	  /* that a receive or a send ended with; 0: none */
	u32 is_coarse;	  /* how much was sent is known by its sequence number only */
	u16 port;
	u16 family;

	/* The turn. */
	u64 turn;      /* counts them; it is open if begin_ns is set */
	u64 began_ns;  /* ready */
	u64 begin_ns;  /* received; 0: no turn is open */
	u64 end_ns;    /* last send; 0: none yet */
	u64 poll_from; /* its thread's poll_ns when it began */
	u64 poll_ns;   /* what was added to that by its last send ... */
	u64 poll_own;  /* ... and what of it is in own[] */
	u64 received, sent;
	u64 own[STATE_COUNT];
	u32 flags;			   /* enum request_flags */
	u16 request_length, answer_length; /* of the last one that is measured */
	u8 is_sampled;			   /* it gets a record */
	u8 is_measured;			   /* it has all that a record says, should it get one */
	u8 unused[6];

	/* Since the last record. */
	u64 skipped; /* turns without one */
	struct request_bytes_moved in, out;

	/* The kernel's counters: in the last record, and now, by its sequence numbers. */
	u64 reported_in, reported_out;
	u64 moved_in, moved_out;
	u32 copied_seq, write_seq; /* when moved_in and moved_out were made */
	u32 read_seq;		   /* as copied_seq, for who learns only by it how much was read */
	u32 pending;		   /* bytes that are just being read, for the next turn */

	u64 shape[REQUEST_SHAPE_WORDS]; /* of the request of the last turn, and those skipped */
	u8 request[REQUEST_BYTES_MAX];
	u8 answer[ANSWER_BYTES_MAX];
};

/* Prepared in advance: places are taken in interrupts. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, REQUEST_TCP_MAX);
	__type(key, u64); /* address of the socket */
	__type(value, struct turn_sock);
} request_tcp SEC(".maps");

/* No hook says that a Unix socket closes: those not used for longest make room. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, REQUEST_UNIX_MAX);
	__type(key, u64);
	__type(value, struct turn_sock);
} request_unix SEC(".maps");

/* What a new one begins as: too large for a program's stack. Never written. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct turn_sock);
} request_empty SEC(".maps");

/*
 * Addresses of TCP sockets that are not tracked, clients mostly: a cache in which a hash chooses
 * the slot. Each message of the host asks, and a load is cheaper than to judge the socket again.
 */
#define REQUEST_PASSED_BITS 14

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << REQUEST_PASSED_BITS);
	__type(key, u32);
	__type(value, u64);
} request_passed SEC(".maps");

static __always_inline u64 *passed_place(u64 address)
{
	u32 place;

	/* Half of an address is a number to the verifier: one that it lets us count with. */
	__asm__ volatile("%0 = %1" : "=w"(place) : "w"((u32)address));
	place = place * 0x9e3779b1U >> (32 - REQUEST_PASSED_BITS);
	return bpf_map_lookup_elem(&request_passed, &place);
}

static __always_inline bool is_passed(u64 address)
{
	u64 *place = passed_place(address);

	return place && *place == address;
}

static __always_inline void set_passed(u64 address)
{
	u64 *place = passed_place(address);

	if (place)
		*place = address;
}

static __always_inline void clear_passed(u64 address)
{
	u64 *place = passed_place(address);

	if (place && *place == address)
		*place = 0;
}

static __always_inline struct turn_sock *known_sock_of(u64 address, u32 family)
{
	if (family == FAMILY_UNIX)
		return bpf_map_lookup_elem(&request_unix, &address);
	return bpf_map_lookup_elem(&request_tcp, &address);
}

static __always_inline struct turn_sock *known_sock(u64 address)
{
	struct turn_sock *entry = bpf_map_lookup_elem(&request_tcp, &address);

	return entry ? entry : bpf_map_lookup_elem(&request_unix, &address);
}

/* --- what the kernel counts --- */

/* Accepted from the process: what has left, and what has not yet. */
static __always_inline u64 kernel_sent(struct sock *sk)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	u32 unsent = BPF_CORE_READ(tcp, write_seq) - BPF_CORE_READ(tcp, snd_nxt);

	return socket_sent_bytes(sk) + (unsent < 1U << 31 ? unsent : 0);
}

static __always_inline u64 unread_bytes(struct sock *sk)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	u32 unread = BPF_CORE_READ(tcp, rcv_nxt) - BPF_CORE_READ(tcp, copied_seq);

	if (unread && BPF_CORE_READ(sk, __sk_common.skc_flags) & SOCK_DONE_FLAG)
		unread--;
	return unread < 1U << 31 ? unread : 0;
}

/* --- begin --- */

/*
 * Only the process moves these two numbers of its socket, so that no packet can come in between:
 * what it has taken and what it has given, by the kernel's own count. A FIN counts as a byte there.
 */
static __always_inline void follow_bytes(struct turn_sock *entry, struct sock *sk)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	u32 copied_seq = BPF_CORE_READ(tcp, copied_seq), write_seq = BPF_CORE_READ(tcp, write_seq);

	entry->moved_in += copied_seq - entry->copied_seq;
	entry->moved_out += write_seq - entry->write_seq;
	entry->copied_seq = copied_seq;
	entry->write_seq = write_seq;
}

/* received and sent: of the message that is just being looked at, which is not from before. */
static __always_inline void note_before(struct turn_sock *entry, struct sock *sk, u64 received,
					u64 sent)
{
	u64 unread, before;

	if (entry->family == FAMILY_UNIX)
		return; /* whose bytes the kernel does not count */
	follow_bytes(entry, sk);
	entry->read_seq = entry->copied_seq;
	unread = unread_bytes(sk);
	before = socket_received_bytes(sk);
	entry->moved_in = before > unread ? before - unread : 0;
	entry->moved_out = kernel_sent(sk);
	if (entry->moved_in > received)
		entry->in.before = entry->moved_in - received;
	if (entry->moved_out > sent)
		entry->out.before = entry->moved_out - sent;
}

/* A socket that the verifier trusts, as a number: what reads it as one does not take pointers. */
static __always_inline u64 address_as_number(struct sock *sk)
{
	struct sock *volatile here = sk;
	u64 number = 0;

	bpf_probe_read_kernel(&number, sizeof(number), (const void *)&here);
	return number;
}

/* A stream socket that serves, and is seen for the first time. NULL: it is none. */
static __noinline struct turn_sock *make_sock(struct sock *sk, u64 received, u64 sent)
{
	u64 address = (u64)sk, found = socket_judge(address_as_number(sk));
	u32 family = BPF_CORE_READ(sk, __sk_common.skc_family), zero = 0;
	struct turn_sock *entry, *empty;
	long err;

	if (!(found & SOCKET_SERVED) || !(found & SOCKET_STREAM)) {
		if (family != FAMILY_UNIX)
			set_passed(address);
		return NULL;
	}
	empty = bpf_map_lookup_elem(&request_empty, &zero);
	if (!empty)
		return NULL;
	if (family == FAMILY_UNIX)
		err = bpf_map_update_elem(&request_unix, &address, empty, BPF_NOEXIST);
	else
		err = bpf_map_update_elem(&request_tcp, &address, empty, BPF_NOEXIST);
	entry = known_sock(address);
	if (!entry) {
		EMIT_LOSE(REQUESTS, no_room);
		set_passed(address); /* so that it is counted once */
		return NULL;
	}
	if (err)
		return entry; /* another CPU was first */
	entry->id = object_mix(bpf_ktime_get_ns(), bpf_get_prandom_u32());
	entry->family = (u16)family;
	entry->socket = (u64)BPF_CORE_READ(sk, sk_socket);
	if (family != FAMILY_UNIX) {
		entry->port = BPF_CORE_READ(sk, __sk_common.skc_num);
		entry->object = object_id_of_port(entry->port, family);
	}
	note_before(entry, sk, received, sent);
	return entry;
}

/* Its family; 0: it is no stream of those that have requests, or it listens. */
static __always_inline u32 family_of_interest(const struct sock *sk)
{
	u32 family = sk->__sk_common.skc_family;

	if (sk->__sk_common.skc_state == TCP_LISTEN)
		return 0;
	if (family == FAMILY_UNIX)
		return sk->sk_type == SOCK_STREAM ? family : 0;
	if ((family != FAMILY_INET && family != FAMILY_INET6) || sk->sk_protocol != PROTOCOL_TCP)
		return 0;
	return family;
}

/* The socket, if it serves somebody; whether that is followed, is known when it is read. */
static __always_inline struct turn_sock *sock_of(struct sock *sk, u32 family, u64 received,
						 u64 sent)
{
	struct turn_sock *entry;

	if (is_passed((u64)sk))
		return NULL;
	entry = known_sock_of((u64)sk, family);
	return entry ? entry : make_sock(sk, received, sent);
}

/* Nobody who is followed reads it. */
static __always_inline void leave_sock(struct turn_sock *entry, u64 address)
{
	if (entry->tgid)
		return; /* somebody did, who shares it with another process */
	if (entry->family == FAMILY_UNIX) {
		entry->is_untracked = 1;
		return;
	}
	set_passed(address);
	bpf_map_delete_elem(&request_tcp, &address);
}

#endif
