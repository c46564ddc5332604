/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What files that hang may take from a measurement: what hung is left alone for a while, and many
 * that hang have so many openers and so much time together. Called by the opener.
 */
#ifndef DWELL_ENGINE_HANG_BUDGET_H
#define DWELL_ENGINE_HANG_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/types.h"

#define HUNG_MAX 16
#define DEV_BY_NAME                                                                                \
	UINT64_MAX /* no device: files that are looked for by name in a process's root */

/* A file system; or, of a process, what hung before its file system was known. */
struct hung {
	u64 dev;
	u32 pid;
	u64 until_ns;
};

/* A process that was killed in a hang; the kernel keeps it as long as it waits. */
struct abandoned {
	int pid_fd;
	u64 dev; /* as above, if it was left alone then; else 0 ... */
	u32 pid; /* ... and 0 */
};

struct hang_budget {
	struct hung hung[HUNG_MAX];
	size_t hung_next;
	struct abandoned abandoned[HUNG_MAX];
	size_t abandoned_count;
	bool is_last_new; /* nothing is left alone for the last one of these yet */
	u64 hangs_since_ns;
	u32 hangs; /* since then */
};

/* A process hangs. A kill does not end one that the kernel keeps waiting. */
void hang_budget_take(struct hang_budget *budget, int pid_fd);

/* No more time, or no more processes, for what may hang. */
bool hang_budget_is_exhausted(struct hang_budget *budget);

bool hang_budget_knows(const struct hang_budget *budget, u64 dev, u32 pid);
/* For a while; and as long as the one is there that hung there, if it was taken just now. */
void hang_budget_leave_alone(struct hang_budget *budget, u64 dev, u32 pid);
bool hang_budget_is_left_alone(struct hang_budget *budget, u64 dev, u32 pid);

void hang_budget_close(struct hang_budget *budget);

#endif
