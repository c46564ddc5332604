// SPDX-License-Identifier: Apache-2.0
/*
 * append FILE: eight threads append 256 KB at a time to one file; it is cut when it has 64 MB.
 * Writes go past the page cache, so that each holds the inode's lock until the disk has it.
 */
#include <string.h>
#include <sys/stat.h>

#include "../truth.h"

enum { WRITES, WAIT_NS };

#define SIZE (256 << 10)

static const char *path;

static void *append(void *arg)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_DIRECT | O_CLOEXEC, 0644);
	void *data;

	if (fd < 0 || posix_memalign(&data, 4096, SIZE))
		abort();
	memset(data, 'x', SIZE);
	for (;;) {
		struct wait_clock wait = wait_begin();
		struct stat info;

		if (write(fd, data, SIZE) != SIZE)
			abort();
		truth_add(WAIT_NS, wait_end(&wait));
		truth_add(WRITES, 1);
		if (!fstat(fd, &info) && info.st_size > 64 << 20 && ftruncate(fd, 0))
			abort();
		sleep_ns(500000);
	}
	return arg;
}

int main(int argc, char **argv)
{
	path = argv[argc - 1];
	truth_start("writes", "wait_ns", NULL);
	for (int i = 1; i <= 8; i++) {
		char name[16];

		snprintf(name, sizeof(name), "append-%d", i);
		start_thread(name, append, NULL);
	}
	pause();
	return 0;
}
