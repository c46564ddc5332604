/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger as a person reads it: quality first, then where the time went.
 * Owns nothing. Called by commands that have a book.
 */
#ifndef DWELL_REPORT_LEDGER_H
#define DWELL_REPORT_LEDGER_H

#include <stdio.h>

#include "../../signals/ledger/ledger.h"
#include "../model/health.h"

/* What is wrong with a book, in one place; all zero when all is well. */
struct ledger_quality {
	u64 closure_error_ns; /* sum over threads of |parts - wall| */
	u64 unattributed_ns;
	u64 wall_ns;		     /* of all threads together */
	u64 missed;		     /* switches that never reached us */
	u64 miscounted_switches;     /* our counts against the kernel's own, summed over threads */
	u64 exec_ns, kernel_exec_ns; /* on-CPU time: ours, the kernel's */
	u64 delay_ns, kernel_delay_ns; /* run-queue wait: ours, the kernel's */
};

void ledger_quality(const struct ledger_book *book, struct ledger_quality *ret_quality);

void ledger_print(const struct ledger_book *book, const struct health *health, FILE *out);

/* One object per thread, with what the text sums up; for tests and scripts. */
void ledger_print_json(const struct ledger_book *book, const struct health *health, FILE *out);

#endif
