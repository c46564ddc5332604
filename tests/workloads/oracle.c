// SPDX-License-Identifier: Apache-2.0
/*
 * oracle WORKLOAD: does one thing and says on stdout how long its threads did it, by its own
 * clocks. dwell must come to the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "oracle.h"

static long long clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

long long now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

long long thread_cpu(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

long thread_blocks(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

long long thread_delay(void)
{
	static __thread int fd = -1;
	char text[64] = "";
	long long ran, delay = 0;

	if (fd < 0)
		fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, text, sizeof(text) - 1, 0) <= 0 ||
	    sscanf(text, "%lld %lld", &ran, &delay) != 2)
		return 0;
	return delay;
}

void sleep_ms(int ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS};

	nanosleep(&ts, NULL);
}

void truth(const char *key, long long value)
{
	printf("%s %lld\n", key, value);
}

void skip(const char *why)
{
	printf("# SKIP %s\n", why);
	exit(0);
}

void must(bool worked, const char *what)
{
	if (worked)
		return;
	fprintf(stderr, "oracle: %s: %s\n", what, strerror(errno));
	exit(1);
}

int scratch_file(size_t size)
{
	char name[] = "./dwell-oracle-XXXXXX";
	static const char data[65536] = {1};
	int fd = mkstemp(name);

	must(fd >= 0, "create a file in the working directory");
	unlink(name);
	for (size_t done = 0; done < size; done += sizeof(data))
		must(write(fd, data, sizeof(data)) == sizeof(data), "write a file");
	return fd;
}

void beside_program(const char *name, char *ret_path, size_t size)
{
	char self[4096] = "";

	must(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0, "read /proc/self/exe");
	*strrchr(self, '/') = '\0';
	snprintf(ret_path, size, "%s/%s", self, name);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name, *about;
		void (*run)(void);
	} workloads[] = {
#define WORKLOAD(function, name, about) {name, about, do_##function},
#include "workloads.def"
#undef WORKLOAD
	};
	size_t count = sizeof(workloads) / sizeof(workloads[0]);

	for (size_t i = 0; argc == 2 && i < count; i++)
		if (!strcmp(argv[1], workloads[i].name)) {
			workloads[i].run();
			return 0;
		}
	fprintf(stderr, "usage: oracle WORKLOAD\n");
	for (size_t i = 0; i < count; i++)
		fprintf(stderr, "  %-14s  %s\n", workloads[i].name, workloads[i].about);
	return 64;
}
