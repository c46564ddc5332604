// SPDX-License-Identifier: Apache-2.0
/*
 * Many threads on few CPUs: a herd that is woken at once, and a queue for one CPU. The kernel keeps
 * count of both.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "oracle.h"

#define HERD   32
#define ROUNDS 50
#define QUEUED 4

static atomic_int gate, passed, has_ended;

static void *graze(void *unused)
{
	for (int round = 0; round < ROUNDS; round++) {
		while (atomic_load(&gate) <= round)
			syscall(SYS_futex, &gate, FUTEX_WAIT_PRIVATE, round, NULL, NULL, 0);
		atomic_fetch_add(&passed, 1);
	}
	atomic_fetch_add(&has_ended, 1);
	while (atomic_load(&gate) <= ROUNDS) /* the kernel's count has those that live */
		syscall(SYS_futex, &gate, FUTEX_WAIT_PRIVATE, ROUNDS, NULL, NULL, 0);
	return unused;
}

/* woken: how many the kernel says were, by this one thread. switches: of all threads, until then.
 */
void do_herd(void)
{
	pthread_t threads[HERD];
	struct rusage usage;
	long long woken = 0;

	for (int i = 0; i < HERD; i++)
		must(!pthread_create(&threads[i], NULL, graze, NULL), "thread");
	for (int round = 0; round < ROUNDS; round++) {
		sleep_ms(10); /* all of them wait by now */
		atomic_fetch_add(&gate, 1);
		woken += syscall(SYS_futex, &gate, FUTEX_WAKE_PRIVATE, HERD, NULL, NULL, 0);
		while (atomic_load(&passed) < HERD * (round + 1))
			sleep_ms(1);
	}
	while (atomic_load(&has_ended) < HERD)
		sleep_ms(1);
	sleep_ms(10);
	getrusage(RUSAGE_SELF, &usage);
	truth("woken", woken);
	truth("switches", usage.ru_nvcsw + usage.ru_nivcsw);
	truth("threads", HERD + 1);
	fflush(stdout);
	_exit(0); /* the others end with it */
}

static void add_delay(int tid, long long *ns, long long *count)
{
	long long ran, waited, times;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%lld %lld %lld", &ran, &waited, &times) != 3)
		skip("this kernel does not count how long threads wait for a CPU");
	fclose(file);
	*ns += waited;
	*count += times;
}

static atomic_int tids[QUEUED];

/* Busy, then out of the way, so that the kernel's count stands still when it is read. */
static void *queue_up(void *place)
{
	long long end = now() + 600 * MS;

	while (now() < end)
		;
	tids[(long)place] = gettid();
	for (;;)
		pause();
	return NULL;
}

/* delay_ns, waits: by the kernel's count, of four threads on one CPU, and of the one that waits. */
void do_queue(void)
{
	long long ns = 0, count = 0;
	pthread_t thread;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	must(!sched_setaffinity(0, sizeof(one), &one), "stay on one CPU");
	for (long i = 0; i < QUEUED; i++)
		must(!pthread_create(&thread, NULL, queue_up, (void *)i), "thread");
	for (int i = 0; i < QUEUED; i++)
		while (!tids[i])
			sleep_ms(50);
	sleep_ms(50);
	for (int i = 0; i < QUEUED; i++)
		add_delay(tids[i], &ns, &count);
	add_delay(gettid(), &ns, &count);
	truth("delay_ns", ns);
	truth("waits", count);
	fflush(stdout);
	_exit(0);
}
