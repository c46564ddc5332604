/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The causes of all threads of a process as one. Owned by whoever asks. Called by the text, the
 * verdict and the JSON.
 */
#ifndef DWELL_REPORT_WHY_H
#define DWELL_REPORT_WHY_H

#include "digest.h"

/* A cause whose `thread` is the index of a process. */
struct why {
	struct cause cause;
	u32 worst; /* index of the thread that it kept longest */
	u64 worst_ns;
};

/* Waits only, of the threads that are shown and not dormant: what is of interest first, each
 * longest first. */
int why_find(const struct digest *digest, struct hash *ret_whys);

/* All causes of one process's threads that are shown, time on a CPU too, longest first. */
int why_of_process(const struct digest *digest, const struct process *process,
		   struct hash *ret_whys);

#endif
