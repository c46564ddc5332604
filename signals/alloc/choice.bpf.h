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

#define ALLOC_PERIOD_NS	    100000000ULL
#define ALLOC_PERIODS	    10 /* of these in a second */
#define ALLOC_DOUBLINGS_MAX 20

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

/* Marsaglia's xorshift, from a seed that the session has. Its highest bits are its best. */
static __always_inline u64 alloc_random(struct alloc_choice *choice)
{
	u64 x = choice->random;

	if (!x)
		x = unwind_mix(cfg_seed, CPUS_MAX + bpf_get_smp_processor_id()) | 1;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	choice->random = x;
	return (x * 0x2545f4914f6cdd1dULL) >> 8;
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

/* One more is taken; it is only then that the clock is read. */
static __always_inline void alloc_count(struct alloc_choice *choice, u64 limit)
{
	u64 now = bpf_ktime_get_ns();

	if (now - choice->period_ns >= ALLOC_PERIOD_NS) {
		if (choice->doublings && choice->taken * 4 < limit)
			choice->doublings--;
		choice->period_ns = now;
		choice->taken = 0;
	}
	if (++choice->taken < limit || choice->doublings >= ALLOC_DOUBLINGS_MAX)
		return;
	choice->doublings++;
	choice->taken = 0;
}

static __always_inline void alloc_choose(struct alloc_choice *choice, struct live_config *live,
					 u64 size, struct alloc_weights *ret_weights)
{
	u64 interval = live->alloc_interval, least, dice;

	ret_weights->bytes = ret_weights->latency = 1;
	if (interval <= 1)
		return; /* all of them were asked for: no share holds then */
	interval <<= choice->doublings & 31;
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
		alloc_count(choice, live->alloc_budget / ALLOC_PERIODS + 1);
}

#endif
