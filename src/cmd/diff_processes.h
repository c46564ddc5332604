/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two processes without privileges of a comparison: one reads B, the other one reads A, and
 * judges. Owns them while they run. Called by src/cmd/diff.c.
 */
#ifndef DWELL_CMD_DIFF_PROCESSES_H
#define DWELL_CMD_DIFF_PROCESSES_H

#include "../diff/diff.h"

struct diff_argument {
	char *path, *name; /* the name is the path as valid UTF-8 */
	u64 from_ns, to_ns;
	int side;
};

struct diff_command {
	struct diff_options diff;
	struct diff_argument arguments[DIFF_RUNS_MAX];
	size_t count;
	const char *html; /* writes it as the begin of this page, see write_html.h; NULL: no */
	bool help;
	int fds[2 * DIFF_RUNS_MAX + 1]; /* the last one of those that are there is the pipe */
};

/* Compares, and writes to stdout: the status to end with; a failure is told. */
int diff_run_processes(struct diff_command *command);

#endif
