/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Connections of HTTP/2 without TLS, whose streams are requests: recognised by their preface, or,
 * where they are older than the recording, by a message that is nothing but frames with a header
 * block among them. Until then, and after track was lost, their turns count. In programs of their
 * own, called by those at the same hooks: they take bpf_loop(), and much of the stack.
 */
#ifndef DWELL_REQUESTS_H2_BPF_H
#define DWELL_REQUESTS_H2_BPF_H

#include "h2_frames.bpf.h"

#define H2_PREFACE_BYTES 24
#define H2_TRIES_MAX	 16  /* a connection is looked at so often, at most */
#define H2_LOOK_MAX	 256 /* frames of one message */

struct h2_calls {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
};

struct h2_calls request_h2_receive SEC(".maps");
struct h2_calls request_h2_send SEC(".maps");

/* --- does it speak HTTP/2? --- */

/* "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", or as much of it as has come. */
static __always_inline bool h2_is_preface(const struct payload *payload)
{
	u64 words[3];

	if (payload->length < 16 || bpf_probe_read_user(words, 16, (void *)payload->address) ||
	    words[0] != 0x5448202a20495250ULL || words[1] != 0x0a0d302e322f5054ULL)
		return false;
	if (payload->length < H2_PREFACE_BYTES)
		return true;
	return !bpf_probe_read_user(&words[2], 8, (void *)(payload->address + 16)) &&
	       words[2] == 0x0a0d0a0d4d530a0dULL;
}

/* A message of which all is to be frames. */
struct h2_look {
	u64 at, left;
	u32 blocks; /* of requests; a CONTINUATION or what nobody has sent unasked: refused */
	u16 is_refused;
	u16 is_alone; /* the message is a header, and no more */
};

static long h2_look_at(u32 index, struct h2_look *look)
{
	u8 header[H2_HEADER_BYTES + 3] = {};
	u32 length, stream;

	if (!look->left)
		return 1;
	look->is_refused = 1;
	if (look->left < H2_HEADER_BYTES ||
	    bpf_probe_read_user(header, H2_HEADER_BYTES, (void *)look->at))
		return 1;
	length = h2_length(header);
	stream = h2_stream_of(header);
	if (!h2_fits(length, header[3], header[4], stream) || header[3] > H2_WINDOW_UPDATE ||
	    length > H2_UNKNOWN_MOST)
		return 1;
	if (header[3] == H2_HEADERS) {
		if (!(stream & 1) || !(header[4] & H2_END_HEADERS) || !length ||
		    (header[4] & ~(H2_END_STREAM | H2_END_HEADERS | H2_PADDED | H2_HAS_PRIORITY)))
			return 1;
		look->blocks++;
	}
	if (look->is_alone) /* who reads headers by themselves reads the rest next */
		length = 0;
	if (length > look->left - H2_HEADER_BYTES)
		return 1;
	look->is_refused = 0;
	look->at += H2_HEADER_BYTES + length;
	look->left -= H2_HEADER_BYTES + length;
	return 0;
}

static __always_inline bool h2_is_frames(const struct payload *payload, u64 bytes)
{
	struct h2_look look = {.at = payload->address, .left = bytes};

	look.is_alone = bytes == H2_HEADER_BYTES;

	if (payload->length < bytes)
		return false;
	bpf_loop(H2_LOOK_MAX, h2_look_at, &look, 0);
	return !look.left && look.blocks && !look.is_refused;
}

static __always_inline bool h2_make(struct turn_sock *entry, bool is_preface)
{
	u64 key = object_mix(bpf_ktime_get_ns(), bpf_get_prandom_u32()) | 1;
	struct h2_empty *empty;
	struct h2_sock *h2;
	u32 zero = 0;

	empty = bpf_map_lookup_elem(&request_h2_empty, &zero);
	if (!empty)
		return false;
	bpf_map_update_elem(&request_h2, &key, &empty->sock, BPF_NOEXIST);
	h2 = bpf_map_lookup_elem(&request_h2, &key);
	if (!h2) {
		EMIT_LOSE(REQUESTS, no_room);
		entry->h2_tries = H2_TRIES_MAX;
		return false;
	}
	if (is_preface) { /* followed as a frame without a header */
		h2->in.is_begun = 1;
		h2->in.type = H2_SETTINGS;
		h2->in.left = H2_PREFACE_BYTES;
		h2->in.is_known = h2->out.is_known = 1;
	}
	entry->h2 = key;
	return true;
}

/* Not inlined, as find_payload() is not. A new connection begins with the preface, or never does.
 */
__noinline int h2_begins(u64 address, u64 bytes)
{
	struct turn_sock *entry = bpf_map_lookup_elem(&request_tcp, &address);
	struct payload payload = {};
	bool is_preface;

	if (!entry)
		return false;
	entry->h2_tries++;
	if (!find_payload(&payload))
		return false;
	if (payload.length > bytes)
		payload.length = bytes;
	is_preface = h2_is_preface(&payload);
	if (!is_preface && !entry->in.before && !(u32)entry->turn)
		entry->h2_tries = H2_TRIES_MAX;
	if (!is_preface && (entry->h2_tries == H2_TRIES_MAX || !h2_is_frames(&payload, bytes)))
		return false;
	return h2_make(entry, is_preface);
}

/* Asked for each message: whether the program for HTTP/2 is to be called. */
static __always_inline bool h2_is_received(struct turn_sock *entry, u32 family, u64 bytes)
{
	if (entry->h2)
		return true;
	if (entry->h2_tries >= H2_TRIES_MAX || family == FAMILY_UNIX ||
	    (entry->begin_ns && !entry->end_ns))
		return false;
	return h2_begins(entry->address, bytes);
}

/* --- it ends --- */

/* Turns count again, and streams that are open are not followed to their end. */
static __noinline int h2_lose(struct turn_sock *entry, struct h2_sock *h2)
{
	if (!entry || !h2)
		return 0;
	h2_fold(entry, h2);
	h2_send_skipped(entry, h2, REQUEST_IS_LOST);
	h2->is_over = H2_LOST;
	entry->h2 = 0;
	return 0;
}

/* The program that reads frames is not there: on this kernel, or for a time. */
static __noinline int h2_refuse(struct turn_sock *entry)
{
	u64 key;

	if (!entry)
		return 0;
	key = entry->h2;
	if (entry->tgid)
		h2_lose(entry, h2_of(entry));
	else
		bpf_map_delete_elem(&request_h2, &key);
	entry->h2 = 0;
	return 0;
}

/* Before the connection's last record, or the last one of the recording. */
static __noinline int h2_settle(struct turn_sock *entry, u32 end)
{
	struct h2_sock *h2;
	u64 key;

	if (!entry)
		return 0;
	key = entry->h2;
	h2 = bpf_map_lookup_elem(&request_h2, &key);
	if (!h2)
		return 0;
	h2_fold(entry, h2);
	if (h2->skipped)
		h2_send_skipped(entry, h2, 0);
	if (end == REQUEST_END_RECORDING)
		return 0;
	h2->end = end;
	h2->is_over = H2_CLOSED;
	if (!h2->open)
		bpf_map_delete_elem(&request_h2, &key);
	return 0;
}

/* At the end of a window. True: it is to be removed. */
static __always_inline bool h2_settle_stream(struct h2_stream *stream, const struct h2_sock *h2,
					     bool is_last)
{
	u32 over = h2 ? h2->is_over : H2_LOST; /* which was told */

	if (over == H2_OPEN) {
		if (is_last)
			h2_end(stream, NULL, NULL, 0, REQUEST_END_RECORDING);
		return false;
	}
	if (over == H2_CLOSED) {
		if (stream->end_ns)
			stream->flags |= REQUEST_IS_ANSWERED; /* some of it */
		stream->flags |= REQUEST_IS_LOOP;
		h2_end(stream, NULL, NULL, 0, h2->end);
	}
	return true;
}

/* --- a message --- */

/* The thread reads: what it does from here on is for none of its streams alone. */
static __always_inline void h2_read(struct turn_sock *entry, struct ledger_task *account,
				    u64 address, u64 bytes, u64 now)
{
	forget_reply(account);
	account->request.lent_sock = 0;
	context_leave(account, now);
	if (entry->begin_ns) {
		entry->pending = (u32)bytes;
		end_turn(entry, address, REQUEST_END_NEXT, now);
		entry->pending = 0;
	}
	own_sock(entry, account);
	note_open(account, address, entry->turn);
	account->request.sock = 0;
}

/*
 * Is it what follows the message before it? TCP numbers each byte. If not, messages were missed,
 * and with them maybe what changed the table of header blocks. Where the kernel does TLS, its
 * numbers are of other bytes.
 */
static __noinline bool h2_is_next(struct h2_way *way, struct sock *sk, u64 bytes, bool is_out)
{
	u32 end, begin;
	bool is_next;

	if (!way)
		return false;
	end = is_out ? BPF_CORE_READ((struct tcp_sock *)sk, write_seq) : received_seq(sk);
	begin = end - (u32)bytes;
	is_next = !way->has_seq || way->seq == begin;
	way->seq = end;
	way->has_seq = 1;
	return is_next || BPF_CORE_READ((struct inet_connection_sock *)sk, icsk_ulp_ops);
}

static __noinline int h2_message(struct turn_sock *entry, struct sock *sk, u64 bytes, bool is_out)
{
	struct ledger_task *account;
	struct h2_walk walk = {};

	if (!entry)
		return 0;
	account = account_of_current();
	walk.h2 = h2_of(entry);
	if (!account || !walk.h2) { /* of a process that is not followed */
		h2_refuse(entry);
		leave_sock(entry, (u64)sk);
		return 0;
	}
	walk.way = is_out ? &walk.h2->out : &walk.h2->in;
	walk.connection = entry->h2;
	walk.address = address_as_number(sk);
	walk.now = walk.ready_ns = bpf_ktime_get_ns();
	if (entry->ready_ns && entry->ready_ns < walk.now)
		walk.ready_ns = entry->ready_ns;
	walk.bytes = bytes;
	walk.is_out = is_out;
	if (!h2_is_next(walk.way, sk, bytes, is_out))
		walk.is_lost = 1;
	if (is_out) {
		walk.h2->seen_out += bytes;
	} else {
		h2_read(entry, account, walk.address, bytes, walk.now);
		walk.h2->seen_in += bytes;
	}
	if (!walk.is_lost) {
		h2_find_buffers(&walk);
		bpf_loop(H2_STEPS_MAX, h2_step, &walk, 0);
	}
	if (walk.is_lost || walk.bytes || (walk.way->is_begun && !walk.way->left))
		h2_lose(entry, walk.h2);
	return 0;
}

#endif
