/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ELF file for tests, as small as can be: one executable segment, .eh_frame with one CIE and
 * functions one after the other, a build id. In memory of one size, so that it can be changed.
 */
#ifndef DWELL_TESTS_TINY_ELF_H
#define DWELL_TESTS_TINY_ELF_H

#include <elf.h>
#include <string.h>

#include "../../abi/types.h"

#define TINY_TEXT     0x1000 /* where functions begin */
#define TINY_EH_FRAME 0x10000
#define TINY_SIZE     8192

struct tiny_elf {
	_Alignas(8) u8 bytes[TINY_SIZE];
	Elf64_Ehdr *header;
	Elf64_Phdr *segments; /* 0: code, 1: the note, 2: free for use */
	Elf64_Shdr *sections; /* 1: .eh_frame, 2: .shstrtab */
	u8 *note;
	u8 *eh_frame;
	size_t eh_frame_size;
};

enum {
	TINY_SEGMENTS_AT = sizeof(Elf64_Ehdr),
	TINY_SECTIONS_AT = TINY_SEGMENTS_AT + 3 * sizeof(Elf64_Phdr),
	TINY_NAMES_AT = TINY_SECTIONS_AT + 3 * sizeof(Elf64_Shdr),
	TINY_NOTE_AT = TINY_NAMES_AT + 32,
	TINY_EH_FRAME_AT = TINY_NOTE_AT + 64,
};

static inline void tiny_elf_put(struct tiny_elf *elf, const void *bytes, size_t size)
{
	memcpy(elf->eh_frame + elf->eh_frame_size, bytes, size);
	elf->eh_frame_size += size;
	elf->sections[1].sh_size = elf->eh_frame_size;
}

/* An entry; length and padding are seen to. */
static inline void tiny_elf_entry(struct tiny_elf *elf, const void *bytes, size_t size)
{
	u32 length = (u32)(size + 7) / 8 * 8 + 4;
	static const u8 nops[12];

	tiny_elf_put(elf, &length, 4);
	tiny_elf_put(elf, bytes, size);
	tiny_elf_put(elf, nops, length - size);
}

/* The CIE that assemblers write: augmentation is that, with what data it has. */
static inline void tiny_elf_cie(struct tiny_elf *elf, const char *augmentation, const void *data,
				size_t data_size, const void *program, size_t program_size)
{
	u8 entry[512] = {0, 0, 0, 0, 1}, *at = entry + 5;

	at = (u8 *)stpcpy((char *)at, augmentation) + 1;
	*at++ = 1;    /* code factor */
	*at++ = 0x78; /* data factor: -8 */
	*at++ = 16;   /* return address: rip */
	if (*augmentation == 'z') {
		*at++ = (u8)data_size;
		memcpy(at, data, data_size);
		at += data_size;
	}
	memcpy(at, program, program_size);
	tiny_elf_entry(elf, entry, (size_t)(at - entry) + program_size);
}

/* A function of the CIE at offset 0, which has "zR", with four bytes each, relative. */
static inline void tiny_elf_function(struct tiny_elf *elf, u32 begin, u32 size, const void *program,
				     size_t program_size)
{
	u32 at = (u32)elf->eh_frame_size;
	const u32 head[] = {at + 4, begin - (TINY_EH_FRAME + at + 8), size};
	u8 entry[512] = {0};

	memcpy(entry, head, sizeof(head));
	memcpy(entry + sizeof(head) + 1, program, program_size);
	tiny_elf_entry(elf, entry, sizeof(head) + 1 + program_size);
}

static inline void tiny_elf_init(struct tiny_elf *elf)
{
	static const char names[] = "\0.eh_frame\0.shstrtab";
	static const u8 note[] = {4, 0, 0,   0,	  4,   0, 0,	0,    3,    0,
				  0, 0, 'G', 'N', 'U', 0, 0xde, 0xad, 0xbe, 0xef};
	/* .cfi_def_cfa rsp, 8; .cfi_offset rip, -8 */
	static const u8 program[] = {0x0c, 7, 8, 0x80 | 16, 1};

	memset(elf, 0, sizeof(*elf));
	elf->header = (Elf64_Ehdr *)elf->bytes;
	elf->segments = (Elf64_Phdr *)(elf->bytes + TINY_SEGMENTS_AT);
	elf->sections = (Elf64_Shdr *)(elf->bytes + TINY_SECTIONS_AT);
	elf->note = elf->bytes + TINY_NOTE_AT;
	elf->eh_frame = elf->bytes + TINY_EH_FRAME_AT;
	*elf->header = (Elf64_Ehdr){
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
#ifdef __x86_64__
		.e_machine = EM_X86_64,
#else
		.e_machine = EM_AARCH64,
#endif
		.e_version = EV_CURRENT,
		.e_phoff = TINY_SEGMENTS_AT,
		.e_shoff = TINY_SECTIONS_AT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 3,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 2,
	};
	elf->segments[0] = (Elf64_Phdr){.p_type = PT_LOAD,
					.p_flags = PF_R | PF_X,
					.p_filesz = TINY_SIZE,
					.p_memsz = TINY_EH_FRAME,
					.p_align = 4096};
	elf->segments[1] = (Elf64_Phdr){.p_type = PT_NOTE,
					.p_offset = TINY_NOTE_AT,
					.p_filesz = sizeof(note),
					.p_align = 4};
	elf->sections[1] = (Elf64_Shdr){.sh_name = 1,
					.sh_type = SHT_PROGBITS,
					.sh_flags = SHF_ALLOC,
					.sh_addr = TINY_EH_FRAME,
					.sh_offset = TINY_EH_FRAME_AT,
					.sh_addralign = 8};
	elf->sections[2] = (Elf64_Shdr){.sh_name = 11,
					.sh_type = SHT_STRTAB,
					.sh_offset = TINY_NAMES_AT,
					.sh_size = sizeof(names),
					.sh_addralign = 1};
	memcpy(elf->bytes + TINY_NAMES_AT, names, sizeof(names));
	memcpy(elf->note, note, sizeof(note));
	tiny_elf_cie(elf, "zR", "\x1b", 1, program, sizeof(program));
}

#endif
