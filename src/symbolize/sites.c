// SPDX-License-Identifier: Apache-2.0
#include "sites.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/pattern.h"
#include "../base/utf8.h"
#include "debugdata.h"
#include "demangle.h"
#include "elf_section.h"
#include "elf_segment.h"
#include "site_return.h"
#include "spans.h"
#include "symbol_table.h"
#include "symbols.h"

#define NAMES_MAX (1u << 21)
#define TEXT_MAX  (128u << 20)
#define CODE_MAX  16 /* bytes of one instruction: at most 15 */

/* --- the list --- */

int sites_add(struct sites *sites, const struct site *site)
{
	sites->matched++;
	if (sites->count == SITES_MAX)
		return -E2BIG;
	if (!(sites->count & (sites->count - 1))) { /* room for a power of two of them */
		void *items = reallocarray(sites->items, sites->count ? sites->count * 2 : 1,
					   sizeof(*site));

		if (!items)
			return -ENOMEM;
		sites->items = items;
	}
	sites->items[sites->count++] = *site;
	return 0;
}

void sites_free(struct sites *sites)
{
	free(sites->items);
	*sites = (struct sites){0};
}

/* Of several names of one place, the one of a function is first, then the shortest. */
static int by_offset(const void *a, const void *b)
{
	const struct site *left = a, *right = b;
	size_t left_length = strlen(left->name), right_length = strlen(right->name);

	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	if (left_length != right_length)
		return left_length < right_length ? -1 : 1;
	return strcmp(left->name, right->name);
}

void sites_settle(struct sites *sites)
{
	size_t kept = 0;

	if (!sites->count)
		return;
	qsort(sites->items, sites->count, sizeof(*sites->items), by_offset);
	for (size_t i = 1; i < sites->count; i++)
		if (sites->items[i].offset != sites->items[kept].offset)
			sites->items[++kept] = sites->items[i];
	sites->matched -= sites->count - (kept + 1); /* other names of the same */
	sites->count = kept + 1;
}

/* How many bytes of code there are, up to CODE_MAX. */
static size_t read_code(const struct elf_file *file, u64 offset, u8 code[CODE_MAX])
{
	size_t image_size = 0;
	const char *image;
	ssize_t got;

	if (offset > INT64_MAX - CODE_MAX)
		return 0;
	if (file->fd >= 0) {
		got = pread(file->fd, code, CODE_MAX, (off_t)offset);
		return got > 0 ? (size_t)got : 0;
	}
	image = elf_rawfile(file->elf, &image_size);
	if (!image || offset >= image_size)
		return 0;
	image_size -= offset;
	if (image_size > CODE_MAX)
		image_size = CODE_MAX;
	memcpy(code, image + offset, image_size);
	return image_size;
}

void sites_look_at_code(const struct elf_file *file, struct site *site)
{
	static const u8 nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00}; /* as the kernel looks for it */
	u8 code[CODE_MAX] = {0};
	size_t size = read_code(file, site->offset, code);

	site->price = (u8)site_price(code, size);
	site->is_nop5 = size >= sizeof(nop5) && !memcmp(code, nop5, sizeof(nop5));
}

/* --- the file --- */

static bool is_go(const struct elf_file *file)
{
	GElf_Shdr header;

	return elf_section_find(file, ".gopclntab", &header) ||
	       elf_section_find(file, ".go.buildinfo", &header) ||
	       elf_section_find(file, ".note.go.buildid", &header) ||
	       elf_section_find(file, ".data.rel.ro.gopclntab", &header);
}

void sites_facts(const struct elf_file *file, const struct elf_file *debug_file,
		 struct sites_facts *ret_facts)
{
	GElf_Ehdr header;
	GElf_Shdr section;

	*ret_facts = (struct sites_facts){
		.is_go = is_go(file),
		.is_full = symbols_are_full(file) || (debug_file && symbols_are_full(debug_file)),
		.has_dwarf =
			elf_section_find(debug_file ? debug_file : file, ".debug_info", &section),
		.has_exceptions = site_file_has_exceptions(file),
		.is_position_independent =
			gelf_getehdr(file->elf, &header) && header.e_type == ET_DYN,
	};
}

/* --- functions --- */

/* All names of all tables, each address as often as it has one. */
static int gather(const struct elf_file *file, const struct elf_file *debug_file,
		  struct spans *spans)
{
	_cleanup_free_ void *image = NULL;
	struct elf_file inner;
	size_t size;
	int err = symbol_table_add(spans, file, ".symtab", NAME_SYMTAB);

	if (!err)
		err = symbol_table_add(spans, file, ".dynsym", NAME_DYNSYM);
	if (!err && debug_file)
		err = symbol_table_add(spans, debug_file, ".symtab", NAME_DEBUG_FILE);
	if (err || debugdata_unpack(file, &image, &size) ||
	    elf_file_open_memory(image, size, &inner))
		return err;
	err = symbol_table_add(spans, &inner, ".symtab", NAME_DEBUGDATA);
	elf_file_close(&inner);
	return err;
}

/* C++ and Rust names are typed as people write them, with their parameters or without. */
static bool fits_demangled(const char *pattern, const char *name)
{
	char text[DEMANGLED_MAX], *parameters;

	if (!site_is_mangled(name))
		return false;
	demangle(name, text, sizeof(text));
	if (pattern_matches(pattern, text))
		return true;
	parameters = strchr(text, '(');
	if (!parameters || parameters == text)
		return false;
	*parameters = '\0';
	return pattern_matches(pattern, text);
}

struct search {
	const struct elf_file *file, *debug_file;
	struct sites_facts facts; /* read with the first match: most files have none */
	bool has_facts;
	struct sites *sites;
};

static int take(struct search *search, const struct span *span, const char *name)
{
	struct site site = {.size = span->is_open ? 0 : span->size};
	char shown[DEMANGLED_MAX];
	int err;

	if (!elf_offset_of(search->file, span->begin, true, &site.offset))
		return 0;
	if (!search->has_facts)
		sites_facts(search->file, search->debug_file, &search->facts);
	search->has_facts = true;
	site.kind = span->is_resolver ? SITE_RESOLVER : span->is_label ? SITE_LABEL : SITE_FUNCTION;
	sites_look_at_code(search->file, &site);
	site.at_return = (u8)site_judge_return(&search->facts, span, name);
	demangle(name, shown, sizeof(shown));
	utf8_copy(site.name, sizeof(site.name), shown, strlen(shown));
	err = sites_add(search->sites, &site);
	return err == -E2BIG ? 0 : err;
}

static void begin_search(struct search *search, const struct elf_file *file,
			 const struct elf_file *debug_file, struct sites *ret_sites)
{
	*ret_sites = (struct sites){0};
	*search = (struct search){.file = file, .debug_file = debug_file, .sites = ret_sites};
}

static int end_search(struct search *search, const struct spans *spans, int err)
{
	if (!err && search->sites->count) {
		sites_settle(search->sites);
		if (search->has_facts && search->facts.is_go)
			site_note_go_returns(search->file, search->sites);
		else if (search->has_facts)
			site_settle_returns(search->file, spans, search->sites);
	}
	if (err)
		sites_free(search->sites);
	return err;
}

static int match(struct search *search, const struct spans *spans, const char *pattern,
		 bool (*fits)(const char *pattern, const char *name))
{
	bool is_loose = strpbrk(pattern, "*?") || fits == fits_demangled;
	int err = 0;

	for (size_t i = 0; !err && i < spans->count; i++) {
		const char *name = spans_name(spans, &spans->items[i]);

		/* Whoever means these names them. */
		if (is_loose && (site_is_cold(name) || spans->items[i].is_label))
			continue;
		if (fits(pattern, name))
			err = take(search, &spans->items[i], name);
	}
	return err;
}

int sites_find(const struct elf_file *file, const struct elf_file *debug_file, const char *pattern,
	       struct sites *ret_sites)
{
	struct search search;
	struct spans spans;
	int err;

	begin_search(&search, file, debug_file, ret_sites);
	spans_init(&spans, NAMES_MAX, TEXT_MAX);
	err = gather(file, debug_file, &spans);
	if (!err)
		err = match(&search, &spans, pattern, pattern_matches);
	/* To demangle all names takes time: for who did not mean any as it is. */
	if (!err && !ret_sites->count)
		err = match(&search, &spans, pattern, fits_demangled);
	err = end_search(&search, &spans, err);
	spans_free(&spans);
	return err;
}

int sites_find_symbol(const struct elf_file *file, const struct elf_file *debug_file,
		      struct spans *names, const char *name, struct sites *ret_sites)
{
	struct search search;
	int err = 0;

	begin_search(&search, file, debug_file, ret_sites);
	if (!names->max) {
		spans_init(names, NAMES_MAX, TEXT_MAX);
		err = gather(file, debug_file, names);
	}
	for (size_t i = 0; !err && i < names->count; i++)
		if (!strcmp(spans_name(names, &names->items[i]), name))
			err = take(&search, &names->items[i], name);
	return end_search(&search, names, err);
}

int sites_at(const struct elf_file *file, const struct elf_file *debug_file, u64 offset,
	     struct sites *ret_sites)
{
	struct site site = {.offset = offset, .kind = SITE_OFFSET, .at_return = RETURN_NO_START};
	struct search search;
	struct spans spans;
	u64 address;
	int err;

	*ret_sites = (struct sites){0};
	if (!elf_address_of(file, offset, &address))
		return -ERANGE;
	begin_search(&search, file, debug_file, ret_sites);
	spans_init(&spans, NAMES_MAX, TEXT_MAX);
	err = gather(file, debug_file, &spans);
	for (size_t i = 0; !err && i < spans.count; i++)
		if (spans.items[i].begin == address)
			err = take(&search, &spans.items[i], spans_name(&spans, &spans.items[i]));
	if (!err && !ret_sites->count) {
		sites_look_at_code(file, &site);
		err = sites_add(ret_sites, &site);
	}
	err = end_search(&search, &spans, err);
	spans_free(&spans);
	return err;
}
