/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time in each state, of one thread or of many, and sums over it. Owns nothing. Used by all of the
 * report.
 */
#ifndef DWELL_REPORT_ACCOUNT_H
#define DWELL_REPORT_ACCOUNT_H

#include <stdbool.h>

#include "../../abi/records.h"

struct account {
	u64 ns[STATE_LIMIT];
	u64 count[STATE_LIMIT];
};

void account_add(struct account *to, const struct account *from);
u64 account_sum(const struct account *account);
u64 account_cpu(const struct account *account);
u64 account_runq(const struct account *account);

/* Neither at work nor kept from it: it waits for work, or sleeps as it wished. */
bool state_is_idle(int state);
u64 account_idle(const struct account *account);

/*
 * What is of interest: not idle, already made, and not waiting for a child, which has its own
 * account.
 */
u64 account_busy(const struct account *account);

/* The same without waits for another process's doing, or for one does not know what. */
u64 account_work(const struct account *account);

/* The states with any time, longest first: how many. */
int account_sort_states(const struct account *account, int order[STATE_LIMIT]);

#endif
