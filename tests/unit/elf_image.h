/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small ELF files, made in memory for tests: sections are added one after the other, then the image
 * is finished. Everything in it is as the test says, right or wrong.
 */
#ifndef DWELL_TESTS_ELF_IMAGE_H
#define DWELL_TESTS_ELF_IMAGE_H

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#define IMAGE_MACHINE EM_X86_64
#else
#define IMAGE_MACHINE EM_AARCH64
#endif

#define IMAGE_SECTIONS 16

struct elf_image {
	char bytes[1 << 16];
	size_t size;
	Elf64_Shdr sections[IMAGE_SECTIONS];
	size_t count;
	char names[512];
	size_t names_size;
};

static inline void image_begin(struct elf_image *image)
{
	memset(image, 0, sizeof(*image));
	image->size = sizeof(Elf64_Ehdr);
	image->count = 1;
	image->names_size = 1;
}

static inline size_t image_put(struct elf_image *image, const void *bytes, size_t size)
{
	size_t at = (image->size + 7) & ~(size_t)7;

	memcpy(image->bytes + at, bytes, size);
	image->size = at + size;
	return at;
}

/* Its number; bytes may be NULL, for a section that the file does not have. */
static inline size_t image_section(struct elf_image *image, const char *name, Elf64_Shdr header,
				   const void *bytes, size_t size)
{
	header.sh_name = (Elf64_Word)image->names_size;
	strcpy(image->names + image->names_size, name);
	image->names_size += strlen(name) + 1;
	header.sh_size = size;
	if (bytes)
		header.sh_offset = image_put(image, bytes, size);
	else
		header.sh_type = SHT_NOBITS;
	image->sections[image->count] = header;
	return image->count++;
}

static inline size_t image_code(struct elf_image *image, const char *name, Elf64_Addr address,
				const void *bytes, size_t size)
{
	const Elf64_Shdr header = {
		.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addr = address};

	return image_section(image, name, header, bytes, size);
}

struct image_symbol {
	const char *name;
	Elf64_Addr address;
	Elf64_Xword size;
	unsigned char type, binding;
	size_t section;
};

/* The table and its strings. */
static inline size_t image_symbols(struct elf_image *image, const char *name, unsigned type,
				   const struct image_symbol *symbols, size_t count)
{
	Elf64_Sym table[64] = {{0}};
	char strings[2048] = "";
	size_t strings_size = 1;
	Elf64_Shdr header = {.sh_type = SHT_STRTAB};

	for (size_t i = 0; i < count; i++) {
		table[i + 1] = (Elf64_Sym){
			.st_name = (Elf64_Word)strings_size,
			.st_info = ELF64_ST_INFO(symbols[i].binding, symbols[i].type),
			.st_shndx = (Elf64_Half)symbols[i].section,
			.st_value = symbols[i].address,
			.st_size = symbols[i].size,
		};
		strcpy(strings + strings_size, symbols[i].name);
		strings_size += strlen(symbols[i].name) + 1;
	}
	header.sh_link =
		(Elf64_Word)image_section(image, ".strings", header, strings, strings_size);
	header.sh_type = type;
	header.sh_entsize = sizeof(Elf64_Sym);
	return image_section(image, name, header, table, (count + 1) * sizeof(Elf64_Sym));
}

static inline void image_end(struct elf_image *image)
{
	Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = IMAGE_MACHINE,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	const Elf64_Shdr names = {.sh_type = SHT_STRTAB};

	header.e_shstrndx = (Elf64_Half)image_section(image, ".shstrtab", names, "", 1);
	image->sections[header.e_shstrndx].sh_offset =
		image_put(image, image->names, image->names_size);
	image->sections[header.e_shstrndx].sh_size = image->names_size;
	header.e_shnum = (Elf64_Half)image->count;
	header.e_shoff = image_put(image, image->sections, image->count * sizeof(Elf64_Shdr));
	memcpy(image->bytes, &header, sizeof(header));
}

#endif
