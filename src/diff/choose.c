// SPDX-License-Identifier: Apache-2.0
/*
 * Which lines are tested. That does not depend on which side a window is of, so that the choice
 * cannot make a difference look real.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"

#define TESTED_PER_TABLE 60
#define SAMPLES_MIN	 40 /* effective ones, of both sides */
#define EVENTS_MIN	 40

double judge_events(const struct diff *diff, const struct diff_line *line)
{
	const u32 *buckets = line->buckets;
	double events = 0;

	for (size_t i = 0; line->events && i < diff->bin_count; i++)
		events += line->events[i];
	if (line->key.measure > DIFF_MEAN && buckets)
		for (size_t i = 0; i < diff->bin_count * HIST_BUCKETS; i++)
			events += buckets[i];
	return events;
}

static bool has_both_sides(const struct diff *diff, const struct diff_line *line)
{
	bool has[2] = {false};

	for (size_t r = 0; r < diff->run_count; r++)
		for (size_t i = 0; i < diff->runs[r].bin_count; i++)
			has[diff->runs[r].side] |= line->values[diff->runs[r].first_bin + i] != 0;
	return has[0] && has[1];
}

static double effective(const struct diff_line *line)
{
	double weight = line->weights[0] + line->weights[1];
	double squares = line->squares[0] + line->squares[1];

	return squares > 0 ? weight * weight / squares : 0;
}

/* Of both sides together: is it large enough for a change of it to matter, and to be seen? */
static bool is_worth_a_test(const struct diff *diff, struct diff_line *line, double work)
{
	double sum = 0, events = diff_is_value(line) ? judge_events(diff, line) : 0;

	for (size_t i = 0; i < diff->bin_count; i++)
		sum += line->values[i];
	if (line->key.table == DIFF_THREAD)
		sum = line->wait[0] + line->wait[1] + line->cpu[0] + line->cpu[1];
	line->pooled = work > 0 ? sum / work : 0;
	line->events_per_work = work > 0 ? events / work : 0;
	if (line->key.measure > DIFF_MEAN)
		return events >= 10 * judge_least_events[line->key.measure];
	if (line->key.measure == DIFF_MEAN)
		return events >= EVENTS_MIN;
	if (line->needs_both && !has_both_sides(diff, line))
		return false;
	if (line->key.measure == DIFF_TIMES)
		return sum >= EVENTS_MIN;
	if (line->pooled < diff->material)
		return false;
	return line->weights[0] + line->weights[1] <= 0 || effective(line) >= SAMPLES_MIN;
}

static int by_pooled(const void *a, const void *b)
{
	const struct diff_line *x = *(struct diff_line *const *)a;
	const struct diff_line *y = *(struct diff_line *const *)b;

	if (x->key.table != y->key.table)
		return x->key.table < y->key.table ? -1 : 1;
	if (x->pooled != y->pooled)
		return x->pooled > y->pooled ? -1 : 1;
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

int judge_choose_lines(struct diff *diff)
{
	size_t kept = 0, of_table = 0;
	u32 table = DIFF_TABLES;
	double work = 0;

	for (size_t i = 0; i < diff->bin_count; i++)
		work += diff->bins[i].work;
	diff->order = calloc(diff->lines.count + 1, sizeof(struct diff_line *));
	if (!diff->order)
		return -ENOMEM;
	for (size_t i = 0; i < diff->lines.count; i++) {
		struct diff_line *line = hash_item(&diff->lines, i);

		if (is_worth_a_test(diff, line, work))
			diff->order[diff->order_count++] = line;
	}
	qsort(diff->order, diff->order_count, sizeof(struct diff_line *), by_pooled);
	for (size_t i = 0; i < diff->order_count; i++) {
		struct diff_line *line = diff->order[i];

		of_table = line->key.table == table ? of_table + 1 : 1;
		table = line->key.table;
		if (of_table <= TESTED_PER_TABLE)
			diff->order[kept++] = line;
	}
	diff->order_count = diff->tested = kept;
	return 0;
}
