// SPDX-License-Identifier: Apache-2.0
#include "elf_file.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#error "no such machine"
#endif

#define NAMES_SIZE_MAX (1u << 20) /* of sections; libelf reads them all at the first one */
#define NOTES_SIZE_MAX (64u << 10)
#define NOTES_MAX      16 /* segments or sections of notes that are looked at */

/*
 * What libelf would believe and we do not: numbers of sections or segments that do not fit into the
 * header (only objects of thousands of sections need that), and names without end.
 */
static int check_header(const Elf64_Ehdr *header)
{
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_ident[EI_VERSION] != EV_CURRENT)
		return -ENOEXEC;
	if (header->e_machine != MACHINE)
		return -ENOEXEC;
	if (header->e_phnum == PN_XNUM || (header->e_shoff && !header->e_shnum) ||
	    header->e_shstrndx == SHN_XINDEX)
		return -EFBIG;
	return 0;
}

static int check_names(Elf *elf)
{
	size_t index;
	GElf_Shdr section;

	if (elf_getshdrstrndx(elf, &index) || index == SHN_UNDEF)
		return 0;
	if (!gelf_getshdr(elf_getscn(elf, index), &section))
		return 0; /* then there are no names */
	return section.sh_size > NAMES_SIZE_MAX ? -EFBIG : 0;
}

static bool take_build_id(struct elf_file *file, Elf_Data *notes)
{
	size_t at = 0, name_at, id_at;
	GElf_Nhdr note;

	if (!notes || !notes->d_buf)
		return false;
	while ((at = gelf_getnote(notes, at, &note, &name_at, &id_at)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(ELF_NOTE_GNU) ||
		    memcmp((char *)notes->d_buf + name_at, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)))
			continue;
		if (!note.n_descsz || note.n_descsz > BUILD_ID_MAX)
			continue;
		memcpy(file->build_id, (char *)notes->d_buf + id_at, note.n_descsz);
		file->build_id_size = note.n_descsz;
		return true;
	}
	return false;
}

static bool find_in_segments(struct elf_file *file)
{
	size_t count, seen = 0;

	if (elf_getphdrnum(file->elf, &count))
		return false;
	for (size_t i = 0; i < count && seen < NOTES_MAX; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(file->elf, (int)i, &segment) || segment.p_type != PT_NOTE)
			continue;
		seen++;
		if (segment.p_filesz > NOTES_SIZE_MAX)
			continue;
		if (take_build_id(file, elf_getdata_rawchunk(file->elf, (int64_t)segment.p_offset,
							     segment.p_filesz,
							     segment.p_align == 8 ? ELF_T_NHDR8
										  : ELF_T_NHDR)))
			return true;
	}
	return false;
}

/* Debug files keep the segments of their module, but not the bytes in them. */
static void find_in_sections(struct elf_file *file)
{
	Elf_Scn *section = NULL;
	size_t seen = 0;

	while ((section = elf_nextscn(file->elf, section)) && seen < NOTES_MAX) {
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
			continue;
		seen++;
		if (header.sh_size <= NOTES_SIZE_MAX && !(header.sh_flags & SHF_COMPRESSED) &&
		    take_build_id(file, elf_getdata(section, NULL)))
			return;
	}
}

/* Takes elf, which may be NULL. */
static int begin(Elf *elf, int fd, struct elf_file *ret_file)
{
	int err;

	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		return -ENOEXEC;
	}
	err = check_names(elf);
	if (err) {
		elf_end(elf);
		return err;
	}
	*ret_file = (struct elf_file){.elf = elf, .fd = fd};
	if (!find_in_segments(ret_file))
		find_in_sections(ret_file);
	return 0;
}

int elf_file_open(int fd, struct elf_file *ret_file)
{
	Elf64_Ehdr header;
	ssize_t size = pread(fd, &header, sizeof(header), 0);
	int err;

	if (size < 0)
		return -errno;
	if (size != sizeof(header))
		return -ENOEXEC;
	err = check_header(&header);
	if (err)
		return err;
	elf_version(EV_CURRENT);
	return begin(elf_begin(fd, ELF_C_READ, NULL), fd, ret_file);
}

int elf_file_open_memory(void *image, size_t size, struct elf_file *ret_file)
{
	Elf64_Ehdr header;
	int err;

	if (size < sizeof(header))
		return -ENOEXEC;
	memcpy(&header, image, sizeof(header));
	err = check_header(&header);
	if (err)
		return err;
	elf_version(EV_CURRENT);
	return begin(elf_memory(image, size), -1, ret_file);
}

void elf_file_close(struct elf_file *file)
{
	elf_end(file->elf);
	*file = (struct elf_file){.fd = -1};
}

bool elf_file_bias(const struct elf_file *file, u64 begin, u64 offset, u64 *ret_bias)
{
	u64 in_page = (u64)sysconf(_SC_PAGESIZE) - 1;
	bool is_found = false;
	size_t count;

	if (elf_getphdrnum(file->elf, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;
		u64 first;

		if (!gelf_getphdr(file->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    !(segment.p_flags & PF_X))
			continue;
		first = segment.p_offset & ~in_page;
		if (offset < first ||
		    offset - first >= segment.p_filesz + (segment.p_offset - first))
			continue;
		*ret_bias = begin - offset + segment.p_offset - segment.p_vaddr;
		is_found = true;
		if (offset == first)
			break; /* and not the last page of the segment before, which is the same */
	}
	return is_found;
}
