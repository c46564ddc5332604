/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tables it took to unwind stacks, and what they lack: rows of a session's meta. Owns nothing.
 * Called by metadata.c.
 */
#ifndef DWELL_ENGINE_UNWINDING_FACTS_H
#define DWELL_ENGINE_UNWINDING_FACTS_H

#include "../symbolize/symbolize.h"
#include "helpers.h"
#include "mappings.h"

struct unwinding_counts {
	struct mappings_counts here;
	struct opener_counts opener;
	struct symbolize_counts there; /* in the symbolizer ... */
	bool is_worker_known;	       /* ... which has answered */
};

void unwinding_facts_read(const struct mappings *mappings, const struct helpers *helpers,
			  struct unwinding_counts *ret_counts);

typedef void unwinding_fact_fn(void *context, const char *key, u64 number);

/* Of events those since `before`; what a table has, and had at most, is as it is. */
void unwinding_facts_add(const struct unwinding_counts *now, const struct unwinding_counts *before,
			 unwinding_fact_fn *add, void *context);

#endif
