/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private folder that is gone afterwards, however its maker ends: a process of its own waits for
 * that, and removes it. Owns the folder and the process. Called by whoever needs files for a while.
 */
#ifndef DWELL_BASE_SCRATCH_H
#define DWELL_BASE_SCRATCH_H

#include "child.h"

struct scratch {
	char path[256];
	struct child remover;
};

/* In TMPDIR, or /tmp where that is of no use: 0 or -errno. Before any thread is started. */
int scratch_make(struct scratch *ret_scratch);
void scratch_remove(struct scratch *scratch);

#endif
