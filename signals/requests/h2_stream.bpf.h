/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Streams of HTTP/2: each is a request of its own, from its header block to the last byte of its
 * answer. Counted in series, all of them, and recorded as turns are. A stream that its thread read
 * and answered without reading or answering anything else meanwhile has that thread's time; of
 * others nothing is known but when they began and ended.
 */
#ifndef DWELL_REQUESTS_H2_STREAM_BPF_H
#define DWELL_REQUESTS_H2_STREAM_BPF_H

#include "context.bpf.h"
#include "record.bpf.h"
#include "turn.bpf.h"

#define H2_CONNECTIONS_MAX 2048
#define H2_STREAMS_MAX	   8192
#define H2_SHAPE_WORDS	   REQUEST_SHAPE_WORDS

/* One direction of a connection. */
struct h2_way {
	u32 left;     /* bytes of the frame under way that are still to come */
	u32 stream;   /* whose frame it is; 0: the connection's */
	u32 is_begun; /* a frame is under way */
	u8 type, flags;
	u8 have;     /* so many bytes of a header that is not complete */
	u8 is_known; /* all blocks until now were recorded: who reads them can keep the table */
	u8 header[16];
	u64 ready_ns; /* when the frame's first data came, where it begins a stream; else 0 */
	u32 length;   /* of the frame */
	u32 blocks;   /* those that may change the table */
	u32 seq;      /* of the first byte after the last message, as TCP numbers them */
	u32 has_seq;

	/* Of the header block of the frame under way, or the last one, as far as it has come. */
	u16 prefix;	  /* so many bytes are to come before it */
	u16 block_length; /* of what is in block[] */
	u32 block_whole;  /* of all of it */
	u8 block[REQUEST_BYTES_MAX];
	u8 unused[REQUEST_BYTES_MAX]; /* room for the verifier */
};

struct h2_sock {
	/* Bytes ever, each counted by the one thread that receives or sends; and those told. */
	u64 seen_in, seen_out;
	u64 told_in, told_out;
	struct h2_way in, out;
	u32 last_stream; /* the last one that was begun: their ids rise */
	u32 open;
	u32 is_over;  /* 0, or why streams that are open will not be answered: enum h2_over */
	u32 end;      /* of H2_CLOSED: enum request_end */
	u32 is_swept; /* since it is over, its streams were looked for */
	u32 unused;
	u64 shape; /* of the last stream that was begun: of how its block begins */

	/* Since the last record; they began as that one did. */
	u64 skipped;
	u32 flags;
	u16 request_length;
	u16 unused2;
	u64 block;
	u8 request[REQUEST_BYTES_MAX];
};

enum h2_over { H2_OPEN, H2_CLOSED, H2_LOST };

struct h2_key {
	u64 connection; /* turn_sock.h2 */
	u64 stream;
};

struct h2_stream {
	u64 connection; /* its identity */
	u64 object;
	u64 start_ns; /* with tgid, the process that serves it */
	u64 turn;     /* its number among those of the connection */
	u64 began_ns; /* as in struct turn_sock */
	u64 begin_ns;
	u64 end_ns; /* of what was sent of its answer until now; 0: nothing */
	u64 received, sent;
	u32 tgid, tid;
	u32 events; /* of its thread, when it began */
	u32 flags;  /* enum request_flags */
	u32 id;
	u16 port, client_port;
	u16 request_length, answer_length, trailer_length;
	u8 is_sampled, is_measured;
	u32 block, answer_block, trailer_block; /* as in struct rec_requests */
	u32 is_done;				/* somebody ends it */
	u64 own[STATE_COUNT];
	struct account_mark mark; /* of its thread, when it began */
	u8 request[REQUEST_BYTES_MAX];
	u8 answer[ANSWER_BYTES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, H2_CONNECTIONS_MAX);
	__type(key, u64); /* turn_sock.h2 */
	__type(value, struct h2_sock);
} request_h2 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, H2_STREAMS_MAX);
	__type(key, struct h2_key);
	__type(value, struct h2_stream);
} request_streams SEC(".maps");

/* What new ones begin as: too large for a program's stack. Never written. */
struct h2_empty {
	struct h2_sock sock;
	struct h2_stream stream;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct h2_empty);
} request_h2_empty SEC(".maps");

static __always_inline struct h2_sock *h2_of(const struct turn_sock *entry)
{
	u64 key = entry->h2;

	return key ? bpf_map_lookup_elem(&request_h2, &key) : NULL;
}

/* --- records --- */

/* What was seen since the last record is of the next one. All of it is in turns: frames that are of
 * no stream serve them, too. */
static __always_inline void h2_fold(struct turn_sock *entry, struct h2_sock *h2)
{
	u64 in = h2->seen_in, out = h2->seen_out;

	entry->in.in_turns += in - h2->told_in;
	entry->out.in_turns += out - h2->told_out;
	h2->told_in = in;
	h2->told_out = out;
}

static __always_inline struct rec_requests *h2_reserve(void)
{
	struct rec_requests *rec = EMIT_RESERVE(REQUESTS, requests, current_task());

	if (rec)
		EMIT_CLEAR(rec);
	return rec;
}

/* Without a stream: for those that were skipped, or to say that track was lost. */
static __noinline int h2_send_skipped(const struct turn_sock *entry, struct h2_sock *h2, u32 lost)
{
	struct rec_requests *rec;

	if (!entry || !h2)
		return 0;
	rec = h2_reserve();
	if (!rec)
		return 0; /* counted */
	rec->hdr.tgid = entry->tgid;
	rec->hdr.start_ns = entry->start_ns;
	rec->hdr.tid = entry->tid;
	rec->connection = entry->id;
	rec->turn = entry->turn;
	rec->client_port = entry->client_port;
	rec->object = entry->object;
	rec->port = entry->port;
	rec->end = REQUEST_END_NEXT;
	rec->weight = h2->skipped;
	h2->skipped = 0;
	rec->stream = h2->open;
	rec->flags = REQUEST_IS_STREAM | lost | (h2->flags & REQUEST_IS_LOOP);
	rec->block = (u32)h2->block;
	rec->request_length = h2->request_length;
	__builtin_memcpy(rec->request, h2->request, sizeof(rec->request));
	EMIT_SUBMIT(rec);
	return 0;
}

static __always_inline void h2_fill(struct rec_requests *rec, const struct h2_stream *stream)
{
	rec->hdr.tgid = stream->tgid;
	rec->hdr.start_ns = stream->start_ns;
	rec->hdr.tid = stream->tid;
	rec->connection = stream->connection;
	rec->turn = stream->turn;
	rec->stream = stream->id;
	rec->client_port = stream->client_port;
	rec->object = stream->object;
	rec->port = stream->port;
	rec->flags = stream->flags | REQUEST_IS_STREAM;
	rec->received = stream->received;
	rec->sent = stream->sent;
	rec->block = stream->block;
	rec->request_length = stream->request_length;
	__builtin_memcpy(rec->request, stream->request, sizeof(rec->request));
	if (!stream->is_measured)
		return;
	rec->flags |= REQUEST_HAS_TURN;
	rec->ready_ns = stream->began_ns;
	rec->begin_ns = stream->begin_ns;
	rec->end_ns = stream->end_ns;
	for (u32 i = 0; i < STATE_COUNT; i++)
		rec->ns[i] = stream->own[i];
	rec->answer_length = stream->answer_length;
	rec->trailer_length = stream->trailer_length;
	rec->answer_block = stream->answer_block;
	rec->trailer_block = stream->trailer_block;
	__builtin_memcpy(rec->answer, stream->answer, sizeof(rec->answer));
}

/* address: of the socket of who has just sent on it, who alone tells of bytes; 0: nobody has. */
static __noinline int h2_send(const struct h2_stream *stream, struct turn_sock *entry,
			      struct h2_sock *h2, u64 address, u32 end)
{
	struct rec_requests *rec;

	if (!stream)
		return 0;
	rec = h2_reserve();
	if (!rec) { /* counted; the next record of the connection stands for it */
		if (h2)
			h2->skipped++;
		return 0;
	}
	h2_fill(rec, stream);
	rec->end = end;
	rec->weight = 1;
	if (h2) {
		rec->weight += h2->skipped;
		h2->skipped = 0;
		h2->flags = stream->flags;
		h2->block = stream->block;
		h2->request_length = stream->request_length;
		__builtin_memcpy(h2->request, stream->request, sizeof(h2->request));
	}
	if (h2 && entry && address) {
		h2_fold(entry, h2);
		fill_bytes(rec, entry, (struct sock *)address, REQUEST_END_NEXT);
	}
	EMIT_SUBMIT(rec);
	return 0;
}

/* --- end --- */

/* Its block begins as that of the last record, and is read by the same table: it is one of its
 * kind. */
static __always_inline bool h2_is_same(const struct h2_stream *stream, const struct h2_sock *h2)
{
	const u64 *a = (const u64 *)stream->request, *b = (const u64 *)h2->request;
	u64 differs =
		(u64)(stream->request_length ^ h2->request_length) | (stream->block ^ h2->block);

	for (u32 i = 0; i < H2_SHAPE_WORDS; i++)
		differs |= a[i] ^ b[i];
	return !differs;
}

static __always_inline bool h2_is_slow(const struct h2_stream *stream)
{
	struct live_config *live = live_config();

	return live && live->slow_ns && stream->is_measured && stream->end_ns &&
	       stream->end_ns - stream->began_ns >= live->slow_ns;
}

static __always_inline void h2_count(const struct h2_stream *stream, struct request_rate *rate,
				     u64 now)
{
	struct series_key key = {.signal = SIG_REQUESTS};
	bool is_answered = stream->flags & REQUEST_IS_ANSWERED;

	key.kind = is_answered ? REQUEST_SERIES_LATENCY : REQUEST_SERIES_UNANSWERED;
	key.tgid = stream->tgid;
	key.start_ns = stream->start_ns;
	key.object = stream->object;
	series_add(series_find_again(&key, &rate->places[key.kind & 1]),
		   (is_answered ? stream->end_ns : now) - stream->began_ns);
}

/* The stream is over, and was in no way of another thread's or lost. Not removed from the map. */
static __noinline int h2_end(struct h2_stream *stream, struct turn_sock *entry, struct h2_sock *h2,
			     u64 address, u32 end)
{
	struct request_rate *rate = rate_here();
	bool is_same;

	if (!stream || !rate)
		return 0;
	if (stream->flags & REQUEST_IS_ANSWERED)
		end = REQUEST_END_NEXT;
	if (end != REQUEST_END_RECORDING) /* else it goes on */
		h2_count(stream, rate, bpf_ktime_get_ns());
	is_same = !h2 || h2_is_same(stream, h2);
	if (h2 && !stream->is_sampled && end == REQUEST_END_NEXT && !h2_is_slow(stream) &&
	    (is_same || rate->sampled >= SHAPES_PER_SECOND)) {
		h2->skipped++;
		return 0;
	}
	if (!is_same) {
		rate->sampled++;
		if (h2->skipped)
			h2_send_skipped(entry, h2, 0);
	}
	h2_send(stream, entry, h2, address, end);
	return 0;
}

#endif
