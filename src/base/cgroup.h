/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cgroup trees of this host: where they are mounted, which kernel id a directory has, and a
 * bounded walk. v2, v1 and both side by side. Owns nothing. Called by who turns a path into a
 * filter, and by who turns an id into a path.
 */
#ifndef DWELL_BASE_CGROUP_H
#define DWELL_BASE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/types.h"

#define CGROUP_PATH_BYTES 512	/* longer ones are skipped */
#define CGROUP_DEPTH_MAX  32	/* of a walk */
#define CGROUP_WALK_MAX	  65536 /* directories of a walk */
#define CGROUP_MOUNTS_MAX 32

struct cgroup_mount {
	char at[256];  /* mount point */
	u64 device;    /* st_dev of all that is in it */
	u32 hierarchy; /* as the kernel numbers it; 0 is v2 */
};

/*
 * One line of /proc/PID/mountinfo, held against the text of /proc/PID/cgroup, which has the
 * numbers of hierarchies. False if it is no cgroup mount.
 */
bool cgroup_parse_mount(const char *line, const char *hierarchies, struct cgroup_mount *ret_mount);

/* How many are mounted, at most max, each hierarchy once; or -errno. */
int cgroup_list_mounts(struct cgroup_mount *mounts, size_t max);

/* The id of a directory below a mount (path may begin with '/'): 0 or -errno. */
int cgroup_id(const struct cgroup_mount *mount, const char *path, u64 *ret_id);

/* The most telling line of a /proc/PID/cgroup: false if none says more than "/". */
bool cgroup_pick_path(const char *text, char *ret_path, size_t size);

/* A cgroup whose path is wanted, by its id in the v2 tree (0: not that), or that of a process. */
struct cgroup_want {
	u64 id;
	u64 pid; /* 0: no process is to be looked at */
};

/* What was found for one: of a cgroup (pid is 0), or of one process, where trees are v1. */
struct cgroup_found {
	u64 id; /* with a pid: 0 */
	u64 pid;
	char path[CGROUP_PATH_BYTES];
};

enum cgroup_step { CGROUP_WALK_ON, CGROUP_WALK_PAST, CGROUP_WALK_END };

/* Gets each directory: its path below the mount ("/" is the mount itself), and its id. */
typedef enum cgroup_step (*cgroup_visit)(void *context, const char *path, u64 id);

/* 0 when all was seen or the visitor had enough, -E2BIG when a bound was met, -errno. */
int cgroup_walk(const struct cgroup_mount *mount, cgroup_visit visit, void *context);

#endif
