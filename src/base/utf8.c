// SPDX-License-Identifier: Apache-2.0
#include "utf8.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../abi/types.h"

#define REPLACEMENT "\xef\xbf\xbd"

static bool is_rest(u8 byte)
{
	return (byte & 0xc0) == 0x80;
}

/* Bytes of the valid character at the start, and which it is; 0: there is none. */
static size_t decode(const u8 *bytes, size_t length, u32 *ret_character)
{
	static const u32 least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t size = bytes[0] < 0x80	? 1
		      : bytes[0] < 0xc0 ? 0
		      : bytes[0] < 0xe0 ? 2
		      : bytes[0] < 0xf0 ? 3
		      : bytes[0] < 0xf8 ? 4
					: 0;
	u32 character;

	if (!size || size > length)
		return 0;
	character = size == 1 ? bytes[0] : bytes[0] & (0x7fu >> size);
	for (size_t i = 1; i < size; i++) {
		if (!is_rest(bytes[i]))
			return 0;
		character = character << 6 | (bytes[i] & 0x3f);
	}
	if (character < least[size] || character > 0x10ffff ||
	    (character >= 0xd800 && character < 0xe000))
		return 0;
	*ret_character = character;
	return size;
}

static bool append(char *to, size_t size, size_t *at, const void *bytes, size_t length)
{
	if (*at + length >= size)
		return false;
	memcpy(to + *at, bytes, length);
	*at += length;
	return true;
}

void utf8_copy(char *to, size_t size, const void *from, size_t length)
{
	const u8 *bytes = from;
	size_t at = 0, taken;

	for (size_t i = 0; i < length && bytes[i]; i += taken ? taken : 1) {
		u32 character;

		taken = decode(bytes + i, length - i, &character);
		if (!append(to, size, &at, taken ? (const void *)(bytes + i) : REPLACEMENT,
			    taken ? taken : strlen(REPLACEMENT)))
			break;
	}
	to[at] = '\0';
}

static bool is_harmless(u32 character)
{
	if (character < 0x20 || (character >= 0x7f && character < 0xa0))
		return false;
	return !(character >= 0x200e && character <= 0x200f) &&
	       !(character >= 0x2028 && character <= 0x202e) &&
	       !(character >= 0x2066 && character <= 0x2069);
}

void utf8_escape(char *to, size_t size, const char *from)
{
	size_t length = strlen(from), at = 0, taken;

	for (size_t i = 0; i < length; i += taken) {
		u32 character = 0;
		char escaped[16];

		taken = decode((const u8 *)from + i, length - i, &character);
		if (taken && is_harmless(character)) {
			if (!append(to, size, &at, from + i, taken))
				break;
			continue;
		}
		if (!taken) { /* its caller had not made it valid: nothing is trusted */
			taken = 1;
			character = (u8)from[i];
		}
		snprintf(escaped, sizeof(escaped), character < 0x100 ? "\\x%02x" : "\\u%04x",
			 character);
		if (!append(to, size, &at, escaped, strlen(escaped)))
			break;
	}
	to[at] = '\0';
}

size_t utf8_columns(const char *text)
{
	size_t columns = 0;

	for (; *text; text++)
		columns += !is_rest((u8)*text);
	return columns;
}
