// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void memory_give_back(void *begin, void *end)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = ((uintptr_t)begin + page - 1) & ~(page - 1);
	uintptr_t behind = (uintptr_t)end & ~(page - 1);

	/* If the kernel does not take them, they stay: nothing is lost but memory. */
	if (first < behind)
		madvise((void *)first, behind - first, MADV_DONTNEED);
}
