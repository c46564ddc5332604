// SPDX-License-Identifier: Apache-2.0
#include "elf_segment.h"

#include <gelf.h>

#define SEGMENTS_MAX 64 /* that are looked at */

bool elf_offset_of(const struct elf_file *file, u64 address, bool is_code, u64 *ret_offset)
{
	size_t count;

	if (elf_getphdrnum(file->elf, &count))
		return false;
	for (size_t i = 0; i < count && i < SEGMENTS_MAX; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(file->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    (is_code && !(segment.p_flags & PF_X)) || address < segment.p_vaddr ||
		    address - segment.p_vaddr >= segment.p_filesz)
			continue;
		*ret_offset = address - segment.p_vaddr + segment.p_offset;
		return true;
	}
	return false;
}

bool elf_address_of(const struct elf_file *file, u64 offset, u64 *ret_address)
{
	size_t count;

	if (elf_getphdrnum(file->elf, &count))
		return false;
	for (size_t i = 0; i < count && i < SEGMENTS_MAX; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(file->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    !(segment.p_flags & PF_X) || offset < segment.p_offset ||
		    offset - segment.p_offset >= segment.p_filesz)
			continue;
		*ret_address = offset - segment.p_offset + segment.p_vaddr;
		return true;
	}
	return false;
}
