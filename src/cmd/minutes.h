/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session says of its own making: where and when, what was lost, which hooks were used and
 * whether they fired, what it all cost. Owns a batch of rows and host_state. Called by follow.c.
 */
#ifndef DWELL_CMD_MINUTES_H
#define DWELL_CMD_MINUTES_H

#include "../capture/cost.h"
#include "brake.h"
#include "bursts.h"
#include "../worker/session.h"
#include "follow.h"
#include "host_state.h"
#include "mappings.h"

#define MINUTES_WINDOW_NS 1000000000ULL

struct minutes {
	struct worker *worker;
	const struct capture *capture;
	const struct probe *probes;
	size_t probe_count;
	struct rows rows;
	struct health told; /* losses that the session has */
	struct cost before; /* at the last window's end, which was then */
	u64 before_ns;
	u64 steal_before_ns;  /* by the hypervisor, of the host, when it began */
	bool can_measure;     /* the kernel has a clock on programs */
	struct bursts bursts; /* in which it is on */
	struct host_state *host;
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

/* A step of the governor, now. */
void minutes_step(struct minutes *minutes, const struct brake_step *step);

/* Hooks, tables for stacks (mappings NULL: none), what each part covers, and the time of the end:
 * after the last window's rows, before it ends. */
void minutes_end(struct minutes *minutes, u64 ended_ns, const struct mappings *mappings,
		 const struct coverage *coverage);
void minutes_close(struct minutes *minutes);

#endif
