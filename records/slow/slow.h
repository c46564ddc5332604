/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that were slow, in the window that is open, until it is written.
 */
#ifndef DWELL_SLOW_H
#define DWELL_SLOW_H

#include "../../abi/records.h"

struct stack_ids;

#define SLOW_MAX 8192

struct slow_book {
	u64 count;
	u64 turned_away;
	u64 no_stack;
	u64 refused;
	struct stack_ids *ids;
	struct rec_slow events[SLOW_MAX];
};

#endif
