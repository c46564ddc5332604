// SPDX-License-Identifier: Apache-2.0
/*
 * A service with a constant load, whose cost is known by construction, to be compared with itself:
 * three threads that answer 100 requests a second each, at fixed times. A request is one write() of
 * a byte, known_parse, known_render, a moment of a lock, and a look-up of a file. A fourth thread
 * holds the lock 20 times a second. Work is a number of rounds, not a time: 10 % more rounds are
 * 10 % more, on any machine. What can be changed, in the environment:
 *
 *   SERVICE_SECONDS  how long (10)
 *   SERVICE_SLOWER   percent that known_render does more
 *   SERVICE_HOLD_MS  how much longer the lock is held
 *   SERVICE_LOOKUPS  more look-ups per request
 *   SERVICE_DISK     a file or disk; each request of the first thread reads 4 KiB of it, past the
 *                    page cache
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "oracle.h"

#ifdef __clang__
#define KNOWN __attribute__((noinline))
#else
#define KNOWN __attribute__((noinline, noclone))
#endif

enum {
	WORKERS = 3,
	REQUESTS_PER_SECOND = 100,
	HOLDS_PER_SECOND = 20,
	PARSE_ROUNDS = 1000000,
	RENDER_ROUNDS = 4000000,
	HOLD_MS = 2,
	BLOCK = 4096,
	BLOCKS = 1000,
};

static long seconds, slower, hold_ms, lookups;
static int disk = -1, sink = -1;
static long long begin_ns;
static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static atomic_long requests, looked_up;

static long knob(const char *name, long usual)
{
	const char *text = getenv(name);

	return text ? atol(text) : usual;
}

static inline void burn(long rounds)
{
	__asm__ volatile(".p2align 6");
	for (long i = 0; i < rounds; i++)
		__asm__ volatile("" : "+r"(i));
}

KNOWN static void known_parse(void)
{
	burn(PARSE_ROUNDS);
}

KNOWN static void known_render(void)
{
	burn(RENDER_ROUNDS / 100 * (100 + slower));
}

KNOWN static void known_lookup(void)
{
	struct stat info;

	for (long i = 0; i <= lookups; i++)
		if (stat("/etc/dwell-oracle-nowhere", &info))
			atomic_fetch_add(&looked_up, 1);
}

KNOWN static void known_need_lock(void)
{
	pthread_mutex_lock(&shared);
	pthread_mutex_unlock(&shared);
}

KNOWN static void known_hold_lock(void)
{
	pthread_mutex_lock(&shared);
	sleep_ms((int)(HOLD_MS + hold_ms));
	pthread_mutex_unlock(&shared);
}

KNOWN static void known_read(long number)
{
	static char data[BLOCK] __attribute__((aligned(BLOCK)));

	must(pread(disk, data, BLOCK, number % BLOCKS * BLOCK) == BLOCK, "read $SERVICE_DISK");
}

/* Until the nth of so many a second is due; false: the time is over. */
static bool wait_for(long number, long per_second)
{
	long long at = begin_ns + number * (1000 * MS / per_second);
	struct timespec until = {.tv_sec = at / (1000 * MS), .tv_nsec = at % (1000 * MS)};

	if (at >= begin_ns + seconds * 1000 * MS)
		return false;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	return true;
}

static void *work(void *arg)
{
	long worker = (long)arg;

	pthread_setname_np(pthread_self(), "worker");
	for (long i = 0; wait_for(i, REQUESTS_PER_SECOND); i++) {
		must(write(sink, "", 1) == 1, "write");
		known_parse();
		known_lookup();
		known_need_lock();
		known_render();
		if (disk >= 0 && worker == 0)
			known_read(i);
		atomic_fetch_add(&requests, 1);
	}
	return NULL;
}

static void *hold(void *arg)
{
	pthread_setname_np(pthread_self(), "holder");
	for (long i = 0; wait_for(i, HOLDS_PER_SECOND); i++)
		known_hold_lock();
	return arg;
}

void do_service(void)
{
	pthread_t threads[WORKERS + 1];
	const char *path = getenv("SERVICE_DISK");

	seconds = knob("SERVICE_SECONDS", 10);
	slower = knob("SERVICE_SLOWER", 0);
	hold_ms = knob("SERVICE_HOLD_MS", 0);
	lookups = knob("SERVICE_LOOKUPS", 0);
	sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
	must(sink >= 0, "open /dev/null");
	if (path)
		must((disk = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC)) >= 0, path);
	begin_ns = now();
	for (long i = 0; i < WORKERS; i++)
		must(!pthread_create(&threads[i], NULL, work, (void *)i), "pthread_create");
	must(!pthread_create(&threads[WORKERS], NULL, hold, NULL), "pthread_create");
	for (int i = 0; i <= WORKERS; i++)
		pthread_join(threads[i], NULL);
	truth("requests", atomic_load(&requests));
	truth("lookups", atomic_load(&looked_up));
}
