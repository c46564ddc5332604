/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What became of a program after its exec. Owns nothing. Called by the text and the JSON.
 */
#ifndef DWELL_REPORT_EXECS_H
#define DWELL_REPORT_EXECS_H

#include "digest.h"

struct exec_fate {
	u64 lifetime_ns;  /* to its end, to the next exec, or to the last that is known of it */
	bool is_over;	  /* it does not run on */
	bool is_replaced; /* by another exec of the same process */
	bool has_status;
	s32 status; /* as wait(2) gives it */
};

bool exec_is_shown(const struct digest *digest, const struct exec *exec);
void exec_fate(const struct digest *digest, const struct exec *exec, struct exec_fate *ret_fate);

#endif
