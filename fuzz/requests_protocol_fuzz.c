// SPDX-License-Identifier: Apache-2.0
/*
 * The parsers of requests and answers, whose bytes any client and any server may choose.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../signals/requests/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends within its size, and nothing in it has to be escaped. */
static void check_text(const char *text, size_t size)
{
	if (!memchr(text, '\0', size))
		abort();
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || strchr("\"'`\\", *text))
			abort();
}

static void check_request(const struct request_text *request, bool is_found)
{
	check_text(request->endpoint, sizeof(request->endpoint));
	if (request->kind > REQUEST_TELLS || is_found != !!request->endpoint[0])
		abort();
	if (!is_found && (request->kind || request->length))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (u32 known = 0; known <= PROTOCOL_COUNT; known++) {
		const struct protocol *protocol = protocol_by_id(known);
		struct answer_text answer;
		struct request_text request;

		/* what a parser leaves unset shows */
		memset(&request, 0xff, sizeof(request));
		check_request(&request, protocol_of_request(data, size, known, &request));
		memset(&answer, 0xff, sizeof(answer));
		if (protocol && protocol->answer(data, size, &answer))
			check_text(answer.status, sizeof(answer.status));
	}
	return 0;
}
