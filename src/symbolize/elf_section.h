/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A section of an ELF file: its header by name, its bytes up to a bound. Read by pread into memory
 * of the caller's, so that nothing of a large file stays in libelf. Runs in the unprivileged
 * process.
 */
#ifndef DWELL_SYMBOLIZE_ELF_SECTION_H
#define DWELL_SYMBOLIZE_ELF_SECTION_H

#include <gelf.h>

#include "elf_file.h"

struct elf_bytes {
	const char *bytes;
	size_t size;
	void *own; /* what is to be freed */
};

void elf_bytes_free(struct elf_bytes *bytes);
#define _cleanup_elf_bytes_ __attribute__((cleanup(elf_bytes_free)))

/* The first section of that name: false if there is none. */
bool elf_section_find(const struct elf_file *file, const char *name, GElf_Shdr *ret_header);

/* 0 or -errno; -ENODATA: the file does not have its bytes; -EFBIG: more than max. */
int elf_section_read(const struct elf_file *file, const GElf_Shdr *header, size_t max,
		     struct elf_bytes *ret_bytes);

#endif
