/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths of cgroups for the worker, which can open no file: it says which ids it has, and the
 * privileged process looks for them. The first part is the privileged process's, the second the
 * worker's own. Owns nothing.
 */
#ifndef DWELL_WORKER_CGROUP_PATHS_H
#define DWELL_WORKER_CGROUP_PATHS_H

#include "worker.h"

/* Before a window ends: asks for what is new, and answers. 0 or -errno; what is not found is empty.
 */
int worker_find_cgroups(struct worker *worker);

/* Inside the worker. */
enum cgroup_job { CGROUP_WANTED, CGROUP_FOUND };
#define CGROUP_JOB_FIRST 0xfffc0000u
#define CGROUP_JOB_COUNT (CGROUP_FOUND + 1)

/* Runs one job with the signals' states: the reply's size or -errno. */
ssize_t cgroup_inside_run(enum cgroup_job job, const void *request, size_t size, void *reply,
			  size_t room, void *const states[]);

#endif
