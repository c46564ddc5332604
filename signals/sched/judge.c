// SPDX-License-Identifier: Apache-2.0
/*
 * Storms: one thread that wakes many at once. Starvation. Threads that are moved about.
 */
#include <stdbool.h>

#include "../../src/base/clock.h"
#include "../../src/base/figures.h"
#include "../../src/model/signal.h"
#include "sched.h"

#define STORM_THREADS	 16  /* woken in one burst */
#define STORM_SHARE	 0.1 /* of the wake-ups were beyond so many */
#define MOVES_LEAST	 100
#define MOVES_PER_SWITCH 0.25

/* Of how many values it is sure that they are larger. */
static u64 count_above(const struct hist *hist, u64 value)
{
	u64 count = 0;

	for (u32 place = hist_place(value) + 1; place < HIST_BUCKETS; place++)
		count += hist->buckets[place];
	return count;
}

static u64 switches_of(const struct series_set *set, const struct series_row *of)
{
	u64 count = 0;

	for (size_t i = 0; i < set->count; i++)
		if (set->rows[i]->key.kind == SCHED_RUN && set->rows[i]->key.tgid == of->key.tgid &&
		    set->rows[i]->key.start_ns == of->key.start_ns)
			count += set->rows[i]->hist.count;
	return count;
}

static void judge_wakeups(const struct series_row *row, struct remarks *remarks)
{
	u64 above = count_above(&row->hist, STORM_THREADS);

	if ((double)above < (double)row->hist.count * STORM_SHARE || !above)
		return;
	remark(remarks,
	       "%s wakes up to %llu threads within 1 ms: of its %s wake-ups, %.0f %% are beyond "
	       "the "
	       "%dth of such a burst. Do all of them have to run?",
	       row->process, (unsigned long long)row->hist.max, FIGURE_NUMBER(row->hist.count),
	       100.0 * (double)above / (double)row->hist.count, STORM_THREADS);
}

static void judge_starved(const struct series_row *row, struct remarks *remarks)
{
	remark(remarks,
	       "%s: runnable threads waited 100 ms or more for a CPU, %s time%s, up to %s: "
	       "starvation",
	       row->process, FIGURE_NUMBER(row->hist.count), row->hist.count == 1 ? "" : "s",
	       FIGURE_TIME(row->hist.max));
}

static void judge_moves(const struct series_set *set, const struct series_row *row,
			struct remarks *remarks)
{
	u64 switches = switches_of(set, row);

	if (row->hist.count < MOVES_LEAST ||
	    (double)row->hist.count < (double)switches * MOVES_PER_SWITCH)
		return;
	remark(remarks,
	       "%s: its threads moved to another CPU %s times, and ran %s times; half of the moves "
	       "were within %s of the last run: caches are cold there",
	       row->process, FIGURE_NUMBER(row->hist.count), FIGURE_NUMBER(switches),
	       FIGURE_TIME(hist_percentile(&row->hist, 0.5)));
}

void sched_judge(const struct series_set *set, struct remarks *remarks)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct series_row *row = set->rows[i];

		if (row->key.object == SERIES_OTHER)
			continue;
		if (row->key.kind == SCHED_WAKEUP)
			judge_wakeups(row, remarks);
		else if (row->key.kind == SCHED_STARVED)
			judge_starved(row, remarks);
		else if (row->key.kind == SCHED_MIGRATION)
			judge_moves(set, row, remarks);
	}
}
