// SPDX-License-Identifier: Apache-2.0
/* Why threads waited: the causes of a process's threads added up, longest first. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "text.h"
#include "why.h"

#define WHY_SHOWN  12
#define IDLE_SHOWN 3	/* of these: waits for work come last */
#define LEAST	   1000 /* one in so many is worth a line, of all the time or of what is not idle */

static void print_why(const struct digest *digest, const struct page *page, const struct why *why)
{
	const struct process *process = &digest->processes[why->cause.thread];
	char cause[CAUSE_BYTES], blame[CAUSE_BYTES], line[3 * CAUSE_BYTES] = "";
	u64 span = digest_span(digest);
	int at;

	format_cause(digest, &why->cause, cause, sizeof(cause));
	why_blame(digest, why, blame, sizeof(blame));
	at = fprintf(page->out, "  %8s %6.2f %9s x  ", DURATION(why->cause.ns),
		     span ? (double)why->cause.ns / (double)span : 0, NUMBER(why->cause.count));
	format_add(line, sizeof(line), "%s (%u): %s", ESCAPED(process->comm), process->pid,
		   ESCAPED(digest->state_names[why->cause.state]));
	if (*cause)
		format_add(line, sizeof(line), " %s", ESCAPED(cause));
	format_add(line, sizeof(line), "%s", blame);
	page_wrap(page, at, at + 2, line);
}

int text_why(const struct digest *digest, const struct page *page)
{
	struct hash whys;
	int err = why_find(digest, &whys);
	size_t shown = 0, idle = 0;

	for (size_t i = 0; !err && i < whys.count && shown < page_rows(digest, WHY_SHOWN); i++) {
		const struct why *why = hash_item(&whys, i);

		bool is_idle = state_is_idle(why->cause.state);
		u64 whole_ns = is_idle ? account_sum(&digest->all) : digest->busy_ns;

		if (why->cause.ns < whole_ns / LEAST || !why->cause.ns)
			continue;
		if (is_idle && idle++ >= page_rows(digest, IDLE_SHOWN))
			continue;
		if (!shown++)
			page_heading(page, "WHY",
				     ", longest first: time, threads on average, times; idle last");
		print_why(digest, page, why);
	}
	hash_free(&whys);
	return err;
}
