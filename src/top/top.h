/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwell top: a measurement that is shown while it runs. This process starts two others, one that
 * measures (src/engine) and one that shows (screen.h), saves what was measured when it is asked to,
 * and restores the terminal whatever becomes of them. Owns both, and the folder of the session.
 * Called by src/cmd/top.c.
 */
#ifndef DWELL_TOP_TOP_H
#define DWELL_TOP_TOP_H

#include "../engine/engine.h"

struct top_options {
	struct engine_options engine; /* what is measured, and how */
	u64 refreshes;		      /* --batch: so many, as text; 0: a terminal */
	bool by_process;
	const char *filter; /* NULL: none */
};

/* The exit status; what went wrong was told. */
int top_run(struct top_options *options);

#endif
