/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* How much happened on a CPU in a second: what has a record follows from it. */
#ifndef DWELL_REQUESTS_RATE_BPF_H
#define DWELL_REQUESTS_RATE_BPF_H

#include "series.h"

/* How many turns have ended on a CPU in this second, and where their series were found. */
struct request_rate {
	u64 second;
	u64 turns;
	u64 one_in; /* by the second before */
	u64 sampled;
	u64 blocks;
	u64 traced_second, traced; /* likewise, of those that are recorded for their trace */
	u32 places[REQUEST_SERIES_COUNT + 1];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct request_rate);
} request_rates SEC(".maps");

static __always_inline struct request_rate *rate_here(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&request_rates, &zero);
}

#endif
