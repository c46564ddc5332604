/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DWARF in which there is nothing. libdw takes it for the file that another's .gnu_debugaltlink
 * names, and so does not go and open what somebody wrote there. Owns its handles. Called by lines.
 */
#ifndef DWELL_SYMBOLIZE_DWARF_NONE_H
#define DWELL_SYMBOLIZE_DWARF_NONE_H

#include <elfutils/libdw.h>
#include <gelf.h>

struct dwarf_none_image {
	Elf64_Ehdr header;
	Elf64_Shdr sections[3];
	char names[32];
	char info[8];
};

struct dwarf_none {
	struct dwarf_none_image image; /* stays where it is while it is open */
	Elf *elf;
	Dwarf *dwarf;
};

int dwarf_none_open(struct dwarf_none *none);	/* 0 or -ENOMEM */
void dwarf_none_close(struct dwarf_none *none); /* of a zeroed one, too */

#endif
