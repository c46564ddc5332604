/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of cgroups: CPU quota, memory, I/O rates; how often the quota throttled, and which
 * processes were in a limited cgroup. Reads cgroupfs only, so it never blocks, and limits its own
 * CPU time. Owns its arrays. Called by metadata.c at the start, at each window's end, and at the
 * end.
 */
#ifndef DWELL_ENGINE_CGROUP_LIMITS_H
#define DWELL_ENGINE_CGROUP_LIMITS_H

#include "../base/hash.h"
#include "cgroup_limit_read.h"

#define CGROUP_LIMITS_MAX 256 /* cgroups */
#define CGROUP_MEMBERS_MAX                                                                         \
	4096 /* processes in them, those that live, and the dead if there is room */

struct cgroup_member {
	u32 limit;
	u32 pid;
};

struct cgroup_limits {
	struct cgroup_mount mounts[CGROUP_MOUNTS_MAX];
	unsigned int resources[CGROUP_MOUNTS_MAX]; /* bits: what each mount controls */
	size_t mount_count;
	struct cgroup_limit *limits;
	size_t count;
	struct hash members; /* struct cgroup_member */
	u64 dropped;	     /* cgroups beyond the limit, by the walk that found most of them */
	u64 walk_dropped;
	bool is_members_full; /* more processes than CGROUP_MEMBERS_MAX lived at a time */
	u64 forgotten;	      /* members that were forgotten, as they had ended */
	bool has_forgotten;   /* in this look */
	u64 begun_real_ns;    /* cgroups that were made later began with 0 */
	u64 walked_ns, walk_took_ns;
	size_t next; /* limit that the next look begins with */
	size_t here; /* mount that is walked */
};

/* Gets each process that is new in a limited cgroup. */
typedef void (*cgroup_member_found)(void *context, const struct cgroup_limit *limit, u32 pid);

/* The mounts of this host: 0 or -errno. Then cgroup_limits_walk(). */
int cgroup_limits_open(struct cgroup_limits *limits);

/* As above, with mounts that are already in it: for tests. */
int cgroup_limits_open_mounts(struct cgroup_limits *limits);
void cgroup_limits_close(struct cgroup_limits *limits);

/* Looks at all cgroups, and takes up those with a limit, their own or an ancestor's. */
void cgroup_limits_walk(struct cgroup_limits *limits, cgroup_member_found found, void *context);

/* At a window's end: what is known is read again, and cgroups are walked if that is cheap. */
void cgroup_limits_look(struct cgroup_limits *limits, cgroup_member_found found, void *context);

#endif
