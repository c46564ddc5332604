/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes that the worker knows, until they have ended and been written down.
 */
#ifndef DWELL_PROCESS_H
#define DWELL_PROCESS_H

#include <stdbool.h>

#include "../../abi/records.h"
#include "../../src/base/cgroup.h"

#define PROCESSES_MAX	    16384 /* that live at the same time */
#define PROCESS_BUCKETS	    16384 /* a power of two */
#define EXECS_MAX	    4096  /* in one window */
#define PROCESS_CGROUPS_MAX 4096  /* whose paths are known */

struct process_row {
	u64 start_ns, end_ns; /* end_ns 0: it lives */
	u64 cgroup;
	u32 pid, parent, uid;
	s32 exit_code;
	u32 pid_ns, mnt_ns, net_ns;
	u32 next; /* in its bucket, or among the free: place + 1 */
	u32 path; /* its cgroup's: place + 1 among paths; 0: not known */
	bool is_used, is_kernel;
	bool is_changed;   /* since it was last written */
	bool is_looked_up; /* for its path, with or without success */
	char comm[COMM_BYTES];
	char exe[PATH_BYTES];
};

struct exec_row {
	u64 ts_ns, start_ns;
	u32 pid, parent;
	char exe[PATH_BYTES];
};

struct process_path {
	u64 cgroup;
	char path[CGROUP_PATH_BYTES];
};

struct process_book {
	/* First, so that they can be read without the rest. */
	u64 known;	/* rows in use */
	u64 not_kept;	/* processes beyond PROCESSES_MAX */
	u64 execs_lost; /* beyond EXECS_MAX of a window */
	u64 paths_lost; /* cgroups beyond PROCESS_CGROUPS_MAX */

	u32 high_water; /* rows that were ever in use */
	u32 free;	/* first free one below that: place + 1 */
	u32 buckets[PROCESS_BUCKETS];
	struct process_row rows[PROCESSES_MAX];
	u32 exec_count;
	struct exec_row execs[EXECS_MAX];
	u32 path_count;
	struct process_path paths[PROCESS_CGROUPS_MAX];
};

/* places.c: finds the cgroup paths of those rows that have none yet. Called once per window. */
void process_find_places(struct process_book *book);

/* The most telling line of a /proc/PID/cgroup: false if none says more than "/". */
bool process_pick_path(const char *text, char *ret_path, size_t size);

#endif
