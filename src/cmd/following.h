/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A measurement under way, as its own files see it: follow.c, which keeps its windows, and
 * follow_attach.c, which chooses what is attached. Nobody else includes this.
 */
#ifndef DWELL_CMD_FOLLOWING_H
#define DWELL_CMD_FOLLOWING_H

#include "brake.h"
#include "follow.h"
#include "interrupts.h"
#include "late.h"
#include "mappings.h"
#include "minutes.h"
#include "probes.h"
#include "target.h"

struct follow {
	const struct follow_options *options;
	struct follow_result *result;
	enum tier tier;
	const char *tier_why; /* NULL: it is as was asked for, or the default */
	struct probe_list probes;
	struct live_config live;
	struct selection selection;
	struct queue *queue;
	struct worker *worker;
	struct capture *capture;
	struct mappings *mappings; /* NULL: no stacks of user code are walked */
	struct target target;
	struct late late;
	struct minutes minutes;
	struct brake brake;
	struct interrupts interrupts;
	u64 begin_ns;	  /* of the whole */
	u64 window_ns;	  /* begin of the window that is open */
	bool has_looked;  /* extra.on_look() was called, or is not wanted */
	bool is_given_up; /* by the governor: dwell cost too much */
	bool is_broken;	  /* the session cannot be written any more; the command goes on */
	u64 lost_windows; /* since then */
};

/* Chooses probes, tasks and knobs, loads and attaches: 0 or -errno, told. */
int follow_attach(struct follow *follow);

#endif
