// SPDX-License-Identifier: Apache-2.0
/*
 * Which line rose first: within one recording, both parts on one time axis. A line's onset is the
 * first window from which on it stays on B's side of the middle between A's rate and B's. Windows
 * prove no finer order: lines of the same window began together as far as anyone can know.
 */
#include <string.h>

#include "diff.h"

#define STAYS 3 /* bins in a row that have to be on B's side, or all that are left */

/* Rate of a line in one bin; false: no work there. */
static bool rate_at(const struct diff *diff, const struct diff_line *line, size_t bin,
		    double *ret_rate)
{
	double work = line->events ? line->events[bin] : diff->bins[bin].work;

	*ret_rate = work > 0 ? line->values[bin] / work : 0;
	return work > 0;
}

static double onset_of(const struct diff *diff, const struct diff_line *line, size_t first,
		       size_t end)
{
	double middle = (line->rate[0] + line->rate[1]) / 2;
	size_t in_a_row = 0, began = first;

	for (size_t i = first; i < end; i++) {
		double rate;
		bool has_changed =
			rate_at(diff, line, i, &rate) && (rate > middle) == (line->effect > 0);

		if (!has_changed) {
			in_a_row = 0;
			continue;
		}
		if (!in_a_row++)
			began = i;
		if (in_a_row == STAYS)
			return diff->bins[began].begin_s;
	}
	return -1;
}

void diff_find_onsets(struct diff *diff)
{
	const struct diff_run *a = &diff->runs[0], *b = &diff->runs[1];

	for (size_t i = 0; i < diff->order_count; i++)
		diff->order[i]->onset_s = -1;
	diff->has_onsets = diff->run_count == 2 && *a->boot_id && !strcmp(a->boot_id, b->boot_id) &&
			   a->started_ns == b->started_ns && a->begin_ns < b->begin_ns &&
			   a->end_ns <= b->begin_ns;
	if (!diff->has_onsets)
		return;
	for (size_t i = 0; i < diff->order_count; i++) {
		struct diff_line *line = diff->order[i];

		if (line->verdict == DIFF_CHANGED && line->key.measure <= DIFF_MEAN)
			line->onset_s =
				onset_of(diff, line, a->first_bin, b->first_bin + b->bin_count);
	}
}
