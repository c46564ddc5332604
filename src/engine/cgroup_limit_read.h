/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of one cgroup, v1 or v2: its limits, how often its quota throttled, whether it has
 * processes. Owns nothing. Called by cgroup_limits.c.
 */
#ifndef DWELL_ENGINE_CGROUP_LIMIT_READ_H
#define DWELL_ENGINE_CGROUP_LIMIT_READ_H

#include <stdbool.h>

#include "../base/cgroup.h"

#define CGROUP_IO_LIMIT_SIZE   256
#define CGROUP_NO_LIMIT	       (~0ULL)
#define CGROUP_NOBODY	       (-1)
#define CGROUP_FILE_PATH_BYTES (256 + CGROUP_PATH_BYTES + 64)

enum cgroup_resource { CGROUP_CPU, CGROUP_MEMORY, CGROUP_IO, CGROUP_RESOURCES };

struct cgroup_limit {
	char path[CGROUP_PATH_BYTES];  /* below the mount, "/" is the mount itself */
	u64 quota_us, period_us;       /* of a CPU; quota_us is CGROUP_NO_LIMIT without one */
	u64 memory_high, memory_max;   /* bytes, or CGROUP_NO_LIMIT */
	char io[CGROUP_IO_LIMIT_SIZE]; /* "loop0 wbps=1048576", several separated by "; " */
	int by[CGROUP_RESOURCES]; /* index of the cgroup that has the limit: this one, an ancestor
				   */
	int mount[CGROUP_RESOURCES]; /* index of the mount where the resource is; CGROUP_NOBODY */
	u64 throttled, throttled_us; /* of the CPU, as last read */
	u64 throttled_before, throttled_before_us;
};

/* Of limit->path, what is in the files of this mount: others are CGROUP_NO_LIMIT. */
void cgroup_read_limits(const struct cgroup_mount *mount, unsigned int resources,
			struct cgroup_limit *limit);

/* A cgroup that was removed keeps what was read last. */
void cgroup_read_throttled(const struct cgroup_mount *mount, struct cgroup_limit *limit);

bool cgroup_has_processes(const struct cgroup_mount *mount, const char *path);

void cgroup_name_file(const struct cgroup_mount *mount, const char *path, const char *file,
		      char ret_path[CGROUP_FILE_PATH_BYTES]);

/* Cut at size, always ended by NUL. */
void cgroup_append(char *to, size_t size, const char *more);

#endif
