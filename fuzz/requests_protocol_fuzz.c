// SPDX-License-Identifier: Apache-2.0
/*
 * The parsers of requests and answers, whose bytes any client and any server may choose.
 * FUZZ_PROTOCOL=http: that protocol alone.
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

/* What a parser leaves unset shows. */
static void check_answer(const struct protocol *protocol, const uint8_t *data, size_t size)
{
	struct answer_text answer;

	memset(&answer, 0xff, sizeof(answer));
	if (protocol->answer(data, size, &answer))
		check_text(answer.status, sizeof(answer.status));
}

static void check_protocol(const struct protocol *protocol, const uint8_t *data, size_t size)
{
	for (int is_known = 0; is_known <= 1; is_known++) {
		struct request_text request;

		memset(&request, 0xff, sizeof(request));
		if (protocol->request(data, size, is_known, &request))
			check_text(request.endpoint, sizeof(request.endpoint));
	}
	check_answer(protocol, data, size);
}

static const struct protocol *protocol_wanted(void)
{
	const char *name = getenv("FUZZ_PROTOCOL");

	for (u32 id = 0; name && id < PROTOCOL_COUNT; id++) {
		const struct protocol *protocol = protocol_by_id(id);

		if (protocol && !strcmp(protocol->name, name))
			return protocol;
	}
	if (name)
		abort(); /* no such protocol */
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct protocol *wanted = protocol_wanted();

	if (wanted) {
		check_protocol(wanted, data, size);
		return 0;
	}
	for (u32 known = 0; known <= PROTOCOL_COUNT; known++) {
		const struct protocol *protocol = protocol_by_id(known);
		struct request_text request;

		memset(&request, 0xff, sizeof(request));
		check_request(&request, protocol_of_request(data, size, known, &request));
		if (protocol)
			check_answer(protocol, data, size);
	}
	return 0;
}
