/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's CPUs: how busy, with whom, how many threads waited. Owned by whoever asks. Called by
 * the findings and the text.
 */
#ifndef DWELL_REPORT_HOST_H
#define DWELL_REPORT_HOST_H

#include "digest.h"

/* A user of the CPUs. */
struct host_row {
	const struct group *group; /* NULL: the kernel's threads, dwell, interrupts, others */
	char name[DIGEST_COMM];
	u64 ns;
	double share; /* percent of the time of all CPUs */
};

struct host_use {
	u64 cpus, wall_ns, busy_ns, queue_ns; /* wall: of all CPUs, added up */
	double busy;			      /* percent */
	double waiting;			      /* threads, on average */
	struct host_row *rows;		      /* most time first */
	size_t row_count;
};

int host_use_find(const struct digest *digest, struct host_use *ret_use);
void host_use_free(struct host_use *use);

#endif
