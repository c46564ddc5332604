// SPDX-License-Identifier: Apache-2.0
/*
 * Turns of HTTP/2, by its preface and the headers of its frames: of connections whose streams are
 * not followed (h2_book.c names those that are). Header blocks are not read: turns have no
 * endpoint.
 */
#include "bytes.h"
#include "printable.h"
#include "protocol.h"

#define PREFACE	       "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define PREFACE_LINE   14 /* "PRI * HTTP/2.0": nothing else begins like that */
#define FRAME_HEADER   9
#define FRAME_DATA     0
#define FRAME_HEADERS  1
#define FRAME_SETTINGS 4
#define FRAME_PING     6
#define FRAME_GOAWAY   7
#define FRAME_WINDOW   8  /* the only one that is of a stream or of the connection */
#define FRAME_LAST     9  /* CONTINUATION, of headers */
#define FRAME_PRIORITY 16 /* RFC 9218 */

/* Any length of 24 bits is sane; the type and the stream have to fit. */
static bool is_frame(struct bytes bytes)
{
	u32 stream;
	u8 type;

	if (bytes.length < FRAME_HEADER)
		return false;
	type = bytes.at[3];
	stream = be32_at(bytes.at + 5);
	if (stream >> 31) /* reserved */
		return false;
	if (type == FRAME_WINDOW)
		return true;
	if (type == FRAME_SETTINGS || type == FRAME_PING || type == FRAME_GOAWAY ||
	    type == FRAME_PRIORITY)
		return !stream;
	return type <= FRAME_LAST && stream;
}

static bool is_of_request(u8 type)
{
	return type == FRAME_DATA || type == FRAME_HEADERS || type == FRAME_LAST;
}

/* All of it is there, and says nothing of a request: windows, settings, the end. */
static bool is_control(struct bytes bytes)
{
	while (is_frame(bytes) && !is_of_request(bytes.at[3])) {
		size_t length = FRAME_HEADER + (be32_at(bytes.at) >> 8);

		if (length >= bytes.length)
			return length == bytes.length;
		bytes = bytes_from(bytes, length);
	}
	return false;
}

static bool request(const u8 *bytes, size_t length, bool is_known, struct request_text *ret)
{
	struct bytes all = {bytes, length};

	if (length >= PREFACE_LINE && bytes_match(all, PREFACE)) {
		ret->kind = REQUEST_SETS_UP;
		printable_set(ret->endpoint, sizeof(ret->endpoint), "(h2 set-up)");
		return true;
	}
	if (!is_known || !is_frame(all))
		return false;
	if (is_control(all)) {
		ret->kind = REQUEST_TELLS;
		printable_set(ret->endpoint, sizeof(ret->endpoint), "(h2 control)");
		return true;
	}
	printable_set(ret->endpoint, sizeof(ret->endpoint), "(h2, unnamed)");
	return true;
}

static bool answer(const u8 *bytes, size_t length, struct answer_text *ret)
{
	if (!is_frame((struct bytes){bytes, length}))
		return false;
	*ret = (struct answer_text){0};
	return true;
}

const struct protocol protocol_http2 = {
	.name = "http2",
	.request = request,
	.answer = answer,
};
