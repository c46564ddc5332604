/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses and offsets of an ELF file, by its segments. Owns nothing. The file is hostile, its
 * segments are bounded.
 */
#ifndef DWELL_SYMBOLIZE_ELF_SEGMENT_H
#define DWELL_SYMBOLIZE_ELF_SEGMENT_H

#include "elf_file.h"

/* Offset in the file of an address of a segment; only of code if so wanted: false if there is none.
 */
bool elf_offset_of(const struct elf_file *file, u64 address, bool is_code, u64 *ret_offset);

/* The address of code at an offset: false if no executable segment has it. */
bool elf_address_of(const struct elf_file *file, u64 offset, u64 *ret_address);

#endif
