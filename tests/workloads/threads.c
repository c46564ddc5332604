// SPDX-License-Identifier: Apache-2.0
/*
 * Many threads and processes, and those whose identity changes.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oracle.h"

#define CHILDREN     1000
#define THREADS	     2000
#define THREADS_MANY 10000
#define WAKE_MS	     5000 /* how often each of the many wakes, unless $WAKE_MS says otherwise */

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

#define STORM_MS      8000
#define CALM_MS	      4000 /* after it, so that those who live die in peace */
#define STORM_THREADS 4	   /* that live */
#define STORM_BROOD   8	   /* of each child, beside its first */

static _Atomic bool storm_is_over;

/* One in two is busy now and then; the others wait most of the time. */
static void *outlive(void *number)
{
	while (!storm_is_over) {
		long long end = now() + ((long)number % 2 ? 2 * MS : 0);

		while (now() < end)
			;
		sleep_ms(5);
	}
	return NULL;
}

static long long cpu_of_children(void)
{
	struct rusage used;

	getrusage(RUSAGE_CHILDREN, &used);
	return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 * MS +
	       (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * US;
}

static void *die(void *unused)
{
	return unused;
}

/* With threads of its own, any of which may be the last. */
static void die_at_once(void)
{
	pthread_t brood[STORM_BROOD];

	start_threads(brood, STORM_BROOD, die);
	syscall(SYS_exit, 0); /* pthread_exit() would look for a library first */
}

/* threads: how many there were in all. children: processes; children.cpu: their CPU time, by the
 * kernel's count. */
void do_storm(void)
{
	long long end = now() + STORM_MS * MS;
	pthread_t threads[STORM_THREADS];
	long long children = 0;

	start_threads(threads, STORM_THREADS, outlive);
	for (; now() < end; children++) {
		pid_t child = fork();

		must(child >= 0, "fork");
		if (child == 0)
			die_at_once();
		waitpid(child, NULL, 0);
	}
	sleep_ms(CALM_MS);
	storm_is_over = true;
	for (int i = 0; i < STORM_THREADS; i++)
		pthread_join(threads[i], NULL);
	truth("children", children);
	truth("children.cpu", cpu_of_children());
	truth("threads", 1 + STORM_THREADS + (1 + STORM_BROOD) * children);
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

static int many = THREADS_MANY, wake_ms = WAKE_MS;

/* Spread over the interval, so that the load is even. */
static void *wake_now_and_then(void *number)
{
	sleep_ms((int)((long)number * wake_ms / many));
	for (;;)
		sleep_ms(wake_ms);
	return NULL;
}

/* ready: all threads are there, $THREADS of them. */
void do_threads10k(void)
{
	static pthread_t threads[THREADS_MANY];

	if (getenv("THREADS"))
		many = atoi(getenv("THREADS"));
	if (getenv("WAKE_MS"))
		wake_ms = atoi(getenv("WAKE_MS"));
	must(many > 0 && many <= THREADS_MANY && wake_ms > 0, "$THREADS, $WAKE_MS");
	start_threads(threads, many, wake_now_and_then);
	truth("ready", many);
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
