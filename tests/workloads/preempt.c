// SPDX-License-Identifier: Apache-2.0
/*
 * Threads on one CPU that call one function, each with a number of its own, and preempt each other
 * wherever they are: also within a probe's program, where the kernel can be preempted. One of them,
 * with a real-time priority, wakes up every 50 us.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "oracle.h"

#if defined(__clang__)
#define TRACED __attribute__((noinline, used))
#else
#define TRACED __attribute__((noinline, noclone, used))
#endif

#define THREADS	     4 /* the last one preempts the others */
#define DEFAULT_SECS 3

long traced_preempt(long who, long round);

static long long until;
static struct {
	long long calls, switches;
} told[THREADS];
static int has_priority;

TRACED long traced_preempt(long who, long round)
{
	__asm__ volatile("" ::: "memory");
	return who * 1000 + round % 7;
}

static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	must(!sched_setaffinity(0, sizeof(set), &set), "to stay on one CPU");
}

static void *call(void *number)
{
	const struct sched_param priority = {.sched_priority = 1};
	const struct timespec pause = {.tv_nsec = 50 * US};
	long who = (long)number;
	struct rusage usage;
	long round = 0;

	pin();
	if (who == THREADS)
		has_priority = !pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
	while (now() < until) {
		must(traced_preempt(who, round) == who * 1000 + round % 7, "a call");
		round++;
		if (who == THREADS)
			nanosleep(&pause, NULL);
	}
	getrusage(RUSAGE_THREAD, &usage);
	told[who - 1].calls = round;
	told[who - 1].switches = usage.ru_nivcsw;
	return NULL;
}

void do_traced_preempt(void)
{
	const char *seconds = getenv("PREEMPT_SECONDS");
	pthread_t threads[THREADS];
	char key[32];

	until = now() + (seconds ? atoll(seconds) : DEFAULT_SECS) * 1000 * MS;
	for (long i = 0; i < THREADS; i++)
		must(!pthread_create(&threads[i], NULL, call, (void *)(i + 1)), "a thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++) {
		snprintf(key, sizeof(key), "calls_%d", i + 1);
		truth(key, told[i].calls);
		truth("preempted", told[i].switches);
	}
	truth("has_priority", has_priority);
}
