// SPDX-License-Identifier: Apache-2.0
/* What is exchanged between the sides: some bins of a line as one value and its work. */
#include "judge.h"

static const double percentile_shares[DIFF_MEASURES] = {
	[DIFF_P50] = 0.50, [DIFF_P95] = 0.95, [DIFF_P99] = 0.99};
/* Values that a block has at least, so that its percentile depends on several. */
const double judge_least_events[DIFF_MEASURES] = {
	[DIFF_P50] = 20, [DIFF_P95] = 100, [DIFF_P99] = 400};

/* The value at a share of the histogram, between the bounds of its bucket. */
static double percentile(const u32 *buckets, size_t bins, double share, double *ret_events)
{
	u64 all[HIST_BUCKETS] = {0};
	double events = 0, rank, seen = 0;

	for (size_t b = 0; b < bins; b++)
		for (size_t i = 0; i < HIST_BUCKETS; i++)
			all[i] += buckets[b * HIST_BUCKETS + i];
	for (size_t i = 0; i < HIST_BUCKETS; i++)
		events += (double)all[i];
	*ret_events = events;
	rank = share * events;
	for (u32 i = 0; i < HIST_BUCKETS; i++) {
		double low = hist_low(i), high = hist_high(i);

		if (all[i] && seen + (double)all[i] >= rank)
			return low + (high - low) * (rank - seen) / (double)all[i];
		seen += (double)all[i];
	}
	return 0;
}

struct stats_unit judge_unit(const void *context, size_t first, size_t count)
{
	const struct judge_line *of = context;
	const struct diff_line *line = of->line;
	struct stats_unit unit = {0};

	if (line->key.measure > DIFF_MEAN) {
		double events;

		unit.value = percentile(line->buckets + first * HIST_BUCKETS, count,
					percentile_shares[line->key.measure], &events);
		unit.work = events >= judge_least_events[line->key.measure] / 2;
		unit.value *= unit.work;
		return unit;
	}
	for (size_t i = first; i < first + count; i++) {
		unit.value += line->values[i];
		unit.work += line->events ? line->events[i] : of->diff->bins[i].work;
	}
	return unit;
}

void judge_runs(const struct diff *diff, struct stats_run runs[DIFF_RUNS_MAX])
{
	for (size_t r = 0; r < diff->run_count; r++)
		runs[r] = (struct stats_run){diff->runs[r].first_bin, diff->runs[r].bin_count,
					     diff->runs[r].side};
}
