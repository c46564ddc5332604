// SPDX-License-Identifier: Apache-2.0
/*
 * The reader of /proc/PID/maps: paths are whatever somebody named a file.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../src/symbolize/proc_maps.h"

#define MAPPINGS_MAX 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct proc_mapping *mapping)
{
	if (mapping->begin >= mapping->end ||
	    strnlen(mapping->path, MAPS_PATH_BYTES) >= MAPS_PATH_BYTES)
		abort();
	if (!mapping->inode && !mapping->is_vdso && mapping->path[0])
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proc_mapping mappings[MAPPINGS_MAX];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	ssize_t count;

	if (fd < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	count = proc_maps_read(fd, mappings, MAPPINGS_MAX);
	if (count < 0)
		abort();
	for (ssize_t i = 0; i < count && i < MAPPINGS_MAX; i++)
		check(&mappings[i]);
	if (proc_maps_parse((const char *)data, size, &mappings[0]))
		check(&mappings[0]);
	close(fd);
	return 0;
}
