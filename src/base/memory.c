// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cleanup.h"

#define LINE_BYTES 4400 /* of /proc/self/maps: a path, and what is before it */

void memory_give_back(void *begin, void *end)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = ((uintptr_t)begin + page - 1) & ~(page - 1);
	uintptr_t behind = (uintptr_t)end & ~(page - 1);

	/* If the kernel does not take them, they stay: nothing is lost but memory. */
	if (first < behind)
		madvise((void *)first, behind - first, MADV_DONTNEED);
}

/* A line of /proc/self/maps: where its memory is. False: it is none of the kernel's objects. */
static bool read_kernel_object(const char *line, uintptr_t *ret_begin, uintptr_t *ret_end)
{
	return strstr(line, " anon_inode:") &&
	       sscanf(line, "%" SCNxPTR "-%" SCNxPTR, ret_begin, ret_end) == 2;
}

int memory_leave_kernel_objects(void)
{
	_cleanup_fclose_ FILE *maps = fopen("/proc/self/maps", "re");
	char line[LINE_BYTES];

	if (!maps)
		return -errno;
	while (fgets(line, sizeof(line), maps)) {
		uintptr_t begin, end;

		if (read_kernel_object(line, &begin, &end) && munmap((void *)begin, end - begin))
			return -errno;
	}
	return ferror(maps) ? -EIO : 0;
}
