/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The governor's hands: who is dearest, and what to do to the running capture when dwell costs
 * more than --max-overhead. Owns its tally; the capture and its knobs are follow.c's, which calls
 * it with each reading.
 */
#ifndef DWELL_CMD_BRAKE_H
#define DWELL_CMD_BRAKE_H

#include "../capture/capture.h"
#include "../capture/governor.h"
#include "../capture/tally.h"

struct brake {
	struct governor governor;
	struct capture *capture;
	const struct probe *probes; /* of the capture */
	size_t probe_count;
	struct live_config *live;
	struct tally calls; /* system calls since the last reading, of those under Tier B */
	u64 signals;	    /* a bit for each that was chosen, and is still measured */
	u64 told_ns[CAPTURE_PROBES_MAX]; /* what each probe had cost at the last reading */
	bool are_hooks_useless; /* Tier B has left all; its hooks go with the next reading */
};

/* What was given up, and why, in words. */
struct brake_step {
	char what[96];
	char why[160];
};

/* For capture_config: context is the brake. */
void brake_row(void *context, const struct rec_hdr *row);

/* Gives up what must be, but for GOVERNOR_DETACH, which is left to the caller: what it was. */
enum governor_step brake_judge(struct brake *brake, const struct governor_reading *reading,
			       struct brake_step *ret_step);

/* Whether the last reading, or what was done about it, asks for another one soon. */
bool brake_is_alert(const struct brake *brake, enum governor_step step);

#endif
