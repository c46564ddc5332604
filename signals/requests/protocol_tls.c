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

/* From 1.3 on, records of all kinds say that they are data, once keys are known: lengths tell. */
#define ALERT_LENGTH	19 /* or two bytes of data */
#define FINISHED_SHA256 53
#define FINISHED_SHA384 69

static bool is_finished(u32 type, u32 length, bool is_cipher_changed)
{
	if (type == RECORD_HANDSHAKE) /* up to 1.2 */
		return is_cipher_changed;
	return type == RECORD_DATA && (length == FINISHED_SHA256 || length == FINISHED_SHA384);
}

/* Where the handshake ends, as far as it is there; 0: not known. What follows is a request. */
static size_t end_of_handshake(const u8 *bytes, size_t length)
{
	bool is_cipher_changed = false;

	for (size_t at = 0; at < length && is_record(bytes + at, length - at);) {
		u32 type = bytes[at], size = be16_at(bytes + at + 3);

		at += RECORD_HEADER + size;
		if (is_finished(type, size, is_cipher_changed))
			return at;
		is_cipher_changed |= type == RECORD_CIPHER;
	}
	return 0;
}

static bool is_alert(const u8 *bytes, size_t length)
{
	return bytes[0] == RECORD_ALERT ||
	       (bytes[0] == RECORD_DATA && be16_at(bytes + 3) == ALERT_LENGTH &&
		length == RECORD_HEADER + ALERT_LENGTH);
}

/* The length of a request stays unknown: it can be several records. */
static bool request(const u8 *bytes, size_t length, bool is_known, struct request_text *ret)
{
	const char *endpoint = "(tls handshake)";

	(void)is_known;
	if (!is_record(bytes, length))
		return false;
	if (is_alert(bytes, length)) {
		ret->kind = REQUEST_TELLS;
		endpoint = "(tls alert)";
	} else if (bytes[0] == RECORD_DATA) {
		ret->kind = REQUEST_ASKS;
		endpoint = "(tls, unnamed)";
	} else {
		ret->kind = REQUEST_SETS_UP;
		ret->set_up_bytes = end_of_handshake(bytes, length);
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
