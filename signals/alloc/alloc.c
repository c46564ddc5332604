// SPDX-License-Identifier: Apache-2.0
#include "alloc.h"

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"

#define MAPS  PROBE_ACCOUNTS, PROBE_SERIES, PROBE_STACKS, "alloc_choices"
#define CALLS MAPS, PROBE_PAIRS, PROBE_SLOW, "alloc_lives"

/* A function under the names that it has in the C library, jemalloc, tcmalloc and mimalloc. */
#define NAMES(name) name ":je_" name ":tc_" name ":mi_" name
#define MALLOC	    NAMES("malloc")
#define CALLOC	    NAMES("calloc")
#define REALLOC	    NAMES("realloc")
#define MEMALIGN    NAMES("memalign") ":" NAMES("aligned_alloc")
#define POSIX	    NAMES("posix_memalign")
#define FREE	    NAMES("free") ":" REALLOC

/* Both ends by one program where the kernel has that, else by two. The cookie is the function. */
#define BOTH(FUNCTION)                                                                             \
	{                                                                                          \
		.program = "alloc_both", .kind = PROBE_UPROBE_SESSION, .is_optional = true,        \
		.is_rare = true, .is_late = true, .function = FUNCTION,                            \
		.cookie = ALLOC_BY_##FUNCTION, .maps = {                                           \
			CALLS                                                                      \
		}                                                                                  \
	}
#define BEGIN(name, FUNCTION)                                                                      \
	{                                                                                          \
		.program = "alloc_" name "_begin", .kind = PROBE_UPROBE, .is_optional = true,      \
		.is_rare = true, .is_late = true, .fallback_of = "alloc_both",                     \
		.function = FUNCTION, .cookie = ALLOC_BY_##FUNCTION, .maps = {                     \
			CALLS                                                                      \
		}                                                                                  \
	}

static const struct probe probes[] = {
	{.program = "alloc_ask",
	 .is_optional = true,
	 .is_rare = true,
	 .kind = PROBE_ITER,
	 .maps = {"unwind_processes", "unwind_requests"}},
	{.program = "alloc_call", .is_optional = true, .is_rare = true, .maps = {MAPS}},
	{.program = "alloc_resident",
	 .is_optional = true,
	 .is_rare = true,
	 .maps = {MAPS, "alloc_residents"}},
	{.program = "alloc_pages",
	 .is_optional = true,
	 .is_rare = true,
	 .wish = "kernel",
	 .maps = {MAPS}},
	{.program = "alloc_vmap",
	 .is_optional = true,
	 .is_rare = true,
	 .wish = "kernel",
	 .maps = {MAPS}},
	/* Before the beginning of realloc(), as that is the end of what it is given. */
	{.program = "alloc_free",
	 .kind = PROBE_UPROBE,
	 .is_optional = true,
	 .is_rare = true,
	 .is_late = true,
	 .wish = "live",
	 .function = FREE,
	 .cookie = ALLOC_BY_FREE,
	 .maps = {MAPS, "alloc_lives"}},
	BOTH(MALLOC),
	BOTH(CALLOC),
	BOTH(REALLOC),
	BOTH(MEMALIGN),
	BOTH(POSIX),
	BEGIN("malloc", MALLOC),
	BEGIN("calloc", CALLOC),
	BEGIN("realloc", REALLOC),
	BEGIN("memalign", MEMALIGN),
	BEGIN("posix", POSIX),
	{.program = "alloc_end",
	 .kind = PROBE_URETPROBE,
	 .is_optional = true,
	 .is_rare = true,
	 .is_late = true,
	 .fallback_of = "alloc_both",
	 .function = MALLOC ":" CALLOC ":" REALLOC ":" MEMALIGN ":" POSIX,
	 .maps = {CALLS}},
};

static const struct series_kind kinds[] = {
#define KIND(NAME, name, unit, about) {#name, unit, about},
	ALLOC_KINDS(KIND)
#undef KIND
};

static const char *const functions[] = {
#define FUNCTION(NAME, name) #name,
	ALLOC_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

static const struct signal_view view = {
	.kinds = kinds,
	.kind_count = ARRAY_SIZE(kinds),
	.detail = {.name = "size", .kind = FIELD_SIZE},
	.object = {.name = "function",
		   .kind = FIELD_NAME,
		   .names = functions,
		   .name_count = ARRAY_SIZE(functions)},
	.more = {.name = "stack", .kind = FIELD_STACK},
	.value_names = {"size_bytes"},
	.share = 1024,
	.cost = COST_DANGEROUS,
	.price = "some 0.5 us for each call of malloc, 5 us where its first instruction is dear",
};

const struct signal signal_alloc = {
	.about = "who allocates memory, how much, and how slowly",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.view = &view,
};
