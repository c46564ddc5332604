/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ELF file that somebody else wrote, opened from a descriptor. Nothing in it is believed: sizes
 * are bounded, and it is read by pread, never mapped (a file that is cut meanwhile must not end
 * us). Owns the libelf handle, not the descriptor. Runs in the unprivileged process.
 */
#ifndef DWELL_SYMBOLIZE_ELF_FILE_H
#define DWELL_SYMBOLIZE_ELF_FILE_H

#include <libelf.h>
#include <stdbool.h>

#include "../../abi/types.h"

#define BUILD_ID_MAX 64 /* bytes; GNU ld has 20, Go's own are not this */

struct elf_file {
	Elf *elf;
	int fd; /* -1: in memory */
	u8 build_id[BUILD_ID_MAX];
	size_t build_id_size; /* 0: it has none */
};

/* 0 or -errno; -ENOEXEC: no ELF file, or not of this machine. */
int elf_file_open(int fd, struct elf_file *ret_file);
/* The same from memory that stays the caller's: the vdso, what .gnu_debugdata holds. */
int elf_file_open_memory(void *image, size_t size, struct elf_file *ret_file);
void elf_file_close(struct elf_file *file); /* of a zeroed one, too */

/*
 * What is subtracted from addresses of a process that mapped the file's bytes from offset on at
 * begin: false if no executable segment of the file is there.
 */
bool elf_file_bias(const struct elf_file *file, u64 begin, u64 offset, u64 *ret_bias);

#endif
