// SPDX-License-Identifier: Apache-2.0
#include "judge.h"

#include <stdio.h>

#include "../../abi/locks.h"
#include "../../src/base/clock.h"
#include "../../src/base/figures.h"

#define LONG_NS		NS_PER_MS /* waits above are long; a convoy's are below */
#define LONG_WAITS	10	  /* fewer say little */
#define HELD_WAITS	5	  /* likewise, of what holders do */
#define CONVOY_WAITS	1000
#define CONVOY_WAITERS	3
#define STARVED_PERCENT 30 /* of the time that it held the lock, the holder had no CPU */
#define BLOCKED_PERCENT 50
#define JUDGED_MAX	5    /* locks: the worst ones come first */
#define SHARE_LEAST	1000 /* locks waited for less than one in so many parts of the span */

/* Another measure of the same lock; NULL: there is none. */
static const struct hist *find(const struct series_set *set, const struct series_row *row, u8 kind)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct series_key *key = &set->rows[i]->key;

		if (key->kind == kind && key->object == row->key.object &&
		    key->tgid == row->key.tgid && key->start_ns == row->key.start_ns)
			return &set->rows[i]->hist;
	}
	return NULL;
}

static u64 sum_of(const struct series_set *set, const struct series_row *row, u8 kind)
{
	const struct hist *hist = find(set, row, kind);

	return hist ? hist->sum : 0;
}

static u64 percent(u64 part, u64 whole)
{
	return whole ? (u64)(100.0 * (double)part / (double)whole + 0.5) : 0;
}

/* Why it was held that long: what its holders did meanwhile. False: they ran. */
static bool judge_holder(const struct series_set *set, const struct series_row *row,
			 struct remarks *remarks)
{
	u64 held = sum_of(set, row, LOCKS_HELD);
	u64 queue = percent(sum_of(set, row, LOCKS_HELD_QUEUE), held);
	u64 block = percent(sum_of(set, row, LOCKS_HELD_BLOCK), held);

	if (queue >= STARVED_PERCENT)
		remark(remarks,
		       "%s in %s: its holders waited for a CPU for %llu %% of the %s that they "
		       "held "
		       "it while others waited. Give them a CPU, or a priority no lower than that "
		       "of the waiting threads.",
		       row->object_name, row->process, (unsigned long long)queue,
		       FIGURE_TIME(held));
	if (block >= BLOCKED_PERCENT)
		remark(remarks,
		       "%s in %s: its holders were blocked for %llu %% of the %s that they held it "
		       "while others waited. Do not wait for other things while holding it.",
		       row->object_name, row->process, (unsigned long long)block,
		       FIGURE_TIME(held));
	return queue >= STARVED_PERCENT || block >= BLOCKED_PERCENT;
}

static void judge_running(const struct series_set *set, const struct series_row *row,
			  struct remarks *remarks)
{
	u64 held = sum_of(set, row, LOCKS_HELD);
	u64 off = sum_of(set, row, LOCKS_HELD_QUEUE) + sum_of(set, row, LOCKS_HELD_BLOCK);

	remark(remarks,
	       "%s in %s: its holders ran for %llu %% of the %s that they held it while others "
	       "waited: do less while it is held.",
	       row->object_name, row->process,
	       (unsigned long long)percent(held > off ? held - off : 0, held), FIGURE_TIME(held));
}

static void judge_lock(const struct series_set *set, const struct series_row *row,
		       struct remarks *remarks)
{
	const struct hist *wait = &row->hist;
	const struct hist *threads = find(set, row, LOCKS_WAITER);
	u64 waiters = threads ? threads->count : 1;
	u64 p95 = hist_percentile(wait, 0.95), p99 = hist_percentile(wait, 0.99);

	if (p95 < LONG_NS && wait->count >= CONVOY_WAITS && waiters >= CONVOY_WAITERS)
		remark(remarks,
		       "%s in %s: a convoy: %llu threads waited %s times, 95 %% of the waits up to "
		       "%s. It is held briefly but taken often: take it less often, or split what "
		       "it guards.",
		       row->object_name, row->process, (unsigned long long)waiters,
		       FIGURE_NUMBER(wait->count), FIGURE_TIME(p95));
	else if (p99 >= LONG_NS && (wait->count >= LONG_WAITS || wait->sum >= NS_PER_S))
		remark(remarks,
		       "%s in %s: a long hold: %llu thread%s waited %s time%s, %s in sum, 1 %% of "
		       "the waits for %s or more. holder_stack shows where it was released.",
		       row->object_name, row->process, (unsigned long long)waiters,
		       waiters == 1 ? "" : "s", FIGURE_NUMBER(wait->count),
		       wait->count == 1 ? "" : "s", FIGURE_TIME(wait->sum), FIGURE_TIME(p99));
	if (wait->count < HELD_WAITS)
		return;
	if (!judge_holder(set, row, remarks) && find(set, row, LOCKS_HELD) && p95 >= LONG_NS)
		judge_running(set, row, remarks);
}

static void judge_broadcast(const struct series_row *row, struct remarks *remarks)
{
	const struct hist *herd = &row->hist;

	remark(remarks,
	       "%s in %s: %s broadcasts woke %.1f threads each on average, up to %llu. If only one "
	       "of them can continue, wake one.",
	       row->object_name, row->process, FIGURE_NUMBER(herd->count),
	       (double)herd->sum / (double)herd->count, (unsigned long long)herd->max);
}

void locks_judge(const struct series_set *set, struct remarks *remarks)
{
	size_t locks = 0, herds = 0;

	for (size_t i = 0; i < set->count; i++) {
		const struct series_row *row = set->rows[i];

		if (row->key.object == SERIES_OTHER || !row->hist.count)
			continue;
		if ((row->key.kind == LOCKS_WAIT || row->key.kind == LOCKS_FILE_WAIT) &&
		    row->hist.sum >= set->span_ns / SHARE_LEAST && locks < JUDGED_MAX) {
			judge_lock(set, row, remarks);
			locks++;
		} else if (row->key.kind == LOCKS_BROADCAST && row->hist.count >= LONG_WAITS &&
			   herds < JUDGED_MAX) {
			judge_broadcast(row, remarks);
			herds++;
		}
	}
}
