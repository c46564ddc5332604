// SPDX-License-Identifier: Apache-2.0
/*
 * System calls of which every one is counted: good ones and bad ones, slow ones, and many that look
 * for files where there are none.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "oracle.h"

#define THREADS 3
#define GOOD	20000
#define BAD	5000
#define MISSING 4000
#define SLEEPS	40

/* By syscall(): what the library makes of a call is its own matter. */
static __attribute__((noinline)) void make_good_calls(void)
{
	for (int i = 0; i < GOOD; i++)
		syscall(SYS_getppid);
}

static __attribute__((noinline)) void make_bad_calls(void)
{
	for (int i = 0; i < BAD; i++)
		syscall(SYS_dup, -1);
}

/* Names of all lengths, so that the last slash is at any place of a word. */
static void look_in_vain(void)
{
	static const char *const paths[] = {"/nowhere/a", "/nowhere/abcdefgh", "/nowhere/./abc",
					    "/nowhere/deep/er/and/deeper/still/x"};
	struct stat status;

	for (int i = 0; i < MISSING; i++)
		syscall(SYS_newfstatat, AT_FDCWD, paths[i % 4], &status, 0);
}

/* sleeps_ns: how long they took, as the caller saw it. */
static void sleep_well(long long *ret_ns)
{
	for (int i = 0; i < SLEEPS; i++) {
		struct timespec ts = {.tv_nsec = 2 * MS};
		long long before = now();

		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &ts, NULL);
		*ret_ns += now() - before;
	}
}

static void *make_calls(void *ret_ns)
{
	make_good_calls();
	make_bad_calls();
	look_in_vain();
	sleep_well(ret_ns);
	return NULL;
}

void do_calls(void)
{
	pthread_t threads[THREADS];
	long long slept_ns[THREADS] = {0}, sum = 0;

	for (int i = 0; i < THREADS; i++)
		must(!pthread_create(&threads[i], NULL, make_calls, &slept_ns[i]), "thread");
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += slept_ns[i];
	}
	truth("getppid", THREADS * GOOD);
	truth("dup", THREADS * BAD);
	truth("newfstatat", THREADS * MISSING);
	truth("nanosleep", THREADS * SLEEPS);
	truth("nanosleep_ns", sum);
}
