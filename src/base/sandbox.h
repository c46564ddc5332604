/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that a process may still make (seccomp), and files that it may still reach
 * (Landlock). A refused call fails with EPERM, and is noted in memory that the parent shares, which
 * reports it by its name. Owns that memory. Called by every process of dwell that is confined.
 */
#ifndef DWELL_BASE_SANDBOX_H
#define DWELL_BASE_SANDBOX_H

#include <stdbool.h>

enum sandbox_rules {
	SANDBOX_PARSER,	    /* works on descriptors that it has: no file, no socket, no process */
	SANDBOX_SCREEN,	    /* the same, with a terminal, whose modes it may set */
	SANDBOX_FETCHER,    /* files and network, but no other program and no other process */
	SANDBOX_OPENER,	    /* files, but no network, and as the fetcher */
	SANDBOX_PRIVILEGED, /* measures: no other program, no module, no mount; all its threads */
};

/*
 * Filters are made when dwell is built: tools/sandbox_filters.c has the lists. A process may signal
 * itself alone; its number, which is known later, takes the place of this one, which no process
 * has.
 */
#define SANDBOX_PID	 0x7fffffffu
#define SANDBOX_CODE_MAX 1024 /* instructions of a filter */

struct sandbox_notes; /* what was refused, in shared memory */

/* Before the process that is confined is forked, or by itself: 0 or -errno. */
int sandbox_notes_make(struct sandbox_notes **ret_notes);
void sandbox_notes_free(struct sandbox_notes *notes); /* NULL is allowed */

/*
 * For good, with all its children: 0 or -errno. A kernel without seccomp or Landlock is no error,
 * as privileges are dropped without them, too: --verbose reports it.
 */
int sandbox_enter(enum sandbox_rules rules, struct sandbox_notes *notes);

/*
 * Reports each call that was refused since, by name, once; who is "worker process", for a sentence.
 * What is noted may be a lie: a process that was taken over can write there. NULL is allowed.
 */
void sandbox_report(struct sandbox_notes *notes, const char *who);

/* Of this kernel: whether there are seccomp filters, and Landlock's version (0: there is none). */
bool sandbox_has_filters(void);
int sandbox_landlock_version(void);

#endif
