// SPDX-License-Identifier: Apache-2.0
#include "lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/utf8.h"
#include "dwarf_none.h"
#include "dwarf_units.h"

#define BUDGET_NS      (5 * NS_PER_S)
#define INLINES_MAX    64
#define ORIGINS_MAX    16	   /* of a die that only says where its name is */
#define PROGRAM_MAX    (4u << 20)  /* bytes of one unit's line program; a byte can be a line */
#define PROGRAMS_MAX   (16u << 20) /* of all that were run, before libdw begins anew */
#define FILE_NAME_SIZE 1024
#define ODD_FILES_MAX  1024

/* A section's bytes, as libdw has them. */
struct raw {
	const char *bytes;
	size_t size;
};

/* A file whose name was not fit to be shown. */
struct odd_file {
	const char *name;
	char *clean;
};

struct lines {
	Elf *elf;
	Dwarf *dwarf;
	struct dwarf_none none;
	struct dwarf_units units;
	struct raw info, programs;
	size_t programs_run; /* bytes, since libdw began */
	size_t bytes;	     /* of sections */
	struct odd_file *odd_files;
	size_t odd_count;
};

static size_t unpacked_size(Elf_Scn *section, const GElf_Shdr *header)
{
	GElf_Chdr packed;

	if (header->sh_type == SHT_NOBITS)
		return 0;
	if (!(header->sh_flags & SHF_COMPRESSED))
		return header->sh_size;
	return gelf_getchdr(section, &packed) ? packed.ch_size : 0;
}

int lines_check_sections(Elf *elf, size_t *ret_bytes)
{
	Elf_Scn *section = NULL;
	size_t names, sum = 0, infos = 0, programs = 0;

	if (elf_getshdrstrndx(elf, &names))
		return -ENOENT;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;
		size_t size;

		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name)
			continue;
		if (!strncmp(name, ".zdebug", 7) || !strncmp(name, ".gnu.debuglto_", 14))
			return -ENOTSUP;
		if (strncmp(name, ".debug", 6) && strcmp(name, ".gnu_debugaltlink") &&
		    strcmp(name, ".eh_frame"))
			continue;
		size = unpacked_size(section, &header);
		if (size > LINES_BYTES_MAX - sum)
			return -EFBIG;
		sum += size;
		infos += size && !strcmp(name, ".debug_info");
		programs += size && !strcmp(name, ".debug_line");
	}
	if (infos > 1 || programs > 1)
		return -EBADMSG; /* libdw takes one, we would look at another */
	*ret_bytes = sum;
	return infos ? 0 : -ENOENT;
}

static struct raw raw_section(Elf *elf, const char *wanted)
{
	Elf_Scn *section = NULL;
	struct raw raw = {0};
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return raw;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || strcmp(name, wanted))
			continue;
		data = elf_rawdata(section, NULL); /* libdw has it, unpacked */
		if (data && data->d_buf)
			raw = (struct raw){data->d_buf, data->d_size};
		break;
	}
	return raw;
}

/* What was spent before counts, and so does the reading of the file, the first time. */
static int begin(struct lines *lines, u64 spent_ns)
{
	u64 begin_ns = clock_thread_cpu_ns();

	lines->programs_run = 0;
	lines->dwarf = dwarf_begin_elf(lines->elf, DWARF_C_READ, NULL);
	if (!lines->dwarf)
		return -EBADMSG;
	spent_ns += clock_thread_cpu_ns() - begin_ns;
	/* Else libdw opens whatever file the section .gnu_debugaltlink names. */
	dwarf_setalt(lines->dwarf, lines->none.dwarf);
	lines->info = raw_section(lines->elf, ".debug_info");
	lines->programs = raw_section(lines->elf, ".debug_line");
	return dwarf_units_open(&lines->units, lines->dwarf, BUDGET_NS, spent_ns);
}

static void end(struct lines *lines)
{
	for (size_t i = 0; i < lines->odd_count; i++)
		free(lines->odd_files[i].clean);
	free(lines->odd_files);
	lines->odd_files = NULL;
	lines->odd_count = 0;
	dwarf_units_close(&lines->units);
	dwarf_end(lines->dwarf);
	lines->dwarf = NULL;
}

int lines_open(const struct elf_file *file, u64 spent_ns, struct lines **ret_lines)
{
	struct lines *lines;
	size_t bytes;
	int err = lines_check_sections(file->elf, &bytes);

	if (err)
		return err;
	lines = calloc(1, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	lines->elf = file->elf;
	lines->bytes = bytes;
	err = dwarf_none_open(&lines->none);
	if (!err)
		err = begin(lines, spent_ns);
	if (err) {
		lines_close(lines);
		return err;
	}
	*ret_lines = lines;
	return 0;
}

void lines_close(struct lines *lines)
{
	if (!lines)
		return;
	end(lines);
	dwarf_none_close(&lines->none);
	free(lines);
}

u64 lines_spent_ns(const struct lines *lines)
{
	return lines->units.spent_ns;
}

size_t lines_bytes(const struct lines *lines)
{
	return lines->bytes;
}

bool lines_are_cut(const struct lines *lines)
{
	return lines->units.is_cut || lines->units.is_spent;
}

/* One that ends within its section: libdw does not look for the end of those in .debug_info. */
static const char *text_of(const struct lines *lines, Dwarf_Attribute *attribute)
{
	const char *text = dwarf_formstring(attribute);

	if (!text || dwarf_whatform(attribute) != DW_FORM_string)
		return text;
	if (!lines->info.bytes || text < lines->info.bytes ||
	    text >= lines->info.bytes + lines->info.size ||
	    !memchr(text, '\0', (size_t)(lines->info.bytes + lines->info.size - text)))
		return NULL;
	return text;
}

/* An attribute of a function, or of the one that it is an instance of. */
static const char *find_text(const struct lines *lines, const Dwarf_Die *of, unsigned wanted)
{
	Dwarf_Die die = *of;

	for (size_t i = 0; i < ORIGINS_MAX; i++) {
		Dwarf_Attribute attribute;
		const char *text;

		if (dwarf_attr(&die, wanted, &attribute)) {
			text = text_of(lines, &attribute);
			if (text && *text)
				return text;
		}
		if (!dwarf_attr(&die, DW_AT_abstract_origin, &attribute) &&
		    !dwarf_attr(&die, DW_AT_specification, &attribute))
			break;
		if (!dwarf_formref_die(&attribute, &die))
			break;
	}
	return NULL;
}

static const char *name_of(const struct lines *lines, const Dwarf_Die *die)
{
	static const unsigned wanted[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name};
	const char *name = NULL;

	for (size_t i = 0; !name && i < ARRAY_SIZE(wanted); i++)
		name = find_text(lines, die, wanted[i]);
	return name;
}

/* Names of files are somebody's: most are fit to be shown as they are, the others are kept clean.
 */
static const char *clean_file(struct lines *lines, const char *name)
{
	char clean[FILE_NAME_SIZE];
	struct odd_file *files;

	if (!name)
		return NULL;
	utf8_escape(clean, sizeof(clean), name);
	if (!strcmp(name, clean))
		return name;
	for (size_t i = 0; i < lines->odd_count; i++)
		if (lines->odd_files[i].name == name)
			return lines->odd_files[i].clean;
	if (lines->odd_count == ODD_FILES_MAX)
		return NULL;
	files = reallocarray(lines->odd_files, lines->odd_count + 1, sizeof(*files));
	if (!files)
		return NULL;
	lines->odd_files = files;
	files[lines->odd_count] = (struct odd_file){name, strdup(clean)};
	return files[lines->odd_count].clean ? files[lines->odd_count++].clean : NULL;
}

/* May the unit's line program be run? Each byte of it may become a line in memory. */
static bool can_run(struct lines *lines, struct dwarf_unit *unit, Dwarf_Die *unit_die)
{
	Dwarf_Attribute attribute;
	Dwarf_Word at;
	u32 size;

	if (unit->lines != LINES_UNKNOWN)
		return unit->lines == LINES_READ;
	unit->lines = LINES_REFUSED;
	if (!dwarf_attr(unit_die, DW_AT_stmt_list, &attribute) ||
	    dwarf_formudata(&attribute, &at) || lines->programs.size < sizeof(size) ||
	    at > lines->programs.size - sizeof(size))
		return false;
	memcpy(&size, lines->programs.bytes + at, sizeof(size));
	if (size > PROGRAM_MAX) {
		lines->units.is_cut = true;
		return false;
	}
	lines->programs_run += size;
	unit->lines = LINES_READ;
	return true;
}

static void place_of_address(struct lines *lines, Dwarf_Die *unit_die, u64 address,
			     struct frame_name *frame)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit_die, address);
	int number = 0;

	if (!line)
		return;
	frame->file = clean_file(lines, dwarf_linesrc(line, NULL, NULL));
	if (frame->file && !dwarf_lineno(line, &number) && number > 0)
		frame->line = (u32)number;
}

/* Where the inlined function was called: that is the line of the one that it is in. */
static void place_of_call(struct lines *lines, Dwarf_Die *unit_die, Dwarf_Die *inlined,
			  struct frame_name *frame)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word file, line;
	size_t count;

	if (!dwarf_attr(inlined, DW_AT_call_file, &attribute) ||
	    dwarf_formudata(&attribute, &file) || dwarf_getsrcfiles(unit_die, &files, &count) ||
	    file >= count)
		return;
	frame->file = clean_file(lines, dwarf_filesrc(files, file, NULL, NULL));
	if (frame->file && dwarf_attr(inlined, DW_AT_call_line, &attribute) &&
	    !dwarf_formudata(&attribute, &line) && line <= 0x7fffffff)
		frame->line = (u32)line;
}

static bool can_hold_inlined(int tag)
{
	return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* From die on, the first of its siblings that address is in: 0 or not. */
static int find_sibling(struct lines *lines, Dwarf_Die *die, u64 address)
{
	while (dwarf_units_step(&lines->units)) {
		if (can_hold_inlined(dwarf_tag(die)) && dwarf_haspc(die, address) > 0)
			return 0;
		if (dwarf_siblingof(die, die))
			break;
	}
	return -1;
}

/* The inlined functions around address, outermost first: how many. */
static size_t find_inlined(struct lines *lines, Dwarf_Die *function, u64 address,
			   Dwarf_Die ret_inlined[INLINES_MAX])
{
	Dwarf_Die die = *function;
	size_t count = 0;

	while (count < INLINES_MAX && !dwarf_child(&die, &die) &&
	       !find_sibling(lines, &die, address))
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			ret_inlined[count++] = die;
	return count;
}

static size_t find(struct lines *lines, u64 address, struct frame_name *ret_names)
{
	Dwarf_Die unit_die, function, inlined[INLINES_MAX];
	struct dwarf_unit *unit = dwarf_units_find(&lines->units, address, &unit_die);
	bool has_lines;
	size_t depth, count = 0;

	if (!unit)
		return 0;
	has_lines = can_run(lines, unit, &unit_die);
	ret_names[0] = (struct frame_name){0};
	if (has_lines)
		place_of_address(lines, &unit_die, address, &ret_names[0]);
	if (!dwarf_units_function(&lines->units, unit, &unit_die, address, &function))
		return ret_names[0].file ? 1 : 0;
	depth = find_inlined(lines, &function, address, inlined);
	while (depth > 0) {
		Dwarf_Die *called = &inlined[--depth];

		ret_names[count].name = name_of(lines, called);
		if (count + 2 == FRAME_NAMES_MAX) { /* the rest does not fit, but the last */
			called = &inlined[0];
			depth = 0;
		}
		ret_names[++count] = (struct frame_name){0};
		if (has_lines)
			place_of_call(lines, &unit_die, called, &ret_names[count]);
	}
	ret_names[count++].name = name_of(lines, &function);
	return count;
}

/* libdw keeps each line that it has seen: it begins anew when these are too many. */
static int forget_programs(struct lines *lines)
{
	bool is_cut = lines->units.is_cut;
	u64 spent_ns = lines->units.spent_ns;
	int err;

	end(lines);
	err = begin(lines, spent_ns);
	lines->units.is_cut |= is_cut;
	lines->units.is_spent |= err != 0;
	return err;
}

size_t lines_find(struct lines *lines, u64 address, struct frame_name ret_names[FRAME_NAMES_MAX])
{
	size_t count;

	if (lines->units.is_spent ||
	    (lines->programs_run > PROGRAMS_MAX && forget_programs(lines)) || lines->units.is_spent)
		return 0;
	dwarf_units_begin(&lines->units);
	count = find(lines, address, ret_names);
	dwarf_units_end(&lines->units);
	return count;
}
