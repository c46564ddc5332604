// SPDX-License-Identifier: Apache-2.0
/* What the sides are divided by: --per. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../base/log.h"
#include "../base/text.h"
#include "diff.h"

int diff_parse_per(const char *text, struct diff_per *ret_per)
{
	const char *colon = strchr(text, ':');

	*ret_per = (struct diff_per){.kind = DIFF_PER_WALL};
	if (!strcmp(text, "wall") || !strcmp(text, "cpu")) {
		ret_per->kind = *text == 'c' ? DIFF_PER_CPU : DIFF_PER_WALL;
		text_copy(ret_per->unit, sizeof(ret_per->unit), *text == 'c' ? "CPU s" : "s");
		return 0;
	}
	if (!strcmp(text, "requests")) {
		ret_per->kind = DIFF_PER_COUNT;
		ret_per->is_requests = true;
		text_copy(ret_per->unit, sizeof(ret_per->unit), "request");
		return 0;
	}
	if (!colon || colon == text || !colon[1] ||
	    (size_t)(colon - text) >= sizeof(ret_per->signal) ||
	    strlen(colon + 1) >= sizeof(ret_per->what)) {
		log_error("--per is wall, cpu, requests, requests:SERVER or SIGNAL:WHAT, as in "
			  "syscalls:openat or files:open, not '%s'",
			  text);
		return -EINVAL;
	}
	ret_per->kind = DIFF_PER_COUNT;
	snprintf(ret_per->signal, sizeof(ret_per->signal), "%.*s", (int)(colon - text), text);
	ret_per->is_requests = !strcmp(ret_per->signal, "requests");
	text_copy(ret_per->what, sizeof(ret_per->what), colon + 1);
	text_copy(ret_per->unit, sizeof(ret_per->unit), text);
	return 0;
}

int diff_check_work(const struct diff *diff)
{
	const char *unit = diff->options.per.unit;

	for (size_t r = 0; r < diff->run_count; r++) {
		const struct diff_run *run = &diff->runs[r];
		double work = 0;

		for (size_t i = 0; i < run->bin_count; i++)
			work += diff->bins[run->first_bin + i].work;
		if (work > 0)
			continue;
		if (diff->options.per.is_requests)
			log_error("cannot compare per %s: %s has no answered requests of these. "
				  "Record with -s requests; 'dwell report --requests' shows what a "
				  "session has",
				  unit, run->name);
		else
			log_error("cannot compare per %s: %s has none. 'dwell report --signal' "
				  "shows what a session counts",
				  unit, run->name);
		return -ENODATA;
	}
	return 0;
}
