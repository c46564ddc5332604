/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What mappings.c and mappings_perf_map.c share; nobody else includes this.
 */
#ifndef DWELL_ENGINE_MAPPINGS_STATE_H
#define DWELL_ENGINE_MAPPINGS_STATE_H

#include "../capture/sideband.h"
#include "mappings_scan.h"
#include "process_list.h"

struct mappings {
	struct capture *capture;
	struct mappings_scanner scanner;
	int epoll_fd;
	struct sideband *sideband; /* NULL: the kernel does not let us hear */
	u64 lost_seen, lost_scan_ns;
	u64 young_until_ns; /* somebody has begun a moment ago */
	u64 hear_ns;	    /* when the side-band is looked at next */
	struct process_list processes;
	struct unwinding_batch batch; /* for the worker, with the next call */
	u32 perf_map_count;	      /* that are open */
	bool has_pages;		      /* in the batch: stacks wait for them */
	u64 sweep_ns;
	struct unwinding_wish wish; /* with the last generation that the kernel side was told */
	bool is_broken;		    /* the symbolizer does not answer */
	struct mappings_counts counts;
};

/* mappings_perf_map.c: names of code that the process's compiler made, as far as there are new. */
void mappings_read_perf_map(struct mappings *mappings, struct process *process);
void mappings_end_perf_map(struct mappings *mappings, struct process *process);

#endif
