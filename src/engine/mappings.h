/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What processes have mapped, for the walk of their stacks: who is asked for, by the kernel side or
 * because the kernel tells that it maps something, is looked at, its files go to the worker as
 * descriptors, and where the tables are goes to the kernel side. Owns the list of processes and
 * what it takes to hear of them. Called by engine.c, in the privileged process.
 */
#ifndef DWELL_ENGINE_MAPPINGS_H
#define DWELL_ENGINE_MAPPINGS_H

#include "../capture/capture.h"
#include "../worker/unwinding.h"
#include "helpers.h"

struct mappings;

/* What happened, beside what the worker counts. */
struct mappings_counts {
	u64 scans;	 /* processes that were looked at, each time */
	u64 scan_ns;	 /* and how long it took, worker included */
	u64 gone;	 /* that were no longer there */
	u64 unpublished; /* for which the kernel side had no room */
	u64 refused;	 /* for which we had none */
	u64 lost;	 /* mappings of which we were not told */
	bool is_deaf;	 /* nobody tells of new mappings: only who is sampled is looked at again */
};

/* -ENOENT if no probe walks stacks; other -errno, told. */
int mappings_open(struct capture *capture, const struct helpers *helpers, bool lines, bool inlined,
		  struct mappings **ret_mappings);
/* This CPU came online, and has to be listened to again. */
void mappings_online(struct mappings *mappings, int cpu);

/* The symbolizer was replaced: 0, or -errno if it does not answer either. */
int mappings_begin_again(struct mappings *mappings);

void mappings_close(struct mappings *mappings); /* NULL is allowed */

/* Whoever wants to see each file that is mapped, once, and each process, whenever it is looked at.
 */
struct mappings_listener {
	void (*on_file)(void *context, u32 pid, int fd); /* the descriptor is not the listener's */
	void (*on_process)(void *context, u32 pid);
	void (*on_gone)(void *context, u32 pid);
	void *context;
	struct mappings_listener *next; /* the mappings' */
};

/* Beside those that listen already. It must outlive the mappings. */
void mappings_listen(struct mappings *mappings, struct mappings_listener *listener);

/* To be polled; then, or at the deadline, mappings_attend() has something to do. */
int mappings_fd(const struct mappings *mappings);
u64 mappings_deadline(const struct mappings *mappings);

/* What there is to do, until then at most, and one file. Never from within a worker's call. */
void mappings_attend(struct mappings *mappings, u64 until_ns);

/* This process will be sampled. */
void mappings_want(struct mappings *mappings, u32 pid);

/* Once a window: what compilers say of their code. */
void mappings_read_perf_maps(struct mappings *mappings, u64 until_ns);

void mappings_counts(const struct mappings *mappings, struct mappings_counts *ret_counts);

#endif
