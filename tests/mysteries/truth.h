/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a mystery keeps its own truth: counters that only grow, written every 50 ms with the time,
 * into the file that TRUTH names. judge.py reads them and takes the difference over the recorded
 * time. Lines: "TIME NAME VALUE", TIME by CLOCK_MONOTONIC; "- NAME TEXT" for what does not change.
 */
#ifndef DWELL_TESTS_TRUTH_H
#define DWELL_TESTS_TRUTH_H

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TRUTH_COUNTERS 16
#define TRUTH_EVERY_NS 50000000

static struct {
	const char *name;
	uint64_t value;
} truth_counters[TRUTH_COUNTERS];
static int truth_fd = -1;

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static inline uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static inline void sleep_ns(uint64_t ns)
{
	struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	nanosleep(&time, NULL);
}

static inline unsigned int compute(unsigned int hash)
{
	for (unsigned int i = 0; i < 10000; i++) {
		hash = hash * 31 + i;
		__asm__ volatile("" : "+r"(hash)); /* each step is done */
	}
	return hash;
}

/* Computes for this much CPU time, with few system calls. */
static inline unsigned int burn_ns(uint64_t ns)
{
	uint64_t end = cpu_ns() + ns;
	unsigned int hash = 1;

	do
		hash = compute(hash);
	while (cpu_ns() < end);
	return hash;
}

/* How long the calling thread has waited for a CPU so far, by the kernel. */
static inline uint64_t runq_ns(void)
{
	char text[128], *end;
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (length <= 0)
		return 0;
	text[length] = 0;
	strtoull(text, &end, 10);
	return strtoull(end, NULL, 10);
}

/* A wait of the calling thread: what of it the thread neither ran nor waited for a CPU. */
struct wait_clock {
	uint64_t begin, cpu, queue;
};

static inline struct wait_clock wait_begin(void)
{
	struct wait_clock wait;

	wait.queue = runq_ns();
	wait.cpu = cpu_ns();
	wait.begin = now_ns();
	return wait;
}

static inline uint64_t wait_end(const struct wait_clock *wait)
{
	uint64_t took = now_ns() - wait->begin;
	uint64_t ran = cpu_ns() - wait->cpu, queued = runq_ns() - wait->queue;

	return took > ran + queued ? took - ran - queued : 0;
}

static inline void truth_add(int counter, uint64_t value)
{
	__atomic_fetch_add(&truth_counters[counter].value, value, __ATOMIC_RELAXED);
}

static inline void truth_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void truth_say(const char *format, ...)
{
	va_list args;

	if (truth_fd < 0)
		return;
	va_start(args, format);
	vdprintf(truth_fd, format, args);
	va_end(args);
}

static inline void truth_write(void)
{
	char text[TRUTH_COUNTERS * 64];
	uint64_t now = now_ns();
	int length = 0;

	for (int i = 0; i < TRUTH_COUNTERS && truth_counters[i].name; i++)
		length += snprintf(text + length, sizeof(text) - (size_t)length, "%llu %s %llu\n",
				   (unsigned long long)now, truth_counters[i].name,
				   (unsigned long long)__atomic_load_n(&truth_counters[i].value,
								       __ATOMIC_RELAXED));
	if (write(truth_fd, text, (size_t)length) != length)
		abort();
}

static inline void *truth_thread(void *arg)
{
	pthread_setname_np(pthread_self(), "truth");
	for (;;) {
		truth_write();
		sleep_ns(TRUTH_EVERY_NS);
	}
	return arg;
}

/* truth_start("name of counter 0", ..., NULL) */
static inline void truth_start(const char *name, ...)
{
	const char *path = getenv("TRUTH");
	pthread_t thread;
	va_list args;

	va_start(args, name);
	for (int i = 0; name && i < TRUTH_COUNTERS; i++, name = va_arg(args, const char *))
		truth_counters[i].name = name;
	va_end(args);
	if (!path)
		return;
	truth_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (truth_fd < 0)
		abort();
	truth_say("- pid %d\n", getpid());
	pthread_create(&thread, NULL, truth_thread, NULL);
	pthread_detach(thread);
}

static inline pthread_t start_thread(const char *name, void *(*function)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, arg))
		abort();
	pthread_setname_np(thread, name);
	return thread;
}

#endif
