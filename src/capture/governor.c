// SPDX-License-Identifier: Apache-2.0
#include "governor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One reading may be a burst of the host's; two are a habit. */
#define STRIKES_MAX 2

double governor_share(const struct governor_reading *reading)
{
	double host = (double)reading->elapsed_ns * reading->cpus;

	return host > 0 ? ((double)reading->bpf_ns + (double)reading->user_ns) / host : 0;
}

enum governor_step governor_judge(struct governor *governor, const struct governor_reading *reading)
{
	bool is_first = !governor->has_begun;

	governor->has_begun = true;
	governor->is_alert = governor->limit > 0 && governor_share(reading) > governor->limit;
	if (!governor->is_alert || is_first) {
		governor->strikes = 0;
		return GOVERNOR_STAY;
	}
	if (++governor->strikes < STRIKES_MAX)
		return GOVERNOR_STAY;
	governor->strikes = 0;
	if (governor->has_signals)
		return GOVERNOR_SIGNAL_OFF;
	if (governor->has_split)
		return GOVERNOR_SPLIT_OFF;
	if (governor->has_stacks) {
		governor->has_stacks = false;
		return GOVERNOR_STACKS_OFF;
	}
	if (governor->has_detail) {
		governor->has_detail = false;
		return GOVERNOR_DETAIL_OFF;
	}
	return GOVERNOR_DETACH;
}

int governor_parse(const char *text, double *ret_limit)
{
	char *end;
	double percent;

	errno = 0;
	percent = strtod(text, &end);
	end += strspn(end, " ");
	if (*end == '%')
		end++;
	/* Written so that what is not a number fails too. */
	if (errno || end == text || *end || !(percent > 0 && percent <= 100))
		return -EINVAL;
	*ret_limit = percent / 100;
	return 0;
}
