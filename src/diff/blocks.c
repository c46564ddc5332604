// SPDX-License-Identifier: Apache-2.0
#include "blocks.h"

#include <math.h>

#define ENOUGH_UNITS	  8    /* of a side: longer blocks are not tried */
#define CORRELATION_SMALL 0.25 /* what is left of it, the errors allow for */
#define CORRELATION_DRIFT 0.6  /* what is above, they cannot */
#define GAP_OVER_MOVES	  2.0
#define EFFECTIVE_UNITS	  6.0 /* of a side: windows that would tell as much by themselves */

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

/*
 * As many independent windows would tell as much about the mean as the windows of the shorter side
 * do (those of an autoregressive process of this correlation).
 */
static double effective(const struct blocks *blocks)
{
	size_t count = blocks->count[0] < blocks->count[1] ? blocks->count[0] : blocks->count[1];

	return (double)count * (1 - blocks->correlation) / (1 + blocks->correlation);
}

static void measure(const void *line, blocks_unit_fn *unit, const struct stats_run *runs,
		    size_t run_count, size_t length, struct blocks *blocks)
{
	make(line, unit, runs, run_count, length, blocks);
	blocks->correlation = stats_correlation(blocks->units, blocks->runs, blocks->run_count);
}

static double error_of(const struct blocks *blocks)
{
	struct stats_result result;

	stats_compare(blocks->units, blocks->count[0], blocks->count[1], blocks->correlation, 0, 0,
		      &result);
	return result.error_of_effect;
}

/*
 * Is the gap between the sides more than twice of what either of them moves by? Then no drift of
 * theirs explains it.
 */
static bool is_far_apart(const struct blocks *blocks)
{
	double least[2] = {HUGE_VAL, HUGE_VAL}, most[2] = {-HUGE_VAL, -HUGE_VAL}, gap, moves;

	for (size_t i = 0; i < blocks->count[0] + blocks->count[1]; i++) {
		const struct stats_unit *unit = &blocks->units[i];
		int side = i >= blocks->count[0];
		double rate;

		if (unit->work <= 0)
			continue;
		rate = unit->value / unit->work;
		least[side] = rate < least[side] ? rate : least[side];
		most[side] = rate > most[side] ? rate : most[side];
	}
	gap = least[1] > most[0] ? least[1] - most[0] : least[0] - most[1];
	moves = most[0] - least[0] > most[1] - least[1] ? most[0] - least[0] : most[1] - least[1];
	return gap > GAP_OVER_MOVES * moves;
}

void blocks_choose(const void *line, blocks_unit_fn *unit, const struct stats_run *runs,
		   size_t run_count, size_t least, bool whole_runs, struct blocks *ret_blocks)
{
	size_t length = least ? least : 1;
	bool are_far_apart;

	ret_blocks->correlation = ret_blocks->least_error = 0;
	ret_blocks->has_drift = false;
	if (whole_runs) {
		make(line, unit, runs, run_count, ~(size_t)0 >> 1, ret_blocks);
		return;
	}
	measure(line, unit, runs, run_count, length, ret_blocks);
	/* The shortest blocks are the most, and know the correlation best. */
	ret_blocks->has_drift = ret_blocks->correlation > CORRELATION_SMALL &&
				effective(ret_blocks) < EFFECTIVE_UNITS;
	are_far_apart = is_far_apart(ret_blocks);
	ret_blocks->least_error = error_of(ret_blocks);
	while (ret_blocks->correlation > CORRELATION_SMALL &&
	       fewest(runs, run_count, length * 2) >= ENOUGH_UNITS) {
		length *= 2;
		measure(line, unit, runs, run_count, length, ret_blocks);
	}
	ret_blocks->has_drift |= ret_blocks->correlation > CORRELATION_DRIFT;
	ret_blocks->has_drift &= !are_far_apart;
}
