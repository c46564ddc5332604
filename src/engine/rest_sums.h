/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel side keeps a sum for each process some of whose threads' last words were lost. When
 * the process has ended, and its sum was sent after that, it is given back. Owns its list. Called
 * by engine.c after each read-out.
 */
#ifndef DWELL_ENGINE_REST_SUMS_H
#define DWELL_ENGINE_REST_SUMS_H

#include "../../abi/config.h"
#include "../capture/capture.h"

#define REST_SUMS_EVERY 16 /* read-outs */

struct rest_sum_key {
	u64 start_ns;
	u64 tgid;
};

struct rest_sums {
	struct rest_sum_key dead[LEDGER_SUMS_MAX]; /* when last looked */
	struct rest_sum_key dead_now[LEDGER_SUMS_MAX];
	size_t dead_count, dead_now_count;
	u64 read_outs;
	u64 forgotten;
};

/* All sums were sent just now. */
void rest_sums_sent(struct rest_sums *sums, struct capture *capture);

/* As capture_forget_keys() wants it: of a process that was dead already when last looked. */
bool rest_sums_is_over(void *sums, const void *key);

#endif
