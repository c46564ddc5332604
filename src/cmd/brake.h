/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries out what the governor orders, on the running capture: thins rates, switches parts off
 * when dwell costs more than --max-overhead, and takes everything back when there is room. Owns its
 * counts; the capture and its knobs are follow.c's, which calls it with each reading.
 */
#ifndef DWELL_CMD_BRAKE_H
#define DWELL_CMD_BRAKE_H

#include "../capture/capture.h"
#include "../capture/governor.h"
#include "../capture/tally.h"
#include "../model/signal.h"
#include "coverage.h"

/* Names of parts of a session, for its table `coverage`; a signal has its own name. */
#define BRAKE_STACKS	  "stacks" /* of threads that run */
#define BRAKE_WAIT_STACKS "wait_stacks"
#define BRAKE_SPLIT	  "tier_b"
#define BRAKE_DETAIL	  "detail"
#define BRAKE_SLOW	  "slow"

/* A step should save one in so many of what dwell may cost. */
#define BRAKE_WORTH_ONE_IN 16

struct brake {
	struct governor governor;
	struct capture *capture;
	const struct probe *probes; /* of the capture */
	size_t probe_count;
	struct live_config *live;
	struct live_config full; /* its rates, before anything was thinned */
	u32 freq;		 /* samples a second on each CPU, likewise; 0: none */
	u64 pair_limit_ns;
	u64 worth_ns;	    /* what a step should save at least, of the last reading */
	struct tally calls; /* system calls since the last reading, of those under Tier B */
	u64 signals;	    /* a bit for each that was chosen, and is measured now */
	u64 told_ns[CAPTURE_PROBES_MAX]; /* what each probe had cost at the last reading */

	u8 signals_off[SIGNAL_LIMIT]; /* that can come back, the last one last */
	size_t signals_off_count;
	u64 signal_off_ns[SIGNAL_LIMIT]; /* since when */
	u32 split_off[SPLIT_OFF_MAX];	 /* processes, likewise */
	char split_names[SPLIT_OFF_MAX][40];
	size_t split_off_count;
	bool has_stacks, has_split;
	bool is_split_off;	/* Tier B is off for all */
	bool are_hooks_useless; /* and its hooks go with the next reading */
	bool are_hooks_off;	/* or are gone */
	struct coverage coverage;
};

/* What was done, and why, in words. */
struct brake_step {
	char what[96];
	char why[160];
};

/* What the limit is, and what there is to reduce: after `live` has its rates. */
void brake_open(struct brake *brake, bool has_stacks, bool has_split, bool has_rates);

/* For capture_config: context is the brake. */
void brake_row(void *context, const struct rec_hdr *row);

/* Does what must be done, but for GOVERNOR_DETACH, which is left to the caller: what it was. */
enum governor_move brake_judge(struct brake *brake, const struct governor_reading *reading,
			       struct brake_step *ret_step);

/* Between its two files. A step on Tier B: 0, -errno, or -ENODATA if there is nothing to do; what
 * of it is left for the next reading; a part that is on or off from now on; a signal's probes. */
int brake_split_off(struct brake *brake, struct brake_step *step);
int brake_split_on(struct brake *brake, struct brake_step *step);
void brake_split_settle(struct brake *brake);
void brake_note(struct brake *brake, const char *part, bool is_on);
void brake_detach(struct brake *brake, const struct signal *signal);
int brake_attach(struct brake *brake, const struct signal *signal);

/* Another has switched a signal off, for good. */
void brake_lose_signal(struct brake *brake, int id);

/* Whether the last reading, or what was done about it, asks for another one soon. */
bool brake_is_alert(const struct brake *brake);

#endif
