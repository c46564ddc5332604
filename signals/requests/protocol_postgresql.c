// SPDX-License-Identifier: Apache-2.0
/*
 * PostgreSQL, protocol 3. The endpoint is the verb and the table of the statement; one that was
 * prepared earlier has no text here.
 */
#include "bytes.h"
#include "printable.h"
#include "protocol.h"
#include "sql_name.h"

#define FAREWELL "(terminate)"

#define HEADER	       5 /* type, and a length that counts itself but not the type */
#define LENGTH_SELF    4
#define LENGTH_MAX     (1U << 30)
#define UNKNOWN_MAX    (1U << 24) /* of a connection that has not been seen before */
#define STARTUP_HEADER 8
#define STARTUP_MAX    10000 /* the server refuses more */
#define STARTUP_MAJOR  3
#define STARTUP_MINORS 100
#define CODE_CANCEL    80877102
#define CODE_TLS       80877103
#define CODE_GSS       80877104
#define SQLSTATE       5

struct message {
	u8 type;
	u32 length;	   /* of all of it, as it says */
	struct bytes body; /* as much as is here */
	bool is_whole;	   /* all is here */
};

static bool read_message(struct bytes bytes, struct message *ret)
{
	u32 length;

	if (bytes.length < HEADER)
		return false;
	length = be32_at(bytes.at + 1);
	if (length < LENGTH_SELF || length >= LENGTH_MAX)
		return false;
	ret->type = bytes.at[0];
	ret->length = length + 1;
	ret->is_whole = bytes.length >= ret->length;
	ret->body = bytes_from(bytes_first(bytes, ret->length), HEADER);
	return true;
}

static void set(struct request_text *ret, enum request_kind kind, const char *endpoint)
{
	ret->kind = kind;
	printable_set(ret->endpoint, sizeof(ret->endpoint), endpoint);
}

/* No type byte; the first packet, or a request for encryption. */
static bool startup_request(struct bytes all, struct request_text *ret)
{
	u32 length, code;

	if (all.length < STARTUP_HEADER)
		return false;
	length = be32_at(all.at);
	code = be32_at(all.at + 4);
	if (length < STARTUP_HEADER || length > STARTUP_MAX)
		return false;
	if ((code >> 16 != STARTUP_MAJOR || (code & 0xffff) >= STARTUP_MINORS) &&
	    code != CODE_CANCEL &&
	    ((code != CODE_TLS && code != CODE_GSS) || length != STARTUP_HEADER))
		return false;
	set(ret, REQUEST_SETS_UP, "(connect)");
	ret->length = length;
	return true;
}

static bool is_text(struct bytes text)
{
	for (size_t i = 0; i < text.length; i++)
		if ((text.at[i] < ' ' && (text.at[i] < '\t' || text.at[i] > '\r')) ||
		    text.at[i] == 0x7f)
			return false;
	return true;
}

/* Takes text that ends in NUL; is_whole: the NUL is here. */
static struct bytes take_text(struct bytes *rest, bool *ret_is_whole)
{
	struct bytes text = bytes_first(*rest, bytes_find(*rest, '\0'));

	*ret_is_whole = text.length < rest->length;
	*rest = bytes_from(*rest, text.length + 1);
	return text;
}

static bool name_sql(struct bytes text, bool is_whole, struct request_text *ret)
{
	ret->kind = REQUEST_ASKS;
	return sql_name(text, is_whole, SQL_POSTGRESQL, ret->endpoint, sizeof(ret->endpoint));
}

/* 'Q'. A stranger's has to be text, ended where the message ends, or to be SQL as far as it is. */
static bool query_request(const struct message *message, bool is_known, struct request_text *ret)
{
	struct bytes rest = message->body, text;
	bool is_whole, is_sql;

	text = take_text(&rest, &is_whole);
	is_sql = name_sql(text, is_whole, ret);
	ret->length = message->length;
	if (is_known)
		return true;
	return message->length <= UNKNOWN_MAX && is_text(text) && !rest.length &&
	       (message->is_whole ? is_whole : is_sql && !is_whole);
}

/* 'P': the name of a prepared statement, its text, the types of its parameters. */
static bool parse_request(const struct message *message, bool is_known, struct request_text *ret)
{
	struct bytes rest = message->body, name, text;
	bool has_name, has_text, is_sql;

	name = take_text(&rest, &has_name);
	text = take_text(&rest, &has_text);
	is_sql = name_sql(text, has_text, ret);
	if (is_known)
		return true;
	if (message->length > UNKNOWN_MAX || !has_name || !is_text(name) || !is_text(text))
		return false;
	if (!message->is_whole)
		return is_sql;
	return has_text && rest.length >= 2 && rest.length == 2 + 4 * be16_at(rest.at);
}

static bool is_extended(u8 type)
{
	return type && strchr("PBDECHS", type);
}

/* What is seen of a row of messages up to Sync. */
struct extended {
	bool has_statement, is_begin; /* a Parse has named it; with BEGIN, the next one may */
	bool executes, describes;
	bool is_whole; /* the Sync is here */
};

static bool extended_message(const struct message *message, bool is_known, struct extended *seen,
			     struct request_text *ret)
{
	switch (message->type) {
	case 'P':
		if (seen->has_statement && !seen->is_begin)
			return true;
		if (!parse_request(message, is_known, ret))
			return false;
		seen->has_statement = true;
		seen->is_begin = !strcmp(ret->endpoint, "BEGIN");
		return true;
	case 'B':
	case 'E':
		seen->executes = true;
		return true;
	case 'D':
		seen->describes = true;
		return true;
	case 'S':
		seen->is_whole = message->length == HEADER;
		return seen->is_whole || is_known;
	default:
		return true;
	}
}

/*
 * Parse, Bind, Describe, Execute, Close, Flush, Sync: drivers send several at once. A stranger's
 * first one is a Parse, or all that is here is such messages and a Sync ends them.
 */
static bool extended_request(struct bytes all, bool is_known, struct request_text *ret)
{
	struct extended seen = {0};
	struct bytes rest = all;
	struct message message;

	while (!seen.is_whole && read_message(rest, &message) && is_extended(message.type)) {
		if (!extended_message(&message, is_known, &seen, ret))
			return false;
		rest = bytes_from(rest, message.length);
	}
	if (!is_known && !seen.has_statement && (!seen.is_whole || rest.length || !seen.executes))
		return false;
	if (seen.is_whole)
		ret->length = (u64)(rest.at - all.at);
	if (!seen.has_statement)
		set(ret, REQUEST_ASKS,
		    seen.executes    ? "EXECUTE (prepared)"
		    : seen.describes ? "(describe)"
				     : "(sync)");
	return true;
}

/* Of a connection that has spoken the protocol before. */
static bool other_request(const struct message *message, struct request_text *ret)
{
	switch (message->type) {
	case 'p': /* a password, or a step of SASL */
		set(ret, REQUEST_SETS_UP, "(connect)");
		break;
	case 'F':
		set(ret, REQUEST_ASKS, "(function call)");
		break;
	case 'd':
	case 'c':
	case 'f':
		set(ret, REQUEST_ASKS, "COPY (data)");
		return true; /* many messages are one request */
	case 'X':
		set(ret, REQUEST_TELLS, FAREWELL);
		break;
	default:
		return false;
	}
	ret->length = message->length;
	return true;
}

static bool request(const u8 *bytes, size_t length, bool is_known, struct request_text *ret)
{
	struct bytes all = {bytes, length};
	struct message message;

	if (startup_request(all, ret))
		return true;
	if (!read_message(all, &message))
		return false;
	if (message.type == 'Q' && message.length > HEADER)
		return query_request(&message, is_known, ret);
	if (is_extended(message.type))
		return extended_request(all, is_known, ret);
	return is_known && other_request(&message, ret);
}

/* The fields of an ErrorResponse are a letter and text, ended by NUL; the SQLSTATE is 'C'. */
static void set_error(struct bytes body, struct answer_text *ret)
{
	struct printable line;
	bool is_whole = true;

	ret->is_error = true;
	printable_begin(&line, ret->status, sizeof(ret->status));
	while (body.length && body.at[0] && is_whole) {
		u8 field = body.at[0];
		struct bytes text;

		body = bytes_from(body, 1);
		text = take_text(&body, &is_whole);
		if (field != 'C')
			continue;
		for (size_t i = 0; i < text.length; i++)
			is_whole &= byte_is_digit(text.at[i]) || byte_is_upper(text.at[i]);
		if (is_whole && text.length == SQLSTATE)
			printable_add(&line, text);
		return;
	}
}

static bool is_answer_type(u8 type)
{
	return type && strchr("RTDCZ12nstIGHWNVKSAc3vd", type);
}

/* An error can come behind other messages: the statement was parsed, then it failed. */
static bool answer(const u8 *bytes, size_t length, struct answer_text *ret)
{
	struct bytes rest = {bytes, length};
	struct message message;

	if (!length || (bytes[0] != 'E' && !is_answer_type(bytes[0])) ||
	    (length >= HEADER && !read_message(rest, &message)))
		return false;
	ret->is_error = bytes[0] == 'E';
	printable_set(ret->status, sizeof(ret->status), ret->is_error ? "" : "OK");
	while (read_message(rest, &message)) {
		if (message.type == 'E') {
			set_error(message.body, ret);
			break;
		}
		if (!is_answer_type(message.type))
			break;
		rest = bytes_from(rest, message.length);
	}
	return true;
}

const struct protocol protocol_postgresql = {
	.name = "postgresql",
	.request = request,
	.answer = answer,
	.farewell_bytes = 5,
	.farewell = FAREWELL,
};
