/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of abi/unwind.h of one ELF file, built from its .eh_frame. Owns the array.
 * Input is hostile: rows, entries and time are bounded. Runs in the unprivileged process.
 */
#ifndef DWELL_SYMBOLIZE_ROW_TABLE_H
#define DWELL_SYMBOLIZE_ROW_TABLE_H

#include "../../abi/unwind.h"
#include "elf_file.h"

#define ROW_TABLE_MAX (4u << 20) /* rows of one file */

struct row_table {
	struct unwind_row *rows; /* sorted by pc, no two with the same, no two equal in a row */
	size_t count;
	bool is_cut; /* there was more than fits, or than could be read */
	size_t bad;  /* rows of kind ROW_BAD */
};

/* 0, also for a file without .eh_frame (count 0), or -errno: -EBADMSG, it could not be read. */
int row_table_build(const struct elf_file *file, struct row_table *ret_table);
void row_table_close(struct row_table *table);

/*
 * The same in a file of the disk cache: bytes that say what they are, for which build of dwell, and
 * for which file. read: 0 or -errno, -EBADMSG for what was not written so; all of it is checked.
 * -EINVAL: a file without build id, which nothing tells from others.
 */
int row_table_read(int fd, const struct elf_file *file, struct row_table *ret_table);
int row_table_write(int fd, const struct elf_file *file, const struct row_table *table);

#endif
