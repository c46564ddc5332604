// SPDX-License-Identifier: Apache-2.0
#include "proto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VARINT_MAX   10
#define WIRE_VARINT  0
#define WIRE_BYTES   2
#define CHUNK	     16384
#define WINDOW_BITS  (15 + 16) /* 16: with gzip's header, whose time stays 0 */
#define MEMORY_LEVEL 8

void proto_free(struct proto *proto)
{
	free(proto->bytes);
	*proto = (struct proto){0};
}

static bool make_room(struct proto *proto, size_t size)
{
	size_t capacity = proto->capacity ? proto->capacity : 256;
	u8 *grown;

	while (capacity < proto->size + size)
		capacity *= 2;
	if (proto->has_failed || capacity == proto->capacity)
		return !proto->has_failed;
	grown = realloc(proto->bytes, capacity);
	if (!grown) {
		proto->has_failed = true;
		return false;
	}
	proto->bytes = grown;
	proto->capacity = capacity;
	return true;
}

static void add_varint(struct proto *proto, u64 value)
{
	if (!make_room(proto, VARINT_MAX))
		return;
	for (; value >= 0x80; value >>= 7)
		proto->bytes[proto->size++] = (u8)(value | 0x80);
	proto->bytes[proto->size++] = (u8)value;
}

void proto_number(struct proto *proto, u32 field, u64 value)
{
	if (!value)
		return;
	add_varint(proto, field << 3 | WIRE_VARINT);
	add_varint(proto, value);
}

void proto_bytes(struct proto *proto, u32 field, const void *bytes, size_t size)
{
	add_varint(proto, field << 3 | WIRE_BYTES);
	add_varint(proto, size);
	if (!size || !make_room(proto, size))
		return;
	memcpy(proto->bytes + proto->size, bytes, size);
	proto->size += size;
}

void proto_message(struct proto *proto, u32 field, const struct proto *message)
{
	proto->has_failed |= message->has_failed;
	proto_bytes(proto, field, message->bytes, message->size);
}

void proto_packed(struct proto *proto, u32 field, const u64 *values, size_t count)
{
	struct proto packed = {0};

	for (size_t i = 0; i < count; i++)
		add_varint(&packed, values[i]);
	proto_message(proto, field, &packed);
	proto_free(&packed);
}

int gzip_begin(struct gzip *gzip, FILE *out)
{
	*gzip = (struct gzip){.out = out};
	return deflateInit2(&gzip->stream, Z_BEST_SPEED, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
			    Z_DEFAULT_STRATEGY) == Z_OK
		       ? 0
		       : -ENOMEM;
}

static void deflate_all(struct gzip *gzip, int flush)
{
	u8 chunk[CHUNK];

	do {
		gzip->stream.next_out = chunk;
		gzip->stream.avail_out = sizeof(chunk);
		deflate(&gzip->stream, flush);
		fwrite(chunk, 1, sizeof(chunk) - gzip->stream.avail_out, gzip->out);
	} while (!gzip->stream.avail_out);
}

void gzip_write(struct gzip *gzip, struct proto *proto)
{
	gzip->stream.next_in = proto->bytes;
	gzip->stream.avail_in = (uInt)proto->size;
	if (proto->size)
		deflate_all(gzip, Z_NO_FLUSH);
	proto->size = 0;
}

void gzip_end(struct gzip *gzip)
{
	gzip->stream.avail_in = 0;
	deflate_all(gzip, Z_FINISH);
	deflateEnd(&gzip->stream);
}
