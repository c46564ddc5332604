// SPDX-License-Identifier: Apache-2.0
/*
 * Code that the workload "dlopen" loads while it runs.
 */
#include <time.h>

void known_plugin(int ms);

__attribute__((noinline)) static void known_in_plugin(void)
{
	for (long i = 0; i < 100000; i++)
		__asm__ volatile("" : "+r"(i));
}

void known_plugin(int ms)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		known_in_plugin();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}
