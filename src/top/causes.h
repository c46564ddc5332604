/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a subject's last second went where it went: its causes, added up over its threads, and of
 * each who held or ended most of it. Owns the sums. Called by the detail of a line.
 */
#ifndef DWELL_TOP_CAUSES_H
#define DWELL_TOP_CAUSES_H

#include "rows.h"

#define CAUSE_WHO_BYTES 192

struct cause_sum {
	u64 object;
	u32 call, state;
	/* the key ends here */
	s64 ns, count;
	u32 holder, waker; /* of the most of it */
	u32 waker_kind;
	s64 who_ns; /* their part */
};

struct causes {
	struct cause_sum *items; /* what keeps from work first, then the longest */
	size_t count;
};

void causes_add_up(const struct model *model, const struct rows_subject *subject,
		   struct causes *ret_causes);
void causes_free(struct causes *causes);

/* "held by flusher (4711) 71%", "ended by: timer"; "": nobody is known. */
void causes_format_who(const struct model *model, const struct cause_sum *sum,
		       char ret_text[CAUSE_WHO_BYTES]);

#endif
