/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signals that end a measurement: held back and read where it suits, so that each leaves a
 * complete result. Owns the process's signal mask meanwhile. Called by engine.c; what was there
 * before is read by target.c.
 */
#ifndef DWELL_ENGINE_STOP_SIGNALS_H
#define DWELL_ENGINE_STOP_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#include "../../abi/types.h"

/* Signals as dwell itself found them: a command gets them so. */
struct inherited {
	sigset_t mask;
	struct sigaction child;
};

struct stop_signals {
	struct inherited inherited;
	int fd;		  /* -1: they are not held */
	int ended_by;	  /* signal; 0: none */
	bool is_told_end; /* Ctrl-C: the command got it as well, and has the say */
};

int stop_signals_hold(struct stop_signals *stop_signals);

/* From here on a second signal ends dwell at once, as it would any program. */
void stop_signals_release(struct stop_signals *stop_signals);

/*
 * Sleeps until a signal comes, the deadline is there, or also_fd can be read (-1: none).
 * has_command: Ctrl-C is its to obey.
 */
void stop_signals_sleep(struct stop_signals *stop_signals, u64 deadline_ns, bool has_command,
			int also_fd);

#endif
