// SPDX-License-Identifier: Apache-2.0
/* lookup FILE: maps it and reads a byte at a random place, again and again. */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "../truth.h"

enum { LOOKUPS, FAULTS, WAIT_NS };

static uint64_t major_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_majflt;
}

int main(int argc, char **argv)
{
	int fd = open(argv[argc - 1], O_RDONLY | O_CLOEXEC);
	unsigned int seed = 1;
	volatile char sum = 0;
	struct stat info;
	char *data;

	if (fd < 0 || fstat(fd, &info))
		return 1;
	data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED)
		return 1;
	madvise(data, (size_t)info.st_size, MADV_RANDOM);
	truth_start("lookups", "faults", "wait_ns", NULL);
	for (;;) {
		size_t at = ((size_t)rand_r(&seed) << 12) % (size_t)info.st_size;
		uint64_t faults = major_faults(), cpu = cpu_ns(), begin = now_ns(), took;

		sum = (char)(sum + data[at]);
		took = now_ns() - begin;
		cpu = cpu_ns() - cpu;
		faults = major_faults() - faults;
		if (faults && took > cpu)
			truth_add(WAIT_NS, took - cpu);
		truth_add(FAULTS, faults);
		truth_add(LOOKUPS, 1);
	}
}
