/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables counters, cgroup_limits and cgroup_processes of a session: what the kernel says of the
 * host and its cgroups at the start and at the end. Owns its memory. Called by metadata.c.
 */
#ifndef DWELL_ENGINE_HOST_STATE_H
#define DWELL_ENGINE_HOST_STATE_H

#include "../store/rows.h"
#include "../worker/worker.h"

struct host_state;

/* NULL: no memory; the calls below then do nothing. */
struct host_state *host_state_begin(struct worker *worker);
void host_state_window(struct host_state *state);
void host_state_end(struct host_state *state);
void host_state_free(struct host_state *state);

#endif
