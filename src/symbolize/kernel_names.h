/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's own names, of /proc/kallsyms: read once, and again when an address is in none of
 * them. Owns the descriptor, and what was read.
 */
#ifndef DWELL_SYMBOLIZE_KERNEL_NAMES_H
#define DWELL_SYMBOLIZE_KERNEL_NAMES_H

#include "kallsyms.h"

struct kernel_names {
	int fd; /* -1: none */
	u64 read_ns;
	struct kallsyms *kallsyms; /* NULL: there are none */
};

/* The descriptor is taken. 0 or -errno; -EPERM: all addresses are hidden. */
int kernel_names_open(struct kernel_names *names, int fd);
void kernel_names_close(struct kernel_names *names);

/* Modules and BPF programs come and go: reads it again, unless it was read a moment ago. */
void kernel_names_refresh(struct kernel_names *names);

#endif
