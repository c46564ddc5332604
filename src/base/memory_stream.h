/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream that writes into memory. Owns its text. Anyone may use it.
 *
 * Not open_memstream(): when it cannot grow, glibc drops what did not fit and neither ferror() nor
 * fclose() says so.
 */
#ifndef DWELL_BASE_MEMORY_STREAM_H
#define DWELL_BASE_MEMORY_STREAM_H

#include <stddef.h>
#include <stdio.h>

struct memory_stream {
	FILE *out;
	char *text; /* complete, and ended by a zero byte, after memory_stream_end() */
	size_t size;
	size_t room;
};

/* The stream must not move until it is ended. 0 or -ENOMEM. */
int memory_stream_open(struct memory_stream *stream);

/* 0, or -ENOMEM if a byte did not fit: text is NULL then. */
int memory_stream_end(struct memory_stream *stream);

/* At any time; also of a stream that was never opened, all zero. */
void memory_stream_free(struct memory_stream *stream);

#endif
