// SPDX-License-Identifier: Apache-2.0
/*
 * Programs whose stacks are known: functions that burn or sleep for so long, and programs whose
 * code changes while they run. Functions that a test looks for begin with "known_"; no work is done
 * outside of them. This folder is compiled without frame pointers.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "oracle.h"

#ifdef __clang__
#define KNOWN __attribute__((noinline))
#else
#define KNOWN __attribute__((noinline, noclone))
#endif

/*
 * Work without a call, so that the function itself is the leaf. A round takes as long wherever the
 * compiler puts the loop: some CPUs are slow at jumps across 32 bytes.
 */
static inline void burn(long rounds)
{
	__asm__ volatile(".p2align 6");
	for (long i = 0; i < rounds; i++)
		__asm__ volatile("" : "+r"(i));
}

/* How many rounds a millisecond takes on this machine, the best of some tries. */
static long rounds_per_ms(void)
{
	long long best = 1000 * MS;

	for (int i = 0; i < 20; i++) {
		long long begin = thread_cpu(), took;

		burn(100000);
		took = thread_cpu() - begin;
		if (took < best)
			best = took;
	}
	return (long)(100000 * MS / (best ? best : 1)) + 1;
}

/* --- shares --- */

KNOWN static void known_half(long rounds)
{
	burn(rounds * 50);
}

KNOWN static void known_third(long rounds)
{
	burn(rounds * 30);
}

KNOWN static void known_fifth(long rounds)
{
	burn(rounds * 20);
}

/* 50, 30 and 20 % of three seconds, in turns of 10 ms. */
void do_shares(void)
{
	long rounds = rounds_per_ms() / 10;
	long long end = now() + 3000 * MS;

	while (now() < end) {
		known_half(rounds);
		known_third(rounds);
		known_fifth(rounds);
	}
}

/* --- a ladder of ten --- */

#define STEPS(STEP)                                                                                \
	STEP(19) STEP(17) STEP(15) STEP(13) STEP(11) STEP(9) STEP(7) STEP(5) STEP(3) STEP(1)

#define DEFINE(share)                                                                              \
	KNOWN static void known_step_##share(long rounds)                                          \
	{                                                                                          \
		burn(rounds *(share));                                                             \
	}
STEPS(DEFINE)

/* Ten functions, each with its share in per cent, for four seconds. */
void do_ladder(void)
{
	long rounds = rounds_per_ms() / 10;
	long long end = now() + 4000 * MS;

	while (now() < end) {
#define CALL(share) known_step_##share(rounds);
		STEPS(CALL)
#undef CALL
	}
}

/* --- hot, cold, hot --- */

KNOWN static void known_compute(long rounds, int ms)
{
	long long end = now() + ms * MS;

	while (now() < end)
		burn(rounds);
}

KNOWN static void known_nap(int ms)
{
	sleep_ms(ms);
	__asm__ volatile(""); /* no tail call */
}

/* Whenever it begins, a whole window of dwell's is in it, of a second or, if it is late, a bit
 * more. */
#define SPAN_MS 2600

/* Computes in the first and the third of three spans of time, and says when they were. */
void do_hotcold(void)
{
	long rounds = rounds_per_ms();

	truth("hot_begin", now());
	known_compute(rounds, SPAN_MS);
	truth("cold_begin", now());
	known_nap(SPAN_MS);
	truth("cold_end", now());
	known_compute(rounds, SPAN_MS);
	truth("hot_end", now());
}

/* --- sleeping --- */

KNOWN static void known_sleeper(int ms)
{
	known_nap(ms);
	__asm__ volatile("");
}

KNOWN static void known_dozer(int us)
{
	struct timespec time = {.tv_nsec = us * 1000L};

	nanosleep(&time, NULL);
	__asm__ volatile("");
}

/* Time in which it neither ran nor waited for a CPU, since begin; 0 gives a beginning. */
static long long asleep_since(long long begin)
{
	return now() - thread_cpu() - thread_delay() - begin;
}

/* Long sleeps in one function, many short ones in another; how long each was, by its own clock. */
void do_sleepers(void)
{
	long long begin = asleep_since(0);

	for (int i = 0; i < 20; i++)
		known_sleeper(50);
	truth("known_sleeper", asleep_since(begin));
	begin = asleep_since(0);
	for (int i = 0; i < 5000; i++)
		known_dozer(150);
	truth("known_dozer", asleep_since(begin));
}

/* --- signals, the vdso, threads --- */

static volatile sig_atomic_t signals;

KNOWN static void known_handler(int number)
{
	(void)number;
	burn(20000);
	signals++;
}

KNOWN static void known_clock_reader(void)
{
	struct timespec time;

	for (int i = 0; i < 2000; i++)
		clock_gettime(CLOCK_MONOTONIC, &time);
}

static void *known_thread(void *unused)
{
	long long end = now() + 3000 * MS;

	while (now() < end)
		known_clock_reader();
	return unused;
}

/* Three seconds of a timer's signals on top of calls into the vdso, in two threads. */
void do_signals(void)
{
	const struct itimerval often = {{0, 1000}, {0, 1000}};
	const struct itimerval never = {{0, 0}, {0, 0}};
	pthread_t thread;

	signal(SIGALRM, known_handler);
	setitimer(ITIMER_REAL, &often, NULL);
	pthread_create(&thread, NULL, known_thread, NULL);
	known_thread(NULL);
	pthread_join(thread, NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	truth("signals", signals);
}

/* --- code that comes and goes --- */

/* Burns in a library that is loaded after a second. */
void do_dlopen(void)
{
	char path[4096];
	void (*work)(int ms);
	void *library;

	known_compute(rounds_per_ms(), 1000);
	beside_program("plugin/known.so", path, sizeof(path));
	library = dlopen(path, RTLD_NOW);
	must(library != NULL, "dlopen");
	*(void **)&work = dlsym(library, "known_plugin");
	must(work != NULL, "dlsym");
	truth("loaded", now());
	work(SPAN_MS);
	truth("done", now());
}

/* Burns, and then becomes itself, at other addresses. */
void do_reexec(void)
{
	char path[4096];
	const char *turn = getenv("ORACLE_TURN");
	int left = turn ? atoi(turn) : 3;
	char next[16];

	truth("execed", now());
	known_compute(rounds_per_ms(), 1000);
	truth("done", now());
	if (left <= 1)
		return;
	fflush(stdout);
	snprintf(next, sizeof(next), "%d", left - 1);
	setenv("ORACLE_TURN", next, 1);
	beside_program("oracle", path, sizeof(path));
	execl(path, "oracle", "reexec", (char *)NULL);
	must(false, "execl");
}

/* Five hundred processes that live for 20 ms each. */
void do_shortlived(void)
{
	char path[4096];

	beside_program("oracle", path, sizeof(path));
	for (int i = 0; i < 500; i++) {
		pid_t child = fork();

		if (child == 0) {
			execl(path, "oracle", "mayfly", (char *)NULL);
			_exit(127);
		}
		must(child > 0 && waitpid(child, NULL, 0) == child, "fork");
	}
}

/* On each host: who hears of them a millisecond or two after their begin has missed a tenth. */
#define MAYFLY_NS (20 * MS)

KNOWN static void known_mayfly(void)
{
	while (thread_cpu() < MAYFLY_NS)
		burn(20001); /* of functions that do the same, compilers make one */
}

void do_mayfly(void)
{
	known_mayfly();
}

/* Burns until it is killed. */
void do_burn(void)
{
	long rounds = rounds_per_ms();

	for (;;)
		known_compute(rounds, 100);
}

/* --- what interrupts take --- */

#define GAP_LEAST  500	      /* ns between two looks at the clock: less is the look itself */
#define GAP_MOST   (100 * US) /* more is another thread's turn */
#define GAP_FRAMES 20

KNOWN static long long known_gaps(int frames, long long end)
{
	long long last = now(), taken = 0;

	if (frames > 0) {
		taken = known_gaps(frames - 1, end);
		__asm__ volatile("" : "+r"(taken)); /* no tail call */
		return taken;
	}
	while (last < end) {
		long long time = now();

		if (time - last > GAP_LEAST && time - last < GAP_MOST)
			taken += time - last;
		last = time;
	}
	return taken;
}

/* For ten seconds, twenty frames deep: how long it was interrupted, and what it ran itself. */
void do_gaps(void)
{
	truth("gaps", known_gaps(GAP_FRAMES, now() + 10000 * MS));
	truth("own", thread_cpu());
}

/* --- a process without its first thread --- */

static void *burn_on(void *unused)
{
	(void)unused;
	do_burn();
	return NULL;
}

/* Burns in a process whose first thread has ended: /proc shows nothing of that one. */
void do_orphan(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, burn_on, NULL);
	pthread_exit(NULL);
}
