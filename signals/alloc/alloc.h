/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The signal alloc, as its kernel side, its view and the guard of its price see it.
 */
#ifndef DWELL_ALLOC_H
#define DWELL_ALLOC_H

#include "../../abi/sampler.h"
#include "../../abi/types.h"

/* KIND(NAME, name, unit, meaning): what is measured; their order is the series' kind. */
#define ALLOC_KINDS(KIND)                                                                          \
	KIND(LATENCY, latency, UNIT_NS, "from entry to return of an allocation function")          \
	KIND(BYTES, bytes, UNIT_BYTES,                                                             \
	     "requested by malloc and similar functions: sampled and weighted")                    \
	KIND(FREED, freed, UNIT_BYTES, "of these, freed since (--live)")                           \
	KIND(ASKED, asked, UNIT_BYTES, "anonymous address space requested from the kernel")        \
	KIND(RESIDENT, resident, UNIT_BYTES, "growth of resident anonymous memory")                \
	KIND(KERNEL, kernel, UNIT_BYTES, "large kernel allocations (--kernel)")

/* FUNCTION(NAME, name): who allocated. Those of the C library come first. */
#define ALLOC_FUNCTIONS(FUNCTION)                                                                  \
	FUNCTION(MALLOC, malloc)                                                                   \
	FUNCTION(CALLOC, calloc)                                                                   \
	FUNCTION(REALLOC, realloc)                                                                 \
	FUNCTION(MEMALIGN, memalign)                                                               \
	FUNCTION(POSIX, posix_memalign)                                                            \
	FUNCTION(FREE, free)                                                                       \
	FUNCTION(MMAP, mmap)                                                                       \
	FUNCTION(MREMAP, mremap)                                                                   \
	FUNCTION(BRK, brk)                                                                         \
	FUNCTION(FAULT, fault)                                                                     \
	FUNCTION(PAGES, pages)                                                                     \
	FUNCTION(VMALLOC, vmalloc)

enum alloc_kind {
#define KIND(NAME, ...) ALLOC_##NAME,
	ALLOC_KINDS(KIND)
#undef KIND
		ALLOC_KIND_COUNT
};

enum alloc_function {
#define FUNCTION(NAME, name) ALLOC_BY_##NAME,
	ALLOC_FUNCTIONS(FUNCTION)
#undef FUNCTION
		ALLOC_FUNCTION_COUNT
};

/* In a probe's cookie, beside the function: realloc(NULL, n) does not call malloc to do it. */
#define ALLOC_COUNTS_NULL 0x100

/* Per CPU: which allocations are taken; and how often each function was called, by whomever. */
struct alloc_choice {
	u64 random; /* state of the generator; 0: not seeded yet */
	struct sampler_share share;
	u64 calls[ALLOC_FUNCTION_COUNT];
};

/* Of the map alloc_lives: an allocation that was taken, and is not freed yet. */
struct alloc_live_key {
	u64 address;
	u64 tgid;
};

#endif
