// SPDX-License-Identifier: Apache-2.0
/*
 * How much slower the CPUs were in B: as a line is compared, by blocks of windows.
 */
#include <math.h>

#include "blocks.h"
#include "judge.h"

#define TIMES_THE_LOOP	 2    /* code can suffer more from a busy core than the loop */
#define DIFFERENCE_SMALL 0.01 /* within the allowance for any two runs */

/* A blocks_unit_fn; the context is a struct diff. */
static struct stats_unit speed_unit(const void *context, size_t first, size_t count)
{
	const struct diff *diff = context;
	struct stats_unit unit = {0};

	for (size_t i = first; i < first + count; i++) {
		unit.value += diff->bins[i].loop_ns;
		unit.work += diff->bins[i].loops;
	}
	return unit;
}

static double explains(double difference)
{
	return difference > DIFFERENCE_SMALL ? TIMES_THE_LOOP * difference : 0;
}

void speed_compare(const struct diff *diff, struct diff_speed *ret_speed)
{
	static struct blocks blocks;
	struct stats_run runs[DIFF_RUNS_MAX];
	struct stats_result result;
	double half;

	*ret_speed = (struct diff_speed){0};
	judge_runs(diff, runs);
	blocks_choose(diff, speed_unit, runs, diff->run_count, 1, false, &blocks);
	if (blocks.count[0] < STATS_UNITS_MIN || blocks.count[1] < STATS_UNITS_MIN)
		return; /* nor is anything else known then */
	stats_compare(blocks.units, blocks.count[0], blocks.count[1], blocks.correlation,
		      blocks.least_error, 0, &result);
	if (result.rate[0] <= 0 || result.rate[1] <= 0)
		return;
	half = stats_t_beyond(1 - STATS_CONFIDENCE, result.freedom) * result.error_of_effect;
	*ret_speed = (struct diff_speed){
		.loop_ns = {result.rate[0], result.rate[1]},
		.slower = result.effect / result.rate[0],
		.low = (result.effect - half) / result.rate[0],
		.high = (result.effect + half) / result.rate[0],
	};
	ret_speed->rise = explains(ret_speed->high);
	ret_speed->fall = explains(-ret_speed->low);
}
