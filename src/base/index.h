/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index over a dense array: hash of a key to a place in the array. Open addressing in memory
 * that the caller owns, zeroed, a power of two and never full. Called by signals that keep a book.
 */
#ifndef DWELL_BASE_INDEX_H
#define DWELL_BASE_INDEX_H

#include "../../abi/types.h"

struct index_slot {
	u32 hash;
	u32 place; /* 1 + the place in the array; 0: free */
};

static inline u32 index_hash(u64 a, u64 b, u64 c)
{
	u64 mix = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15ULL;

	mix = (mix ^ (mix >> 29) ^ c) * 0xbf58476d1ce4e5b9ULL;
	return (u32)(mix >> 32);
}

/* The slots in turn at which an entry of this hash can be: start, then next until one is free. */
static inline struct index_slot *index_start(struct index_slot *slots, u32 size, u32 hash)
{
	return &slots[hash & (size - 1)];
}

static inline struct index_slot *index_next(struct index_slot *slots, u32 size,
					    const struct index_slot *slot)
{
	return &slots[((u32)(slot - slots) + 1) & (size - 1)];
}

/* The slot of an entry that is known to be at place. */
struct index_slot *index_of_place(struct index_slot *slots, u32 size, u32 hash, u32 place);

/* Frees a slot; those behind it move up, so that they are still found. */
void index_free(struct index_slot *slots, u32 size, struct index_slot *slot);

#endif
