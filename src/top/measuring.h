/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that measures, as top needs it: a recording in files of half a minute, of which the
 * last few are kept; after each window the screen gets the session's descriptors. Started by top.c.
 */
#ifndef DWELL_TOP_MEASURING_H
#define DWELL_TOP_MEASURING_H

#include <stdatomic.h>
#include <sys/types.h>

#include "../engine/engine.h"

#define MEASURING_FILE_NS (30 * NS_PER_S)
#define MEASURING_KEEP	  8 /* files, the one that is written included */
#define MEASURING_BEGINS  16

/* Memory that it shares with top.c. */
struct measuring_shared {
	_Atomic bool wants_next;	      /* the file that is written is to end soon */
	_Atomic u64 number;		      /* of that file; 0: none yet */
	_Atomic u64 begins[MEASURING_BEGINS]; /* when a file began, by number */
};

struct measuring {
	struct engine_options *options;
	struct measuring_shared *shared;
	int windows_fd; /* to the screen */
	pid_t parent;
};

/* In a forked process: what it is to end with. */
int measuring_run(struct measuring *measuring);

#endif
