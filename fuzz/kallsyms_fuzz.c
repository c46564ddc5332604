// SPDX-License-Identifier: Apache-2.0
/*
 * The reader of /proc/kallsyms, in which names of modules and BPF programs are other people's.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../src/symbolize/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kallsyms *kallsyms = NULL;
	int fd = memfd_create("kallsyms", 0);

	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size && !kallsyms_read(fd, &kallsyms)) {
		u64 text = kallsyms_text(kallsyms), offset = 0;
		const char *module = NULL;

		for (u64 address = text - 64; address != text + 512; address += 8)
			if (kallsyms_find(kallsyms, address, &module, &offset) && offset > address)
				abort();
		kallsyms_close(kallsyms);
	}
	close(fd);
	return 0;
}
