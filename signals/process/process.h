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
	bool is_vanished;  /* its end was lost */
	bool is_changed;   /* since it was last written */
	bool is_wanted;	   /* its path was asked for */
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

	u64 vanished;	/* processes whose end was lost, and whose number another has */
	u32 high_water; /* rows that were ever in use */
	u32 free;	/* first free one below that: place + 1 */
	u32 buckets[PROCESS_BUCKETS];
	struct process_row rows[PROCESSES_MAX];
	u32 exec_count;
	struct exec_row execs[EXECS_MAX];
	u32 path_count;
	struct process_path paths[PROCESS_CGROUPS_MAX];
};

/* By pid alone, so that a parent can be found too, whose start is not known. */
static inline u32 *process_bucket(struct process_book *book, u32 pid)
{
	return &book->buckets[(pid * 0x9e3779b1u) >> 16 & (PROCESS_BUCKETS - 1)];
}

/* The newest of that pid. */
static inline struct process_row *process_find_pid(struct process_book *book, u32 pid)
{
	for (u32 at = *process_bucket(book, pid); at; at = book->rows[at - 1].next)
		if (book->rows[at - 1].pid == pid)
			return &book->rows[at - 1];
	return NULL;
}

/* places.c: as struct signal has them */
size_t process_want_cgroups(void *state, bool has_v1, struct cgroup_want *wants, size_t max);
void process_take_cgroup(void *state, const struct cgroup_found *found);

/* The path is known, but not the number of its cgroup. */
void process_know_path(struct process_book *book, struct process_row *row, const char *path);

/* Gives rows without a path what is known. Called once per window. */
void process_find_places(struct process_book *book);

#endif
