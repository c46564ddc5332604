// SPDX-License-Identifier: Apache-2.0
/*
 * Many threads and processes, and those whose identity changes.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oracle.h"

#define CHILDREN     1000
#define THREADS	     2000
#define THREADS_MANY 10000
#define WAKE_MS	     5000 /* how often each of the many wakes */

/* processes: how many there were, with the first. */
void do_forks(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	}
	truth("processes", CHILDREN + 1);
}

static void *nap(void *unused)
{
	for (int i = 0; i < 5; i++)
		sleep_ms(40);
	return unused;
}

static void start_threads(pthread_t *threads, int count, void *(*body)(void *))
{
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = 0; i < count; i++)
		must(!pthread_create(&threads[i], &small, body, (void *)(long)i),
		     "create a thread");
}

/* threads: how many there were, with the first. */
void do_threads(void)
{
	static pthread_t threads[THREADS];

	start_threads(threads, THREADS, nap);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	truth("threads", THREADS + 1);
}

/* Spread over the interval, so that the load is even. */
static void *wake_now_and_then(void *number)
{
	sleep_ms((int)((long)number * WAKE_MS / THREADS_MANY));
	for (;;)
		sleep_ms(WAKE_MS);
	return NULL;
}

/* ready: all threads are there. */
void do_threads10k(void)
{
	static pthread_t threads[THREADS_MANY];

	start_threads(threads, THREADS_MANY, wake_now_and_then);
	truth("ready", THREADS_MANY);
	fflush(stdout);
	pause();
}

/* Replaces the whole process: its leader is killed in its sleep, and this thread takes its tid. */
static void *exec_another(void *unused)
{
	long long start = now();
	char self[4096];

	sleep_ms(50);
	beside_program("oracle", self, sizeof(self));
	truth("blocked.sleep", 2 * (now() - start)); /* its own, and the leader's */
	fflush(stdout);
	execl(self, self, "after-exec", (char *)NULL);
	must(false, "exec");
	return unused;
}

void do_nonleader_exec(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exec_another, NULL);
	sleep_ms(10000);
}

void do_after_exec(void)
{
	long long start = now();

	sleep_ms(50);
	truth("blocked.sleep", now() - start);
}
