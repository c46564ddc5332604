/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries out what the governor orders, on the running capture: thins rates, switches parts off
 * when dwell costs more than --max-overhead, and takes everything back when there is room. Owns its
 * counts; the capture and its knobs are engine.c's, which calls it with each reading.
 */
#ifndef DWELL_ENGINE_THROTTLE_H
#define DWELL_ENGINE_THROTTLE_H

#include "../capture/capture.h"
#include "../capture/governor.h"
#include "../capture/heavy_hitters.h"
#include "../model/signal.h"
#include "coverage.h"

/* Names of parts of a session, for its table `coverage`; a signal has its own name. */
#define THROTTLE_STACKS	     "stacks" /* of threads that run */
#define THROTTLE_WAIT_STACKS "wait_stacks"
#define THROTTLE_SPLIT	     "tier_b"
#define THROTTLE_DETAIL	     "detail"
#define THROTTLE_SLOW	     "slow"

/* A step should save one in so many of what dwell may cost. */
#define THROTTLE_WORTH_ONE_IN 16

struct throttle {
	struct governor governor;
	struct capture *capture;
	const struct probe *probes; /* of the capture */
	size_t probe_count;
	struct live_config *live;
	struct live_config full; /* its rates, before anything was thinned */
	u32 freq;		 /* samples a second on each CPU, likewise; 0: none */
	u64 pair_limit_ns;
	u64 worth_ns;		    /* what a step should save at least, of the last reading */
	struct heavy_hitters calls; /* system calls since the last reading, of those under Tier B */
	u64 signals;		    /* a bit for each that was chosen, and is measured now */
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
	u64 thread_rows; /* of the ledger, since somebody set it to 0 */
};

/* What was done, and why, in words. */
struct throttle_step {
	char what[96];
	char why[160];
};

/* What the limit is, and what there is to reduce: after `live` has its rates. */
void throttle_open(struct throttle *throttle, bool has_stacks, bool has_split, bool has_rates);

/* For capture_config: context is the throttle. */
void throttle_row(void *context, const struct rec_hdr *row);

/* Does what must be done, but for GOVERNOR_DETACH, which is left to the caller: what it was. */
enum governor_move throttle_judge(struct throttle *throttle, const struct governor_reading *reading,
				  struct throttle_step *ret_step);

/* After that: true if another part was taken back at once, and what it was; to be called again. */
bool throttle_restore_more(struct throttle *throttle, const struct governor_reading *reading,
			   struct throttle_step *ret_step);

/* Between its files. A step on Tier B: 0, -errno, or -ENODATA if there is nothing to do; and what
 * of it is left for the next reading. */
int throttle_split_off(struct throttle *throttle, struct throttle_step *step);
int throttle_split_on(struct throttle *throttle, struct throttle_step *step);
void throttle_split_settle(struct throttle *throttle);

/* The probes of a signal, or of all with a role; or some of them. */
struct probe_choice {
	const struct signal *signal; /* NULL: by role */
	enum signal_role role;
	bool (*has)(const struct probe *probe); /* NULL: all */
};

bool throttle_is_of(const struct signal *signal, const struct probe *probe);
bool throttle_has_role(enum signal_role role, const struct probe *probe);
void throttle_detach_chosen(struct throttle *throttle, const struct probe_choice *choice);
int throttle_attach_chosen(struct throttle *throttle, const struct probe_choice *choice);
void throttle_detach(struct throttle *throttle, const struct signal *signal);
int throttle_attach(struct throttle *throttle, const struct signal *signal);

/* A part is on or off from now on. */
void throttle_note(struct throttle *throttle, const char *part, bool is_on);

/* Another has switched a signal off, for good. */
void throttle_lose_signal(struct throttle *throttle, int id);

/* Whether the last reading, or what was done about it, asks for another one soon. */
bool throttle_is_alert(const struct throttle *throttle);

#endif
