/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Which side of a connection a socket is. Data on one that this process opened ends a wait for its
 * peer; data on one that it accepted is work that comes in. A socket does not say which it is: one
 * whose own port has a listener was accepted.
 */
#ifndef DWELL_SOCKET_BPF_H
#define DWELL_SOCKET_BPF_H

#define PROTOCOL_TCP	6
#define SOCK_DONE_FLAG	2     /* of skc_flags: the peer's FIN has come */
#define EPHEMERAL_PORTS 32768 /* from here on, the kernel gives ports to those who ask for any */

struct listener_key {
	u64 net; /* address of its network namespace: an identity, never followed */
	u64 port;
};

/*
 * Ports stay when their listener closes: what it accepted lives on. Those that no socket asked
 * about for longest make room.
 */
struct listeners_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct listener_key);
	__type(value, u64);
};

extern struct listeners_map listeners SEC(".maps");

static __always_inline void socket_listener_key(struct sock *sk, struct listener_key *ret_key)
{
	ret_key->net = (u64)BPF_CORE_READ(sk, __sk_common.skc_net.net);
	ret_key->port = BPF_CORE_READ(sk, __sk_common.skc_num);
}

/* Whether it serves: it listens, was accepted, or takes datagrams on a port of its choice. */
static __always_inline bool socket_is_served(struct sock *sk, u32 family)
{
	struct listener_key key;

	if (family == FAMILY_UNIX) /* who connects has no name of its own */
		return BPF_CORE_READ((struct unix_sock *)sk, addr) != NULL;
	if (family != FAMILY_INET && family != FAMILY_INET6)
		return false;
	socket_listener_key(sk, &key);
	if (BPF_CORE_READ(sk, sk_type) != SOCK_STREAM)
		return !BPF_CORE_READ(sk, __sk_common.skc_dport) && key.port < EPHEMERAL_PORTS;
	return BPF_CORE_READ(sk, __sk_common.skc_state) == TCP_LISTEN ||
	       bpf_map_lookup_elem(&listeners, &key);
}

/* The state of a wait that data on this socket ends; 0: it says nothing. */
static __always_inline u32 socket_wait_state(u32 family, bool is_served)
{
	if (family != FAMILY_UNIX && family != FAMILY_INET && family != FAMILY_INET6)
		return 0;
	if (is_served)
		return STATE_BLOCKED_IDLE;
	return family == FAMILY_UNIX ? STATE_BLOCKED_IPC : STATE_BLOCKED_NET;
}

/* Payload of a TCP socket by the kernel's own counters, each byte once. A FIN counts as a byte
 * there. */
static __always_inline u64 socket_received_bytes(struct sock *sk)
{
	u64 bytes = BPF_CORE_READ((struct tcp_sock *)sk, bytes_received);

	return bytes && BPF_CORE_READ(sk, __sk_common.skc_flags) & SOCK_DONE_FLAG ? bytes - 1
										  : bytes;
}

static __always_inline u64 socket_sent_bytes(struct sock *sk)
{
	return BPF_CORE_READ((struct tcp_sock *)sk, bytes_sent) -
	       BPF_CORE_READ((struct tcp_sock *)sk, bytes_retrans);
}

/* What is found out of a socket, in one number: a state, and this. */
#define SOCKET_STATE  0xff
#define SOCKET_SERVED 0x100
#define SOCKET_INET   0x200
#define SOCKET_STREAM 0x400

/*
 * A function that the verifier checks by itself, once: so it costs little to load, wherever it is
 * used. Hence a socket comes as a number.
 */
__attribute__((weak)) u64 socket_judge(u64 address)
{
	struct sock *sk = (struct sock *)address;
	u32 family = BPF_CORE_READ(sk, __sk_common.skc_family);
	bool is_served = socket_is_served(sk, family);
	u64 found = socket_wait_state(family, is_served);

	if (is_served)
		found |= SOCKET_SERVED;
	if (family == FAMILY_INET || family == FAMILY_INET6)
		found |= SOCKET_INET;
	if (BPF_CORE_READ(sk, sk_type) == SOCK_STREAM)
		found |= SOCKET_STREAM;
	return found;
}

/* The object of a socket of the Internet's: its listener if it serves, else its peer. */
__attribute__((weak)) u64 socket_object(u64 address, u64 is_served)
{
	struct sock *sk = (struct sock *)address;

	if (is_served)
		return object_id_of_port(BPF_CORE_READ(sk, __sk_common.skc_num),
					 BPF_CORE_READ(sk, __sk_common.skc_family));
	return object_id_of_sock(sk, 0);
}

/*
 * Whether the end of a request is held back in its sender, until the peer has acknowledged what was
 * sent before: less than a segment is unsent, while something is on its way (Nagle).
 */
__attribute__((weak)) u64 socket_is_held_back(u64 address)
{
	struct tcp_sock *tcp = (struct tcp_sock *)address;
	u32 unsent = BPF_CORE_READ(tcp, write_seq) - BPF_CORE_READ(tcp, snd_nxt);

	return unsent && unsent < BPF_CORE_READ(tcp, mss_cache) && BPF_CORE_READ(tcp, packets_out);
}

#endif
