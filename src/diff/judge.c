// SPDX-License-Identifier: Apache-2.0
/*
 * Verdicts. docs/diff.md has the reasons for each number here.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/log.h"
#include "../model/state.h"
#include "judge.h"

#define WHOLE_RUNS_MIN	 9    /* a side: with fewer there are too few arrangements of runs */
#define FLOOR_FEW_RUNS	 0.05 /* two runs of the same program may differ by as much */
#define BOUND_FEW_RUNS	 0.05
#define BOUND_MANY_RUNS	 0.005
#define MATERIAL_FEW	 1e-3 /* of wall time per unit of work */
#define MATERIAL_MANY	 1e-4
#define MATERIAL_KERNEL	 5e-3 /* with few runs, for time in the kernel */
#define VALUE_MATERIAL	 0.1  /* of the material time, what a latency has to add up to */
#define UNITS_ENOUGH	 40   /* blocks of a side */
#define PERMUTATIONS_MIN 5000
#define PERMUTATIONS_MAX 60000

/* --- one line --- */

static double larger(double a, double b)
{
	return a > b ? a : b;
}

struct judged {
	struct stats_result result;
	bool is_compared, has_drift, are_runs_apart;
};

/*
 * Bins that a block has at least: enough values for a percentile, and no more blocks than tell
 * anything new; each costs time in every arrangement.
 */
static size_t least_bins(const struct diff *diff, const struct diff_line *line)
{
	size_t least = (diff->bin_count + 2 * UNITS_ENOUGH - 1) / (2 * UNITS_ENOUGH), needed;

	if (line->key.measure <= DIFF_MEAN)
		return least;
	needed = (size_t)ceil(judge_least_events[line->key.measure] * (double)diff->bin_count /
			      judge_events(diff, line));
	return needed > least ? needed : least;
}

/* With a few runs a side: what differs between runs counts too, and all of one side have to be
 * beyond all of the other. */
static void look_at_runs(const struct judge_line *of, const struct stats_run *runs,
			 size_t run_count, struct judged *judged)
{
	static struct blocks blocks;
	struct stats_result between;
	double least[2] = {HUGE_VAL, HUGE_VAL}, most[2] = {-HUGE_VAL, -HUGE_VAL};

	blocks_choose(of, judge_unit, runs, run_count, 1, true, &blocks);
	for (size_t r = 0; r < run_count; r++) {
		double rate =
			blocks.units[r].work > 0 ? blocks.units[r].value / blocks.units[r].work : 0;
		int side = runs[r].side;

		least[side] = rate < least[side] ? rate : least[side];
		most[side] = rate > most[side] ? rate : most[side];
	}
	judged->are_runs_apart = least[0] > most[1] || least[1] > most[0];
	if (blocks.count[0] < 2 || blocks.count[1] < 2)
		return;
	stats_compare(blocks.units, blocks.count[0], blocks.count[1], 0, 0, 0, &between);
	if (between.error_of_effect > judged->result.error_of_effect) {
		judged->result.error_of_effect = between.error_of_effect;
		judged->result.freedom = between.freedom;
	}
}

static void compare(const struct diff *diff, struct diff_line *line, u64 permutations,
		    struct judged *judged)
{
	static struct blocks blocks;
	struct stats_run runs[DIFF_RUNS_MAX];
	const struct judge_line of = {diff, line};

	judge_runs(diff, runs);
	blocks_choose(&of, judge_unit, runs, diff->run_count, least_bins(diff, line),
		      diff->whole_runs, &blocks);
	judged->is_compared =
		stats_compare(blocks.units, blocks.count[0], blocks.count[1], blocks.correlation,
			      blocks.least_error, permutations, &judged->result);
	judged->has_drift = blocks.has_drift;
	judged->are_runs_apart = true;
	line->block = diff->whole_runs ? 0 : (u32)blocks.length;
	if (diff->run_count > 2 && !diff->whole_runs)
		look_at_runs(&of, runs, diff->run_count, judged);
}

/* --- verdicts --- */

/* What a change has to be at least, in the line's own unit, to matter. */
static double material_of(const struct diff *diff, const struct diff_line *line)
{
	if (diff_is_time(line))
		return diff->material;
	if (diff_is_value(line) && !line->key.unit && line->events_per_work > 0)
		return VALUE_MATERIAL * diff->material / line->events_per_work;
	return 0;
}

/* Waits and CPU time per unit of work; a difference of the two is no scale for anything. */
static void scale_thread(const struct diff *diff, struct diff_line *line)
{
	double work[2] = {0};

	for (size_t r = 0; r < diff->run_count; r++)
		for (size_t i = 0; i < diff->runs[r].bin_count; i++)
			work[diff->runs[r].side] += diff->bins[diff->runs[r].first_bin + i].work;
	for (int side = 0; side < 2; side++) {
		line->wait[side] = work[side] > 0 ? line->wait[side] / work[side] : 0;
		line->cpu[side] = work[side] > 0 ? line->cpu[side] / work[side] : 0;
	}
	line->scale = line->wait[0] + line->cpu[0];
}

static void estimate(const struct diff *diff, struct diff_line *line, const struct judged *judged)
{
	const struct stats_result *result = &judged->result;
	double half =
		stats_t_beyond(1 - STATS_CONFIDENCE, result->freedom) * result->error_of_effect;

	line->rate[0] = result->rate[0];
	line->rate[1] = result->rate[1];
	line->effect = result->effect;
	line->low = result->effect - half;
	line->high = result->effect + half;
	/* Nothing takes less than no time. */
	if (line->key.table != DIFF_THREAD && line->low < -result->rate[0])
		line->low = -result->rate[0];
	line->p = result->p;
	line->scale = line->rate[0];
	if (line->key.table == DIFF_THREAD)
		scale_thread(diff, line);
	line->relative = line->scale > 0 ? line->effect / line->scale : HUGE_VAL;
	line->relative_low = line->scale > 0 ? line->low / line->scale : -HUGE_VAL;
	line->relative_high = line->scale > 0 ? line->high / line->scale : HUGE_VAL;
}

/*
 * It varies more from run to run than user time, as caches are cold after each wait. The time of a
 * call counts as such: what of it is a wait has a line of its own, by its state.
 */
static bool is_kernel_time(const struct diff *diff, const struct diff_line *line)
{
	const char *name = diff_text(diff, line->key.name);

	switch (line->key.table) {
	case DIFF_LEDGER:
	case DIFF_SERVICE:
	case DIFF_PROCESS:
		return diff_is_cpu_state(diff, line) && strcmp(name, state_names[STATE_CPU]) != 0 &&
		       strcmp(name, state_names[STATE_CPU_USER]) != 0;
	case DIFF_FUNCTION:
		return line->key.kind == SAMPLE_CPU &&
		       !strcmp(diff_text(diff, line->key.module), "[kernel]");
	case DIFF_CALL:
		return line->key.measure == DIFF_TIME;
	}
	return false;
}

/* What a change has to be at least to be called one. */
static double least_change(const struct diff *diff, const struct diff_line *line)
{
	if (!diff->whole_runs && is_kernel_time(diff, line))
		return diff->wall_per_work * MATERIAL_KERNEL;
	return material_of(diff, line);
}

/* The effect that is found in four of five cases. */
static double detectable(const struct diff *diff, const struct diff_line *line,
			 const struct judged *judged, double floor)
{
	const struct stats_result *result = &judged->result;
	double alone = STATS_FALSE_DISCOVERY / (double)(diff->tested ? diff->tested : 1);
	double needed = larger(diff->threshold, alone);
	double power = stats_t_beyond(2 * (1 - STATS_POWER), result->freedom);
	double by_test, by_floor;

	if (!judged->is_compared || judged->has_drift || result->least_p > needed)
		return HUGE_VAL;
	by_test = (stats_t_beyond(needed, result->freedom) + power) * result->error_of_effect;
	by_floor = floor + (stats_t_beyond(1 - STATS_CONFIDENCE, result->freedom) + power) *
				   result->error_of_effect;
	return larger(larger(by_test, by_floor), least_change(diff, line));
}

/* What others do to the CPUs touches all but what is counted per unit of work. */
static bool is_touched(const struct diff *diff, const struct diff_line *line)
{
	return diff_allows_for_speed(diff) &&
	       !(line->key.measure == DIFF_TIMES && diff->options.per.kind == DIFF_PER_COUNT);
}

/* Time that a thread did not run; what it waits for may. */
static bool is_wait(const struct diff *diff, const struct diff_line *line)
{
	if (line->key.table <= DIFF_PROCESS)
		return !diff_is_cpu_state(diff, line);
	return (line->key.table == DIFF_FUNCTION || line->key.table == DIFF_STACK) &&
	       line->key.kind != SAMPLE_CPU;
}

/* A slower CPU can hide a change of what runs on it, and hardly of a wait. */
static bool is_within_bound(const struct diff *diff, const struct diff_line *line, double rise,
			    double fall)
{
	bool hides = !is_wait(diff, line);

	return line->low - hides * rise > -line->bound && line->high + hides * fall < line->bound;
}

static void decide(const struct diff *diff, struct diff_line *line, const struct judged *judged)
{
	double size = larger(line->scale, line->rate[1]), material = material_of(diff, line);
	double floor = diff->floor * size;
	double speed = is_touched(diff, line) ? size : 0;
	double rise = speed * diff->speed.rise, fall = speed * diff->speed.fall;
	bool is_disturbed = diff->disturbed && is_touched(diff, line);
	bool is_beyond = line->low > floor || line->high < -floor;

	if (line->key.table == DIFF_THREAD) /* waits less CPU time: either way */
		rise = fall = larger(rise, fall);
	line->bound = larger(diff->bound * size, diff_is_time(line) ? material : 0);
	line->mde = is_disturbed ? HUGE_VAL
				 : detectable(diff, line, judged, floor + larger(rise, fall));
	line->verdict = DIFF_INCONCLUSIVE;
	line->reason = DIFF_BY_TEST;
	if (!judged->is_compared)
		line->reason = diff_is_value(line) ? DIFF_FEW_EVENTS : DIFF_FEW_WINDOWS;
	else if (is_disturbed)
		line->reason = diff->disturbed;
	else if (judged->has_drift)
		line->reason = DIFF_DRIFTS;
	else if (line->p <= diff->threshold && is_beyond &&
		 fabs(line->effect) >= least_change(diff, line)) {
		if (!judged->are_runs_apart)
			line->reason = DIFF_RUNS_OVERLAP;
		else if (line->low > floor + rise || line->high < -floor - fall)
			line->verdict = DIFF_CHANGED;
		else
			line->reason = DIFF_SPEED;
	} else if (is_within_bound(diff, line, rise, fall)) {
		line->verdict = DIFF_UNCHANGED;
		line->reason = line->bound > diff->bound * size ? DIFF_BY_SIZE : DIFF_BY_TEST;
	} else if (is_within_bound(diff, line, 0, 0)) {
		line->reason = DIFF_SPEED;
	} else if (line->mde == HUGE_VAL) {
		line->reason = DIFF_FEW_WINDOWS;
	}
}

/* --- cost --- */

static const struct diff_line *sibling(const struct diff *diff, const struct diff_line *line,
				       enum diff_table table, enum diff_measure measure)
{
	struct diff_key key = line->key;

	key.table = table;
	key.measure = measure;
	return hash_find(&diff->lines, &key);
}

static void rate_cost(const struct diff *diff, struct diff_line *line)
{
	const struct diff_line *of = NULL;

	if (diff_is_time(line)) {
		line->cost = fabs(line->effect);
	} else if (diff_is_value(line)) {
		line->cost = line->key.unit ? 0 : fabs(line->effect) * line->events_per_work;
	} else if (line->key.table == DIFF_CALL) {
		of = sibling(diff, line, DIFF_CALL, DIFF_TIME);
	} else {
		of = sibling(diff, line,
			     line->key.table == DIFF_REQUEST ? DIFF_REQUEST : DIFF_LATENCY,
			     DIFF_MEAN);
	}
	/* A count costs what one of its events takes; time with nothing to do costs nothing. */
	if (of && diff_is_slack(diff, of))
		line->cost = 0;
	else if (of && of->key.table == DIFF_CALL && line->pooled > 0)
		line->cost = fabs(line->effect) * of->pooled / line->pooled;
	else if (of && of->events_per_work > 0)
		line->cost = fabs(line->effect) * of->pooled / of->events_per_work;
}

/* What did not change is of interest by its size, not by its noise; threads by what they wait more.
 */
static double rank_of(const struct diff_line *line)
{
	if (line->verdict == DIFF_CHANGED)
		return line->cost;
	return line->key.table == DIFF_THREAD ? fabs(line->effect) : line->pooled;
}

static int by_rank(const void *a, const void *b)
{
	const struct diff_line *x = *(struct diff_line *const *)a;
	const struct diff_line *y = *(struct diff_line *const *)b;

	if ((x->verdict == DIFF_CHANGED) != (y->verdict == DIFF_CHANGED))
		return x->verdict == DIFF_CHANGED ? -1 : 1;
	if (rank_of(x) != rank_of(y))
		return rank_of(x) > rank_of(y) ? -1 : 1;
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

static void count_verdicts(struct diff *diff)
{
	for (size_t i = 0; i < diff->order_count; i++) {
		const struct diff_line *line = diff->order[i];

		diff->by_verdict[line->verdict]++;
		diff->worse += diff->options.fail_over >= 0 && line->verdict == DIFF_CHANGED &&
			       line->effect > 0 && line->relative > diff->options.fail_over &&
			       line->key.table != DIFF_THREAD && !diff_is_load(line) &&
			       !diff_is_slack(diff, line);
	}
}

/* --- all of it --- */

static void choose_work(struct diff *diff)
{
	double wall = 0, work = 0;

	for (size_t i = 0; i < diff->bin_count; i++) {
		struct diff_bin *bin = &diff->bins[i];

		bin->work = diff->options.per.kind == DIFF_PER_CPU     ? bin->cpu_s
			    : diff->options.per.kind == DIFF_PER_COUNT ? bin->count
								       : bin->wall_s;
		wall += bin->wall_s;
		work += bin->work;
	}
	diff->wall_per_work = work > 0 ? wall / work * 1e9 : 0;
}

static void choose_method(struct diff *diff)
{
	size_t runs[2] = {0};

	for (size_t r = 0; r < diff->run_count; r++)
		runs[diff->runs[r].side]++;
	diff->whole_runs = runs[0] >= WHOLE_RUNS_MIN && runs[1] >= WHOLE_RUNS_MIN;
	diff->floor = diff->whole_runs ? 0 : FLOOR_FEW_RUNS;
	diff->bound = diff->whole_runs ? BOUND_MANY_RUNS : BOUND_FEW_RUNS;
	diff->material = diff->wall_per_work * (diff->whole_runs ? MATERIAL_MANY : MATERIAL_FEW);
}

static int judge_lines(struct diff *diff)
{
	size_t count = diff->order_count;
	double wanted = 1.5 * (double)count / STATS_FALSE_DISCOVERY;
	u64 permutations = wanted < PERMUTATIONS_MIN   ? PERMUTATIONS_MIN
			   : wanted > PERMUTATIONS_MAX ? PERMUTATIONS_MAX
						       : (u64)wanted;
	struct judged *judged = calloc(count + 1, sizeof(*judged));
	double *p = calloc(2 * count + 1, sizeof(*p));

	if (!judged || !p) {
		free(judged);
		free(p);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		compare(diff, diff->order[i], permutations, &judged[i]);
		estimate(diff, diff->order[i], &judged[i]);
		diff->order[i]->is_tested = true;
		p[i] = judged[i].has_drift ? 1 : judged[i].result.p;
	}
	diff->threshold = stats_discoveries(p, count, STATS_FALSE_DISCOVERY, p + count);
	for (size_t i = 0; i < count; i++) {
		decide(diff, diff->order[i], &judged[i]);
		rate_cost(diff, diff->order[i]);
	}
	free(judged);
	free(p);
	return 0;
}

/* Chosen by the whole sessions, a line may have nothing in the parts that are compared. */
static bool has_values(const void *item, const void *context)
{
	(void)context;
	return ((const struct diff_line *)item)->values != NULL;
}

int diff_judge(struct diff *diff)
{
	int err;

	hash_retain(&diff->lines, has_values, NULL);
	choose_work(diff);
	err = diff_check_work(diff);
	if (err)
		return err;
	choose_method(diff);
	diff_check_fairness(diff);
	if (diff->is_refused && !diff->options.force)
		return -EPERM;
	err = judge_choose_lines(diff);
	if (!err)
		err = judge_lines(diff);
	if (err == -ENOMEM)
		log_error("not enough memory to compare: take parts of the sessions, as "
			  "FILE@10s-20s");
	if (err)
		return err;
	qsort(diff->order, diff->order_count, sizeof(struct diff_line *), by_rank);
	count_verdicts(diff);
	diff_find_onsets(diff);
	diff_write_sentences(diff);
	return 0;
}
