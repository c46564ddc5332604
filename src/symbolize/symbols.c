// SPDX-License-Identifier: Apache-2.0
#include "symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "debugdata.h"
#include "demangle.h"
#include "elf_section.h"
#include "spans.h"
#include "symbol_table.h"

#define SYMBOLS_MAX (1u << 21)
#define TEXT_MAX    (128u << 20)
#define SHOWN_MAX   (32u << 20) /* bytes of demangled names that are kept */

#define NOT_SHOWN (~0u)

struct symbols {
	struct spans
		spans; /* tag: where the name came from; order: its place in shown, or NOT_SHOWN */
	char **shown;  /* names that were demangled */
	size_t shown_count, shown_capacity, shown_bytes;
	char last[DEMANGLED_MAX];
};

static int add_debugdata(struct symbols *symbols, const struct elf_file *file)
{
	_cleanup_free_ void *image = NULL;
	struct elf_file inner;
	size_t size;
	int err = debugdata_unpack(file, &image, &size);

	if (!err)
		err = elf_file_open_memory(image, size, &inner);
	if (err)
		return err == -ENOMEM ? err : 0;
	err = symbol_table_add(&symbols->spans, &inner, ".symtab", NAME_DEBUGDATA);
	elf_file_close(&inner);
	return err;
}

/*
 * One name for each address. Of functions that overlap, one that has a size has the place before
 * one that has none, and the inner one before the outer one.
 */
static int settle(struct symbols *symbols)
{
	struct spans *spans = &symbols->spans;
	int err;

	spans_keep_best(spans);
	for (size_t i = 0; i < spans->count; i++)
		spans->items[i].order = (u32)(spans->items[i].is_open ? i : spans->count + i);
	err = spans_settle(spans);
	if (err)
		return err;
	for (size_t i = 0; i < spans->count; i++)
		spans->items[i].order = NOT_SHOWN; /* highest: what is added does not replace it */
	spans_trim(spans);
	return 0;
}

/*
 * The file's own tables. A linker writes each name of .dynsym to .symtab, too; where a tool has
 * taken some out of that, it is the shorter one, and both are read. Of a large program, .dynsym is
 * half of the work.
 */
static int add_own(struct spans *spans, const struct elf_file *file,
		   int (*add)(struct spans *, const struct elf_file *, const char *, u16))
{
	GElf_Shdr all, dynamic;
	bool has_all = elf_section_find(file, ".symtab", &all) && all.sh_type == SHT_SYMTAB &&
		       elf_section_find(file, ".dynsym", &dynamic) &&
		       all.sh_size >= dynamic.sh_size;
	int err = add(spans, file, ".symtab", NAME_SYMTAB);

	return err || has_all ? err : add(spans, file, ".dynsym", NAME_DYNSYM);
}

int symbols_build(const struct elf_file *file, const struct elf_file *debug_file,
		  struct symbols **ret_symbols)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));
	int err;

	if (!symbols)
		return -ENOMEM;
	spans_init(&symbols->spans, SYMBOLS_MAX, TEXT_MAX);
	err = add_own(&symbols->spans, file, symbol_table_add);
	if (!err)
		err = symbol_table_add_plt(&symbols->spans, file, NAME_DYNSYM);
	if (!err)
		err = add_debugdata(symbols, file);
	if (!err && debug_file)
		err = symbol_table_add(&symbols->spans, debug_file, ".symtab", NAME_DEBUG_FILE);
	if (!err)
		err = settle(symbols);
	if (err) {
		symbols_close(symbols);
		return err;
	}
	*ret_symbols = symbols;
	return 0;
}

int symbols_build_data(const struct elf_file *file, const struct elf_file *debug_file,
		       struct symbols **ret_symbols)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));
	int err;

	if (!symbols)
		return -ENOMEM;
	spans_init(&symbols->spans, SYMBOLS_MAX, TEXT_MAX);
	err = add_own(&symbols->spans, file, symbol_table_add_data);
	if (!err && debug_file)
		err = symbol_table_add_data(&symbols->spans, debug_file, ".symtab",
					    NAME_DEBUG_FILE);
	if (!err)
		err = settle(symbols);
	if (err) {
		symbols_close(symbols);
		return err;
	}
	*ret_symbols = symbols;
	return 0;
}

static void forget_shown(struct symbols *symbols)
{
	for (size_t i = 0; i < symbols->shown_count; i++)
		free(symbols->shown[i]);
	for (size_t i = 0; i < symbols->spans.count; i++)
		symbols->spans.items[i].order = NOT_SHOWN;
	symbols->shown_count = symbols->shown_bytes = 0;
}

int symbols_add(struct symbols *symbols, const struct elf_file *file, enum name_source source)
{
	int err, settled;

	forget_shown(symbols);
	err = symbol_table_add(&symbols->spans, file, ".symtab", (u16)source);
	settled = settle(symbols);
	return err ? err : settled;
}

void symbols_close(struct symbols *symbols)
{
	if (!symbols)
		return;
	forget_shown(symbols);
	free(symbols->shown);
	spans_free(&symbols->spans);
	free(symbols);
}

size_t symbols_count(const struct symbols *symbols)
{
	return symbols->spans.count;
}

size_t symbols_bytes(const struct symbols *symbols)
{
	return symbols ? sizeof(*symbols) + spans_bytes(&symbols->spans) : 0;
}

u64 symbols_refused(const struct symbols *symbols)
{
	return symbols->spans.refused;
}

const char *symbols_find(const struct symbols *symbols, u64 address, enum name_source *ret_source)
{
	const struct span *span = spans_find(&symbols->spans, address);

	if (!span)
		return NULL;
	*ret_source = (enum name_source)span->tag;
	return spans_name(&symbols->spans, span);
}

/* Keeps symbols->last for the span: false if there is no room. */
static bool keep_shown(struct symbols *symbols, struct span *span)
{
	size_t size = strlen(symbols->last) + 1;
	char *text;

	if (symbols->shown_bytes + size > SHOWN_MAX)
		return false;
	if (symbols->shown_count == symbols->shown_capacity) {
		size_t larger = symbols->shown_capacity ? symbols->shown_capacity * 2 : 64;
		char **shown = reallocarray(symbols->shown, larger, sizeof(*shown));

		if (!shown)
			return false;
		symbols->shown = shown;
		symbols->shown_capacity = larger;
	}
	text = strdup(symbols->last);
	if (!text)
		return false;
	symbols->shown_bytes += size;
	span->order = (u32)symbols->shown_count;
	symbols->shown[symbols->shown_count++] = text;
	return true;
}

const char *symbols_name(struct symbols *symbols, u64 address, enum name_source *ret_source)
{
	const struct span *found = spans_find(&symbols->spans, address);
	struct span *span;

	if (!found)
		return NULL;
	span = &symbols->spans.items[found - symbols->spans.items];
	*ret_source = (enum name_source)span->tag;
	if (span->order == NOT_SHOWN) {
		demangle(spans_name(&symbols->spans, span), symbols->last, sizeof(symbols->last));
		if (!keep_shown(symbols, span))
			return symbols->last;
	}
	return symbols->shown[span->order];
}

const char *symbols_name_at(struct symbols *symbols, u64 address, u64 *ret_offset)
{
	const struct span *span = spans_find(&symbols->spans, address);
	enum name_source source;

	if (!span)
		return NULL;
	*ret_offset = address - span->begin;
	return symbols_name(symbols, address, &source);
}

bool symbols_are_full(const struct elf_file *file)
{
	GElf_Shdr header;

	if (elf_section_find(file, ".symtab", &header) && header.sh_type == SHT_SYMTAB)
		return true;
	return elf_section_find(file, DEBUGDATA_SECTION, &header);
}
