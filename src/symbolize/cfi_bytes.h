/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes as DWARF packs them, taken from the front. Past the end there is only zero, and is_bad is
 * set for good: who takes asks once, when done. Owns nothing.
 */
#ifndef DWELL_SYMBOLIZE_CFI_BYTES_H
#define DWELL_SYMBOLIZE_CFI_BYTES_H

#include <stdbool.h>
#include <string.h>

#include "../../abi/types.h"

struct bytes {
	const u8 *at, *end;
	bool is_bad;
};

static inline size_t bytes_left(const struct bytes *bytes)
{
	return (size_t)(bytes->end - bytes->at);
}

static inline void bytes_spoil(struct bytes *bytes)
{
	bytes->at = bytes->end;
	bytes->is_bad = true;
}

/* The next size of them as a span of their own; empty if there are not as many. */
static inline struct bytes bytes_take(struct bytes *bytes, u64 size)
{
	struct bytes taken = {bytes->at, bytes->at, false};

	if (size > bytes_left(bytes)) {
		bytes_spoil(bytes);
		return taken;
	}
	bytes->at += size;
	taken.end = bytes->at;
	return taken;
}

/* A little-endian number of 1, 2, 4 or 8 bytes, as both machines have it. */
static inline u64 bytes_number(struct bytes *bytes, size_t size)
{
	struct bytes taken = bytes_take(bytes, size);
	u64 value = 0;

	memcpy(&value, taken.at, bytes_left(&taken));
	return value;
}

static inline s64 bytes_signed(struct bytes *bytes, size_t size)
{
	u64 value = bytes_number(bytes, size), sign = 1ULL << (size * 8 - 1);

	return (s64)((value ^ sign) - sign);
}

static inline u64 bytes_leb(struct bytes *bytes, bool is_signed)
{
	u64 value = 0;

	for (u32 shift = 0;; shift += 7) {
		u64 byte = bytes_number(bytes, 1);

		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (is_signed && (byte & 0x40) && shift + 7 < 64)
			value |= ~0ULL << (shift + 7);
		return value;
	}
}

static inline u64 bytes_uleb(struct bytes *bytes)
{
	return bytes_leb(bytes, false);
}

static inline s64 bytes_sleb(struct bytes *bytes)
{
	return (s64)bytes_leb(bytes, true);
}

#endif
