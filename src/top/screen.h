/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that shows what is measured: it has the terminal (or stdout, with --batch) and the
 * session that is written, and no privilege. The process that measures never waits for it. Owns
 * model, view and terminal. Started by top.c.
 */
#ifndef DWELL_TOP_SCREEN_H
#define DWELL_TOP_SCREEN_H

#include <stdbool.h>

#include "../../abi/types.h"
#include "../base/sandbox.h"

#define SCREEN_TEXT_BYTES 256

/* A byte that comes with the two descriptors of the session after a window. */
#define SCREEN_WINDOW 'w'

/* To the screen: a line of status. From it: a letter, 'q', 's' or 'h'. */
struct screen_message {
	char kind; /* 'i': a fact, 'e': a failure */
	char text[SCREEN_TEXT_BYTES];
};

struct screen_setup {
	int windows_fd; /* a window has ended */
	int control_fd; /* to and from top.c; its end is ours */
	u64 refreshes;	/* --batch: so many, as text; 0: a terminal */
	char tier;
	bool by_process;
	const char *filter;
	struct sandbox_notes *notes;
};

/* In a forked process: what it is to end with. */
int screen_run(const struct screen_setup *setup);

#endif
