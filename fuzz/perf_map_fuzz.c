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
	struct perf_map *map = NULL;

	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size && !perf_map_read(fd, &map)) {
		for (u64 address = 0; address < 0x200; address++) {
			const char *name = perf_map_find(map, address);
			char again[4096];

			if (!name)
				continue;
			utf8_escape(again, sizeof(again), name);
			if (strcmp(name, again))
				abort(); /* something in it was not harmless */
		}
		perf_map_close(map);
	}
	close(fd);
	return 0;
}
