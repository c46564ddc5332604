// SPDX-License-Identifier: Apache-2.0
/*
 * The storm of calls in vain: a call that a process makes often, and that mostly fails. Each is
 * fast, so no list by time has it near its top; together they are what the process does.
 */
#include <stdbool.h>

#include "../../src/base/clock.h"
#include "../../src/model/signal.h"
#include "syscalls.h"

#define STORM_CALLS  1000 /* fewer are not worth a sentence */
#define STORM_SHARE  0.1  /* of the process's calls */
#define STORM_FAILED 0.5

struct storm {
	u64 all;		       /* calls of the process */
	u64 calls;		       /* of this one */
	u64 failed;		       /* of these */
	const struct series_row *most; /* where most were not found; NULL: not known */
};

static bool is_same_process(const struct series_row *a, const struct series_row *b)
{
	return a->key.tgid == b->key.tgid && a->key.start_ns == b->key.start_ns;
}

static void add_up(const struct series_set *set, const struct series_row *of, struct storm *storm)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct series_row *row = set->rows[i];
		bool is_same = row->key.detail == of->key.detail;

		if (!is_same_process(row, of) || row->key.kind == SYSCALLS_CALLER)
			continue;
		if (row->key.kind == SYSCALLS_NOT_FOUND) {
			if (is_same && (!storm->most || row->hist.count > storm->most->hist.count))
				storm->most = row;
			continue;
		}
		storm->all += row->hist.count;
		storm->calls += is_same ? row->hist.count : 0;
		storm->failed += is_same && row->key.kind == SYSCALLS_ERROR ? row->hist.count : 0;
	}
}

/* Of the several errors of a call, the first one speaks for all. */
static bool is_first(const struct series_set *set, size_t at)
{
	const struct series_row *of = set->rows[at];

	for (size_t i = 0; i < at; i++)
		if (set->rows[i]->key.kind == SYSCALLS_ERROR &&
		    set->rows[i]->key.detail == of->key.detail && is_same_process(set->rows[i], of))
			return false;
	return true;
}

static void tell(const struct series_set *set, const struct series_row *of,
		 const struct storm *storm, struct remarks *remarks)
{
	double seconds = (double)set->span_ns / NS_PER_S;
	double share = (double)storm->calls / (double)storm->all;
	double failed = (double)storm->failed / (double)storm->calls;
	const struct series_row *most = storm->most;

	if (storm->calls < STORM_CALLS || share < STORM_SHARE || failed < STORM_FAILED)
		return;
	remark(remarks,
	       "%s: %s is %.0f %% of its calls, %.0f a second, and %.0f %% of them fail%s%s%s",
	       of->process, of->detail_name, share * 100,
	       seconds > 0 ? (double)storm->calls / seconds : 0.0, failed * 100,
	       most ? ", most in " : " with ", most ? most->object_name : of->object_name,
	       most ? ": it looks for what is not there" : "");
}

void syscalls_judge(const struct series_set *set, struct remarks *remarks)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct series_row *row = set->rows[i];
		struct storm storm = {0};

		if (row->key.kind != SYSCALLS_ERROR || row->key.object == SERIES_OTHER ||
		    !is_first(set, i))
			continue;
		add_up(set, row, &storm);
		tell(set, row, &storm, remarks);
	}
}
