/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Named ranges of addresses, sorted, and their names in one block of text: what every table of
 * functions here is made of. Owns both arrays. Bounded: what does not fit is counted. Called by
 * symbols, kallsyms and perf_map.
 */
#ifndef DWELL_SYMBOLIZE_SPANS_H
#define DWELL_SYMBOLIZE_SPANS_H

#include <stdbool.h>

#include "../../abi/types.h"

#define SPAN_NAME_MAX 2047 /* bytes; longer names are cut */

struct span {
	u64 begin;
	u32 size;
	u32 name;	      /* where in the text */
	u32 order;	      /* where two overlap, the one with the higher order has the place */
	u16 tag;	      /* the caller's own */
	bool is_open : 1;     /* its size is a bound: it ends where the next one begins */
	bool is_resolver : 1; /* an IFUNC: not the function itself, but who chooses it */
	bool is_label : 1;    /* not said to be a function */
};

struct spans {
	struct span *items;
	size_t count, capacity, max;
	char *text;
	size_t text_size, text_capacity, text_max;
	u64 refused; /* did not fit */
};

void spans_init(struct spans *spans, size_t max, size_t text_max);
void spans_free(struct spans *spans);

/* span->name is filled in here: 0, -E2BIG (it is counted) or -ENOMEM. */
int spans_add(struct spans *spans, struct span span, const char *name, size_t length);

/* By address; of those that begin at the same one, the highest order first, then by name. */
void spans_sort(struct spans *spans);

/* The same, and keeps only the first of those that begin at the same address. */
void spans_keep_best(struct spans *spans);

/*
 * An order for several names of one address: the one that people know. With a size before one
 * without, which may be a label; then the one with fewer underscores in front (read, and not
 * __libc_read, whichever of them is weak); then global, weak, local (binding 2, 1, 0); then the
 * shorter one.
 */
u32 spans_rank(bool is_sized, u32 binding, const char *name, size_t length);

/*
 * Makes them disjoint, so that spans_find() can bisect: open ones end, and what overlaps goes to
 * the higher order. They must be sorted, open ones by spans_keep_best(). 0 or -ENOMEM.
 */
int spans_settle(struct spans *spans);

/* Gives back what was allocated ahead. */
void spans_trim(struct spans *spans);

/* What they take, once trimmed. */
static inline size_t spans_bytes(const struct spans *spans)
{
	return spans->capacity * sizeof(*spans->items) + spans->text_capacity;
}

/* NULL: in none of them. */
const struct span *spans_find(const struct spans *spans, u64 address);

static inline const char *spans_name(const struct spans *spans, const struct span *span)
{
	return spans->text + span->name;
}

#endif
