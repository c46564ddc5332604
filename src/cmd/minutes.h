/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session says of its own making: where and when, what was lost, which hooks were used and
 * whether they fired, what it all cost. Owns nothing but a batch of rows. Called by follow.c.
 */
#ifndef DWELL_CMD_MINUTES_H
#define DWELL_CMD_MINUTES_H

#include "../capture/cost.h"
#include "brake.h"
#include "../worker/session.h"
#include "follow.h"
#include "mappings.h"

/* The kernel's clock on programs costs as much as some of them: it is on in bursts, in these
 * windows. */
#define BURST_NS	    (NS_PER_S / 10)
#define BURST_EVERY	    8
#define BURST_EVERY_LIMITED 4  /* where the cost is held below a limit */
#define BURST_MORE_MAX	    10 /* windows more, while a hook has not fired yet */
#define MINUTES_WINDOW_NS   1000000000ULL

struct minutes {
	struct worker *worker;
	const struct capture *capture;
	const struct probe *probes;
	size_t probe_count;
	struct rows rows;
	struct health told; /* losses that the session has */
	struct cost before; /* at the last window's end, which was then */
	u64 before_ns;
	u64 steal_before_ns;	/* by the hypervisor, of the host, when it began */
	bool is_limited;	/* by --max-overhead */
	bool can_measure;	/* the kernel has a clock on programs */
	int stats_fd;		/* -1: the kernel's clock on our programs is off */
	u64 burst_begin_ns;	/* of the one under way */
	u64 measured_ns;	/* of those in windows that are over */
	u64 window_measured_ns; /* and in this one */
	u64 bursts_more;	/* so many beyond the regular ones */
};

/* tier_why is NULL for one that was asked for, or is the default. */
void minutes_begin(struct minutes *minutes, const struct follow_options *options, enum tier tier,
		   const char *tier_why, u64 started_ns);

/*
 * Rows of one window, sent before it ends: true if its cost was measured. Where the kernel has no
 * clock on programs, every window's is, without them.
 */
bool minutes_window(struct minutes *minutes, u64 window, const struct health *health, bool is_last,
		    struct governor_reading *ret_reading);

/* When the burst under way is long enough, if there is one; to be looked at then. */
u64 minutes_burst_end(const struct minutes *minutes);
void minutes_look(struct minutes *minutes);

/* A step of the governor, now. */
void minutes_step(struct minutes *minutes, const struct brake_step *step);

/* Whether the programs are measured in the window after this one; is_wanted: somebody asks. */
void minutes_plan(struct minutes *minutes, u64 window, bool is_wanted);

/* Hooks, tables for stacks (mappings NULL: none), and the time of the end: after the last window's
 * rows, before it ends. */
void minutes_end(struct minutes *minutes, u64 ended_ns, const struct mappings *mappings);
void minutes_close(struct minutes *minutes);

#endif
