// SPDX-License-Identifier: Apache-2.0
#include "eh_frame.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_MAX	(2u << 20)
#define FUNCTIONS_FIRST 1024
#define SEGMENTS_MAX	16
#define CIE_BYTES_MAX                                                                              \
	(64u << 20) /* read again for each function that has another than the last                 \
		     */
#define NO_CIE ~0ULL
#define PC_MAX 0xffffffff /* rows have 32 bits for it */

/* Where code is. */
struct segments {
	u64 begin[SEGMENTS_MAX], end[SEGMENTS_MAX];
	size_t count;
};

static Elf_Scn *find_section(const struct elf_file *file, GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(file->elf, &names))
		return NULL;
	while ((section = elf_nextscn(file->elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, ret_header) || ret_header->sh_type == SHT_NOBITS ||
		    !(ret_header->sh_flags & SHF_ALLOC) || (ret_header->sh_flags & SHF_COMPRESSED))
			continue;
		name = elf_strptr(file->elf, names, ret_header->sh_name);
		if (name && !strcmp(name, ".eh_frame"))
			return section;
	}
	return NULL;
}

u64 eh_frame_size(const struct elf_file *file)
{
	GElf_Shdr header;

	return find_section(file, &header) ? header.sh_size : 0;
}

static void read_segments(const struct elf_file *file, struct segments *ret_segments)
{
	size_t count;

	ret_segments->count = 0;
	if (elf_getphdrnum(file->elf, &count))
		return;
	for (size_t i = 0; i < count && ret_segments->count < SEGMENTS_MAX; i++) {
		GElf_Phdr segment;
		u64 end;

		if (!gelf_getphdr(file->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    !(segment.p_flags & PF_X) ||
		    __builtin_add_overflow(segment.p_vaddr, segment.p_memsz, &end))
			continue;
		ret_segments->begin[ret_segments->count] = segment.p_vaddr;
		ret_segments->end[ret_segments->count++] = end;
	}
}

/* The end of what begins there, at most that of the segment; false: it is in none. */
static bool clip(const struct segments *segments, u64 begin, u64 length, u64 *ret_end)
{
	for (size_t i = 0; i < segments->count; i++) {
		u64 end = segments->end[i];

		if (begin < segments->begin[i] || begin >= end)
			continue;
		*ret_end = length < end - begin ? begin + length : end;
		return true;
	}
	return false;
}

/* "zPLR" and the like, of which each letter has its bytes. */
static bool read_augmentation(const Dwarf_CIE *entry, struct cfi_cie *cie)
{
	struct bytes data = {entry->augmentation_data, entry->augmentation_data, false};
	const char *letter = entry->augmentation;
	u64 unused;

	if (!*letter)
		return true;
	if (*letter++ != 'z' || !data.at)
		return false;
	data.end += entry->augmentation_data_size;
	cie->has_data = true;
	for (; *letter; letter++) {
		switch (*letter) {
		case 'R':
			cie->encoding = (u8)bytes_number(&data, 1);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'L':
			bytes_number(&data, 1);
			break;
		case 'P': /* what it counts from does not matter here */
			if (!cfi_take_length(&data, (u8)bytes_number(&data, 1), &unused))
				return false;
			break;
		default:
			return false;
		}
	}
	return !data.is_bad;
}

/* The entry at offset, by libdw: false at the end, and where there is none. */
static bool read_entry(struct eh_frame *eh_frame, u64 offset, u64 *ret_next,
		       Dwarf_CFI_Entry *ret_entry)
{
	Dwarf_Off next;
	int answer;

	if (offset >= eh_frame->data->d_size)
		return false;
	answer = dwarf_next_cfi(eh_frame->ident, eh_frame->data, true, offset, &next, ret_entry);
	if (answer < 0 || (!answer && next <= offset))
		eh_frame->is_cut = true;
	*ret_next = next;
	return !answer && next > offset;
}

static bool read_cie(struct eh_frame *eh_frame, u64 offset)
{
	struct bytes program = {0};
	Dwarf_CFI_Entry entry;
	u64 next, size;

	if (!eh_frame->cie_bytes_left || !read_entry(eh_frame, offset, &next, &entry) ||
	    !dwarf_cfi_cie_p(&entry))
		return false;
	size = (next < eh_frame->data->d_size ? next : eh_frame->data->d_size) - offset;
	if (size > eh_frame->cie_bytes_left) {
		eh_frame->cie_bytes_left = 0;
		return false;
	}
	eh_frame->cie_bytes_left -= size;
	eh_frame->cie = (struct cfi_cie){
		.code_factor = entry.cie.code_alignment_factor,
		.data_factor = entry.cie.data_alignment_factor,
	};
	program.at = entry.cie.initial_instructions;
	program.end = entry.cie.initial_instructions_end;
	return entry.cie.return_address_register == REGISTER_RETURN &&
	       read_augmentation(&entry.cie, &eh_frame->cie) &&
	       cfi_run_cie(&eh_frame->cie, program);
}

/* As of the last time, if it is the same: neighbours mostly have the same. */
static const struct cfi_cie *get_cie(struct eh_frame *eh_frame, u64 offset)
{
	if (offset != eh_frame->cie_offset) {
		eh_frame->cie_offset = offset;
		eh_frame->is_cie_good = read_cie(eh_frame, offset);
	}
	return eh_frame->is_cie_good ? &eh_frame->cie : NULL;
}

/* false: it is of no code that there is, or cannot be understood. */
static bool read_function(struct eh_frame *eh_frame, const struct segments *segments,
			  const Dwarf_FDE *entry, struct eh_function *ret_function)
{
	const struct cfi_cie *cie = get_cie(eh_frame, entry->CIE_pointer);
	struct bytes rest = {entry->start, entry->end, false};
	const u8 *section = eh_frame->data->d_buf;
	u64 begin, length, end;

	if (!cie || !cfi_take_address(&rest, cie->encoding, eh_frame->displacement, &begin) ||
	    !cfi_take_length(&rest, cie->encoding, &length)) {
		eh_frame->is_cut = true;
		return false;
	}
	if (cie->has_data)
		bytes_take(&rest, bytes_uleb(&rest));
	/* Functions that the linker left out are at 0, or at what else is no code. */
	if (!begin || !length || !clip(segments, begin, length, &end))
		return false;
	if (end > PC_MAX || rest.is_bad) {
		eh_frame->is_cut = true;
		return false;
	}
	*ret_function = (struct eh_function){
		.begin = (u32)begin,
		.end = (u32)end,
		.cie = (u32)entry->CIE_pointer,
		.program = (u32)(rest.at - section),
		.program_end = (u32)(rest.end - section),
	};
	return true;
}

static int compare_functions(const void *a, const void *b)
{
	const struct eh_function *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->program < y->program ? -1 : x->program > y->program;
}

static void sort(struct eh_frame *eh_frame)
{
	struct eh_function *functions = eh_frame->functions;
	size_t count = 0;

	if (!functions)
		return;
	qsort(functions, eh_frame->count, sizeof(*functions), compare_functions);
	for (size_t i = 0; i < eh_frame->count; i++) {
		struct eh_function *last = count ? &functions[count - 1] : NULL;

		if (last && last->begin == functions[i].begin)
			continue; /* one function, folded from several */
		if (last && last->end > functions[i].begin)
			last->end = functions[i].begin;
		functions[count++] = functions[i];
	}
	eh_frame->count = count;
}

static int read_functions(struct eh_frame *eh_frame, const struct segments *segments)
{
	size_t capacity = 0;
	Dwarf_CFI_Entry entry;
	u64 next;

	for (u64 offset = 0; read_entry(eh_frame, offset, &next, &entry); offset = next) {
		struct eh_function function;

		if (dwarf_cfi_cie_p(&entry) ||
		    !read_function(eh_frame, segments, &entry.fde, &function))
			continue;
		if (eh_frame->count == FUNCTIONS_MAX) {
			eh_frame->is_cut = true;
			break;
		}
		if (eh_frame->count == capacity) {
			void *grown;

			capacity = capacity ? capacity * 2 : FUNCTIONS_FIRST;
			grown = reallocarray(eh_frame->functions, capacity, sizeof(function));
			if (!grown)
				return -ENOMEM;
			eh_frame->functions = grown;
		}
		eh_frame->functions[eh_frame->count++] = function;
	}
	return 0;
}

int eh_frame_read(const struct elf_file *file, struct eh_frame *ret_eh_frame)
{
	struct eh_frame eh_frame = {.cie_offset = NO_CIE, .cie_bytes_left = CIE_BYTES_MAX};
	struct segments segments;
	GElf_Shdr section_header;
	GElf_Ehdr header;
	Elf_Scn *section;
	int err;

	*ret_eh_frame = (struct eh_frame){0};
	section = find_section(file, &section_header);
	if (!section || !section_header.sh_size || !gelf_getehdr(file->elf, &header))
		return 0;
	if (section_header.sh_size > EH_FRAME_SIZE_MAX)
		return -EFBIG;
	eh_frame.data = elf_rawdata(section, NULL);
	if (!eh_frame.data || !eh_frame.data->d_buf)
		return -EBADMSG; /* it ends before */
	memcpy(eh_frame.ident, header.e_ident, sizeof(eh_frame.ident));
	eh_frame.displacement = section_header.sh_addr - (u64)(size_t)eh_frame.data->d_buf;
	read_segments(file, &segments);
	err = read_functions(&eh_frame, &segments);
	if (err) {
		eh_frame_close(&eh_frame);
		return err;
	}
	sort(&eh_frame);
	*ret_eh_frame = eh_frame;
	return 0;
}

void eh_frame_close(struct eh_frame *eh_frame)
{
	free(eh_frame->functions);
	*eh_frame = (struct eh_frame){0};
}

const struct cfi_cie *eh_frame_run(struct eh_frame *eh_frame, const struct eh_function *function,
				   struct cfi_run *ret_run)
{
	const struct cfi_cie *cie = get_cie(eh_frame, function->cie);
	const u8 *section = eh_frame->data->d_buf;
	struct bytes program = {section + function->program, section + function->program_end,
				false};

	if (cie)
		cfi_run_begin(ret_run, cie, program, eh_frame->displacement, function->begin,
			      function->end);
	return cie;
}
