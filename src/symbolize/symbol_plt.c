// SPDX-License-Identifier: Apache-2.0
#include "symbol_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "elf_section.h"

#define STUBS_MAX   (4u << 20)	/* bytes of one section of stubs */
#define SLOTS_MAX   (32u << 20) /* bytes of relocations */
#define STRINGS_MAX (64u << 20)
#define NAME_SIZE   1024

#if defined(__x86_64__)

/* A word of memory that is filled in with the address of a function of another file. */
struct slot {
	u64 address;
	u32 symbol;
};

struct slots {
	struct slot *items;
	size_t count;
};

static int by_address(const void *a, const void *b)
{
	const struct slot *left = a, *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

static int add_slots(const struct elf_file *file, const char *section, struct slots *slots)
{
	_cleanup_elf_bytes_ struct elf_bytes table = {0};
	GElf_Shdr header;
	struct slot *items;

	if (!elf_section_find(file, section, &header) || header.sh_type != SHT_RELA ||
	    elf_section_read(file, &header, SLOTS_MAX, &table))
		return 0;
	items = reallocarray(slots->items, slots->count + table.size / sizeof(Elf64_Rela) + 1,
			     sizeof(*items));
	if (!items)
		return -ENOMEM;
	slots->items = items;
	for (size_t at = 0; at + sizeof(Elf64_Rela) <= table.size; at += sizeof(Elf64_Rela)) {
		Elf64_Rela entry;
		u64 type;

		memcpy(&entry, table.bytes + at, sizeof(entry));
		type = ELF64_R_TYPE(entry.r_info);
		if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT)
			slots->items[slots->count++] =
				(struct slot){entry.r_offset, (u32)ELF64_R_SYM(entry.r_info)};
	}
	return 0;
}

/* The word that the stub's jump goes through ("jmp *x(%rip)", with its prefixes): 0 if none. */
static u64 slot_of_stub(const char *stub, size_t size, u64 address)
{
	static const char endbr64[] = "\xf3\x0f\x1e\xfa";
	size_t at = 0;
	s32 distance;

	if (size >= 4 && !memcmp(stub, endbr64, 4))
		at = 4;
	if (at < size && stub[at] == '\xf2') /* bnd */
		at++;
	if (at + 6 > size || memcmp(stub + at, "\xff\x25", 2))
		return 0;
	memcpy(&distance, stub + at + 2, sizeof(distance));
	return address + at + 6 + (u64)(s64)distance;
}

/* The symbols that relocations speak of. */
struct names {
	struct elf_bytes symbols, strings;
};

static int name_stub(struct spans *spans, const struct names *names, u32 symbol_number,
		     struct span span)
{
	char text[NAME_SIZE];
	Elf64_Sym symbol;
	size_t at = (size_t)symbol_number * sizeof(symbol), room;
	int length, err;

	if (at + sizeof(symbol) > names->symbols.size)
		return 0;
	memcpy(&symbol, names->symbols.bytes + at, sizeof(symbol));
	if (!symbol.st_name || symbol.st_name >= names->strings.size)
		return 0;
	room = names->strings.size - symbol.st_name;
	length = snprintf(text, sizeof(text), "%.*s@plt", room > NAME_SIZE ? NAME_SIZE : (int)room,
			  names->strings.bytes + symbol.st_name);
	if (length < 0 || (size_t)length >= sizeof(text))
		return 0; /* cut, it would not be what it says */
	err = spans_add(spans, span, text, (size_t)length);
	return err == -E2BIG ? 0 : err;
}

static int add_stubs(struct spans *spans, const struct elf_file *file, const char *section,
		     const struct slots *slots, const struct names *names, u16 tag)
{
	_cleanup_elf_bytes_ struct elf_bytes stubs = {0};
	GElf_Shdr header;
	size_t step;
	int err = 0;

	if (!elf_section_find(file, section, &header) ||
	    elf_section_read(file, &header, STUBS_MAX, &stubs))
		return 0;
	step = header.sh_entsize == 8 ? 8 : 16;
	for (size_t at = 0; !err && at + step <= stubs.size; at += step) {
		struct span span = {.begin = header.sh_addr + at, .size = (u32)step, .tag = tag};
		struct slot key = {.address = slot_of_stub(stubs.bytes + at, step, span.begin)};
		struct slot *slot =
			bsearch(&key, slots->items, slots->count, sizeof(key), by_address);

		if (slot)
			err = name_stub(spans, names, slot->symbol, span);
	}
	return err;
}

static int read_names(const struct elf_file *file, struct names *names)
{
	GElf_Shdr header, strings;
	int err;

	if (!elf_section_find(file, ".dynsym", &header) ||
	    !gelf_getshdr(elf_getscn(file->elf, header.sh_link), &strings))
		return -ENODATA;
	err = elf_section_read(file, &header, STRINGS_MAX, &names->symbols);
	return err ? err : elf_section_read(file, &strings, STRINGS_MAX, &names->strings);
}

int symbol_table_add_plt(struct spans *spans, const struct elf_file *file, u16 tag)
{
	static const char *const relocations[] = {".rela.plt", ".rela.dyn"};
	static const char *const sections[] = {".plt", ".plt.sec", ".plt.got"};
	struct slots slots = {0};
	struct names names = {0};
	int err;

	err = read_names(file, &names);
	for (size_t i = 0; !err && i < ARRAY_SIZE(relocations); i++)
		err = add_slots(file, relocations[i], &slots);
	if (!err && slots.count) {
		qsort(slots.items, slots.count, sizeof(*slots.items), by_address);
		for (size_t i = 0; !err && i < ARRAY_SIZE(sections); i++)
			err = add_stubs(spans, file, sections[i], &slots, &names, tag);
	}
	elf_bytes_free(&names.symbols);
	elf_bytes_free(&names.strings);
	free(slots.items);
	return err == -ENOMEM ? err : 0;
}

#else

/* Stubs of other machines are read by nobody yet: they have no name. */
int symbol_table_add_plt(struct spans *spans, const struct elf_file *file, u16 tag)
{
	(void)spans;
	(void)file;
	(void)tag;
	return 0;
}

#endif
