/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What is known of each server socket, by its address: its turn under way, and where its bytes
 * went. A turn begins with the first receive, and ends with the last send before the next one.
 */
#ifndef DWELL_REQUESTS_TURN_BPF_H
#define DWELL_REQUESTS_TURN_BPF_H

#include "passed.bpf.h"
#include "series.h"

#define REQUEST_TCP_MAX	 16384
#define REQUEST_UNIX_MAX 4096
#define CALL_ASKED_MAX	 8192

#define REQUEST_SHAPE_WORDS 4

/* What a TLS library made of a turn. */
enum tls_seen {
	TLS_SEEN_NOT,
	TLS_SEEN_BARE,	/* it was read, and there was no data in it so far */
	TLS_SEEN_PLAIN, /* data came out of it */
};

struct turn_sock {
	u64 id;
	u64 object;   /* of the listener */
	u64 address;  /* of its struct sock: its key, as a number that functions take */
	u64 socket;   /* address of its struct socket: a Unix socket that lost it was closed */
	u64 ready_ns; /* data came that was not read yet; 0: none did */
	u64 start_ns; /* with tgid, the process that serves it */
	u32 tgid, tid;
	u32 is_untracked; /* of a Unix socket: its process is not followed */
	u32 error;	  /* that a receive or a send ended with; 0: none */
	u32 is_coarse;	  /* how much was sent is known by its sequence number only */
	u16 port;
	u16 client_port;
	u32 family;
	u32 pool_tid; /* the thread that answers what another one has read; 0: none does */

	/* The turn. */
	u64 turn;      /* its number, see first_turn(); it is open if begin_ns is set */
	u64 wire;      /* names what was asked at both ends of the connection; 0: not known */
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
	u8 is_lost;			   /* of what is done for it, some is not known to be */
	u8 tls;				   /* enum tls_seen: what a TLS library made of it */
	u8 is_plain;			   /* request[] is what was in TLS records */
	u8 h2_tries;			   /* it was looked at so often whether it speaks HTTP/2 */
	u8 is_gone; /* another socket is at its address: its counters cannot be read */
	u8 unused;

	u64 tls_ssl; /* the connection, as the TLS library has it; of which there was data; 0: none
		      */
	u64 h2;	     /* it speaks HTTP/2: key of its struct h2_sock; 0: not known to, turns count */

	/* Since the last record. */
	u64 skipped; /* turns without one */
	struct request_bytes_moved in, out;

	/* The kernel's counters: in the last record, and now, by its sequence numbers. */
	u64 reported_in, reported_out;
	u64 moved_in, moved_out;
	u32 copied_seq, write_seq; /* when moved_in and moved_out were made */
	u32 read_seq;		   /* as copied_seq, for who learns only by it how much was read */
	u32 pending;		   /* bytes that are just being read, for the next turn */
	u32 answer_seq;		   /* of the first byte that can be of the turn's answer */

	struct request_wait wait;	/* the longest of own[] whose stack is known */
	struct request_trace trace;	/* of the turn: published when it was answered */
	u64 shape[REQUEST_SHAPE_WORDS]; /* of the request of the last turn, and those skipped */
	u8 request[REQUEST_BYTES_MAX];
	u8 answer[ANSWER_BYTES_MAX];

	/* What has just been received, until it is known whether it becomes request[]. */
	u8 next[REQUEST_BYTES_MAX] __attribute__((aligned(8)));
	u64 next_length;
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

/* Calls of requests that have a record: who answers them gives them one, too. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CALL_ASKED_MAX);
	__type(key, u64); /* wire */
	__type(value, u64);
} request_asked SEC(".maps");

/*
 * Turns of a connection are counted in the lower half of their number. The upper one is at random:
 * where a socket and a turn of it are remembered, another socket at that address is not taken for
 * it.
 */
static __always_inline u64 first_turn(void)
{
	return (u64)(bpf_get_prandom_u32() | 1) << 32;
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

/*
 * Functions that are not static are verified once, and not for each way that leads to them: what is
 * done rarely is in such, so that the rest stays small. They take no pointers.
 */

/* A stream socket that serves, and is seen for the first time. False: it is none. */
__noinline int make_sock(u64 address, u64 received, u64 sent)
{
	struct sock *sk = (struct sock *)address;
	u64 found = socket_judge(address);
	u32 family = BPF_CORE_READ(sk, __sk_common.skc_family), zero = 0;
	struct turn_sock *entry, *empty;
	long err;

	if (!(found & SOCKET_SERVED) || !(found & SOCKET_STREAM))
		return false; /* it may make calls: who sends on it knows */
	empty = bpf_map_lookup_elem(&request_empty, &zero);
	if (!empty)
		return false;
	if (family == FAMILY_UNIX)
		err = bpf_map_update_elem(&request_unix, &address, empty, BPF_NOEXIST);
	else
		err = bpf_map_update_elem(&request_tcp, &address, empty, BPF_NOEXIST);
	entry = known_sock(address);
	if (!entry) {
		EMIT_LOSE(REQUESTS, no_room);
		set_passed(address, PASSED_ALL); /* so that it is counted once */
		return false;
	}
	if (err)
		return true; /* another CPU was first */
	entry->id = object_mix(bpf_ktime_get_ns(), bpf_get_prandom_u32());
	entry->turn = first_turn();
	entry->address = address;
	entry->family = family;
	entry->socket = (u64)BPF_CORE_READ(sk, sk_socket);
	if (family != FAMILY_UNIX) {
		entry->port = BPF_CORE_READ(sk, __sk_common.skc_num);
		entry->client_port = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
		entry->object = object_id_of_port(entry->port, family);
	}
	note_before(entry, sk, received, sent);
	return true;
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
	struct turn_sock *entry = known_sock_of((u64)sk, family);

	if (entry || !make_sock(address_as_number(sk), received, sent))
		return entry;
	return known_sock_of((u64)sk, family);
}

/* The turn, if it is still the one under way on its socket. */
static __always_inline struct turn_sock *open_turn(u64 address, u64 turn)
{
	struct turn_sock *entry = address ? known_sock(address) : NULL;

	return entry && entry->begin_ns && entry->turn == turn ? entry : NULL;
}

/* As open_turn(), if nobody has begun to answer it. */
static __always_inline struct turn_sock *unanswered_turn(u64 address, u64 turn)
{
	struct turn_sock *entry = open_turn(address, turn);

	return entry && !entry->end_ns ? entry : NULL;
}

/* --- the same at both ends of a connection --- */

/*
 * By what was sent before it: TCP numbers each byte, and both ends have the number. Without the
 * server's port: where the host translates addresses, its client knows another one.
 */
static __always_inline u64 wire_of_tcp(u32 client_port, u32 first_seq)
{
	u64 wire = object_mix(client_port, first_seq);

	return wire ? wire : 1;
}

/* By the server's socket, and how many turns it has had. */
static __always_inline u64 wire_of_unix(const struct turn_sock *entry, u64 turn)
{
	return object_mix(entry->id, turn);
}

/* The number of the byte after the last one that was received: a FIN has a number, too. */
static __always_inline u32 received_seq(struct sock *sk)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	u32 copied_seq = BPF_CORE_READ(tcp, copied_seq);

	if (BPF_CORE_READ(sk, __sk_common.skc_flags) & SOCK_DONE_FLAG &&
	    copied_seq == BPF_CORE_READ(tcp, rcv_nxt))
		copied_seq--;
	return copied_seq;
}

/* Of a turn that begins with these bytes, which have just been received. */
static __always_inline u64 wire_of_turn(const struct turn_sock *entry, u64 address, u64 bytes)
{
	if (entry->family == FAMILY_UNIX)
		return wire_of_unix(entry, entry->turn);
	return wire_of_tcp(entry->client_port, received_seq((struct sock *)address) - (u32)bytes);
}

/*
 * What the process has mapped is looked at: whether it publishes trace contexts, or has a TLS
 * library. Not inlined: what it needs of the stack is free again when it returns.
 */
static __noinline int ask_for_files(u32 tgid)
{
	struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &tgid);

	if (!process || !process->generation)
		unwind_ask(tgid, process);
	return 0;
}

/* Who reads it serves it. */
static __always_inline void own_sock(struct turn_sock *entry, const struct ledger_task *account)
{
	if (entry->tgid != account->tgid && note_serving(account->tgid))
		ask_for_files(account->tgid);
	entry->tgid = account->tgid;
	entry->start_ns = account->start_ns;
	entry->tid = account->tid;
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
	set_passed(address, PASSED_ALL);
	bpf_map_delete_elem(&request_tcp, &address);
}

#endif
