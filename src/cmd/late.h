/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes that wait for a file: those of functions that allocate, whichever library they are in.
 * Each file that a followed process maps and that may have them is looked through by the worker,
 * once; then the probes are attached, in each followed process of its own, so that others do not
 * pay; in all at once only where all are followed. What they cost is counted from their first
 * moment on, told, and held below a limit: the price is that of every call, taken or not. Owns the
 * files' descriptors. Called by follow.c and, as listener, by mappings.c.
 */
#ifndef DWELL_CMD_LATE_H
#define DWELL_CMD_LATE_H

#include "../capture/capture.h"
#include "../worker/worker.h"
#include "brake.h"
#include "mappings.h"
#include "probes.h"

#define LATE_FUNCTIONS_MAX 16
#define LATE_PARTS_MAX	   12  /* programs */
#define LATE_FILES_MAX	   16  /* that allocate */
#define LATE_PROCESSES_MAX 256 /* over the whole time */
#define LATE_LINKS_MAX	   512 /* descriptors, of which a process most often may have 1,024 */

/* Where a file has places for one program. */
struct late_part {
	size_t probe; /* its first one in the list */
	struct capture_places places;
};

/* Which functions call malloc within: these must not be counted twice. */
enum late_inner {
	LATE_INNER_NULL,   /* realloc, for what is none yet; so it is in an executable, too */
	LATE_INNER_NONE,   /* none calls it by its name */
	LATE_INNER_MALLOC, /* all: only malloc has a probe */
};

struct late_file {
	int fd;
	enum late_inner inner;
	size_t site_count;
	struct late_part parts[LATE_PARTS_MAX];
	size_t part_count;
};

struct late {
	struct capture *capture;
	struct worker *worker;
	const struct probe_list *probes;
	struct mappings_listener listener;
	struct late_file files[LATE_FILES_MAX];
	size_t file_count;
	u32 pids[LATE_PROCESSES_MAX]; /* that live */
	size_t pid_count;
	size_t link_count;		  /* descriptors that are taken, which none gives back */
	size_t attached_count;		  /* processes that had probes, also if they are gone */
	bool is_for_all;		  /* whoever maps a file is followed */
	bool is_wanted;			  /* there are such probes */
	bool is_forced;			  /* by --force */
	bool is_given_up;		  /* they cost too much */
	bool is_told;			  /* what they cost */
	bool is_full;			  /* no process more can have them; told */
	double limit;			  /* most of one CPU's time */
	u64 price_ns[LATE_FUNCTIONS_MAX]; /* of one call, as its dearest place has it */
	u64 return_ns;			  /* and of its return, where that has a probe */
	u64 calls[LATE_FUNCTIONS_MAX];	  /* when last looked */
	u64 looked_ns;
};

void late_open(struct late *late, struct capture *capture, struct worker *worker,
	       const struct probe_list *probes, const struct follow_options *options);
void late_close(struct late *late); /* also of one that was never opened */

/* Once in a while: true if they were given up just now, and why is in *ret_step. */
bool late_watch(struct late *late, struct brake_step *ret_step);

#endif
