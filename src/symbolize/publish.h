/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbolizer's side of facts.h: it tells what it knows to the process that places addresses,
 * and answers its questions. Part of symbolize; called by symbolize.c, reclaim.c and the worker.
 */
#ifndef DWELL_SYMBOLIZE_PUBLISH_H
#define DWELL_SYMBOLIZE_PUBLISH_H

#include "facts.h"
#include "symbolize.h"

struct mapset;

struct publisher {
	int sock; /* -1: nobody listens */
	u32 at, count;
	struct question questions[QUESTIONS_MAX]; /* from at on they have no answer yet */
};

/* What a process has mapped, with the modules of it that were not told yet. */
void publish_mappings(struct symbolize *symbolize, struct mapset *set);

#endif
