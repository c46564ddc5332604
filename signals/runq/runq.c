// SPDX-License-Identifier: Apache-2.0
#include "../../src/base/cleanup.h"
#include "../../src/base/clock.h"
#include "../../src/model/signal.h"

#define TICK_SHARE 0.05 /* of all waits: fewer are no hump */
#define TICK_WAITS 20
#define QUEUE_LONG 0.5 /* on average, threads that wait for each CPU */

static const struct probe probes[] = {
	{.program = "runq_switch", .maps = {PROBE_ACCOUNTS, PROBE_SERIES, PROBE_SLOW}},
};

static const struct series_kind kinds[] = {
	{"wait", UNIT_NS, "from runnable to running"},
};

/* From the slow ones: who waits less than that is not among the worst. */
static const struct signal_list lists[] = {
	{.name = "worst_threads",
	 .about = "threads with the longest waits for a CPU, of at least --slow",
	 .table = "slow",
	 .columns = "pid, tid, count(*) AS waits, max(ns) AS longest_ns, sum(ns) AS sum_ns",
	 .order = "max(ns) DESC",
	 .group = "signal, pid, start_ns, tid HAVING signal = 'runq'",
	 .shown = 10},
};

/* How many values are within a bucket's width or so of this one. */
static u64 count_around(const struct hist *hist, u64 value)
{
	u32 place = hist_place(value);
	u64 count = 0;

	for (u32 i = place - 1; i <= place + 1 && i < HIST_BUCKETS; i++)
		count += hist->buckets[i];
	return count;
}

/*
 * Waits that end with the scheduler's clock: nobody gave way by itself, so they stand out around
 * its tick. There, and not half an octave beside it.
 */
static void judge_tick(const struct hist *all, u64 tick_ns, struct remarks *remarks)
{
	u64 at = count_around(all, tick_ns);
	u64 below = count_around(all, tick_ns * 7 / 10),
	    above = count_around(all, tick_ns * 14 / 10);

	if (at < TICK_WAITS || (double)at < (double)all->count * TICK_SHARE || at < 2 * below ||
	    at < 2 * above)
		return;
	remark(remarks,
	       "%.0f %% of the waits lasted about one scheduler tick, %.3g ms (1/HZ): those "
	       "threads "
	       "got a CPU only when the scheduler took it from another one at the tick",
	       100.0 * (double)at / (double)all->count, (double)tick_ns / NS_PER_MS);
}

static void judge_pressure(const struct series_set *set, const struct hist *all,
			   struct remarks *remarks)
{
	double capacity = (double)set->span_ns * set->cpus;

	if (capacity > 0 && (double)all->sum > capacity * QUEUE_LONG)
		remark(remarks,
		       "on average %.1f threads waited for a CPU; the host has %u CPUs: more "
		       "threads "
		       "want to run than it has CPUs for",
		       (double)all->sum / (double)set->span_ns, set->cpus);
}

static void judge(const struct series_set *set, struct remarks *remarks)
{
	struct hist all = {0};

	for (size_t i = 0; i < set->count; i++)
		hist_merge(&all, &set->rows[i]->hist);
	if (set->tick_ns)
		judge_tick(&all, set->tick_ns, remarks);
	judge_pressure(set, &all, remarks);
}

static const struct signal_view view = {
	.kinds = kinds,
	.kind_count = ARRAY_SIZE(kinds),
	.detail = {.name = "state", .kind = FIELD_STATE},
	.value_names = {"ran_instead_tid"},
	.tick_mark = "1/HZ",
	.share = 512,
	.cost = COST_FREE,
	.price = "about 50 ns per switch to a thread that waited for a CPU",
	.lists = lists,
	.list_count = ARRAY_SIZE(lists),
	.judge = judge,
};

const struct signal signal_runq = {
	.about = "run queue: how long runnable threads waited for a CPU",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.view = &view,
};
