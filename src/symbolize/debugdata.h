/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .gnu_debugdata: a small ELF file with the symbols that were stripped, packed by xz into a section
 * of the stripped one. Owns nothing. Called by symbols. Time and memory are bounded: the packed
 * bytes are hostile.
 */
#ifndef DWELL_SYMBOLIZE_DEBUGDATA_H
#define DWELL_SYMBOLIZE_DEBUGDATA_H

#include "elf_file.h"

#define DEBUGDATA_SECTION ".gnu_debugdata"

/* 0 or -errno; -ENOENT: there is none; -EFBIG: more than we take. *ret_image is to be freed. */
int debugdata_unpack(const struct elf_file *file, void **ret_image, size_t *ret_size);

#endif
