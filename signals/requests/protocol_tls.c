// SPDX-License-Identifier: Apache-2.0
/*
 * TLS, by the headers of its records: what is in them cannot be read here.
 */
#include "bytes.h"
#include "printable.h"
#include "protocol.h"

#define RECORD_HEADER	  5
#define RECORD_MAX	  (16384 + 2048)
#define RECORD_CIPHER	  0x14
#define RECORD_ALERT	  0x15
#define RECORD_HANDSHAKE  0x16
#define RECORD_DATA	  0x17
#define VERSION_MAJOR	  3
#define VERSION_MINOR_MAX 4

static bool is_record(const u8 *bytes, size_t length)
{
	return length >= RECORD_HEADER && bytes[0] >= RECORD_CIPHER && bytes[0] <= RECORD_DATA &&
	       bytes[1] == VERSION_MAJOR && bytes[2] <= VERSION_MINOR_MAX && be16_at(bytes + 3) &&
	       be16_at(bytes + 3) <= RECORD_MAX;
}

/* The length stays unknown: a request can be several records. */
static bool request(const u8 *bytes, size_t length, bool is_known, struct request_text *ret)
{
	const char *endpoint = "(tls handshake)";

	(void)is_known;
	if (!is_record(bytes, length))
		return false;
	switch (bytes[0]) {
	case RECORD_DATA:
		ret->kind = REQUEST_ASKS;
		endpoint = "(tls, unnamed)";
		break;
	case RECORD_ALERT:
		ret->kind = REQUEST_TELLS;
		endpoint = "(tls alert)";
		break;
	default:
		ret->kind = REQUEST_SETS_UP;
	}
	printable_set(ret->endpoint, sizeof(ret->endpoint), endpoint);
	return true;
}

static bool answer(const u8 *bytes, size_t length, struct answer_text *ret)
{
	if (!is_record(bytes, length))
		return false;
	*ret = (struct answer_text){0};
	return true;
}

const struct protocol protocol_tls = {
	.name = "tls",
	.request = request,
	.answer = answer,
};
