/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the judge's files share: which lines are tested, and what of a line is exchanged between the
 * sides. Owns nothing.
 */
#ifndef DWELL_DIFF_JUDGE_H
#define DWELL_DIFF_JUDGE_H

#include "diff.h"

struct judge_line {
	const struct diff *diff;
	const struct diff_line *line;
};

/* Values that a block has at least, so that its percentile depends on several; by measure. */
extern const double judge_least_events[DIFF_MEASURES];

/* A blocks_unit_fn; the context is a struct judge_line. */
struct stats_unit judge_unit(const void *context, size_t first, size_t count);

/* Values that the means and percentiles of a line are of. */
double judge_events(const struct diff *diff, const struct diff_line *line);

/* The bins of each run. */
void judge_runs(const struct diff *diff, struct stats_run runs[DIFF_RUNS_MAX]);

/* Of all runs; where the CPUs were not timed, all is 0. */
void speed_compare(const struct diff *diff, struct diff_speed *ret_speed);

/* Does what the speed of the CPUs explains count? With whole runs it is in the data. */
static inline bool diff_allows_for_speed(const struct diff *diff)
{
	return !diff->options.force && !diff->whole_runs;
}

/* diff->order: 0 or -ENOMEM. */
int judge_choose_lines(struct diff *diff);

#endif
