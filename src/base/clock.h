/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Monotonic time in nanoseconds, the clock that records carry, and the calling thread's CPU time.
 */
#ifndef DWELL_BASE_CLOCK_H
#define DWELL_BASE_CLOCK_H

#include <time.h>

#include "../../abi/types.h"

#define NS_PER_MS 1000000ULL
#define NS_PER_S  1000000000ULL

static inline u64 clock_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * NS_PER_S + (u64)ts.tv_nsec;
}

static inline u64 clock_sooner(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 clock_thread_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (u64)ts.tv_sec * NS_PER_S + (u64)ts.tv_nsec;
}

#endif
