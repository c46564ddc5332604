/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which probes a measurement has, whether those serve that it cannot do without, and the ones that
 * it runs itself. Owns copies of the probes. Called by follow.c.
 */
#ifndef DWELL_CMD_PROBES_H
#define DWELL_CMD_PROBES_H

#include "../capture/capture.h"
#include "follow.h"

/*
 * Iterators say by their names when they run: x_ask before anything is followed, x_seed then,
 * x_rows in each window.
 */
#define PROBES_SEED "_seed"
#define PROBES_ASK  "_ask"
#define PROBES_ROWS "_rows"

struct probe_list {
	struct probe items[CAPTURE_PROBES_MAX];
	size_t count;
};

void probes_choose(struct probe_list *list, const struct follow_options *options, enum tier tier);

/* A signal that was chosen, and needs Tier B's hooks; NULL: none does. */
const char *probes_demanding(const struct follow_options *options);

/* How many places for series each of these signals may have, so that all together fit. */
void probes_share(u64 signals, u32 ret_limits[SIGNAL_LIMIT]);

/* After they were attached: 0, or told: -ESRCH if whom they were for has ended, else -EOPNOTSUPP.
 */
int probes_check(const struct probe_list *list, const struct capture *capture);

/* Runs iterators whose names end so: 0 or the first -errno. */
int probes_run(const struct probe_list *list, struct capture *capture, const char *suffix);

#endif
