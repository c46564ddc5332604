// SPDX-License-Identifier: Apache-2.0
/* Which files have functions that allocate, and what is known of them: for the probes that wait. */
#include "allocators.h"

#include <string.h>

#include "../../src/base/cleanup.h"
#include "alloc.h"

#define PROGRAM_NS   50 /* docs/alloc.md */
#define LIMIT_OF_CPU 0.05

_Static_assert(ALLOC_FUNCTION_COUNT <= DEFERRED_FUNCTIONS_MAX, "each function has a cost");

/* Which of its functions call malloc by its name: these must not be counted twice. */
enum inner {
	INNER_NULL,   /* realloc, for what is none yet; so it is in an executable, too */
	INNER_NONE,   /* none calls it by its name */
	INNER_MALLOC, /* all: only malloc has a probe */
};

#define LIBRARIES(LIBRARY)                                                                         \
	LIBRARY("libc.so.", INNER_NULL)                                                            \
	LIBRARY("libc-2.", INNER_NULL)                                                             \
	LIBRARY("ld-musl-", INNER_MALLOC)                                                          \
	LIBRARY("libc.musl-", INNER_MALLOC)                                                        \
	LIBRARY("libjemalloc", INNER_NONE)                                                         \
	LIBRARY("libtcmalloc", INNER_NONE)                                                         \
	LIBRARY("libmimalloc", INNER_NONE)

static const char *const libraries[] = {
#define LIBRARY(name, inner) name,
	LIBRARIES(LIBRARY)
#undef LIBRARY
		NULL,
};

static const enum inner inners[] = {
#define LIBRARY(name, inner) inner,
	LIBRARIES(LIBRARY)
#undef LIBRARY
};

/* A library may be linked in under names of its own, too: je_malloc, tc_malloc, mi_malloc. */
static u64 cookie_of(int library, const char *function, u64 cookie)
{
	enum inner inner = library < 0 ? INNER_NULL : inners[library];
	bool has_prefix = function[0] && function[1] && function[2] == '_';

	if (inner == INNER_MALLOC && cookie != ALLOC_BY_MALLOC && cookie != ALLOC_BY_FREE)
		return DEFERRED_NO_PROBE;
	return inner == INNER_NONE || has_prefix ? cookie | ALLOC_COUNTS_NULL : cookie;
}

static void add_calls(const void *of_cpu, u64 calls[DEFERRED_FUNCTIONS_MAX])
{
	const struct alloc_choice *choice = of_cpu;

	for (int i = 0; i < ALLOC_FUNCTION_COUNT; i++)
		calls[i] += choice->calls[i];
}

static u32 process_of(const void *key)
{
	return (u32)((const struct alloc_live_key *)key)->tgid;
}

const struct deferred_kind alloc_deferred = {
	.functions = "malloc and similar functions",
	.calls = "allocation calls",
	.main_function = "malloc",
	.main_cookie = ALLOC_BY_MALLOC,
	.libraries = libraries,
	.cookie = cookie_of,
	.calls_map = "alloc_choices",
	.calls_size = sizeof(struct alloc_choice),
	.add_calls = add_calls,
	.lives_map = "alloc_lives",
	.process_of = process_of,
	.program_ns = PROGRAM_NS,
	.limit = LIMIT_OF_CPU,
};
