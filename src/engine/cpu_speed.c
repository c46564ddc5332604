// SPDX-License-Identifier: Apache-2.0
#include "cpu_speed.h"

#include "../base/clock.h"

#define PAUSE_NS (NS_PER_S / 4)
#define ROUNDS	 10000 /* some 10 us */
#define TRIES	 3     /* the shortest counts: the others were interrupted */

static volatile u64 result; /* so that the loop is not left out */

/* Two chains of multiplications that do not depend on each other: some of a core is left unused. */
static __attribute__((noinline)) u64 compute(void)
{
	u64 a = 1, b = 2, c = 3, d = 4;

	for (int i = 0; i < ROUNDS; i++) {
		a = a * 0x9e3779b97f4a7c15ULL + b;
		b ^= a >> 7;
		c = c * 0xbf58476d1ce4e5b9ULL + d;
		d ^= c >> 9;
	}
	return a ^ b ^ c ^ d;
}

static u64 time_once(void)
{
	u64 begin_ns = clock_now_ns();

	result = compute();
	return clock_now_ns() - begin_ns;
}

void cpu_speed_look(struct cpu_speed *speed)
{
	u64 now_ns = clock_now_ns(), shortest = ~0ULL;

	if (now_ns < speed->due_ns)
		return;
	for (int i = 0; i < TRIES; i++) {
		u64 took_ns = time_once();

		shortest = took_ns < shortest ? took_ns : shortest;
	}
	speed->sum_ns += shortest;
	speed->count++;
	speed->due_ns = now_ns + PAUSE_NS;
}

u64 cpu_speed_take_ns(struct cpu_speed *speed)
{
	u64 mean_ns = speed->count ? speed->sum_ns / speed->count : 0;

	speed->sum_ns = speed->count = 0;
	return mean_ns;
}
