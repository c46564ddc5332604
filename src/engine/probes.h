/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which probes a measurement has, whether those serve that it cannot do without, and the ones that
 * it runs itself. Owns copies of the probes. Called by engine.c.
 */
#ifndef DWELL_ENGINE_PROBES_H
#define DWELL_ENGINE_PROBES_H

#include "../capture/capture.h"
#include "engine.h"

struct probe_list {
	struct probe items[CAPTURE_PROBES_MAX];
	size_t count;
};

void probes_choose(struct probe_list *list, const struct engine_options *options, enum tier tier);

/* A signal that was chosen, and needs Tier B's hooks; NULL: none does. */
const char *probes_demanding(const struct engine_options *options);

/* How many places for series each of these signals may have, so that all together fit. */
void probes_share(u64 signals, u32 ret_limits[SIGNAL_LIMIT]);

/* After they were attached: 0, or told: -ESRCH if whom they were for has ended, else -EOPNOTSUPP.
 */
int probes_check(const struct probe_list *list, const struct capture *capture);

/* Runs those that tell what is there, for who does not know it. */
void probes_tell_again(const struct probe_list *list, struct capture *capture);

/* Runs the iterators that are to run then: 0 or the first -errno. */
int probes_run(const struct probe_list *list, struct capture *capture, enum probe_run when);

/* Sends what found no room in the ring buffer, of all signals that keep it: 0 or -errno. */
int probes_send_rest(struct capture *capture);

#endif
