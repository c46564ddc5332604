// SPDX-License-Identifier: Apache-2.0
/*
 * The reader of perf maps, which the process that they are about writes itself.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../src/base/utf8.h"
#include "../src/symbolize/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("perf_map", 0);
	struct perf_map *map = fd < 0 ? NULL : perf_map_create();

	if (!map)
		return 0;
	/* in two parts, as it is read while it is written */
	if (write(fd, data, size / 2) == (ssize_t)(size / 2) &&
	    !perf_map_update(map, fd, 1 << 20) &&
	    write(fd, data + size / 2, size - size / 2) == (ssize_t)(size - size / 2) &&
	    !perf_map_update(map, fd, 1 << 20)) {
		for (u64 address = 0; address < 0x200; address++) {
			const char *name = perf_map_find(map, address);
			char again[4096];

			if (!name)
				continue;
			utf8_escape(again, sizeof(again), name);
			if (strcmp(name, again))
				abort(); /* something in it was not harmless */
		}
	}
	perf_map_close(map);
	close(fd);
	return 0;
}
