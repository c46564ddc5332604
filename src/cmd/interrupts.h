/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signals that end a measurement: held back and read where it suits, so that each leaves a
 * complete result. Owns the process's signal mask meanwhile. Called by follow.c; what was there
 * before is read by target.c.
 */
#ifndef DWELL_CMD_INTERRUPTS_H
#define DWELL_CMD_INTERRUPTS_H

#include <signal.h>
#include <stdbool.h>

#include "../../abi/types.h"

/* Signals as dwell itself found them: a command gets them so. */
struct inherited {
	sigset_t mask;
	struct sigaction child;
};

struct interrupts {
	struct inherited inherited;
	int fd;		  /* -1: they are not held */
	int ended_by;	  /* signal; 0: none */
	bool is_told_end; /* Ctrl-C: the command got it as well, and has the say */
};

int interrupts_hold(struct interrupts *interrupts);

/* From here on a second signal ends dwell at once, as it would any program. */
void interrupts_release(struct interrupts *interrupts);

/*
 * Sleeps until a signal comes, the deadline is there, or also_fd can be read (-1: none).
 * has_command: Ctrl-C is its to obey.
 */
void interrupts_sleep(struct interrupts *interrupts, u64 deadline_ns, bool has_command,
		      int also_fd);

#endif
