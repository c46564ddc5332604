/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes that wait for a file, of one signal: what that says of them is in its struct
 * deferred_kind. Each file that a followed process maps and that may have
 * them is looked through by the worker, once; then the probes are attached, in each followed
 * process of its own, so that others do not pay; in all at once only where all are followed. What
 * they cost is counted from their first moment on, told, and held below a limit: the price is that
 * of every call, taken or not. Owns the files' descriptors. Called by engine.c and, as listener, by
 * mappings.c.
 */
#ifndef DWELL_ENGINE_DEFERRED_PROBES_H
#define DWELL_ENGINE_DEFERRED_PROBES_H

#include "../capture/capture.h"
#include "../worker/worker.h"
#include "throttle.h"
#include "mappings.h"
#include "plan.h"

#define DEFERRED_PARTS_MAX     12  /* programs */
#define DEFERRED_FILES_MAX     16  /* that have the functions ... */
#define DEFERRED_PROGRAMS_MAX  12  /* ... of which executables: libraries may come later */
#define DEFERRED_PROCESSES_MAX 256 /* at a time */
#define DEFERRED_LINKS_MAX     512 /* descriptors, of which a process most often may have 1,024 */

/* Where a file has places for one program. */
struct deferred_part {
	size_t probe; /* its first one in the list */
	struct capture_places places;
};

struct deferred_file {
	int fd;
	int library; /* its place in the signal's list; -1: it is an executable */
	size_t site_count;
	struct deferred_part parts[DEFERRED_PARTS_MAX];
	size_t part_count;
};

struct deferred_probes {
	const struct deferred_kind *kind; /* NULL: no signal that was chosen has such probes */
	int signal;			  /* that has them; 0: none */
	struct capture *capture;
	struct worker *worker;
	const struct probe_list *probes;
	struct mappings_listener listener;
	struct deferred_file files[DEFERRED_FILES_MAX];
	size_t file_count, program_count; /* those of executables are in both */
	u32 pids[DEFERRED_PROCESSES_MAX]; /* that live */
	size_t pid_count;
	u64 link_count;	   /* descriptors that were taken; those of the dead are given back */
	u64 process_count; /* over the whole time */
	u64 refused;	   /* times that there was no room for a process */
	u64 files_refused; /* files that there was no room for */
	u64 asked_ns;	   /* when it was last looked whether is_asked */
	bool is_asked;	   /* the probes are of use: programs have seen that */
	bool is_for_all;   /* whoever maps a file is followed */
	bool is_wanted;	   /* there are such probes */
	bool is_forced;	   /* by --force */
	bool is_given_up;  /* they cost too much */
	bool is_resting;   /* their signal is switched off */
	bool is_told;	   /* what they cost */
	double limit;	   /* most of one CPU's time */
	u64 price_ns[DEFERRED_FUNCTIONS_MAX]; /* of one call, as its dearest place has it ... */
	u64 end_ns[DEFERRED_FUNCTIONS_MAX];   /* ... and of its end, where that has its own probe */
	u64 return_ns;			      /* and of its return, where that has a probe */
	u64 calls[DEFERRED_FUNCTIONS_MAX];    /* when last looked */
	u64 looked_ns;
	bool tracks_lives; /* --live */
	u64 forgot_ns;	   /* when samples of dead processes were last given up */
	u64 lives_forgotten;
};

void deferred_open(struct deferred_probes *deferred, struct capture *capture, struct worker *worker,
		   const struct plan *plan, size_t place); /* in plan->deferred[] */
void deferred_close(struct deferred_probes *deferred);	   /* also of one that was never opened */

/* Their signal is switched off, or on again: those that are only a part of it come back then. */
void deferred_rest(struct deferred_probes *deferred, bool is_off);

/* Once in a while: true if they were given up just now, and why is in *ret_step. */
bool deferred_watch(struct deferred_probes *deferred, struct throttle_step *ret_step);

#endif
