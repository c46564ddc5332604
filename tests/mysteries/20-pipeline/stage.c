// SPDX-License-Identifier: Apache-2.0
/* stage KIND: a part of a pipeline: "extract" writes, "transform" passes on, "load" computes 2 ms
 * for each 4 KB. */
#include <string.h>
#include <sys/prctl.h>

#include "../net.h"
#include "../truth.h"

enum { BLOCKS, READ_NS, WRITE_NS };

#define SIZE 4096

int main(int argc, char **argv)
{
	char block[SIZE] = {0};
	int reads = strcmp(argv[argc - 1], "extract"), writes = strcmp(argv[argc - 1], "load");

	prctl(PR_SET_NAME, argv[argc - 1]);
	truth_start("blocks", "read_ns", "write_ns", NULL);
	for (;;) {
		struct wait_clock wait = wait_begin();

		if (reads && !read_all(0, block, SIZE))
			return 1;
		truth_add(READ_NS, wait_end(&wait));
		burn_ns(writes ? 50000 : 2000000);
		wait = wait_begin();
		if (writes && write(1, block, SIZE) != SIZE)
			return 1;
		truth_add(WRITE_NS, wait_end(&wait));
		truth_add(BLOCKS, 1);
	}
}
