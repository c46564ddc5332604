// SPDX-License-Identifier: Apache-2.0
#include "verdict.h"

#include <string.h>

#include "../../abi/func.h"

/* A queue that takes less than so much of the time in the pool is none to speak of. */
#define QUEUE_SHARE_LEAST 0.10
/* Of the execution without waits for a CPU: above the first workers wait, below the second they
 * work. */
#define BLOCKED_SHARE_HIGH 0.66
#define BLOCKED_SHARE_LOW  0.33
/* Of the time in the queue: of tasks that came while a worker had nothing to do. */
#define IDLE_SHARE_LEAST 0.25
#define WAKE_UP_NS	 1000000.0 /* what it may take a worker that was idle to take a task */

struct totals {
	double sum[FUNC_KIND_COUNT];
	double count[FUNC_KIND_COUNT];
};

static void add_up(const struct series_set *set, struct totals *totals)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct series_row *row = set->rows[i];

		if (row->key.kind >= FUNC_KIND_COUNT)
			continue;
		totals->sum[row->key.kind] += (double)row->hist.sum;
		totals->count[row->key.kind] += (double)row->hist.count;
	}
}

static double mean(const struct totals *totals, enum func_kind kind)
{
	return totals->count[kind] ? totals->sum[kind] / totals->count[kind] : 0;
}

static bool has_idle_workers(const struct totals *totals)
{
	return totals->sum[FUNC_KIND_IDLE_QUEUEING] >
		       IDLE_SHARE_LEAST * totals->sum[FUNC_KIND_QUEUEING] &&
	       mean(totals, FUNC_KIND_IDLE_QUEUEING) > WAKE_UP_NS;
}

static void judge_pool(const struct totals *totals, struct remarks *remarks)
{
	double execution = totals->sum[FUNC_KIND_EXECUTION];
	double runnable = execution ? totals->sum[FUNC_KIND_RUNNABLE] / execution : 0;
	double own = execution - totals->sum[FUNC_KIND_RUNNABLE];
	double blocked = own > 0 ? totals->sum[FUNC_KIND_BLOCKED] / own : 0;
	double queue = mean(totals, FUNC_KIND_QUEUEING) / 1e6;

	if (totals->sum[FUNC_KIND_QUEUEING] <
	    QUEUE_SHARE_LEAST * (totals->sum[FUNC_KIND_QUEUEING] + execution)) {
		remark(remarks,
		       "pool: no queue to speak of: tasks wait %.3g ms and run %.3g ms on average",
		       queue, mean(totals, FUNC_KIND_EXECUTION) / 1e6);
		return;
	}
	if (has_idle_workers(totals)) {
		remark(remarks,
		       "pool: idle workers with a queue: tasks that came while a worker was idle "
		       "waited %.3g ms on average: whoever queues does not wake one up, or another "
		       "queue is looked at first",
		       mean(totals, FUNC_KIND_IDLE_QUEUEING) / 1e6);
		return;
	}
	if (blocked > BLOCKED_SHARE_HIGH)
		remark(remarks,
		       "pool: blocking: all workers have tasks, and are blocked for %.0f %% of "
		       "their own time (%.0f %% waiting for a CPU): more workers would help, or "
		       "calls that do not block",
		       100 * blocked, 100 * runnable);
	else if (blocked < BLOCKED_SHARE_LOW)
		remark(remarks,
		       "pool: starvation: all workers have tasks and work on them (%.0f %% "
		       "blocked, %.0f %% waiting for a CPU): it needs %s",
		       100 * blocked, 100 * runnable,
		       runnable > BLOCKED_SHARE_LOW ? "more CPUs, not more workers"
						    : "more workers, or less work");
	else
		remark(remarks,
		       "pool: mixed: all workers have tasks; they are blocked for %.0f %% of their "
		       "own time, and wait for a CPU for %.0f %%",
		       100 * blocked, 100 * runnable);
}

void func_judge(const struct series_set *set, struct remarks *remarks)
{
	struct totals totals = {0};

	add_up(set, &totals);
	if (totals.count[FUNC_KIND_SOJOURN])
		judge_pool(&totals, remarks);
}
