/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of one ELF file, sorted by address: a name is found by bisection in well under a
 * microsecond. Owns the arrays. Input is hostile: everything is bounded. Runs in the unprivileged
 * process.
 */
#ifndef DWELL_SYMBOLIZE_SYMBOLS_H
#define DWELL_SYMBOLIZE_SYMBOLS_H

#include "../model/resolver.h"
#include "elf_file.h"

struct symbols;

/*
 * From .symtab, .dynsym and .gnu_debugdata of the file, and of the separate debug file (NULL: there
 * is none); 0, also if there is no symbol at all, or -errno.
 */
int symbols_build(const struct elf_file *file, const struct elf_file *debug_file,
		  struct symbols **ret_symbols);
void symbols_close(struct symbols *symbols);
size_t symbols_count(const struct symbols *symbols);
size_t symbols_bytes(const struct symbols *symbols); /* without demangled ones; NULL is allowed */
u64 symbols_refused(const struct symbols *symbols);  /* did not fit */

/* The same for variables, instead of functions. */
int symbols_build_data(const struct elf_file *file, const struct elf_file *debug_file,
		       struct symbols **ret_symbols);

/*
 * More of them, e.g. of a debug file that came later; what is there stays: 0 or -errno. Names that
 * were found before are no longer valid.
 */
int symbols_add(struct symbols *symbols, const struct elf_file *file, enum name_source source);

/*
 * The function that address, a link-time one, lies in: its name as the file has it, mangled, or
 * NULL. Only inside: a function without a size reaches up to the next one within its section, none
 * further than that.
 */
const char *symbols_find(const struct symbols *symbols, u64 address, enum name_source *ret_source);

/*
 * The same as people write it, and fit to be shown: demangled once for each function, so that it
 * costs no more than the look-up when it is asked for again. Valid until the next symbols_add() or
 * symbols_close(); a name for which there was no room to keep it, until the next one.
 */
const char *symbols_name(struct symbols *symbols, u64 address, enum name_source *ret_source);

/* The same, and how far the address is from where it begins. */
const char *symbols_name_at(struct symbols *symbols, u64 address, u64 *ret_offset);

/* Does the file say of itself all that can be said, or is a debug file worth looking for? */
bool symbols_are_full(const struct elf_file *file);

#endif
