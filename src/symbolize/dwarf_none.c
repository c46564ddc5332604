// SPDX-License-Identifier: Apache-2.0
#include "dwarf_none.h"

#include <errno.h>
#include <string.h>

#define NAMES "\0.shstrtab\0.debug_info"

int dwarf_none_open(struct dwarf_none *none)
{
	struct dwarf_none_image *image = &none->image;

	*image = (struct dwarf_none_image){
		.header =
			{
				.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					    ELFDATA2LSB, EV_CURRENT},
				.e_type = ET_DYN,
				.e_version = EV_CURRENT,
				.e_ehsize = sizeof(Elf64_Ehdr),
				.e_shoff = offsetof(struct dwarf_none_image, sections),
				.e_shentsize = sizeof(Elf64_Shdr),
				.e_shnum = 3,
				.e_shstrndx = 1,
			},
		.names = NAMES,
	};
	image->sections[1] = (Elf64_Shdr){
		.sh_name = 1,
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct dwarf_none_image, names),
		.sh_size = sizeof(NAMES),
	};
	image->sections[2] = (Elf64_Shdr){
		.sh_name = sizeof("\0.shstrtab"),
		.sh_type = SHT_PROGBITS,
		.sh_offset = offsetof(struct dwarf_none_image, info),
		.sh_size = sizeof(image->info), /* zeroes: a unit of no length */
	};
	elf_version(EV_CURRENT);
	none->elf = elf_memory((char *)image, sizeof(*image));
	none->dwarf = none->elf ? dwarf_begin_elf(none->elf, DWARF_C_READ, NULL) : NULL;
	if (none->dwarf)
		return 0;
	dwarf_none_close(none);
	return -ENOMEM;
}

void dwarf_none_close(struct dwarf_none *none)
{
	dwarf_end(none->dwarf);
	elf_end(none->elf);
	none->dwarf = NULL;
	none->elf = NULL;
}
