// SPDX-License-Identifier: Apache-2.0
/*
 * HTTP/1.0 and 1.1. The endpoint is the method and the template of the path.
 */
#include "../../src/base/cleanup.h"
#include "bytes.h"
#include "http_path.h"
#include "printable.h"
#include "protocol.h"

#define BODY_MAX      (1ULL << 60)
#define STATUS_DIGITS 3

static const struct method {
	const char *name;
	bool has_body; /* of unknown length, if no header says it */
} methods[] = {
	{"GET", false},	  {"POST", true},     {"PUT", true},	  {"DELETE", false},
	{"HEAD", false},  {"PATCH", true},    {"OPTIONS", false}, {"CONNECT", false},
	{"TRACE", false}, {"PROPFIND", true},
};

/* Takes "GET " from the front. */
static const struct method *take_method(struct bytes *rest)
{
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		size_t length = strlen(methods[i].name);

		if (!bytes_begin(*rest, methods[i].name) || rest->length < length + 2 ||
		    rest->at[length] != ' ')
			continue;
		*rest = bytes_from(*rest, length + 1);
		return &methods[i];
	}
	return NULL;
}

/* " HTTP/1.1" and the end of the line, as far as they are there. */
static bool is_version(struct bytes rest)
{
	static const char version[] = " HTTP/1.";
	const size_t length = sizeof(version) - 1;

	return bytes_match(rest, version) &&
	       (rest.length <= length || byte_is_digit(rest.at[length])) &&
	       (rest.length <= length + 1 || rest.at[length + 1] == '\r' ||
		rest.at[length + 1] == '\n');
}

/* Takes the target, up to the first byte that cannot be in one. */
static struct bytes take_target(struct bytes *rest)
{
	struct bytes target;
	size_t end = 0;

	while (end < rest->length && rest->at[end] > ' ' && rest->at[end] != 0x7f)
		end++;
	target = bytes_first(*rest, end);
	*rest = bytes_from(*rest, end);
	return target;
}

/* "host:443", of CONNECT */
static bool is_authority(struct bytes target)
{
	for (size_t i = 0; i < target.length; i++)
		if (!byte_is_letter(target.at[i]) && !byte_is_digit(target.at[i]) &&
		    !strchr(".-_:[]", target.at[i]))
			return false;
	return true;
}

/* "http://user@host/path": what is behind the host. False: it is not of this form. */
static bool take_origin(struct bytes *target, bool is_whole)
{
	static const char *const schemes[] = {"http://", "https://"};

	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
		size_t end;

		if (!bytes_match(*target, schemes[i]) ||
		    (is_whole && !bytes_begin(*target, schemes[i])))
			continue;
		*target = bytes_from(*target, strlen(schemes[i]));
		for (end = 0; end < target->length; end++)
			if (strchr("/?#", target->at[end]))
				break;
		*target = bytes_from(*target, end);
		return true;
	}
	return false;
}

static bool add_target(struct printable *line, struct bytes target, bool is_whole)
{
	if (target.at[0] == '/') {
		http_path_add(line, target, is_whole);
		return true;
	}
	if (!take_origin(&target, is_whole))
		return false;
	if (target.length && target.at[0] == '/')
		http_path_add(line, target, is_whole);
	else
		printable_add_text(line, target.length || is_whole ? "/" : "/...");
	return true;
}

/* The value of a header without spaces around it; false: the line is another header. */
static bool is_header(struct bytes line, const char *name, struct bytes *ret_value)
{
	struct bytes value;

	if (!bytes_are(bytes_first(line, strlen(name)), name))
		return false;
	value = bytes_from(line, strlen(name));
	while (value.length && (value.at[0] == ' ' || value.at[0] == '\t'))
		value = bytes_from(value, 1);
	while (value.length &&
	       (value.at[value.length - 1] == ' ' || value.at[value.length - 1] == '\t'))
		value.length--;
	*ret_value = value;
	return true;
}

/* Of the whole request; 0: not known. rest: what follows the target. */
static u64 length_of(const u8 *bytes, struct bytes rest, const struct method *method)
{
	bool has_length = false;
	u64 body = 0;

	for (;;) {
		size_t end = bytes_find(rest, '\n');
		struct bytes line = bytes_first(rest, end), value;
		u64 number;

		if (end == rest.length || !end || line.at[end - 1] != '\r')
			return 0; /* the headers end elsewhere, or are not of the usual form */
		line.length--;
		rest = bytes_from(rest, end + 1);
		if (!line.length)
			break;
		if (is_header(line, "TRANSFER-ENCODING:", &value) ||
		    is_header(line, "UPGRADE:", &value))
			return 0;
		if (!is_header(line, "CONTENT-LENGTH:", &value))
			continue;
		if (!bytes_take_number(&value, BODY_MAX, &number) || value.length ||
		    (has_length && number != body))
			return 0;
		has_length = true;
		body = number;
	}
	return has_length || !method->has_body ? (u64)(rest.at - bytes) + body : 0;
}

static s32 hex_digit(u8 byte)
{
	if (byte_is_digit(byte))
		return byte - '0';
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* "00-", 32 digits, "-", 16 digits, "-", 2 digits: as W3C's Trace Context has it. */
static bool read_trace(struct bytes value, u8 trace[TRACE_BYTES])
{
	static const char form[] = "00-dddddddddddddddddddddddddddddddd-dddddddddddddddd-dd";
	u8 any = 0;

	if (value.length != sizeof(form) - 1)
		return false;
	for (size_t i = 0; i < value.length; i++)
		if (form[i] == 'd' ? hex_digit(value.at[i]) < 0 : value.at[i] != form[i])
			return false;
	for (size_t i = 0; i < TRACE_BYTES; i++) {
		const u8 *digits = value.at + 3 + 2 * i;

		trace[i] = (u8)(hex_digit(digits[0]) << 4 | hex_digit(digits[1]));
		any |= trace[i];
	}
	return any;
}

/* From the headers that are there, each whole. rest: what follows the target. */
static void find_trace(struct bytes rest, u8 trace[TRACE_BYTES])
{
	for (;;) {
		size_t end = bytes_find(rest, '\n');
		struct bytes line = bytes_first(rest, end), value;

		if (end == rest.length || !end || line.at[end - 1] != '\r' || end == 1)
			return;
		line.length--;
		rest = bytes_from(rest, end + 1);
		if (!is_header(line, "TRACEPARENT:", &value))
			continue;
		if (!read_trace(value, trace))
			memset(trace, 0, TRACE_BYTES);
		return;
	}
}

static bool request(const u8 *bytes, size_t length, bool is_known, struct request_text *ret)
{
	struct bytes rest = {bytes, length}, target;
	const struct method *method = take_method(&rest);
	struct printable line;
	bool is_whole;

	if (!method)
		return false;
	target = take_target(&rest);
	is_whole = rest.length;
	if (!target.length || !is_version(rest))
		return false;
	printable_begin(&line, ret->endpoint, sizeof(ret->endpoint));
	printable_add_text(&line, method->name);
	if (!strcmp(method->name, "CONNECT")) /* a tunnel: what follows is not HTTP */
		return is_authority(target) && (is_whole || is_known);
	printable_add_text(&line, " ");
	if (!strcmp(method->name, "OPTIONS") && bytes_are(target, "*"))
		printable_add_text(&line, "*");
	else if (!add_target(&line, target, is_whole))
		return false;
	ret->length = length_of(bytes, rest, method);
	find_trace(rest, ret->trace);
	return true;
}

static bool answer(const u8 *bytes, size_t length, struct answer_text *ret)
{
	static const char version[] = "HTTP/1.";
	struct bytes rest = {bytes, length}, status;
	struct printable line;

	if (!bytes_begin(rest, version))
		return false;
	rest = bytes_from(rest, sizeof(version) - 1);
	if (rest.length < 2 + STATUS_DIGITS || !byte_is_digit(rest.at[0]) || rest.at[1] != ' ')
		return false;
	status = bytes_first(bytes_from(rest, 2), STATUS_DIGITS);
	for (size_t i = 0; i < STATUS_DIGITS; i++)
		if (!byte_is_digit(status.at[i]))
			return false;
	rest = bytes_from(rest, 2 + STATUS_DIGITS);
	if (status.at[0] == '0' || (rest.length && rest.at[0] > ' '))
		return false;
	printable_begin(&line, ret->status, sizeof(ret->status));
	printable_add(&line, status);
	ret->is_error = status.at[0] >= '4';
	return true;
}

const struct protocol protocol_http = {
	.name = "http",
	.request = request,
	.answer = answer,
};
