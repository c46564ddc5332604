/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters that the kernel keeps for the whole host: pressure, TCP, network devices, softirqs.
 * Reads procfs only, so it never blocks. Owns nothing. Called by metadata.c at the start and at the
 * end.
 */
#ifndef DWELL_ENGINE_HOST_COUNTERS_H
#define DWELL_ENGINE_HOST_COUNTERS_H

#include <stddef.h>

#include "../../abi/types.h"

#define HOST_COUNTERS_MAX	  96 /* 12 of the host, and two for each of some 40 devices */
#define HOST_COUNTER_SUBJECT_SIZE 16 /* a network device's name, IFNAMSIZ */

struct host_counter {
	const char *name; /* static */
	char subject[HOST_COUNTER_SUBJECT_SIZE];
	u64 value;
};

struct host_counters {
	struct host_counter items[HOST_COUNTERS_MAX];
	size_t count;
	u64 dropped; /* counters beyond the limit */
};

/* proc is "/proc", or a folder with files of the same form. A file that is missing has no counter.
 */
void host_counters_read(const char *proc, struct host_counters *ret_counters);

/* The counter of the same name and subject; NULL: there is none. */
const struct host_counter *host_counters_find(const struct host_counters *counters,
					      const char *name, const char *subject);

#endif
