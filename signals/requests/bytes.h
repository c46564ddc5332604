/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that an enemy wrote, with how many there are. Every function stays within them, and owns
 * nothing. Called by the parsers of this folder.
 */
#ifndef DWELL_REQUESTS_BYTES_H
#define DWELL_REQUESTS_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "../../abi/types.h"

struct bytes {
	const u8 *at;
	size_t length;
};

/* Without the first count; empty if there are fewer. */
static inline struct bytes bytes_from(struct bytes bytes, size_t count)
{
	if (count > bytes.length)
		count = bytes.length;
	return (struct bytes){count ? bytes.at + count : bytes.at, bytes.length - count};
}

/* At most the first count. */
static inline struct bytes bytes_first(struct bytes bytes, size_t count)
{
	return (struct bytes){bytes.at, count < bytes.length ? count : bytes.length};
}

/* They are the text or, if there are fewer of them, a beginning of it; more may follow. */
static inline bool bytes_match(struct bytes bytes, const char *text)
{
	size_t length = strlen(text);

	if (length > bytes.length)
		length = bytes.length;
	return !length || !memcmp(bytes.at, text, length);
}

/* The whole text is there; more may follow. */
static inline bool bytes_begin(struct bytes bytes, const char *text)
{
	return bytes.length >= strlen(text) && bytes_match(bytes, text);
}

/* Where the byte is for the first time; the length if it is not there. */
static inline size_t bytes_find(struct bytes bytes, u8 byte)
{
	const u8 *found = bytes.length ? memchr(bytes.at, byte, bytes.length) : NULL;

	return found ? (size_t)(found - bytes.at) : bytes.length;
}

static inline bool byte_is_digit(u8 byte)
{
	return byte >= '0' && byte <= '9';
}

static inline bool byte_is_upper(u8 byte)
{
	return byte >= 'A' && byte <= 'Z';
}

static inline bool byte_is_lower(u8 byte)
{
	return byte >= 'a' && byte <= 'z';
}

static inline bool byte_is_letter(u8 byte)
{
	return byte_is_upper(byte) || byte_is_lower(byte);
}

/* Of ASCII only: the locale has no part in it. */
static inline u8 byte_upper(u8 byte)
{
	return byte_is_lower(byte) ? (u8)(byte - 'a' + 'A') : byte;
}

/* The text, which is in upper case, and nothing else; the bytes may be in either case. */
static inline bool bytes_are(struct bytes bytes, const char *text)
{
	if (bytes.length != strlen(text))
		return false;
	for (size_t i = 0; i < bytes.length; i++)
		if (byte_upper(bytes.at[i]) != (u8)text[i])
			return false;
	return true;
}

static inline bool bytes_are_any(struct bytes bytes, const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (bytes_are(bytes, texts[i]))
			return true;
	return false;
}

/* Takes the decimal digits in front: false if there are none, or the number exceeds most. */
static inline bool bytes_take_number(struct bytes *bytes, u64 most, u64 *ret)
{
	u64 number = 0;
	size_t count = 0;

	for (; count < bytes->length && byte_is_digit(bytes->at[count]); count++) {
		u8 digit = (u8)(bytes->at[count] - '0');

		if (number > (most - digit) / 10)
			return false;
		number = number * 10 + digit;
	}
	*bytes = bytes_from(*bytes, count);
	*ret = number;
	return count > 0;
}

static inline u32 be32_at(const u8 *at)
{
	return (u32)at[0] << 24 | (u32)at[1] << 16 | (u32)at[2] << 8 | at[3];
}

static inline u32 be16_at(const u8 *at)
{
	return (u32)at[0] << 8 | at[1];
}

#endif
