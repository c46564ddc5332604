/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of a recording each part of it covers: stacks, Tier B, detail, each signal. Whoever
 * switches a part off, takes it back or thins it, notes that here; the session has it at the end.
 * Owns a few numbers for each part. Called by throttling (throttle.c) and by engine.c.
 */
#ifndef DWELL_ENGINE_COVERAGE_H
#define DWELL_ENGINE_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/types.h"

#define COVERAGE_PARTS_MAX  160
#define COVERAGE_NAME_BYTES 64

struct coverage_part {
	char name[COVERAGE_NAME_BYTES];
	bool is_on;
	bool is_lasting; /* a part of the whole recording; others are of one process ... */
	bool is_over;	 /* ... which has ended */
	u64 since_ns;	 /* on or off since then */
	u64 covered_ns;	 /* before that */
	u64 thinned;	 /* one in so many was kept, when it was fewest; 1: all */
	u64 thinned_now;
};

struct coverage {
	struct coverage_part parts[COVERAGE_PARTS_MAX];
	size_t count;
	size_t dropped; /* parts beyond that */
	u64 begin_ns;
};

void coverage_begin(struct coverage *coverage, u64 begin_ns);

/*
 * Another file of the recording begins: what was before is not its concern. Parts of one process
 * that are on again, or of one that has ended, are given up.
 */
void coverage_renew(struct coverage *coverage, u64 begin_ns);

/* A part that is on from the start. */
void coverage_add(struct coverage *coverage, const char *name);

/* From now on, or no more. A part that is not known was on until now. */
void coverage_switch(struct coverage *coverage, const char *name, bool is_on, u64 now_ns);

/* The process that this part is of has ended. */
void coverage_end(struct coverage *coverage, const char *name);

/* From now on one in so many is kept. */
void coverage_thin(struct coverage *coverage, const char *name, u64 one_in);

/* Up to now. */
u64 coverage_of(const struct coverage_part *part, u64 now_ns);

#endif
