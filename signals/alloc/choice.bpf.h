/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Which allocations are taken. A program may allocate a million times a second. So one of s bytes
 * is taken with the chance min(1, s / interval), and stands for interval / s of its kind then: sums
 * of bytes are right on average, whatever the interval is, and large ones are all taken. Each CPU
 * doubles its own interval while it takes more than its share, and halves it again. How long a call
 * takes is measured of the same ones, and of one in so many others, as most calls are small.
 */
#ifndef DWELL_ALLOC_CHOICE_BPF_H
#define DWELL_ALLOC_CHOICE_BPF_H

#include "alloc.h"

struct alloc_choices_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct alloc_choice);
};

extern struct alloc_choices_map alloc_choices SEC(".maps");

/* For how many allocations one stands; 0: it is not taken. */
struct alloc_weights {
	u32 bytes;
	u32 latency;
};

static __always_inline struct alloc_choice *alloc_choice_here(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&alloc_choices, &zero);
}

static __always_inline u64 alloc_random(struct alloc_choice *choice)
{
	u64 stream = CPUS_MAX + bpf_get_smp_processor_id(); /* those below are of waits */

	return sampler_random(&choice->random, stream) >> 8;
}

/* whole / part, up or down by chance, so that it is right on average. */
static __always_inline u32 alloc_weight(struct alloc_choice *choice, u64 whole, u64 part)
{
	if (part >= whole)
		return 1;
	if (!part)
		return 0; /* cannot be */
	return (u32)(whole / part + (alloc_random(choice) % part < whole % part));
}

/* It is only when one is taken that the clock is read. */
static __always_inline void alloc_count(struct alloc_choice *choice, u64 limit)
{
	sampler_turn(&choice->share, limit, bpf_ktime_get_ns());
	sampler_count(&choice->share, limit);
}

static __always_inline void alloc_choose(struct alloc_choice *choice, struct live_config *live,
					 u64 size, struct alloc_weights *ret_weights)
{
	u64 interval = live->alloc_interval, least, dice;

	ret_weights->bytes = ret_weights->latency = 1;
	if (interval <= 1)
		return; /* all of them were asked for: no share holds then */
	interval <<= choice->share.doublings & 31;
	size = size ? size : 1;
	least = live->alloc_one_in ? interval / live->alloc_one_in : 0;
	least = size > least ? size : least;
	dice = alloc_random(choice) % interval;
	if (dice >= size)
		ret_weights->bytes = 0;
	else
		ret_weights->bytes = alloc_weight(choice, interval, size);
	if (dice >= least)
		ret_weights->latency = 0;
	else
		ret_weights->latency = alloc_weight(choice, interval, least);
	if (ret_weights->bytes)
		alloc_count(choice, sampler_limit(live->alloc_budget));
}

#endif
