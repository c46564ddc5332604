// SPDX-License-Identifier: Apache-2.0
#include "alloc.h"

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"
#include "allocators.h"

#define MIB	       (1024.0 * 1024.0)
#define PROCESSES_TOLD 3
#define MAPS	       PROBE_ACCOUNTS, PROBE_SERIES, PROBE_STACKS, "alloc_choices"
#define CALLS	       MAPS, PROBE_PAIRS, PROBE_SLOW, "alloc_lives"

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
		.is_rare = true, .is_deferred = true, .function = FUNCTION,                        \
		.cookie = ALLOC_BY_##FUNCTION, .maps = {                                           \
			CALLS                                                                      \
		}                                                                                  \
	}
#define BEGIN(name, FUNCTION)                                                                      \
	{                                                                                          \
		.program = "alloc_" name "_begin", .kind = PROBE_UPROBE, .is_optional = true,      \
		.is_rare = true, .is_deferred = true, .fallback_of = "alloc_both",                 \
		.function = FUNCTION, .cookie = ALLOC_BY_##FUNCTION, .maps = {                     \
			CALLS                                                                      \
		}                                                                                  \
	}

static const struct probe probes[] = {
	{.program = "alloc_ask",
	 .is_optional = true,
	 .is_rare = true,
	 .kind = PROBE_ITER,
	 .run = RUN_BEFORE_START,
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
	 .is_deferred = true,
	 .wish = "live",
	 .function = FREE,
	 .cookie = ALLOC_BY_FREE,
	 .maps = {MAPS, "alloc_lives"}},
	BOTH(MALLOC),
	BOTH(CALLOC),
	BOTH(REALLOC),
	BOTH(MEMALIGN),
	BOTH(POSIX),
	/* First, as an end without a beginning is passed over, but a beginning waits for its end.
	 */
	{.program = "alloc_end",
	 .kind = PROBE_URETPROBE,
	 .is_optional = true,
	 .is_rare = true,
	 .is_deferred = true,
	 .fallback_of = "alloc_both",
	 .function = MALLOC ":" CALLOC ":" REALLOC ":" MEMALIGN ":" POSIX,
	 .maps = {CALLS}},
	BEGIN("malloc", MALLOC),
	BEGIN("calloc", CALLOC),
	BEGIN("realloc", REALLOC),
	BEGIN("memalign", MEMALIGN),
	BEGIN("posix", POSIX),
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

/* What a process asked for, and of that gave back. */
struct sums {
	const struct series_row *row; /* of its process */
	u64 bytes, freed;
	const struct series_row *kept; /* of which most is not given back */
	u64 kept_bytes;
};

static bool is_of_process(const struct series_row *row, const struct series_row *other)
{
	return row->key.tgid == other->key.tgid && row->key.start_ns == other->key.start_ns;
}

static u64 freed_of(const struct series_set *set, const struct series_row *row)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct series_key *key = &set->rows[i]->key;

		if (key->kind == ALLOC_FREED && is_of_process(set->rows[i], row) &&
		    key->detail == row->key.detail && key->object == row->key.object &&
		    key->more == row->key.more)
			return set->rows[i]->hist.sum;
	}
	return 0;
}

static void add_up(const struct series_set *set, struct sums *sums)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct series_row *row = set->rows[i];
		u64 freed;

		if (row->key.kind != ALLOC_BYTES || !is_of_process(row, sums->row))
			continue;
		freed = freed_of(set, row);
		sums->bytes += row->hist.sum;
		sums->freed += freed < row->hist.sum ? freed : row->hist.sum;
		if (row->hist.sum > freed && row->hist.sum - freed > sums->kept_bytes) {
			sums->kept = row;
			sums->kept_bytes = row->hist.sum - freed;
		}
	}
}

static void tell_process(const struct series_set *set, const struct sums *sums, bool is_live,
			 struct remarks *remarks)
{
	remark(remarks, "%s: allocated %.1f MiB a second by malloc and the like",
	       sums->row->process, (double)sums->bytes / MIB * 1e9 / (double)set->span_ns);
	if (is_live && sums->kept)
		remark(remarks,
		       "%s: %.1f of the %.1f MiB allocated was not freed by the end; the largest "
		       "part "
		       "of that, %.1f MiB, was allocated by %s in pieces of up to %llu bytes",
		       sums->row->process, (double)(sums->bytes - sums->freed) / MIB,
		       (double)sums->bytes / MIB, (double)sums->kept_bytes / MIB,
		       sums->kept->key.object < ARRAY_SIZE(functions)
			       ? functions[sums->kept->key.object]
			       : "others",
		       sums->kept->key.detail < 64 ? 1ULL << sums->kept->key.detail : 0);
}

static bool was_told(const struct series_set *set, size_t row)
{
	for (size_t i = 0; i < row; i++)
		if (set->rows[i]->key.kind == ALLOC_BYTES &&
		    is_of_process(set->rows[i], set->rows[row]))
			return true;
	return false;
}

/* Rows come with the largest sum first: so do their processes, nearly. */
static void judge(const struct series_set *set, struct remarks *remarks)
{
	bool is_live = false, is_timed = false;
	size_t told = 0;

	for (size_t i = 0; i < set->count; i++) {
		is_live |= set->rows[i]->key.kind == ALLOC_FREED;
		is_timed |= set->rows[i]->key.kind == ALLOC_LATENCY;
	}
	for (size_t i = 0; i < set->count && told < PROCESSES_TOLD; i++) {
		struct sums sums = {.row = set->rows[i]};

		if (set->rows[i]->key.kind != ALLOC_BYTES || !set->span_ns || was_told(set, i))
			continue;
		add_up(set, &sums);
		tell_process(set, &sums, is_live, remarks);
		told++;
	}
	if (set->count)
		remark(remarks, "counts and totals are estimates from samples, except those of "
				"kind kernel, and with --alloc-every 1");
	if (is_timed)
		remark(remarks, "each latency includes about 1 us of the probe itself, 4 us with "
				"cold caches");
}

static const struct signal_view view = {
	.kinds = kinds,
	.kind_count = ARRAY_SIZE(kinds),
	.estimates = ~(1U << ALLOC_KERNEL),
	.detail = {.name = "size", .kind = FIELD_SIZE},
	.object = {.name = "function",
		   .kind = FIELD_NAME,
		   .names = functions,
		   .name_count = ARRAY_SIZE(functions)},
	.more = {.name = "stack", .kind = FIELD_STACK},
	.value_names = {"size_bytes"},
	.share = 1024,
	.cost = COST_DANGEROUS,
	.price = "about 0.5 us per call of malloc, 5 us where its first instruction is expensive",
	.judge = judge,
};

static const struct signal_rate rates[] = {
	{offsetof(struct live_config, alloc_interval), 1ULL << 40},
	{offsetof(struct live_config, alloc_budget), 0},
};

const struct signal signal_alloc = {
	.about = "who allocates memory, how much, and how slowly",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.rates = rates,
	.rate_count = ARRAY_SIZE(rates),
	.deferred = &alloc_deferred,
	.view = &view,
};
