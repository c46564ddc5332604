/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two measurements of the same: what differs in their options, their host, its settings, the hooks
 * and the builds of the files that both have. Owns nothing. Called by record --like.
 */
#ifndef DWELL_CONFIG_COMPARE_H
#define DWELL_CONFIG_COMPARE_H

#include "session_facts.h"

#define COMPARE_SETTING "setting." /* how keys of meta begin that are settings of the host */

struct comparison {
	u64 options, settings, hooks, builds; /* that both have, and that were compared */
	u64 settings_alone;		      /* that one of the two has only */
	u64 differences;
};

/*
 * on_difference() is called with "kernel: 6.1.0 there, 6.12.0 here" for each; the texts are
 * escaped, for a terminal. 0 or -ENOMEM.
 */
int compare_facts(const struct session_facts *there, const struct session_facts *here,
		  void (*on_difference)(void *context, const char *text), void *context,
		  struct comparison *ret_comparison);

#endif
