// SPDX-License-Identifier: Apache-2.0
#include "memory_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define ROOM_LEAST 4096

static int make_room(struct memory_stream *stream, size_t bytes)
{
	size_t room = stream->room ? stream->room : ROOM_LEAST;
	char *text;

	while (room - stream->size <= bytes) {
		if (room > SIZE_MAX / 2)
			return -ENOMEM;
		room *= 2;
	}
	if (room == stream->room)
		return 0;
	text = realloc(stream->text, room);
	if (!text)
		return -ENOMEM;
	stream->text = text;
	stream->room = room;
	return 0;
}

/* 0 bytes written: the stream has an error from then on. */
static ssize_t write_bytes(void *cookie, const char *bytes, size_t count)
{
	struct memory_stream *stream = cookie;

	if (make_room(stream, count)) {
		errno = ENOMEM;
		return 0;
	}
	memcpy(stream->text + stream->size, bytes, count);
	stream->size += count;
	return (ssize_t)count;
}

int memory_stream_open(struct memory_stream *stream)
{
	*stream = (struct memory_stream){0};
	if (!make_room(stream, 0))
		stream->out =
			fopencookie(stream, "w", (cookie_io_functions_t){.write = write_bytes});
	if (stream->out)
		return 0;
	memory_stream_free(stream);
	return -ENOMEM;
}

int memory_stream_end(struct memory_stream *stream)
{
	bool is_short = ferror(stream->out);

	is_short |= fclose(stream->out) != 0;
	stream->out = NULL;
	if (is_short) {
		memory_stream_free(stream);
		return -ENOMEM;
	}
	stream->text[stream->size] = '\0';
	return 0;
}

void memory_stream_free(struct memory_stream *stream)
{
	if (stream->out)
		fclose(stream->out);
	free(stream->text);
	*stream = (struct memory_stream){0};
}
