/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's own names, of /proc/kallsyms. The file has 100,000 lines and more that the kernel
 * makes up while they are read, which takes longer than all else at the start: so a thread reads
 * it, and who needs a name before it is done waits. Owns the descriptor, and what was read.
 */
#ifndef DWELL_SYMBOLIZE_KERNEL_NAMES_H
#define DWELL_SYMBOLIZE_KERNEL_NAMES_H

#include <pthread.h>

#include "kallsyms.h"

struct kernel_names {
	int fd; /* -1: none */
	u64 read_ns;
	pthread_t thread;
	bool is_being_read;
	struct kallsyms *kallsyms; /* the thread's while it reads */
};

/* The descriptor is taken. 0 or -errno; -EPERM: all addresses are hidden. */
int kernel_names_open(struct kernel_names *names, int fd);
void kernel_names_close(struct kernel_names *names);

/* NULL: there are none. Until the next call of kernel_names_refresh(). */
const struct kallsyms *kernel_names_get(struct kernel_names *names);

/* Modules and BPF programs come and go: reads it again, unless it was read a moment ago. */
void kernel_names_refresh(struct kernel_names *names);

#endif
