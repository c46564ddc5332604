// SPDX-License-Identifier: Apache-2.0
#include "symbols.h"

#include <errno.h>
#include <stdlib.h>

#include "../base/cleanup.h"
#include "debugdata.h"
#include "elf_section.h"
#include "spans.h"
#include "symbol_table.h"

#define SYMBOLS_MAX (1u << 21)
#define TEXT_MAX    (128u << 20)

struct symbols {
	struct spans spans; /* their tag is where the name came from */
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
		spans->items[i].order = ~0u; /* what is added later does not replace it */
	spans_trim(spans);
	return 0;
}

int symbols_build(const struct elf_file *file, const struct elf_file *debug_file,
		  struct symbols **ret_symbols)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));
	int err;

	if (!symbols)
		return -ENOMEM;
	spans_init(&symbols->spans, SYMBOLS_MAX, TEXT_MAX);
	err = symbol_table_add(&symbols->spans, file, ".symtab", NAME_SYMTAB);
	if (!err)
		err = symbol_table_add(&symbols->spans, file, ".dynsym", NAME_DYNSYM);
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

int symbols_add(struct symbols *symbols, const struct elf_file *file, enum name_source source)
{
	int err = symbol_table_add(&symbols->spans, file, ".symtab", (u16)source);
	int settled = settle(symbols);

	return err ? err : settled;
}

void symbols_close(struct symbols *symbols)
{
	if (!symbols)
		return;
	spans_free(&symbols->spans);
	free(symbols);
}

size_t symbols_count(const struct symbols *symbols)
{
	return symbols->spans.count;
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

bool symbols_are_full(const struct elf_file *file)
{
	GElf_Shdr header;

	if (elf_section_find(file, ".symtab", &header) && header.sh_type == SHT_SYMTAB)
		return true;
	return elf_section_find(file, DEBUGDATA_SECTION, &header);
}
