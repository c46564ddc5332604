// SPDX-License-Identifier: Apache-2.0
#include "part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL	    6
#define CHUNK	    16384
#define NUMBER_MOST 24 /* characters of a number */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int part_begin(struct part *part)
{
	*part = (struct part){0};
	part->err = memory_stream_open(&part->base64);
	if (part->err)
		return part->err;
	if (deflateInit(&part->zip, LEVEL) != Z_OK)
		return part->err = -ENOMEM;
	part->is_open = true;
	return 0;
}

static void put_three(struct part *part, const u8 bytes[3], size_t count)
{
	char four[4] = {digits[bytes[0] >> 2], digits[(bytes[0] & 3) << 4 | bytes[1] >> 4],
			count > 1 ? digits[(bytes[1] & 15) << 2 | bytes[2] >> 6] : '=',
			count > 2 ? digits[bytes[2] & 63] : '='};

	fwrite(four, 1, sizeof(four), part->base64.out);
}

static void put_base64(struct part *part, const u8 *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		part->rest[part->rest_count++] = bytes[i];
		if (part->rest_count == 3) {
			put_three(part, part->rest, 3);
			part->rest_count = 0;
		}
	}
}

static void deflate_buffer(struct part *part, int flush)
{
	u8 chunk[CHUNK];

	part->zip.next_in = (u8 *)part->buffer;
	part->zip.avail_in = (uInt)part->used;
	part->used = 0;
	do {
		part->zip.next_out = chunk;
		part->zip.avail_out = sizeof(chunk);
		if (deflate(&part->zip, flush) == Z_STREAM_ERROR)
			part->err = -EIO;
		put_base64(part, chunk, sizeof(chunk) - part->zip.avail_out);
	} while (!part->err && !part->zip.avail_out);
}

int part_end(struct part *part)
{
	int err;

	if (!part->err)
		deflate_buffer(part, Z_FINISH);
	if (part->is_open)
		deflateEnd(&part->zip);
	part->is_open = false;
	if (!part->err && part->rest_count) {
		memset(part->rest + part->rest_count, 0, sizeof(part->rest) - part->rest_count);
		put_three(part, part->rest, part->rest_count);
	}
	if (!part->base64.out)
		return part->err;
	err = memory_stream_end(&part->base64);
	if (!part->err)
		part->err = err;
	return part->err;
}

void part_free(struct part *part)
{
	if (part->is_open)
		deflateEnd(&part->zip);
	memory_stream_free(&part->base64);
	*part = (struct part){0};
}

static void put(struct part *part, const char *bytes, size_t count)
{
	while (count && !part->err) {
		size_t room = PART_BUFFER - part->used, now = count < room ? count : room;

		memcpy(part->buffer + part->used, bytes, now);
		part->used += now;
		bytes += now;
		count -= now;
		if (part->used == PART_BUFFER)
			deflate_buffer(part, Z_NO_FLUSH);
	}
}

void part_text(struct part *part, const char *text)
{
	put(part, text, strlen(text));
}

void part_number(struct part *part, s64 number)
{
	u64 rest = number < 0 ? -(u64)number : (u64)number;
	char text[NUMBER_MOST];
	size_t at = sizeof(text);

	do
		text[--at] = (char)('0' + rest % 10);
	while (rest /= 10);
	if (number < 0)
		text[--at] = '-';
	put(part, text + at, sizeof(text) - at);
}

void part_string(struct part *part, const char *text)
{
	char escaped[8];

	put(part, "\"", 1);
	for (;;) {
		size_t plain = 0;

		while ((u8)text[plain] >= ' ' && text[plain] != '"' && text[plain] != '\\')
			plain++;
		put(part, text, plain);
		text += plain;
		if (!*text)
			break;
		snprintf(escaped, sizeof(escaped), "\\u%04x", (u8)*text++);
		part_text(part, escaped);
	}
	put(part, "\"", 1);
}

static int on_json(const char *bytes, size_t count, void *context)
{
	put(context, bytes, count);
	return 0;
}

void part_json(struct part *part, json_t *value)
{
	if (!value)
		part->err = part->err ? part->err : -ENOMEM;
	if (value && !part->err &&
	    json_dump_callback(value, on_json, part, JSON_ENCODE_ANY | JSON_COMPACT))
		part->err = -ENOMEM;
	json_decref(value);
}
