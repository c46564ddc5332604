// SPDX-License-Identifier: Apache-2.0
/*
 * Allocations of known sizes in functions of known names. Lines are "bytes.FUNCTION n", what a
 * function has asked for; "count.FUNCTION n", how often; "live.FUNCTION n", what it has not given
 * back; "latency.FUNCTION.CLASS ns", the middle of what its calls took by its own clock.
 */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "oracle.h"

#define ROUNDS	     400
#define SMALL	     100
#define SMALL_COUNT  20 /* in a round */
#define MIDDLE	     3000
#define LARGE	     (300 << 10)
#define KEPT	     5000
#define PAGES	     (16 << 20) /* a CPU tells of 32 pages at a time: these are many more */
#define MAPPED_EVERY 40
#define ALIGNED	     2048
#define GROWN	     (200 << 10)
#define CALLOC_ITEMS 50
#define PIPE_BYTES   (1 << 20) /* the most that everybody may have */
#define MANY	     1000000
#define MANY_BYTES   500

/* The compiler must not know that nobody looks. */
static void *volatile sink;
static void *kept[ROUNDS];
static long long large_ns[ROUNDS], small_ns[ROUNDS];

static __attribute__((noinline)) void alloc_small(int round)
{
	void *all[SMALL_COUNT];
	long long begin = now();

	for (int i = 0; i < SMALL_COUNT; i++) {
		all[i] = malloc(SMALL);
		sink = all[i];
	}
	small_ns[round] = (now() - begin) / SMALL_COUNT;
	for (int i = 0; i < SMALL_COUNT; i++)
		free(all[i]);
}

static __attribute__((noinline)) void alloc_middle(void)
{
	void *one = calloc(CALLOC_ITEMS, MIDDLE / CALLOC_ITEMS);

	sink = one;
	free(one);
}

/* Above malloc()'s limit: each is a mapping of its own, and calls the kernel. */
static __attribute__((noinline)) void alloc_large(int round)
{
	long long begin = now();
	void *one = malloc(LARGE);

	large_ns[round] = now() - begin;
	sink = one;
	free(one);
}

static __attribute__((noinline)) void alloc_kept(int round)
{
	kept[round] = malloc(KEPT);
	sink = kept[round];
}

static __attribute__((noinline)) void alloc_aligned(void)
{
	void *one = aligned_alloc(64, ALIGNED), *other = NULL;

	sink = one;
	must(!posix_memalign(&other, 128, ALIGNED), "posix_memalign");
	sink = other;
	free(one);
	free(other);
}

static __attribute__((noinline)) void alloc_grown(void)
{
	static void *volatile none; /* or the compiler calls malloc itself */
	void *one = realloc(none, 1000);

	sink = one;
	one = realloc(one, GROWN);
	sink = one;
	free(one);
}

static __attribute__((noinline)) void alloc_mapped(void)
{
	char *one = mmap(NULL, PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(one != MAP_FAILED, "mmap");
	memset(one, 1, PAGES);
	munmap(one, PAGES);
}

/* The kernel has a table of 40 bytes for each page that a pipe can hold. */
static __attribute__((noinline)) void alloc_pipe(void)
{
	int ends[2];

	must(!pipe(ends), "pipe");
	must(fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES) >= 0, "F_SETPIPE_SZ");
	close(ends[0]);
	close(ends[1]);
}

static int compare(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return (x > y) - (x < y);
}

static long long middle(long long *values)
{
	qsort(values, ROUNDS, sizeof(*values), compare);
	return values[ROUNDS / 2];
}

/* Half of the time is slept, so that it is not a storm. */
void do_alloc(void)
{
	mallopt(M_MMAP_THRESHOLD, 128 << 10); /* and stays there */
	sleep_ms(300);
	for (int round = 0; round < ROUNDS; round++) {
		alloc_small(round);
		alloc_middle();
		alloc_large(round);
		alloc_kept(round);
		alloc_aligned();
		alloc_grown();
		if (round % MAPPED_EVERY == 0)
			alloc_mapped();
		alloc_pipe();
		sleep_ms(3);
	}
	truth("bytes.alloc_small", (long long)ROUNDS * SMALL_COUNT * SMALL);
	truth("bytes.alloc_middle", (long long)ROUNDS * MIDDLE);
	truth("bytes.alloc_large", (long long)ROUNDS * LARGE);
	truth("bytes.alloc_kept", (long long)ROUNDS * KEPT);
	truth("bytes.alloc_aligned", 2LL * ROUNDS * ALIGNED);
	truth("bytes.alloc_grown", (long long)ROUNDS * (1000 + GROWN));
	truth("count.alloc_small", (long long)ROUNDS * SMALL_COUNT);
	truth("count.alloc_large", ROUNDS);
	truth("live.alloc_kept", (long long)ROUNDS * KEPT);
	truth("asked.alloc_mapped", (long long)ROUNDS / MAPPED_EVERY * PAGES);
	truth("resident.alloc_mapped", (long long)ROUNDS / MAPPED_EVERY * PAGES);
	truth("kernel.alloc_pipe", ROUNDS * 16LL << 10); /* 10 KiB, as pages are given out */
	truth("latency.alloc_small", middle(small_ns));
	truth("latency.alloc_large", middle(large_ns));
}

/* How long a thousand of them took, when they took least. */
static __attribute__((noinline)) long long alloc_many(void)
{
	long long least = 0;

	for (int i = 0; i < MANY / 1000; i++) {
		long long begin = now(), ns;

		for (int j = 0; j < 1000; j++) {
			void *one = malloc(MANY_BYTES);

			sink = one;
			free(one);
		}
		ns = now() - begin;
		least = !least || ns < least ? ns : least;
	}
	return least;
}

void do_alloc_storm(void)
{
	sleep_ms(300);
	truth("least.alloc_many", alloc_many()); /* picoseconds each */
	truth("bytes.alloc_many", (long long)MANY * MANY_BYTES);
}
