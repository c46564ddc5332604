/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What samplers of waits and of allocations share: random numbers, and a budget. Each CPU has its
 * own threshold. It doubles the threshold whenever it has taken its share of a period, and halves
 * it after a period in which it took less than a quarter.
 */
#ifndef DWELL_SAMPLER_BPF_H
#define DWELL_SAMPLER_BPF_H

#include "../abi/sampler.h"

#define SAMPLER_PERIOD_NS     100000000ULL
#define SAMPLER_PERIODS	      10 /* of these in a second */
#define SAMPLER_DOUBLINGS_MAX 20

/*
 * Marsaglia's xorshift, from a seed that the session has: the same run chooses the same. A state of
 * 0 is not seeded yet; each sampler has a stream of its own on each CPU. The highest bits are best.
 */
static __always_inline u64 sampler_random(u64 *state, u64 stream)
{
	u64 x = *state;

	if (!x)
		x = unwind_mix(cfg_seed, stream) | 1;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return x * 0x2545f4914f6cdd1dULL;
}

/* What of a budget per second is one period's. */
static __always_inline u64 sampler_limit(u64 budget)
{
	return budget / SAMPLER_PERIODS + 1;
}

/* Begins a period when it is time. */
static __always_inline void sampler_turn(struct sampler_share *share, u64 limit, u64 now)
{
	if (now - share->period_ns < SAMPLER_PERIOD_NS)
		return;
	share->period_ns = now;
	if (share->doublings && share->taken * 4 < limit)
		share->doublings--;
	share->taken = 0;
}

/* One more is taken. */
static __always_inline void sampler_count(struct sampler_share *share, u64 limit)
{
	if (++share->taken < limit || share->doublings >= SAMPLER_DOUBLINGS_MAX)
		return;
	share->doublings++;
	share->taken = 0;
}

#endif
