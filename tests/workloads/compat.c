// SPDX-License-Identifier: Apache-2.0
/*
 * 32-bit system calls, by the gate that a 64-bit program can use too: the kernel takes the same way
 * as for a 32-bit program, and the numbers and registers are those of i386.
 */
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oracle.h"

#ifdef __x86_64__

enum { I386_READ = 3, I386_GETPID = 20, I386_NANOSLEEP = 162, I386_CLOCK_NANOSLEEP = 267 };

static int call32(int number, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	int result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d)
			 : "memory", "r8", "r9", "r10", "r11");
	return result;
}

/* A kernel without the gate answers with a signal: better a child's. */
static bool has_gate(void)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0)
		_exit(call32(I386_GETPID, 0, 0, 0, 0) != getpid());
	waitpid(child, &status, 0);
	return !status;
}

struct timespec32 {
	int32_t sec, nsec;
};

static void *write_slowly(void *fd)
{
	long long slept = 0;

	for (int i = 0; i < 10; i++) {
		long long start = now();

		sleep_ms(20);
		slept += now() - start;
		must(write(*(int *)fd, "x", 1) == 1, "write");
	}
	truth("blocked.sleep", slept);
	return NULL;
}

void do_compat(void)
{
	struct timespec32 *nap = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	uint32_t nap_at = (uint32_t)(uintptr_t)nap, byte_at = nap_at + sizeof(*nap);
	pthread_t writer;
	long long start;
	int fds[2];

	if (!has_gate())
		skip("this kernel has no 32-bit system calls");
	must(nap != MAP_FAILED && !pipe(fds), "have low memory and a pipe");
	nap->nsec = 20 * MS;
	start = now();
	for (int i = 0; i < 10; i++)
		must(!call32(I386_NANOSLEEP, nap_at, 0, 0, 0) &&
			     !call32(I386_CLOCK_NANOSLEEP, 1 /* CLOCK_MONOTONIC */, 0, nap_at, 0),
		     "sleep");
	truth("blocked.sleep", now() - start);

	pthread_create(&writer, NULL, write_slowly, &fds[1]);
	start = now();
	for (int i = 0; i < 10; i++)
		must(call32(I386_READ, (uint32_t)fds[0], byte_at, 1, 0) == 1, "read");
	truth("blocked.pipe", now() - start);
	pthread_join(writer, NULL);
}

#else

void do_compat(void)
{
	skip("this machine has no 32-bit system calls of i386");
}

#endif
