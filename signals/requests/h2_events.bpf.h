/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What frames of HTTP/2 do: a header block begins a stream, or answers it, and the last frame of an
 * answer ends it. Functions that are not static are verified once, and not for each way that leads
 * to them: the way through a message has many.
 */
#ifndef DWELL_REQUESTS_H2_EVENTS_BPF_H
#define DWELL_REQUESTS_H2_EVENTS_BPF_H

#include "h2_stream.bpf.h"

#define H2_HEADER_BYTES	  9
#define H2_PRIORITY_BYTES 5

enum h2_type {
	H2_DATA,
	H2_HEADERS,
	H2_PRIORITY,
	H2_RST_STREAM,
	H2_SETTINGS,
	H2_PUSH_PROMISE,
	H2_PING,
	H2_GOAWAY,
	H2_WINDOW_UPDATE,
	H2_CONTINUATION,
	H2_PRIORITY_UPDATE = 16,
};

enum h2_flag {
	H2_END_STREAM = 1,
	H2_ACK = 1,
	H2_END_HEADERS = 4,
	H2_PADDED = 8,
	H2_HAS_PRIORITY = 32,
};

/* --- header blocks --- */

/* The header of a frame was read that has one. */
static __always_inline void h2_open_block(struct h2_way *way)
{
	u32 prefix = way->flags & H2_HAS_PRIORITY ? H2_PRIORITY_BYTES : 0;

	if (way->flags & H2_PADDED)
		prefix++;
	way->prefix = (u16)prefix;
	way->block_length = 0;
	way->block_whole = way->length > prefix ? way->length - prefix : 0;
	__builtin_memset(way->block, 0, sizeof(way->block));
}

/* So many bytes of it are at `at`. */
static __always_inline void h2_gather(struct h2_way *way, u64 at, u64 bytes)
{
	u64 prefix = way->prefix, have = way->block_length;

	if (prefix > bytes)
		prefix = bytes;
	way->prefix -= (u16)prefix;
	bytes -= prefix;
	if (have >= REQUEST_BYTES_MAX || !bytes)
		return;
	if (bytes > REQUEST_BYTES_MAX - have)
		bytes = REQUEST_BYTES_MAX - have;
	ledger_at_most(have, REQUEST_BYTES_MAX - 1);
	ledger_at_most(bytes, REQUEST_BYTES_MAX);
	if (bpf_probe_read_user(way->block + have, (u32)bytes, (void *)(at + prefix)))
		way->block_whole = REQUEST_BLOCK_NOT_KNOWN;
	else
		way->block_length = (u16)(have + bytes);
}

/* All of it is there. Of one that is padded it is not known where it ends. */
static __always_inline bool h2_is_whole(const struct h2_way *way)
{
	return way->block_length && way->block_length == way->block_whole &&
	       (way->flags & H2_END_HEADERS) && !(way->flags & H2_PADDED);
}

/* As REQUEST_PLAIN_BLOCK_MAX says. */
static __always_inline bool h2_is_plain(const struct h2_way *way)
{
	u32 length = way->block_length;

	if (length > REQUEST_PLAIN_BLOCK_MAX)
		return false;
	for (u32 i = 0; i < REQUEST_PLAIN_BLOCK_MAX; i++) {
		if (i >= length)
			break;
		if (way->block[i] <= 0x80 || way->block[i] == 0xff)
			return false;
	}
	return true;
}

/* Who reads the records keeps the table by it. */
static __always_inline bool h2_send_block(const struct turn_sock *entry, const struct h2_way *way,
					  u32 flags)
{
	struct request_rate *rate = rate_here();
	struct rec_requests *rec;

	if (!rate || rate->blocks >= (flags ? ANSWER_BLOCKS_PER_SECOND : BLOCKS_PER_SECOND))
		return false;
	rate->blocks++;
	rec = h2_reserve();
	if (!rec)
		return false;
	rec->hdr.tgid = entry->tgid;
	rec->hdr.start_ns = entry->start_ns;
	rec->hdr.tid = entry->tid;
	rec->connection = entry->id;
	rec->stream = way->stream;
	rec->block = way->blocks;
	rec->flags = REQUEST_IS_STREAM | REQUEST_IS_BLOCK | flags;
	rec->request_length = way->block_length;
	__builtin_memcpy(rec->request, way->block, sizeof(rec->request));
	EMIT_SUBMIT(rec);
	return true;
}

/* It is over: what follows is read by it, too. */
__noinline int h2_block(u64 address, u32 is_out)
{
	struct turn_sock *entry = bpf_map_lookup_elem(&request_tcp, &address);
	struct h2_sock *h2 = entry ? h2_of(entry) : NULL;
	struct h2_way *way;
	bool is_whole;

	if (!h2)
		return 0;
	way = is_out ? &h2->out : &h2->in;
	is_whole = h2_is_whole(way);
	if (!way->is_known || (is_whole && h2_is_plain(way)))
		return 0;
	way->blocks++;
	way->is_known = is_whole && h2_send_block(entry, way, is_out ? REQUEST_IS_ANSWERED : 0);
	return 0;
}

static __always_inline u32 h2_block_number(const struct h2_way *way)
{
	return way->is_known ? way->blocks : REQUEST_BLOCK_NOT_KNOWN;
}

/* --- a stream begins --- */

static __always_inline void h2_choose(struct h2_sock *h2, struct h2_stream *stream, u64 now)
{
	struct request_rate *rate = rate_here();
	struct live_config *live = live_config();
	const u64 *block = (const u64 *)stream->request;
	u64 shape = (u64)stream->block << 16 | stream->request_length;

	for (u32 i = 0; i < H2_SHAPE_WORDS; i++)
		shape = object_mix(shape, block[i]);
	if (rate) {
		stream->is_sampled = is_chosen(rate, now);
		if (shape != h2->shape && rate->sampled < SHAPES_PER_SECOND)
			stream->is_sampled = 1;
		rate->sampled += stream->is_sampled;
	}
	h2->shape = shape;
	stream->is_measured = stream->is_sampled || (live && live->slow_ns);
}

static __always_inline struct h2_stream *h2_add(u64 connection, u32 id)
{
	struct h2_key key = {connection, id};
	struct h2_empty *empty;
	u32 zero = 0;

	empty = bpf_map_lookup_elem(&request_h2_empty, &zero);
	if (empty)
		bpf_map_update_elem(&request_streams, &key, &empty->stream, BPF_NOEXIST);
	return bpf_map_lookup_elem(&request_streams, &key);
}

__noinline int h2_begin(u64 address, u64 now)
{
	struct turn_sock *entry = bpf_map_lookup_elem(&request_tcp, &address);
	struct ledger_task *account = account_of_current();
	struct h2_stream *stream;
	struct h2_sock *h2;

	if (!entry || !account)
		return 0;
	h2 = h2_of(entry);
	if (!h2)
		return 0;
	stream = h2_add(entry->h2, h2->in.stream);
	if (!stream) {
		EMIT_LOSE(REQUESTS, no_room);
		return 0;
	}
	__sync_fetch_and_add(&h2->open, 1);
	stream->connection = entry->id;
	stream->object = entry->object;
	stream->start_ns = entry->start_ns;
	stream->turn = ++entry->turn;
	stream->began_ns = h2->in.ready_ns < now ? h2->in.ready_ns : now;
	stream->begin_ns = now;
	stream->tgid = entry->tgid;
	stream->tid = entry->tid;
	stream->port = entry->port;
	stream->client_port = entry->client_port;
	stream->id = h2->in.stream;
	stream->received = H2_HEADER_BYTES + h2->in.length;
	stream->block = h2_block_number(&h2->in);
	stream->request_length = h2->in.block_length;
	__builtin_memcpy(stream->request, h2->in.block, sizeof(stream->request));
	h2_choose(h2, stream, now);
	stream->events = ++account->request.events;
	if (stream->is_measured)
		ledger_mark_move(account, &stream->mark, now, NULL);
	return 0;
}

/* --- it is answered --- */

static __always_inline u16 h2_lesser(u64 length, u64 most)
{
	return (u16)(length < most ? length : most);
}

/* A header block of its answer is over. Before the last one there can be such as 103. */
__noinline int h2_answer(u64 connection)
{
	struct h2_sock *h2 = bpf_map_lookup_elem(&request_h2, &connection);
	struct h2_stream *stream;
	struct h2_way *way;
	struct h2_key key;

	if (!h2)
		return 0;
	way = &h2->out;
	key.connection = connection;
	key.stream = way->stream;
	stream = bpf_map_lookup_elem(&request_streams, &key);
	if (!stream || !stream->is_measured)
		return 0;
	if (stream->answer_length && (way->flags & H2_END_STREAM)) {
		stream->trailer_block = h2_block_number(way);
		stream->answer_length = h2_lesser(stream->answer_length, ANSWER_TRAILER_AT);
		stream->trailer_length = h2_lesser(way->block_length, ANSWER_TRAILER_MAX);
		__builtin_memcpy(stream->answer + ANSWER_TRAILER_AT, way->block,
				 ANSWER_TRAILER_MAX);
		return 0;
	}
	stream->answer_block = h2_block_number(way);
	stream->answer_length = h2_lesser(way->block_length, ANSWER_BYTES_MAX);
	__builtin_memcpy(stream->answer, way->block, sizeof(stream->answer));
	return 0;
}

/* --- and ends --- */

/* Its thread's time is its own if that has read and answered nothing else meanwhile. */
static __always_inline void h2_budget(struct h2_stream *stream, struct ledger_task *account,
				      u64 now)
{
	if (stream->tid != account->tid || stream->tgid != account->tgid) {
		stream->flags |= REQUEST_IS_HANDED_OVER;
		return;
	}
	if (stream->events != account->request.events)
		stream->flags |= REQUEST_IS_LOOP;
	else if (stream->is_measured)
		ledger_mark_move(account, &stream->mark, now, stream->own);
	account->request.events++;
}

/* The answer is complete, or one side has given it up. */
__noinline int h2_finish(u64 address, u32 is_out, u64 now)
{
	struct turn_sock *entry = bpf_map_lookup_elem(&request_tcp, &address);
	struct ledger_task *account = account_of_current();
	struct h2_stream *stream;
	struct h2_sock *h2;
	struct h2_key key;
	u32 type;

	if (!entry || !account)
		return 0;
	h2 = h2_of(entry);
	if (!h2)
		return 0;
	key.connection = entry->h2;
	key.stream = is_out ? h2->out.stream : h2->in.stream;
	type = is_out ? h2->out.type : h2->in.type;
	stream = bpf_map_lookup_elem(&request_streams, &key);
	if (!stream || __sync_lock_test_and_set(&stream->is_done, 1))
		return 0; /* both sides may end it at once */
	if (is_out && type != H2_RST_STREAM)
		stream->end_ns = now;
	if (stream->end_ns) /* some of it, at least */
		stream->flags |= REQUEST_IS_ANSWERED;
	if (is_out)
		h2_budget(stream, account, now);
	else
		stream->flags |= REQUEST_IS_LOOP; /* nobody's send says who worked */
	h2_end(stream, entry, h2, is_out ? address : 0, REQUEST_END_RESET);
	bpf_map_delete_elem(&request_streams, &key);
	__sync_fetch_and_add(&h2->open, -1);
	return 0;
}

#endif
