// SPDX-License-Identifier: Apache-2.0
#include "blocks.h"

#define ENOUGH_UNITS	  8    /* of a side: longer blocks are not tried */
#define CORRELATION_SMALL 0.25 /* what is left of it, the errors allow for */
#define CORRELATION_DRIFT 0.6  /* what is above, they cannot */

/* A run as blocks of so many bins; the last one has what is left too. */
static size_t add_run(const void *line, blocks_unit_fn *unit, const struct stats_run *run,
		      size_t length, struct stats_unit *units)
{
	size_t count = run->count / length;

	count = count ? count : 1;
	for (size_t i = 0; i < count; i++) {
		size_t first = i * length, end = i + 1 == count ? run->count : first + length;

		units[i] = unit(line, run->first + first, end - first);
	}
	return count;
}

static void make(const void *line, blocks_unit_fn *unit, const struct stats_run *runs,
		 size_t run_count, size_t length, struct blocks *blocks)
{
	size_t filled = 0;

	blocks->count[0] = blocks->count[1] = 0;
	blocks->length = length;
	blocks->run_count = run_count;
	for (size_t r = 0; r < run_count; r++) {
		size_t count = add_run(line, unit, &runs[r], length, blocks->units + filled);

		blocks->runs[r] = (struct stats_run){filled, count, runs[r].side};
		blocks->count[runs[r].side] += count;
		filled += count;
	}
}

static size_t fewest(const struct stats_run *runs, size_t run_count, size_t length)
{
	size_t count[2] = {0};

	for (size_t r = 0; r < run_count; r++)
		count[runs[r].side] += runs[r].count / length;
	return count[0] < count[1] ? count[0] : count[1];
}

void blocks_choose(const void *line, blocks_unit_fn *unit, const struct stats_run *runs,
		   size_t run_count, size_t least, bool whole_runs, struct blocks *ret_blocks)
{
	size_t length = least ? least : 1;

	ret_blocks->correlation = 0;
	ret_blocks->has_drift = false;
	if (whole_runs) {
		make(line, unit, runs, run_count, ~(size_t)0 >> 1, ret_blocks);
		return;
	}
	for (;; length *= 2) {
		make(line, unit, runs, run_count, length, ret_blocks);
		ret_blocks->correlation = stats_correlation(ret_blocks->units, ret_blocks->runs,
							    ret_blocks->run_count);
		if (ret_blocks->correlation <= CORRELATION_SMALL ||
		    fewest(runs, run_count, length * 2) < ENOUGH_UNITS)
			break;
	}
	ret_blocks->has_drift = ret_blocks->correlation > CORRELATION_DRIFT;
}
