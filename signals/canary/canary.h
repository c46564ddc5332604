/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the worker keeps of canaries: enough to prove that one record came, whole.
 */
#ifndef DWELL_CANARY_H
#define DWELL_CANARY_H

#include "../../abi/types.h"

struct canary_tally {
	u64 count;	/* of records with the last token */
	u64 token;	/* of the last record */
	u64 best_value; /* largest value seen with that token */
	u32 tgid, tid;	/* of the last record */
};

#endif
