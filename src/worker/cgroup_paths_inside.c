// SPDX-License-Identifier: Apache-2.0
/*
 * The worker's own side: which paths signals want, and what was found.
 */
#include <string.h>

#include "../model/signal.h"
#include "cgroup_paths.h"

static ssize_t want(bool has_v1, void *reply, size_t room, void *const states[])
{
	struct cgroup_want *wants = reply;
	size_t count = 0, max = room / sizeof(*wants);

	for (int id = 0; id < SIGNAL_LIMIT; id++) {
		const struct signal *signal = signal_rows[id].signal;

		if (signal && signal->want_cgroups)
			count += signal->want_cgroups(states[id], has_v1, wants + count,
						      max - count);
	}
	return (ssize_t)(count * sizeof(*wants));
}

static void take(const struct cgroup_found *found, void *const states[])
{
	for (int id = 0; id < SIGNAL_LIMIT; id++) {
		const struct signal *signal = signal_rows[id].signal;

		if (signal && signal->take_cgroup)
			signal->take_cgroup(states[id], found);
	}
}

ssize_t cgroup_inside_run(enum cgroup_job job, const void *request, size_t size, void *reply,
			  size_t room, void *const states[])
{
	struct cgroup_found found;

	if (job == CGROUP_WANTED)
		return want(size && *(const u8 *)request, reply, room, states);
	for (size_t at = 0; at + sizeof(found) <= size; at += sizeof(found)) {
		memcpy(&found, (const char *)request + at, sizeof(found));
		found.path[sizeof(found.path) - 1] = '\0';
		take(&found, states);
	}
	return 0;
}
