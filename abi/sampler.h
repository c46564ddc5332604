/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * How one CPU keeps a sampler within its budget: see bpf/sampler.bpf.h.
 */
#ifndef DWELL_ABI_SAMPLER_H
#define DWELL_ABI_SAMPLER_H

#include "types.h"

struct sampler_share {
	u64 period_ns; /* when the one under way began */
	u32 taken;     /* in this period, since the threshold was last raised */
	u32 doublings; /* of the threshold */
};

#endif
