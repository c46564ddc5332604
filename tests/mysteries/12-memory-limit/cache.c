// SPDX-License-Identifier: Apache-2.0
/* cache MB: a working set of this size, of which it changes a page at random, again and again. */
#include <sys/mman.h>
#include <sys/resource.h>

#include "../truth.h"

enum { TOUCHES, TOUCH_NS, CPU_NS };

int main(int argc, char **argv)
{
	size_t size = strtoull(argv[argc - 1], NULL, 10) << 20;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int seed = 1;

	if (memory == MAP_FAILED)
		return 1;
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < size; at += 4096)
		memory[at] = (char)rand_r(&seed);
	truth_start("touches", "touch_ns", "cpu_ns", NULL);
	for (;;) {
		size_t at = ((size_t)rand_r(&seed) << 12) % size;
		uint64_t begin = now_ns(), cpu = cpu_ns(), took;

		memory[at]++;
		took = now_ns() - begin;
		truth_add(TOUCH_NS, took);
		truth_add(CPU_NS, cpu_ns() - cpu);
		truth_add(TOUCHES, 1);
	}
}
