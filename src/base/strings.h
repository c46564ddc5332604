/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts, each kept once and known by a small number; 0 is "". Owns them. Bounded: more bytes than
 * max are refused. Seeded at random, as hash.h is. Called by whoever keeps many names.
 */
#ifndef DWELL_BASE_STRINGS_H
#define DWELL_BASE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/types.h"

#define STRINGS_NONE 0xffffffffU

/* Where a text is, and its hash: most texts that differ are told apart without the text. */
struct strings_slot {
	u32 place; /* 1 + number; 0: free */
	u32 hash;
};

struct strings {
	char *bytes; /* each ended by NUL */
	size_t size, capacity, max;
	size_t *starts; /* of each, in bytes */
	size_t count, starts_capacity;
	struct strings_slot *slots;
	size_t slot_count;
	u64 seed;
	bool was_short; /* of memory, once: a text that is not there could have been */
};

void strings_init(struct strings *strings, size_t max_bytes);
void strings_free(struct strings *strings);

/* Its number, new or not; STRINGS_NONE: max bytes are there, or, with was_short, no memory. */
u32 strings_add(struct strings *strings, const char *text);

/* Valid until the next strings_add(). Never NULL: what is not there is "". */
const char *strings_get(const struct strings *strings, u32 number);

#endif
