// SPDX-License-Identifier: Apache-2.0
/* reader FILE: reads 64 KB at random places, past the page cache. */
#include <sys/stat.h>

#include "../truth.h"

#define SIZE 65536

enum { READS, READ_NS };

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_DIRECT | O_CLOEXEC) : -1;
	unsigned int seed = 1;
	struct stat info;
	void *buffer;

	if (fd < 0 || fstat(fd, &info) || posix_memalign(&buffer, 4096, SIZE))
		return 1;
	truth_start("reads", "read_ns", NULL);
	for (;;) {
		off_t at = (off_t)(rand_r(&seed) % (unsigned int)(info.st_size / SIZE)) * SIZE;
		uint64_t begin = now_ns();

		if (pread(fd, buffer, SIZE, at) != SIZE)
			return 1;
		truth_add(READ_NS, now_ns() - begin);
		truth_add(READS, 1);
	}
}
