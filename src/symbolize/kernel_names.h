/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's own names, of /proc/kallsyms: read when the first one is asked for, and again when
 * an address is in none of them. Owns the descriptor, and what was read.
 */
#ifndef DWELL_SYMBOLIZE_KERNEL_NAMES_H
#define DWELL_SYMBOLIZE_KERNEL_NAMES_H

#include "../base/hash.h"
#include "kallsyms.h"

struct kernel_names {
	int fd;	      /* -1: none */
	u64 read_ns;  /* 0: not read yet */
	u64 again_ns; /* not before so much later; 0: it was never read again */
	u64 reads;    /* of the whole file */
	u64 unknown_ns;
	struct hash unknown; /* addresses that had no name when it was read, since unknown_ns */
	struct kallsyms *kallsyms; /* NULL: there are none, or nobody asked yet */
};

/*
 * The descriptor is taken; of the file, only its first lines are read. 0 or -errno; -EPERM: all
 * addresses are hidden.
 */
int kernel_names_open(struct kernel_names *names, int fd);
void kernel_names_close(struct kernel_names *names);

/* All of them, read with the first call; NULL: there are none. */
const struct kallsyms *kernel_names_get(struct kernel_names *names);

/*
 * Modules and BPF programs come and go: for an address without a name, all of it is read again,
 * unless it was read a moment ago, or had no name for this address then. The more often that was in
 * vain, the longer the moment: reading takes tens of milliseconds.
 */
const struct kallsyms *kernel_names_refresh(struct kernel_names *names, u64 address);

#endif
