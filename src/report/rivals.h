/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who ran while threads waited for a CPU, by time. Owns nothing. Called by the findings and WHY, so
 * that both have the same numbers.
 */
#ifndef DWELL_REPORT_RIVALS_H
#define DWELL_REPORT_RIVALS_H

#include "waits.h"

#define RIVALS_IDLE   "(idle)"	 /* the CPU was */
#define RIVALS_OTHERS "(others)" /* beyond the kernel side's table */

struct rivals {
	struct culprit of[CULPRITS_MAX]; /* by name of their process, longest first */
	size_t count;
	u64 whole_ns; /* waited for a CPU, throttling aside */
	struct {      /* of real-time policies, by policy */
		u64 ns, most_ns;
		u32 tid;
		char comm[DIGEST_COMM];
	} by_policy[8];
};

void rivals_of_process(const struct digest *digest, u32 process, struct rivals *ret_rivals);
void rivals_of_group(const struct digest *digest, u32 group, struct rivals *ret_rivals);
const char *policy_name(u32 policy); /* "" for those that are no reason */

#endif
