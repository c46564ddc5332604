/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source lines and inlined functions of one ELF file, from its DWARF, by libdw: slow, so only asked
 * for with --lines or --inline, for addresses that were seen, once each. Owns the Dwarf handle.
 * Runs in the unprivileged process.
 */
#ifndef DWELL_SYMBOLIZE_LINES_H
#define DWELL_SYMBOLIZE_LINES_H

#include "../model/resolver.h"
#include "elf_file.h"

/* Of all .debug_* sections, unpacked: libdw reads them all. Of one file, and of all that are open.
 */
#define LINES_BYTES_MAX (1u << 30)

struct lines;

/*
 * file has .debug_info: the module itself or its debug file; it stays open as long as the lines: 0
 * or -errno; -ENOENT: it has none; -EFBIG: more than we read; -ENOTSUP: packed in a way of old, or
 * no linked file. spent_ns: of CPU time, when it was open before.
 */
int lines_open(const struct elf_file *file, u64 spent_ns, struct lines **ret_lines);
/* Before libdw reads a file, which it does whole: 0, and how much that is, or -errno. */
int lines_check_sections(Elf *elf, size_t *ret_bytes);

void lines_close(struct lines *lines);

/*
 * The line of address, and the functions inlined there, innermost first; the last one is the
 * function proper: how many, 0 if the file does not say. Names are as DWARF has them (linkage name,
 * else name), mangled, and may be missing; files are fit to be shown. Valid until the next call.
 */
size_t lines_find(struct lines *lines, u64 address, struct frame_name ret_names[FRAME_NAMES_MAX]);

/* The time that one file may cost is spent, or something in it was too large: not all is told. */
bool lines_are_cut(const struct lines *lines);
u64 lines_spent_ns(const struct lines *lines); /* of CPU time */
size_t lines_bytes(const struct lines *lines); /* of memory, but for what libdw makes of them */

#endif
