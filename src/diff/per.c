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
		log_error(
			"--per requests: sessions have no requests yet; count what a request does "
			"once, as in --per syscalls:accept4 or --per files:open");
		return -EINVAL;
	}
	if (!colon || colon == text || !colon[1] ||
	    (size_t)(colon - text) >= sizeof(ret_per->signal) ||
	    strlen(colon + 1) >= sizeof(ret_per->what)) {
		log_error("--per is wall, cpu or SIGNAL:WHAT, as in syscalls:openat or files:open, "
			  "not '%s'",
			  text);
		return -EINVAL;
	}
	ret_per->kind = DIFF_PER_COUNT;
	snprintf(ret_per->signal, sizeof(ret_per->signal), "%.*s", (int)(colon - text), text);
	text_copy(ret_per->what, sizeof(ret_per->what), colon + 1);
	text_copy(ret_per->unit, sizeof(ret_per->unit), text);
	return 0;
}
