/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of one symbol table of an ELF file, and the stubs of its PLT, which have none:
 * added to spans, as they come. Owns nothing. Called by symbols.
 */
#ifndef DWELL_SYMBOLIZE_SYMBOL_TABLE_H
#define DWELL_SYMBOLIZE_SYMBOL_TABLE_H

#include "elf_file.h"
#include "spans.h"

/* Section is ".symtab" or ".dynsym": 0, also where there is none or it is broken, or -ENOMEM. */
int symbol_table_add(struct spans *spans, const struct elf_file *file, const char *section,
		     u16 tag);

/* The same of variables, but for those that each thread has its own of. */
int symbol_table_add_data(struct spans *spans, const struct elf_file *file, const char *section,
			  u16 tag);

/* "name@plt" for each stub whose jump leads to a name: 0 or -ENOMEM. */
int symbol_table_add_plt(struct spans *spans, const struct elf_file *file, u16 tag);

#endif
