/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last word on each CPU, as the worker keeps it, and what of it the session has been told.
 */
#ifndef DWELL_CPU_H
#define DWELL_CPU_H

#include "../../abi/records.h"

struct cpu_told {
	u64 ns[CPU_USE_COUNT];
	u64 queue_ns;
	u64 switches;
	u32 missed;
	u16 is_pending; /* a record came since */
	u16 has_base;	/* a record came at all */
};

struct cpu_book {
	u64 turned_away; /* records of CPUs beyond CPUS_MAX */
	u64 is_resumed;
	struct rec_cpu rows[CPUS_MAX];
	struct cpu_told told[CPUS_MAX];
};

#endif
