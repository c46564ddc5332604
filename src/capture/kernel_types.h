/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's types, as far as our programs name them: a small BTF for libbpf to relocate them by.
 * It looks for each type by its name among all that there are, 100,000 or more, and that was a
 * sixth of what a start cost. Here they are gone through once. Owns nothing but its result.
 */
#ifndef DWELL_CAPTURE_KERNEL_TYPES_H
#define DWELL_CAPTURE_KERNEL_TYPES_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/types.h"

/* Names of types, and a few that only look like them: a bit each, by its hash. */
#define KERNEL_TYPES_NAME_BITS (1u << 20)

struct kernel_types_wanted {
	u8 names[KERNEL_TYPES_NAME_BITS / 8];
};

/* All names of types in a BPF object, an ELF file in memory: 0 or -errno. */
int kernel_types_want(struct kernel_types_wanted *wanted, const void *elf, size_t size);

/*
 * Of a whole BTF those types whose name is wanted, and what they are made of, as a BTF of its own.
 * Pointers in it lead nowhere: no relocation follows one. A descriptor, or -errno.
 */
int kernel_types_select(const struct kernel_types_wanted *wanted, const void *btf, size_t size);

#endif
