// SPDX-License-Identifier: Apache-2.0
/*
 * Page faults that the kernel counts too, in a process of their own, which is followed from its
 * first instruction on.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oracle.h"

#define PAGE	  4096L
#define FRESH	  8192 /* pages that are touched for the first time */
#define COLD	  256  /* pages of a file that is not in memory */
#define READAHEAD 32   /* one in so many is touched: nothing is read ahead for another */

struct pages {
	long long minor, major; /* by the kernel's count */
	long long fresh_ns;	/* for how long fresh pages were touched */
	long long cold_ns;	/* and cold ones */
};

static __attribute__((noinline)) void touch_fresh(struct pages *pages)
{
	volatile char *memory = mmap(NULL, FRESH * PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long long start = now();

	must(memory != MAP_FAILED, "mmap");
	madvise((void *)memory, FRESH * PAGE, MADV_NOHUGEPAGE);
	for (long i = 0; i < FRESH; i++)
		memory[i * PAGE] = 1;
	pages->fresh_ns = now() - start;
}

static __attribute__((noinline)) void touch_cold(struct pages *pages, int fd)
{
	const size_t bytes = (size_t)COLD * READAHEAD * PAGE;
	volatile char *file = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	long long start = now();
	char sum = 0;

	must(file != MAP_FAILED, "mmap");
	madvise((void *)file, bytes, MADV_RANDOM);
	for (long i = 0; i < COLD; i++)
		sum += file[i * READAHEAD * PAGE];
	pages->cold_ns = now() - start;
	must(sum == 0, "read zeroes");
}

static void count(struct pages *pages)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	pages->minor = usage.ru_minflt;
	pages->major = usage.ru_majflt;
}

/* All that the end of the child needs has been touched once before the kernel's count is taken. */
void do_pages(void)
{
	struct pages *pages = mmap(NULL, sizeof(*pages), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd = scratch_file((size_t)COLD * READAHEAD * PAGE);
	pid_t child;

	must(pages != MAP_FAILED && !fsync(fd), "prepare a file");
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	child = fork();
	if (child == 0) {
		touch_fresh(pages);
		touch_cold(pages, fd);
		count(pages);
		_exit(0);
	}
	must(waitpid(child, NULL, 0) == child, "wait");
	truth("pid", child);
	truth("minor", pages->minor);
	truth("major", pages->major);
	truth("fresh_ns", pages->fresh_ns);
	truth("cold_ns", pages->cold_ns);
}
