// SPDX-License-Identifier: Apache-2.0
#include "sql_token.h"

static const struct sql_token token_end = {.type = SQL_END};
static const struct sql_token token_value = {.type = SQL_VALUE};

static bool is_word_start(u8 byte)
{
	return byte_is_letter(byte) || byte == '_' || byte >= 0x80;
}

static bool is_word_part(u8 byte)
{
	return is_word_start(byte) || byte_is_digit(byte) || byte == '$';
}

static bool is_blank(u8 byte)
{
	return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static bool is_plain_name(struct bytes text)
{
	if (!text.length || !is_word_start(text.at[0]))
		return false;
	for (size_t i = 0; i < text.length; i++)
		if (!is_word_part(text.at[i]) || text.at[i] >= 0x80)
			return false;
	return true;
}

/* The rest cannot be read: it is not here, or can be read in two ways. */
static struct sql_token stop(struct sql_reader *reader)
{
	reader->rest.length = 0;
	reader->is_cut = true;
	return token_end;
}

static void skip_line(struct sql_reader *reader)
{
	reader->rest = bytes_from(reader->rest, bytes_find(reader->rest, '\n'));
}

/* MySQL runs what is in its own comments, except on older versions: only its start is skipped. */
static bool skip_version_comment(struct sql_reader *reader)
{
	struct bytes rest = bytes_from(reader->rest, 3);
	u64 version;

	for (size_t i = 0; i < rest.length && !bytes_begin(bytes_from(rest, i), "*/"); i++)
		if (rest.at[i] == '\'' || rest.at[i] == '"' || rest.at[i] == '`')
			return false; /* a literal goes on behind the comment, or does not */
	bytes_take_number(&rest, ~0U, &version);
	reader->rest = rest;
	return true;
}

/* In PostgreSQL comments have comments in them. */
static void skip_comment(struct sql_reader *reader)
{
	bool nests = reader->dialect == SQL_POSTGRESQL;
	struct bytes rest = bytes_from(reader->rest, 2);
	size_t depth = 1;

	while (rest.length && depth) {
		size_t taken = 2;

		if (bytes_begin(rest, "*/"))
			depth--;
		else if (nests && bytes_begin(rest, "/*"))
			depth++;
		else
			taken = 1;
		rest = bytes_from(rest, taken);
	}
	reader->rest = rest;
}

/* "--": in MySQL only with a blank behind it, "5--3" is 8 there. */
static bool is_line_comment(const struct sql_reader *reader)
{
	struct bytes rest = reader->rest;

	if (reader->dialect == SQL_MYSQL)
		return rest.at[0] == '#' ||
		       (bytes_begin(rest, "--") && (rest.length == 2 || rest.at[2] <= ' '));
	return bytes_begin(rest, "--");
}

/* False: stop. */
static bool skip_blanks(struct sql_reader *reader)
{
	while (reader->rest.length) {
		if (is_blank(reader->rest.at[0])) {
			reader->rest = bytes_from(reader->rest, 1);
		} else if (is_line_comment(reader)) {
			skip_line(reader);
		} else if (reader->dialect == SQL_MYSQL && bytes_begin(reader->rest, "/*!")) {
			if (!skip_version_comment(reader))
				return false;
		} else if (bytes_begin(reader->rest, "/*")) {
			skip_comment(reader);
		} else {
			break;
		}
	}
	return true;
}

static struct sql_token take_word(struct sql_reader *reader)
{
	struct sql_token token = {.type = SQL_WORD};
	size_t length = 0;

	while (length < reader->rest.length && is_word_part(reader->rest.at[length]))
		length++;
	if (length == reader->rest.length && !reader->is_whole)
		return stop(reader); /* half a name can be another one */
	token.text = bytes_first(reader->rest, length);
	reader->rest = bytes_from(reader->rest, length);
	return is_plain_name(token.text) ? token : token_value;
}

static struct sql_token take_number(struct sql_reader *reader)
{
	size_t length = 0;

	while (length < reader->rest.length && reader->rest.at[length] != '$' &&
	       (is_word_part(reader->rest.at[length]) || reader->rest.at[length] == '.'))
		length++;
	reader->rest = bytes_from(reader->rest, length);
	return token_value;
}

/*
 * A backslash before the closing quote: whether it escapes the quote depends on the dialect, on a
 * prefix (E'...') and on settings of the server.
 */
static bool is_quote_escaped(struct bytes rest, size_t quote)
{
	size_t count = 0;

	while (count < quote && rest.at[quote - 1 - count] == '\\')
		count++;
	return count % 2;
}

static struct sql_token take_quoted(struct sql_reader *reader, u8 quote)
{
	struct bytes rest = bytes_from(reader->rest, 1);
	bool is_name = quote == '`' || (quote == '"' && reader->dialect == SQL_POSTGRESQL);
	struct sql_token token = {.type = SQL_QUOTED};
	size_t end = 0;

	for (;; end += 2) { /* two quotes are one that does not end it */
		end += bytes_find(bytes_from(rest, end), quote);
		if (end >= rest.length || is_quote_escaped(rest, end) ||
		    (end + 1 == rest.length && !reader->is_whole))
			return stop(reader);
		if (end + 1 >= rest.length || rest.at[end + 1] != quote)
			break;
	}
	token.text = bytes_first(rest, end);
	reader->rest = bytes_from(rest, end + 1);
	return is_name && is_plain_name(token.text) ? token : token_value;
}

/* PostgreSQL's "$1" and "$tag$ ... $tag$" */
static struct sql_token take_dollar(struct sql_reader *reader)
{
	struct bytes rest = reader->rest;
	size_t tag = 1;

	if (rest.length > 1 && byte_is_digit(rest.at[1])) {
		reader->rest = bytes_from(rest, 1);
		return take_number(reader);
	}
	while (tag < rest.length && is_word_part(rest.at[tag]) && rest.at[tag] != '$')
		tag++;
	if (tag >= rest.length || rest.at[tag] != '$')
		return stop(reader);
	tag++;
	for (size_t at = tag; at + tag <= rest.length; at++) {
		if (memcmp(rest.at + at, rest.at, tag))
			continue;
		reader->rest = bytes_from(rest, at + tag);
		return token_value;
	}
	return stop(reader);
}

struct sql_token sql_token_next(struct sql_reader *reader)
{
	struct sql_token token = {.type = SQL_SIGN};
	u8 first;

	if (!skip_blanks(reader))
		return stop(reader);
	if (!reader->rest.length) {
		reader->is_cut |= !reader->is_whole;
		return token_end;
	}
	first = reader->rest.at[0];
	if (is_word_start(first))
		return take_word(reader);
	if (byte_is_digit(first))
		return take_number(reader);
	if (first == '\'' || first == '"' || (first == '`' && reader->dialect == SQL_MYSQL))
		return take_quoted(reader, first);
	if (first == '$')
		return reader->dialect == SQL_POSTGRESQL ? take_dollar(reader) : stop(reader);
	if (first == ';') {
		reader->rest.length = 0;
		reader->is_whole = true; /* of the first statement, all is here */
		return token_end;
	}
	token.sign = first;
	reader->rest = bytes_from(reader->rest, 1);
	return token;
}

struct sql_token sql_token_peek(const struct sql_reader *reader)
{
	struct sql_reader copy = *reader;

	return sql_token_next(&copy);
}

bool sql_token_is(struct sql_token token, const char *keyword)
{
	return token.type == SQL_WORD && bytes_are(token.text, keyword);
}

bool sql_token_is_sign(struct sql_token token, u8 sign)
{
	return token.type == SQL_SIGN && token.sign == sign;
}
