// SPDX-License-Identifier: Apache-2.0
#include "http_path.h"

#define SEGMENTS_MAX	 6
#define PLAIN_MAX	 48 /* a longer segment is a value: a title, a token */
#define PLAIN_DIGITS_MAX 24 /* a longer one with a digit in it is a token */
#define TOKEN_LENGTH	 16 /* from here on, ... */
#define TOKEN_DIGITS	 3  /* ... this many digits make a token */
#define DIGIT_RUN	 4  /* digits in a row: a number, a year, a time */
#define HEX_LENGTH	 8
#define MIXED_LENGTH	 8
#define NUMBERED_DIGITS	 3 /* "-123", ".123" */

enum byte_class { CLASS_SEPARATOR, CLASS_LOWER, CLASS_UPPER, CLASS_DIGIT, CLASS_OTHER };

static enum byte_class class_of(u8 byte)
{
	if (byte_is_lower(byte))
		return CLASS_LOWER;
	if (byte_is_upper(byte))
		return CLASS_UPPER;
	if (byte_is_digit(byte))
		return CLASS_DIGIT;
	return byte == '-' || byte == '_' || byte == '.' || byte == '~' ? CLASS_SEPARATOR
									: CLASS_OTHER;
}

static bool is_hex(u8 byte)
{
	return byte_is_digit(byte) || (byte_upper(byte) >= 'A' && byte_upper(byte) <= 'F');
}

/* What is between two separators: "3f2a9b1c" of "app.3f2a9b1c.js". */
static bool part_is_value(struct bytes part, bool is_first)
{
	size_t digits = 0, hex = 0;

	for (size_t i = 0; i < part.length; i++) {
		digits += byte_is_digit(part.at[i]);
		hex += is_hex(part.at[i]);
	}
	if (digits && digits == part.length)
		return is_first || digits >= NUMBERED_DIGITS;
	return digits && hex == part.length && hex >= HEX_LENGTH;
}

static bool has_value_part(struct bytes segment)
{
	size_t begin = 0;

	for (size_t i = 0; i <= segment.length; i++) {
		if (i < segment.length && class_of(segment.at[i]) != CLASS_SEPARATOR)
			continue;
		if (part_is_value((struct bytes){segment.at + begin, i - begin}, !begin))
			return true;
		begin = i + 1;
	}
	return false;
}

/* Counts of a segment's bytes. */
struct shape {
	size_t digits, digit_run; /* the longest run */
	size_t hex;		  /* hexadecimal digits and dashes: a UUID has nothing else */
	size_t changes;		  /* of class; not from "A" to "b", as in "ListUsers" */
	bool has_other;		  /* percent-encoded, an e-mail address, not ASCII, ... */
};

static struct shape shape_of(struct bytes segment)
{
	enum byte_class before = CLASS_SEPARATOR;
	struct shape shape = {0};
	size_t run = 0;

	for (size_t i = 0; i < segment.length; i++) {
		enum byte_class class = class_of(segment.at[i]);

		run = class == CLASS_DIGIT ? run + 1 : 0;
		if (run > shape.digit_run)
			shape.digit_run = run;
		shape.digits += class == CLASS_DIGIT;
		shape.hex += is_hex(segment.at[i]) || segment.at[i] == '-';
		shape.has_other |= class == CLASS_OTHER;
		if (class != before && class != CLASS_SEPARATOR && before != CLASS_SEPARATOR &&
		    !(before == CLASS_UPPER && class == CLASS_LOWER))
			shape.changes++;
		before = class;
	}
	return shape;
}

/* In doubt it is one: a value in a report is worse than two endpoints under one name. */
static bool is_value(struct bytes segment)
{
	struct shape shape = shape_of(segment);

	if (shape.has_other || segment.length > PLAIN_MAX || shape.digit_run >= DIGIT_RUN)
		return true;
	if (shape.digits && segment.length > PLAIN_DIGITS_MAX)
		return true;
	if (segment.length >= TOKEN_LENGTH &&
	    (shape.digits >= TOKEN_DIGITS || shape.hex == segment.length))
		return true;
	/* "v1alpha1" and "OAuth2Callback" change less often than "dQw4w9WgXcQ" */
	if (segment.length >= MIXED_LENGTH && shape.changes * 5 >= segment.length * 2)
		return true;
	return has_value_part(segment);
}

/* Takes "/segment" from the front; without its parameters, as in "/cart;jsessionid=1". */
static struct bytes take_segment(struct bytes *path)
{
	struct bytes segment;

	*path = bytes_from(*path, 1);
	segment = bytes_first(*path, bytes_find(*path, '/'));
	*path = bytes_from(*path, segment.length);
	return bytes_first(segment, bytes_find(segment, ';'));
}

void http_path_add(struct printable *line, struct bytes path, bool is_whole)
{
	size_t end = bytes_find(path, '?'), hash = bytes_find(path, '#'), count = 0;

	if (hash < end)
		end = hash;
	if (end < path.length)
		is_whole = true;
	path = bytes_first(path, end);
	while (path.length) {
		struct bytes segment = take_segment(&path);

		/* a part of a value can look like a name */
		if ((!path.length && !is_whole) || (segment.length && count++ == SEGMENTS_MAX)) {
			printable_add_text(line, "/...");
			return;
		}
		if (!segment.length && path.length)
			continue; /* "//" */
		printable_add_text(line, "/");
		if (segment.length && is_value(segment))
			printable_add_text(line, ":id");
		else
			printable_add(line, segment);
	}
}
