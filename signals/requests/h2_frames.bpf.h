/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The frames of HTTP/2 in what a thread has just received or sent: each begins with a header of 9
 * bytes, which says how long it is. Only headers are read, and where header blocks begin. A frame
 * may begin in one message and end in another, and so may its header. What does not look as a frame
 * must, or moved where no bytes can be read (sendfile) and is more than the rest of a frame, loses
 * track: nothing is guessed from there on.
 */
#ifndef DWELL_REQUESTS_H2_FRAMES_BPF_H
#define DWELL_REQUESTS_H2_FRAMES_BPF_H

#include "h2_events.bpf.h"
#include "payload.bpf.h"

#define H2_STEPS_MAX	4096 /* of one message: about two for each frame, and one for each buffer */
#define H2_UNKNOWN_MOST 16384 /* bytes of a frame of an extension: what peers take unasked */

/* A message, and how far it is read. */
struct h2_walk {
	struct h2_sock *h2;
	struct h2_way *way;
	u64 connection; /* turn_sock.h2 */
	u64 address;	/* of the socket */
	u64 now;
	u64 ready_ns; /* when the message's first data came */
	u64 bytes;    /* of the message that are still to be read */
	u64 at, here; /* of those in the buffer */
	u64 vector;   /* the buffers behind it */
	u32 vectors;
	u16 is_out;
	u16 is_lost;
};

/* Where the bytes are: none where that is not known. */
static __noinline int h2_find_buffers(struct h2_walk *walk)
{
	struct payload_call call;
	u64 header[2] = {};

	if (!walk || !read_call_directly(&call))
		return 0;
	switch (call.number) {
	case CALL_READ:
	case CALL_WRITE:
	case CALL_SENDTO:
	case CALL_RECVFROM:
		walk->at = call.second;
		walk->here = call.third < walk->bytes ? call.third : walk->bytes;
		break;
	case CALL_READV:
	case CALL_WRITEV:
		walk->vector = call.second;
		walk->vectors = (u32)call.third;
		break;
	case CALL_SENDMSG:
	case CALL_RECVMSG:
		if (bpf_probe_read_user(header, sizeof(header),
					(void *)(call.second + MSGHDR_IOV_AT)))
			break;
		walk->vector = header[0];
		walk->vectors = (u32)header[1];
		break;
	}
	return 0;
}

/* The next buffer. Bytes without one can be only the rest of a frame. */
static __always_inline bool h2_next_buffer(struct h2_walk *walk, struct h2_way *way)
{
	struct payload payload;

	if (walk->vectors && find_vector(walk->vector, &payload)) {
		walk->vector += sizeof(payload);
		walk->vectors--;
		walk->at = payload.address;
		walk->here = payload.length < walk->bytes ? payload.length : walk->bytes;
		return true;
	}
	if (!way->is_begun || way->left < walk->bytes)
		return false;
	way->left -= (u32)walk->bytes;
	walk->bytes = 0;
	return true;
}

static __always_inline void h2_advance(struct h2_walk *walk, u64 bytes)
{
	walk->at += bytes;
	walk->here -= bytes;
	walk->bytes -= bytes;
}

/* Can such a frame be? */
static __always_inline bool h2_fits(u32 length, u8 type, u8 flags, u32 stream)
{
	if (stream >> 31) /* reserved */
		return false;
	switch (type) {
	case H2_DATA:
	case H2_HEADERS:
	case H2_PUSH_PROMISE:
	case H2_CONTINUATION:
		return stream;
	case H2_PRIORITY:
		return stream && length == H2_PRIORITY_BYTES;
	case H2_RST_STREAM:
		return stream && length == 4;
	case H2_SETTINGS:
		return !stream && length % 6 == 0 && (!(flags & H2_ACK) || !length);
	case H2_PING:
		return !stream && length == 8;
	case H2_GOAWAY:
		return !stream && length >= 8;
	case H2_WINDOW_UPDATE:
		return length == 4;
	}
	return length <= H2_UNKNOWN_MOST;
}

static __always_inline u32 h2_length(const u8 *header)
{
	return (u32)header[0] << 16 | (u32)header[1] << 8 | header[2];
}

static __always_inline u32 h2_stream_of(const u8 *header)
{
	return (u32)header[5] << 24 | (u32)header[6] << 16 | (u32)header[7] << 8 | header[8];
}

/* --- frames --- */

static __always_inline void h2_received(struct h2_walk *walk, struct h2_way *way)
{
	struct h2_key key = {walk->connection, way->stream};
	struct h2_stream *stream = bpf_map_lookup_elem(&request_streams, &key);

	if (stream) {
		stream->received += H2_HEADER_BYTES + way->length;
		return;
	}
	if (way->type != H2_HEADERS || !(way->stream & 1) || way->stream <= walk->h2->last_stream)
		return; /* of one that is answered already, or began before */
	walk->h2->last_stream = way->stream;
	way->ready_ns = walk->ready_ns;
}

static __always_inline void h2_sent(struct h2_walk *walk, struct h2_way *way)
{
	struct h2_key key = {walk->connection, way->stream};
	struct h2_stream *stream = bpf_map_lookup_elem(&request_streams, &key);

	if (!stream)
		return;
	stream->sent += H2_HEADER_BYTES + way->length;
	if (way->type == H2_HEADERS || way->type == H2_DATA)
		stream->end_ns = walk->now;
}

/* Its header is there. False: it is none. */
static __always_inline bool h2_frame_begins(struct h2_walk *walk, struct h2_way *way)
{
	way->have = 0;
	way->left = way->length = h2_length(way->header);
	way->type = way->header[3];
	way->flags = way->header[4];
	way->stream = h2_stream_of(way->header);
	way->is_begun = 1;
	way->ready_ns = 0;
	if (!h2_fits(way->left, way->type, way->flags, way->stream))
		return false;
	if (way->type == H2_HEADERS)
		h2_open_block(way);
	else if (way->type == H2_PUSH_PROMISE)
		way->is_known = 0; /* it has a block, too */
	if (!way->stream)
		return true;
	if (walk->is_out)
		h2_sent(walk, way);
	else
		h2_received(walk, way);
	return true;
}

static __always_inline bool h2_ends_stream(const struct h2_walk *walk, const struct h2_way *way)
{
	if (way->type == H2_RST_STREAM)
		return true;
	return walk->is_out && (way->flags & H2_END_STREAM) &&
	       (way->type == H2_DATA || way->type == H2_HEADERS);
}

/* All of it is there. */
static __always_inline void h2_frame_ends(struct h2_walk *walk, struct h2_way *way)
{
	way->is_begun = 0;
	if (!way->stream)
		return;
	if (way->type == H2_HEADERS)
		h2_block(walk->address, walk->is_out);
	if (way->type == H2_HEADERS && walk->is_out)
		h2_answer(walk->connection);
	else if (way->ready_ns)
		h2_begin(walk->address, walk->now);
	if (h2_ends_stream(walk, way))
		h2_finish(walk->address, walk->is_out, walk->now);
}

/* Of bpf_loop(): 1 ends it. */
static long h2_step(u32 index, struct h2_walk *walk)
{
	struct h2_way *way = walk->way;
	u64 take, have;

	if (way->is_begun && !way->left)
		h2_frame_ends(walk, way);
	if (!walk->bytes)
		return 1;
	if (!walk->here) {
		walk->is_lost = !h2_next_buffer(walk, way);
		return walk->is_lost;
	}
	if (way->is_begun) {
		take = way->left < walk->here ? way->left : walk->here;
		if (way->type == H2_HEADERS)
			h2_gather(way, walk->at, take);
		way->left -= (u32)take;
		h2_advance(walk, take);
		return 0;
	}
	take = H2_HEADER_BYTES - way->have;
	if (take > walk->here)
		take = walk->here;
	have = way->have;
	ledger_at_most(have, H2_HEADER_BYTES - 1);
	ledger_at_most(take, H2_HEADER_BYTES);
	if (bpf_probe_read_user(way->header + have, (u32)take, (void *)walk->at)) {
		walk->is_lost = 1;
		return 1;
	}
	have += take;
	way->have = (u8)have;
	h2_advance(walk, take);
	if (have < H2_HEADER_BYTES)
		return 0;
	walk->is_lost = !h2_frame_begins(walk, way);
	return walk->is_lost;
}

#endif
