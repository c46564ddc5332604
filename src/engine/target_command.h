/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command that is to be measured: made before the capture, held until it is followed, then let
 * go. Owns the child process until it was let go. Called by engine.c and run.c.
 */
#ifndef DWELL_ENGINE_TARGET_COMMAND_H
#define DWELL_ENGINE_TARGET_COMMAND_H

#define EXIT_CANNOT_EXEC 127

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "stop_signals.h"

struct target {
	pid_t pid;	 /* 0: none, or ended and reaped */
	int go_fd;	 /* writing to it lets the command start; -1: it was let go */
	int refused_fd;	 /* has a byte if the command could not be run; -1: not asked any more */
	int status;	 /* for the shell, once it has ended */
	bool is_refused; /* it never ran */
};

/* Whether there is such a program, looked for as execvp() does: 0 or -errno, told. */
int target_find(const char *program);

/* 0 or -errno. */
int target_hold(struct target *ret_target, char **argv, const struct inherited *inherited);
int target_let_go(struct target *target);

/* Does not wait: true once it has ended; its status is known then. */
bool target_has_ended(struct target *target);

/* One that was never let go is ended; any other goes on by itself. */
void target_leave(struct target *target);

#endif
