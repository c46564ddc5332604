// SPDX-License-Identifier: Apache-2.0
#include "symbol_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "elf_section.h"

#define TABLE_MAX   (128u << 20) /* bytes: 5.6 million symbols, of which spans take fewer */
#define STRINGS_MAX (512u << 20)
#define OPEN_MAX    (16u << 10) /* bytes of a function whose size nobody told */

/* Where code is, or variables, by the number of the section; end 0: another one. */
struct wanted_section {
	u64 begin, end;
};

static bool is_wanted(const GElf_Shdr *header, bool is_data)
{
	if (!is_data)
		return header->sh_flags & SHF_EXECINSTR;
	return (header->sh_flags & SHF_ALLOC) && !(header->sh_flags & (SHF_EXECINSTR | SHF_TLS));
}

static struct wanted_section *list_sections(const struct elf_file *file, bool is_data,
					    size_t *ret_count)
{
	struct wanted_section *sections;
	size_t count;

	if (elf_getshdrnum(file->elf, &count) || !count)
		return NULL;
	sections = calloc(count, sizeof(*sections));
	if (!sections)
		return NULL;
	for (size_t i = 1; i < count; i++) {
		GElf_Shdr header;

		if (!gelf_getshdr(elf_getscn(file->elf, i), &header) ||
		    !is_wanted(&header, is_data) || header.sh_addr > ~0ULL - header.sh_size)
			continue;
		sections[i] =
			(struct wanted_section){header.sh_addr, header.sh_addr + header.sh_size};
	}
	*ret_count = count;
	return sections;
}

/* The name without its version ("@@GLIBC_2.34"), which .symtab has in it. */
static size_t length_of_name(const char *name, size_t length)
{
	const char *at = memchr(name, '@', length);
	size_t rest;

	if (!at || at == name)
		return length;
	rest = length - (size_t)(at - name);
	for (size_t i = 1; i < rest; i++)
		if (!strchr("@_.ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
			    at[i]))
			return length;
	return (size_t)(at - name);
}

/* Labels of assemblers and compilers, that mean nothing to people. */
static bool is_label(const char *name, size_t length)
{
	return !length || (length > 1 && name[0] == '.' && name[1] == 'L') || name[0] == '$';
}

static u32 rank_of_binding(u8 info)
{
	switch (ELF64_ST_BIND(info)) {
	case STB_LOCAL:
		return 0;
	case STB_WEAK:
		return 1;
	default:
		return 2;
	}
}

struct reading {
	const struct wanted_section *sections;
	size_t section_count;
	struct elf_bytes strings;
	u16 tag;
	bool is_data;
};

static bool is_type_wanted(u8 type, bool is_data)
{
	if (is_data)
		return type == STT_OBJECT;
	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

static int take_symbol(struct spans *spans, const struct reading *reading, const Elf64_Sym *symbol)
{
	struct span span = {.begin = symbol->st_value, .tag = reading->tag};
	const struct wanted_section *section;
	u8 type = ELF64_ST_TYPE(symbol->st_info);
	const char *name;
	size_t length;
	u64 size;
	int err;

	if (!is_type_wanted(type, reading->is_data) || symbol->st_shndx >= reading->section_count ||
	    symbol->st_name >= reading->strings.size)
		return 0;
	section = &reading->sections[symbol->st_shndx];
	if (span.begin < section->begin || span.begin >= section->end)
		return 0; /* not there, or no section: undefined */
	name = reading->strings.bytes + symbol->st_name;
	length = strnlen(name, reading->strings.size - symbol->st_name);
	if (is_label(name, length))
		return 0;
	length = length_of_name(name, length);
	size = section->end - span.begin;
	span.is_resolver = type == STT_GNU_IFUNC;
	span.is_label = type == STT_NOTYPE;
	span.is_open = !symbol->st_size;
	if (!span.is_open && symbol->st_size < size)
		size = symbol->st_size;
	if (span.is_open && size > OPEN_MAX)
		size = OPEN_MAX;
	span.size = size > 0xffffffff ? 0xffffffff : (u32)size;
	span.order = spans_rank(!span.is_open, rank_of_binding(symbol->st_info), name, length);
	err = spans_add(spans, span, name, length);
	return err == -E2BIG ? 0 : err; /* counted there */
}

/* What cannot be read is as good as not there: the file is another's. Only memory is our own. */
static int pass_over(int err)
{
	return err == -ENOMEM ? err : 0;
}

static int read_strings(const struct elf_file *file, const GElf_Shdr *table,
			struct elf_bytes *ret_strings)
{
	GElf_Shdr header;

	if (!gelf_getshdr(elf_getscn(file->elf, table->sh_link), &header) ||
	    header.sh_type != SHT_STRTAB)
		return -EBADMSG;
	return elf_section_read(file, &header, STRINGS_MAX, ret_strings);
}

static int add_table(struct spans *spans, const struct elf_file *file, const char *section, u16 tag,
		     bool is_data)
{
	_cleanup_elf_bytes_ struct elf_bytes table = {0}, strings = {0};
	_cleanup_free_ struct wanted_section *sections = NULL;
	struct reading reading = {.tag = tag, .is_data = is_data};
	GElf_Shdr header;
	int err;

	if (!elf_section_find(file, section, &header))
		return 0;
	err = elf_section_read(file, &header, TABLE_MAX, &table);
	if (!err)
		err = read_strings(file, &header, &strings);
	if (err)
		return pass_over(err);
	sections = list_sections(file, is_data, &reading.section_count);
	if (!sections)
		return -ENOMEM;
	reading.sections = sections;
	reading.strings = strings;
	for (size_t at = 0; !err && at + sizeof(Elf64_Sym) <= table.size; at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;

		memcpy(&symbol, table.bytes + at, sizeof(symbol)); /* it may not be aligned */
		err = take_symbol(spans, &reading, &symbol);
	}
	return err;
}

int symbol_table_add(struct spans *spans, const struct elf_file *file, const char *section, u16 tag)
{
	return add_table(spans, file, section, tag, false);
}

int symbol_table_add_data(struct spans *spans, const struct elf_file *file, const char *section,
			  u16 tag)
{
	return add_table(spans, file, section, tag, true);
}
