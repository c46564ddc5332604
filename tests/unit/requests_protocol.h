/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every test of the protocols of requests holds: whatever the bytes are, what comes out ends,
 * is printable, and has nothing of the secret that is in them.
 */
#ifndef DWELL_TESTS_REQUESTS_PROTOCOL_H
#define DWELL_TESTS_REQUESTS_PROTOCOL_H

#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../signals/requests/protocol.h"

/* Letters only, so that it could pass for a name; any SECRET_PART of its letters in a row is one.
 */
#define SECRET	    "swordfish"
#define SECRET_PART 4

static inline void assert_harmless(const char *text, size_t size)
{
	assert_non_null(memchr(text, '\0', size));
	for (const char *c = text; *c; c++)
		assert_true(*c >= ' ' && *c <= '~' && !strchr("\"'`\\", *c));
	for (size_t i = 0; i + SECRET_PART < sizeof(SECRET); i++) {
		char part[SECRET_PART + 1] = "";

		memcpy(part, &SECRET[i], SECRET_PART);
		if (strcasestr(text, part))
			fail_msg("part of the secret in: %s", text);
	}
}

/* Every protocol reads them, known and not. */
static inline void assert_bytes_harmless(const void *from, size_t length)
{
	u8 *bytes = malloc(length ? length : 1); /* a byte too many is a sanitizer's to see */

	memcpy(bytes, from, length);
	for (u32 id = 0; id <= PROTOCOL_COUNT; id++) {
		const struct protocol *protocol = protocol_by_id(id);
		struct request_text request;
		struct answer_text answer = {0};
		u32 found = protocol_of_request(bytes, length, id, &request);

		assert_true(found < PROTOCOL_COUNT);
		assert_harmless(request.endpoint, sizeof(request.endpoint));
		assert_int_equal(found == PROTOCOL_UNKNOWN, !request.endpoint[0]);
		if (!protocol)
			continue;
		protocol->answer(bytes, length, &answer);
		assert_harmless(answer.status, sizeof(answer.status));
	}
	free(bytes);
}

static inline void assert_prefixes_harmless(const void *bytes, size_t length)
{
	for (size_t i = 0; i <= length; i++)
		assert_bytes_harmless(bytes, i);
}

#endif
