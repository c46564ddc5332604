// SPDX-License-Identifier: Apache-2.0
/* Limits of cgroups and counters of the host, as rules ask for them. */
#include <string.h>

#include "digest.h"

bool digest_counter(const struct digest *digest, const char *name, const char *subject,
		    u64 *ret_growth)
{
	for (size_t i = 0; i < digest->counter_count; i++) {
		const struct counter *counter = &digest->counters[i];

		if (strcmp(counter->name, name) || strcmp(counter->subject, subject))
			continue;
		*ret_growth = counter->end > counter->begin ? counter->end - counter->begin : 0;
		return true;
	}
	return false;
}

static bool has_limit(const struct cgroup_limit *limit, enum limit_kind kind)
{
	if (kind == LIMIT_CPU)
		return limit->cpu_quota_us && limit->cpu_period_us;
	if (kind == LIMIT_MEMORY)
		return limit->memory_high || limit->memory_max;
	return *limit->io_limit && strcmp(limit->io_limit, "0") != 0;
}

/* Is the path that one, or below it? */
static bool is_below(const char *path, const char *above)
{
	size_t length = strlen(above);

	while (length && above[length - 1] == '/')
		length--;
	return !strncmp(path, above, length) && (!path[length] || path[length] == '/');
}

static bool is_in(const struct digest *digest, const struct process *process, const char *cgroup)
{
	for (size_t i = 0; i < digest->cgroup_process_count; i++)
		if (digest->cgroup_processes[i].pid == process->pid &&
		    !strcmp(digest->cgroup_processes[i].cgroup, cgroup))
			return true;
	return *process->cgroup && is_below(process->cgroup, cgroup);
}

/* The one with the longest path is the nearest. */
const struct cgroup_limit *digest_limit(const struct digest *digest, const struct process *process,
					enum limit_kind kind)
{
	const struct cgroup_limit *best = NULL;

	for (size_t i = 0; i < digest->limit_count; i++) {
		const struct cgroup_limit *limit = &digest->limits[i];

		if (has_limit(limit, kind) && is_in(digest, process, limit->cgroup) &&
		    (!best || strlen(limit->cgroup) > strlen(best->cgroup)))
			best = limit;
	}
	return best;
}
