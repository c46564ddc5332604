/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What goes over all sockets: at the start, and at the end of each window. Included by
 * requests.bpf.c.
 */
#ifndef DWELL_REQUESTS_ROWS_BPF_H
#define DWELL_REQUESTS_ROWS_BPF_H

/* --- at the start: before it, nobody was followed, and no listener known --- */

SEC("?iter/bpf_map_elem")
int requests_begin(struct bpf_iter__bpf_map_elem *ctx)
{
	struct passed_slot *slot = ctx->value;

	if (slot)
		slot->address = 0;
	return 0;
}

SEC("?iter/bpf_map_elem")
int requests_begin_unix(struct bpf_iter__bpf_map_elem *ctx)
{
	struct turn_sock *entry = ctx->value;

	if (entry)
		entry->is_untracked = 0;
	return 0;
}

/* --- at the end of each window --- */

static __always_inline bool is_last(void)
{
	struct live_config *live = live_config();

	return live && live->all_rows == ALL_ROWS_LAST;
}

/*
 * The signal is off for a time, to limit the overhead: what comes is not seen. Who was asked then
 * and is answered later would seem to have worked all the while, so what is under way is given up.
 */
static __always_inline bool is_off(void)
{
	struct live_config *live = live_config();

	return live && live->signals_off >> SIG_REQUESTS & 1;
}

/* Closed, or another connection's by now: no hook told. */
static __always_inline bool has_gone(const struct turn_sock *entry, struct sock *sk)
{
	return BPF_CORE_READ(sk, __sk_common.skc_state) == TCP_CLOSE ||
	       is_another(entry, BPF_CORE_READ(sk, __sk_common.skc_num),
			  BPF_CORE_READ(sk, __sk_common.skc_dport));
}

static __noinline int give_up_turn(struct turn_sock *entry)
{
	if (!entry)
		return 0;
	if (entry->h2)
		h2_lose(entry, h2_of(entry));
	entry->h2 = 0;
	if (entry->end_ns) /* it was answered */
		end_turn(entry, entry->address, REQUEST_END_NEXT, bpf_ktime_get_ns());
	entry->begin_ns = entry->ready_ns = 0;
	return 0;
}

SEC("?iter/bpf_map_elem")
int requests_tcp_rows(struct bpf_iter__bpf_map_elem *ctx)
{
	struct turn_sock *entry = ctx->value;
	u64 *at = ctx->key, address;

	if (!at || !entry)
		return 0;
	address = *at;
	if (is_off()) {
		give_up_turn(entry);
		if (!has_gone(entry, (struct sock *)address))
			return 0;
		forget_gone(address);
	} else if (is_last()) {
		end_sock(address, REQUEST_END_RECORDING);
	}
	return 0;
}

/* Those that were closed since the last window are told now: no hook did. */
SEC("?iter/bpf_map_elem")
int requests_unix_rows(struct bpf_iter__bpf_map_elem *ctx)
{
	struct turn_sock *entry = ctx->value;
	u64 *address = ctx->key;
	struct sock *sk;

	if (!address || !entry || entry->is_untracked || !entry->socket)
		return 0;
	if (is_off())
		give_up_turn(entry);
	sk = (struct sock *)*address;
	if ((u64)BPF_CORE_READ(sk, sk_socket) != entry->socket) {
		end_sock(*address, REQUEST_END_CLOSED);
		entry->socket = 0; /* once */
	} else if (is_last()) {
		end_sock(*address, REQUEST_END_RECORDING);
	}
	return 0;
}

/* Streams whose connection has gone, or was lost track of. */
SEC("?iter/bpf_map_elem")
int requests_stream_rows(struct bpf_iter__bpf_map_elem *ctx)
{
	struct h2_stream *stream = ctx->value;
	struct h2_key *at = ctx->key, key;
	struct h2_sock *h2;

	if (!at || !stream)
		return 0;
	key = *at;
	h2 = bpf_map_lookup_elem(&request_h2, &key.connection);
	if (h2_settle_stream(stream, h2, is_last()))
		bpf_map_delete_elem(&request_streams, &key);
	return 0;
}

SEC("?iter/bpf_map_elem")
int requests_h2_rows(struct bpf_iter__bpf_map_elem *ctx)
{
	struct h2_sock *h2 = ctx->value;
	u64 *at = ctx->key, key;

	if (!at || !h2 || !h2->is_over)
		return 0;
	if (!h2->is_swept) { /* it may be over only since the streams were looked at */
		h2->is_swept = 1;
		return 0;
	}
	key = *at;
	bpf_map_delete_elem(&request_h2, &key);
	return 0;
}

SEC("?iter/bpf_map_elem")
int requests_call_rows(struct bpf_iter__bpf_map_elem *ctx)
{
	struct call_sock *call = ctx->value;
	u64 *at = ctx->key, address;

	if (!at || !call)
		return 0;
	address = *at;
	settle_call(call, is_last(), bpf_ktime_get_ns());
	if (is_off()) {
		clear_passed(address);
		bpf_map_delete_elem(&request_calls, &address);
	}
	return 0;
}

SEC("?iter/bpf_map_elem")
int requests_unix_call_rows(struct bpf_iter__bpf_map_elem *ctx)
{
	struct call_sock *call = ctx->value;
	u64 *at = ctx->key, address;

	if (!at || !call)
		return 0;
	address = *at;
	settle_call(call, is_last(), bpf_ktime_get_ns());
	if (is_off())
		bpf_map_delete_elem(&request_calls_unix, &address);
	return 0;
}

#endif
