// SPDX-License-Identifier: Apache-2.0
#include "build_id.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#define NOTE_ALIGN(size) (((size) + 3) & ~(size_t)3)

static void find_note(const char *notes, size_t size, char *ret_text)
{
	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)notes;
		const char *name = notes + sizeof(*note);
		const char *bytes = name + NOTE_ALIGN(note->n_namesz);
		size_t whole = (size_t)(bytes - notes) + NOTE_ALIGN(note->n_descsz);

		if (whole > size)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    !memcmp(name, "GNU", 4) && 2 * note->n_descsz < BUILD_ID_TEXT_BYTES) {
			for (size_t i = 0; i < note->n_descsz; i++)
				snprintf(ret_text + 2 * i, 3, "%02x", (unsigned char)bytes[i]);
			return;
		}
		notes += whole;
		size -= whole;
	}
}

/* The first object is the program itself. */
static int on_object(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			find_note((const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
				  info->dlpi_phdr[i].p_memsz, context);
	return 1;
}

void build_id_own(char ret_text[BUILD_ID_TEXT_BYTES])
{
	ret_text[0] = '\0';
	dl_iterate_phdr(on_object, ret_text);
}
