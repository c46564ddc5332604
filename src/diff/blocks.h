/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which windows are exchanged together: neighbours agree, so that they are no independent evidence.
 * Bins of a run become blocks that are long enough for neighbouring ones to differ. Owns nothing.
 * Called by judge.c, by speed.c, and by their tests.
 */
#ifndef DWELL_DIFF_BLOCKS_H
#define DWELL_DIFF_BLOCKS_H

#include "stats.h"

#define BLOCKS_RUNS_MAX 64

/* The bins of a line, or what a line makes of several of them: bins first to first + count. */
typedef struct stats_unit blocks_unit_fn(const void *line, size_t first, size_t count);

struct blocks {
	struct stats_unit units[STATS_UNITS_MAX];
	struct stats_run runs[BLOCKS_RUNS_MAX];
	size_t run_count, count[2];
	size_t length;	    /* bins a block */
	double correlation; /* of neighbouring blocks that is left */
	double least_error; /* of the effect: what the shortest blocks, and their correlation, say
			     */
	bool has_drift;	    /* which no length within reach removes: nothing can be concluded */
};

/*
 * runs: of bins, those of side 0 first. least: bins that a block has at least. A run may be the
 * unit of exchange itself: whole_runs.
 */
void blocks_choose(const void *line, blocks_unit_fn *unit, const struct stats_run *runs,
		   size_t run_count, size_t least, bool whole_runs, struct blocks *ret_blocks);

#endif
