/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to the host's CPUs while it is measured: those that come online have no samples
 * until their events are opened again. Owns a few numbers. Called at the end of each window.
 */
#ifndef DWELL_ENGINE_CPUS_H
#define DWELL_ENGINE_CPUS_H

#include "../capture/capture.h"

struct mappings;

struct cpus {
	u64 came_online;
	u64 gap_ns; /* for which these had no samples, at most, summed */
	int err;    /* since the last of them no CPU has samples; 0: they have */
};

/* since_ns: when it was last called, or the measurement began. mappings may be NULL. */
void cpus_follow(struct cpus *cpus, struct capture *capture, struct mappings *mappings,
		 u64 since_ns);

/* What a session says of it, by add(). */
void cpus_add_facts(const struct cpus *cpus,
		    void (*add)(void *context, const char *key, u64 number), void *context);

/* What the hypervisor took from all CPUs since the host started, to a tick; 0: not known. */
u64 cpus_steal_ns(void);

#endif
