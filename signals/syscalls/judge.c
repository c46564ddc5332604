// SPDX-License-Identifier: Apache-2.0
/*
 * The storm of calls in vain: a call that a process makes often, and that mostly fails. Each is
 * fast, so no list by time has it near its top; together they are what the process does.
 */
#include <stdbool.h>
#include <stdio.h>

#include "../../src/base/clock.h"
#include "../../src/base/figures.h"
#include "../../src/model/signal.h"
#include "syscalls.h"

#define STORM_CALLS  1000 /* fewer are not worth a sentence */
#define STORM_SHARE  0.1  /* of the process's calls */
#define STORM_FAILED 0.5

struct storm {
	u64 all;		       /* calls of the process */
	u64 calls;		       /* of this one */
	u64 failed;		       /* of these */
	u64 places;		       /* directories in which they looked in vain */
	const struct series_row *most; /* the one where most did; NULL: not known */
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
			storm->places += is_same;
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

/* "with EBADF", "in /a/", "in 15 directories, such as /a/" */
static void describe(const struct series_row *of, const struct storm *storm, char *to, size_t size)
{
	const struct series_row *most = storm->most;

	if (!most)
		snprintf(to, size, "with %s", of->object_name);
	else if (most->hist.count * 2 >= storm->failed)
		snprintf(to, size, "most in %s: it looks for files that do not exist",
			 most->object_name);
	else
		snprintf(to, size,
			 "in %llu directories, such as %s: it looks for files that do not exist",
			 (unsigned long long)storm->places, most->object_name);
}

static void tell(const struct series_set *set, const struct series_row *of,
		 const struct storm *storm, struct remarks *remarks)
{
	double seconds = (double)set->span_ns / NS_PER_S;
	double share = (double)storm->calls / (double)storm->all;
	double failed = (double)storm->failed / (double)storm->calls;
	char where[REMARK_BYTES];

	if (storm->calls < STORM_CALLS || share < STORM_SHARE || failed < STORM_FAILED)
		return;
	describe(of, storm, where, sizeof(where));
	remark(remarks,
	       "%s: %s is %.0f %% of its system calls, %s a second; %.0f %% of these fail, %s",
	       of->process, of->detail_name, share * 100,
	       FIGURE_NUMBER(seconds > 0 ? (u64)((double)storm->calls / seconds) : 0), failed * 100,
	       where);
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
