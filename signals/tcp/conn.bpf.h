/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What is known of each TCP socket, by its address, from when it begins until it closes. States
 * change in interrupts, where the thread is anyone: so whose a socket is, is kept from when it was
 * connected or accepted.
 */
#ifndef DWELL_TCP_CONN_BPF_H
#define DWELL_TCP_CONN_BPF_H

#include "kinds.h"

#define TCP_CONNS_MAX	65536
#define TCP_LISTENS_MAX 1024

#define TCP_SETTLED_BITS 14
#define TCP_SETTLED_MAX	 (1 << TCP_SETTLED_BITS)

/* The kernel's, of a socket. */
enum {
	STATE_ESTABLISHED = 1,
	STATE_SYN_SENT,
	STATE_SYN_RECV,
	STATE_FIN_WAIT1,
	STATE_FIN_WAIT2,
	STATE_TIME_WAIT,
	STATE_CLOSE,
	STATE_CLOSE_WAIT,
	STATE_LAST_ACK,
	STATE_LISTEN,
};

struct tcp_conn {
	u64 id;		    /* of its record: addresses are used again */
	u64 begin_ns;	    /* 0: it was there before us */
	u64 established_ns; /* 0: not yet, or before us */
	u64 start_ns;	    /* with tgid: whose it is */
	u64 object;
	u64 asked_ns; /* the first send; of an accepted one the first receive */
	u64 reply_ns; /* how long until the other; 0: not yet */
	u64 accept_wait_ns;
	u64 moved; /* bytes, both ways, when it was last looked at */
	u32 tgid;
	u32 told;     /* retransmits, or a listener's drops */
	u8 direction; /* enum tcp_direction */
	u8 end;	      /* enum tcp_end; of what has begun to end */
	u8 is_owned;  /* by a process that is followed */
	u8 unused[5];
};

/* Prepared in advance: places are taken in interrupts. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TCP_CONNS_MAX);
	__type(key, u64); /* address of the socket */
	__type(value, struct tcp_conn);
} tcp_conns SEC(".maps");

struct tcp_owner {
	u64 start_ns;
	u32 tgid;
	u32 unused;
};

/* Who listens, by the object of the port. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TCP_LISTENS_MAX);
	__type(key, u64);
	__type(value, struct tcp_owner);
} tcp_listens SEC(".maps");

/*
 * Sockets that have nothing more to tell when they send or receive: not followed, or past their
 * first words. Each message of the host asks: here it costs a load, where tcp_conns' is a look-up.
 * A place has one socket, until that is destroyed; those who find it taken are looked up.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TCP_SETTLED_MAX);
	__type(key, u32);
	__type(value, u64); /* address of the socket; 0: none */
} tcp_settled SEC(".maps");

static __always_inline u64 *settled_place(const struct sock *sk)
{
	u32 place;

	/* Half of an address is a number to the verifier: one that it lets us count with. */
	__asm__ volatile("%0 = %1" : "=w"(place) : "w"((u32)(u64)sk));
	place = place * 0x9e3779b1U >> (32 - TCP_SETTLED_BITS);
	return bpf_map_lookup_elem(&tcp_settled, &place);
}

static __always_inline bool is_settled(const struct sock *sk)
{
	u64 *place = settled_place(sk);

	return place && *place == (u64)sk;
}

static __always_inline void settle(const struct sock *sk)
{
	u64 *place = settled_place(sk);

	if (place && !*place)
		*place = (u64)sk;
}

/* It ends; or it begins, and has its address from one whose end was missed. */
static __always_inline void unsettle(const struct sock *sk)
{
	u64 *place = settled_place(sk);

	if (place && *place == (u64)sk)
		*place = 0;
}

/* Where each kind's last series was found, by CPU: the next one's is mostly the same. */
struct tcp_places {
	u32 of[TCP_KIND_COUNT];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tcp_places);
} tcp_places SEC(".maps");

/* --- what a socket says of itself --- */

static __always_inline struct tcp_conn *conn_of(const struct sock *sk)
{
	u64 address = (u64)sk;

	return bpf_map_lookup_elem(&tcp_conns, &address);
}

/* The object of who listens on this socket's own port: also those that were accepted have it. */
static __always_inline u64 listen_object(struct sock *sk)
{
	u64 port = BPF_CORE_READ(sk, __sk_common.skc_num);

	return object_mix(0, (1ULL << 16 | port) << 8 | BPF_CORE_READ(sk, __sk_common.skc_family));
}

/*
 * Two branches that read the same socket must not become one read at a chosen place, which the
 * verifier refuses: to the compiler, this pointer is another one.
 */
#define APART(sk) __asm__ volatile("" : "+r"(sk))

static __always_inline void copy_local(u8 *to, struct sock *sk, u32 family)
{
	if (family == FAMILY_INET) {
		bpf_core_read(to, 4, &sk->__sk_common.skc_rcv_saddr);
	} else if (bpf_core_field_exists(sk->__sk_common.skc_v6_rcv_saddr)) {
		APART(sk);
		bpf_core_read(to, 16, &sk->__sk_common.skc_v6_rcv_saddr);
	}
}

static __always_inline void copy_peer(u8 *to, struct sock *sk, u32 family)
{
	if (family == FAMILY_INET) {
		bpf_core_read(to, 4, &sk->__sk_common.skc_daddr);
	} else if (bpf_core_field_exists(sk->__sk_common.skc_v6_daddr)) {
		APART(sk);
		bpf_core_read(to, 16, &sk->__sk_common.skc_v6_daddr);
	}
}

/* Whose name a socket can tell. */
enum name_of { NAME_OF_PEER, NAME_OF_LISTENER, NAME_OF_ITS_LISTENER };

/* The name of a peer, or of who listens: once. */
static __noinline int name_object(u64 id, struct sock *sk, enum name_of whose)
{
	struct rec_object *rec;

	if (object_is_sent(id))
		return 0;
	rec = EMIT_RESERVE(OBJECT, object, current_task());
	if (!rec)
		return 0; /* counted; the next one tries again */
	EMIT_CLEAR(rec);
	rec->object = id;
	rec->kind = OBJECT_TCP;
	rec->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	rec->is_listening = whose != NAME_OF_PEER;
	if (whose == NAME_OF_PEER) {
		rec->port = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
		copy_peer(rec->address, sk, rec->family);
	} else {
		APART(sk);
		rec->port = BPF_CORE_READ(sk, __sk_common.skc_num);
		/* An accepted one has the address that was called: its listener's may be any. */
		if (whose == NAME_OF_LISTENER)
			copy_local(rec->address, sk, rec->family);
	}
	EMIT_SUBMIT(rec);
	object_set_sent(id);
	return 0;
}

/* --- what is counted --- */

static __always_inline void conn_key(const struct tcp_conn *conn, u32 kind, struct series_key *key)
{
	key->signal = SIG_TCP;
	key->kind = (u8)kind;
	key->tgid = conn->tgid;
	key->start_ns = conn->start_ns;
	key->object = conn->object;
	if (kind == TCP_KIND_LIFETIME)
		key->more = conn->end;
}

static __always_inline u32 conn_series(struct series_key *key)
{
	u32 zero = 0;
	struct tcp_places *places = bpf_map_lookup_elem(&tcp_places, &zero);

	if (!places || key->kind >= TCP_KIND_COUNT)
		return series_find(key);
	return series_find_again(key, &places->of[key->kind]);
}

static __noinline int conn_add(const struct tcp_conn *conn, u32 kind, u64 value)
{
	struct series_key key = {};

	conn_key(conn, kind, &key);
	series_add(conn_series(&key), value);
	return 0;
}

/* A time that is worth a line where it is long. */
static __noinline int conn_add_time(const struct tcp_conn *conn, u32 kind, u64 ns, u32 error)
{
	struct series_key key = {};

	conn_key(conn, kind, &key);
	key.detail = (u16)error;
	series_add(conn_series(&key), ns);
	if (slow_is_told(SIG_TCP, ns))
		slow_send(current_task(), &key,
			  &(struct slow_event){
				  .ns = ns, .value = {conn->told}, .is_owned_by_key = true});
	return 0;
}

/* What was sent once more since it was last told. The kernel counts segments, also those of SYNs.
 */
static __always_inline void conn_take_retransmits(struct tcp_conn *conn, struct sock *sk)
{
	u32 now = BPF_CORE_READ((struct tcp_sock *)sk, total_retrans);
	u32 by = now - conn->told;

	if (!by || conn->direction == TCP_LISTENING)
		return;
	conn->told = now;
	conn_add(conn, TCP_KIND_RETRANSMITS, by);
}

/* What a listener has refused since it was last told. */
static __always_inline void take_drops(struct tcp_conn *conn, struct sock *sk)
{
	u32 now = (u32)BPF_CORE_READ(sk, sk_drops.counter);
	u32 by = now - conn->told;

	conn->told = now;
	if (by)
		conn_add(conn, TCP_KIND_LISTEN_DROPS, by);
}

static __always_inline u64 conn_srtt_ns(struct sock *sk)
{
	return (BPF_CORE_READ((struct tcp_sock *)sk, srtt_us) >> 3) * 1000ULL;
}

/* --- the record --- */

static __always_inline void fill_numbers(struct rec_tcp *rec, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	rec->received_bytes = socket_received_bytes(sk);
	rec->sent_bytes = socket_sent_bytes(sk);
	rec->retransmits = BPF_CORE_READ(tp, total_retrans);
	rec->srtt_us = BPF_CORE_READ(tp, srtt_us) >> 3;
	rec->min_rtt_us = BPF_CORE_READ(tp, rtt_min.s[0].v);
	rec->congestion_window = BPF_CORE_READ(tp, snd_cwnd);
	rec->segment_bytes = BPF_CORE_READ(tp, mss_cache);
	rec->receive_buffer = (u32)BPF_CORE_READ(sk, sk_rcvbuf);
	rec->send_buffer = (u32)BPF_CORE_READ(sk, sk_sndbuf);
	rec->drops = (u32)BPF_CORE_READ(sk, sk_drops.counter);
	rec->error = (u16)BPF_CORE_READ(sk, sk_err);
}

/* Everything behind the header's times; end_ns of 0: it is open. */
static __always_inline void fill_conn(struct rec_tcp *rec, const struct tcp_conn *conn,
				      struct sock *sk, u64 end_ns)
{
	EMIT_CLEAR(rec);
	rec->hdr.tgid = conn->tgid;
	rec->hdr.start_ns = conn->start_ns;
	rec->hdr.tid = 0;
	rec->connection = conn->id;
	rec->object = conn->object;
	rec->begin_ns = conn->begin_ns;
	rec->established_ns = conn->established_ns;
	rec->end_ns = end_ns;
	rec->accept_wait_ns = conn->accept_wait_ns;
	rec->reply_ns = conn->reply_ns;
	rec->direction = conn->direction;
	rec->end = conn->end;
	rec->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	/* skc_num is gone when it closes. */
	rec->local_port = __builtin_bswap16(BPF_CORE_READ((struct inet_sock *)sk, inet_sport));
	rec->peer_port = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
	copy_local(rec->local, sk, rec->family);
	copy_peer(rec->peer, sk, rec->family);
	fill_numbers(rec, sk);
}

static __noinline int conn_send(const struct tcp_conn *conn, struct sock *sk, u64 end_ns)
{
	struct rec_tcp *rec = EMIT_RESERVE(TCP, tcp, current_task());

	if (!rec)
		return 0; /* counted; its numbers are in its series */
	fill_conn(rec, conn, sk, end_ns);
	EMIT_SUBMIT(rec);
	return 0;
}

/* --- begin --- */

static __always_inline void conn_keep(struct sock *sk, struct tcp_conn *conn)
{
	u64 address = (u64)sk;

	unsettle(sk);
	conn->id = object_mix(bpf_ktime_get_ns(), bpf_get_prandom_u32());
	if (bpf_map_update_elem(&tcp_conns, &address, conn, BPF_ANY))
		EMIT_LOSE(TCP, no_room);
}

static __always_inline void conn_own(struct tcp_conn *conn, const struct ledger_task *account)
{
	conn->tgid = account->tgid;
	conn->start_ns = account->start_ns;
	conn->is_owned = 1;
}

static __always_inline void listen_begin(struct sock *sk, const struct ledger_task *account)
{
	struct tcp_conn conn = {.direction = TCP_LISTENING};
	struct tcp_owner owner = {.tgid = account->tgid, .start_ns = account->start_ns};

	conn_own(&conn, account);
	conn.begin_ns = bpf_ktime_get_ns();
	conn.told = (u32)BPF_CORE_READ(sk, sk_drops.counter);
	conn.object = listen_object(sk);
	bpf_map_update_elem(&tcp_listens, &conn.object, &owner, BPF_ANY);
	conn_keep(sk, &conn);
	name_object(conn.object, sk, NAME_OF_LISTENER);
}

#endif
