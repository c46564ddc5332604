/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a session can be trusted, in one place. Owns nothing. Called by the report's two forms.
 */
#ifndef DWELL_REPORT_QUALITY_H
#define DWELL_REPORT_QUALITY_H

#include "digest.h"

/* The ledger against the kernel's own count of the same thing, over the whole session. */
struct check {
	const char *name;
	const char *unit;
	u64 ours, kernels;
	u64 tolerance;
};

#define CHECKS_MAX 5

struct quality {
	u64 threads;	      /* that are measured by these numbers */
	u64 closure_error_ns; /* sum over threads of |parts - wall|, over the whole session */
	u64 wall_ns;	      /* of all of them, in the slice */
	u64 session_wall_ns;  /* the same, over the whole session */
	u64 unattributed_ns;  /* in the slice */
	u64 missed;	      /* switches that never reached us */
	u64 miscounted;	      /* |our switches - the kernel's|, summed over threads */
	u64 unnamed;	      /* waits that found no place among causes */
	u64 lost;	      /* records */
	struct check checks[CHECKS_MAX];
	size_t check_count;
};

void quality_find(const struct digest *digest, struct quality *ret_quality);

s64 check_difference(const struct check *check);
bool check_is_within(const struct check *check);

#endif
