/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes that a measurement consists of, beside its own: opener, ingest and symbolizer. The
 * spawner forks them, and forks them again when one has died. Owns all of them. Called by engine.c.
 */
#ifndef DWELL_ENGINE_HELPERS_H
#define DWELL_ENGINE_HELPERS_H

#include "../worker/worker.h"
#include "opener.h"

enum helper_place { HELPER_OPENER, HELPER_INGEST, HELPER_SYMBOLIZER, HELPER_COUNT };

/* CPU time of processes of one kind: an ended one takes along what it used since it was read. */
struct helper_time {
	pid_t pid;
	u64 last_ns; /* of this one */
	u64 ended_ns;
};

struct helpers {
	struct spawner *spawner;
	struct spawner_role roles[HELPER_COUNT];
	struct opener *opener;
	struct worker *ingest;
	struct worker *symbolizer;
	struct helper_time ingest_time, symbolizer_time;
};

/* Forks. Call it before the process has threads: 0 or -errno. */
int helpers_start(struct helpers *helpers, struct queue *queue);
void helpers_stop(struct helpers *helpers);

/*
 * While the symbolizer is waited for, all of this happens; while ingest is, what the descriptor
 * stands for, as a window cannot end then.
 */
void helpers_watch(struct helpers *helpers, const struct worker_meanwhile *meanwhile);

/* The CPU time of all of them so far, and the memory of those that live. */
void helpers_add_cost(struct helpers *helpers, struct cost *cost);

#endif
