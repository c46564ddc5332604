// SPDX-License-Identifier: Apache-2.0
#include "wire.h"

#include <errno.h>
#include <string.h>

#define CHUNK	     16384
#define WINDOW_BITS  (15 + 16) /* 16: with gzip's header, whose time stays 0 */
#define MEMORY_LEVEL 8

static void deflate_held(struct wire *wire, int flush)
{
	u8 chunk[CHUNK];

	wire->stream.next_in = wire->held;
	wire->stream.avail_in = (uInt)wire->held_bytes;
	do {
		wire->stream.next_out = chunk;
		wire->stream.avail_out = sizeof(chunk);
		deflate(&wire->stream, flush);
		fwrite(chunk, 1, sizeof(chunk) - wire->stream.avail_out, wire->out);
	} while (!wire->stream.avail_out);
	wire->held_bytes = 0;
}

static void write_held(struct wire *wire)
{
	if (wire->is_gzip) {
		deflate_held(wire, Z_NO_FLUSH);
		return;
	}
	fwrite(wire->held, 1, wire->held_bytes, wire->out);
	wire->held_bytes = 0;
}

static void append(ProtobufCBuffer *base, size_t size, const uint8_t *bytes)
{
	struct wire *wire = (struct wire *)base;

	while (size) {
		size_t room = sizeof(wire->held) - wire->held_bytes;
		size_t part = size < room ? size : room;

		memcpy(wire->held + wire->held_bytes, bytes, part);
		wire->held_bytes += part;
		bytes += part;
		size -= part;
		if (wire->held_bytes == sizeof(wire->held))
			write_held(wire);
	}
}

int wire_begin(struct wire *wire, FILE *out, bool is_gzip)
{
	memset(&wire->stream, 0, sizeof(wire->stream));
	wire->base.append = append;
	wire->out = out;
	wire->is_gzip = is_gzip;
	wire->held_bytes = 0;
	if (is_gzip && deflateInit2(&wire->stream, Z_BEST_SPEED, Z_DEFLATED, WINDOW_BITS,
				    MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	return 0;
}

void wire_put(struct wire *wire, const ProtobufCMessage *message)
{
	protobuf_c_message_pack_to_buffer(message, &wire->base);
}

void wire_end(struct wire *wire)
{
	if (!wire->is_gzip) {
		write_held(wire);
		return;
	}
	deflate_held(wire, Z_FINISH);
	deflateEnd(&wire->stream);
}
