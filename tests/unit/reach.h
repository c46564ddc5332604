/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which maps each program of a BPF object reaches, by its relocations and those of the functions
 * that it calls. Reads the ELF file alone; no kernel is asked.
 */
#ifndef DWELL_TESTS_REACH_H
#define DWELL_TESTS_REACH_H

#include <elf.h>
#include <gelf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define REACH_FUNCTIONS_MAX 1024
#define REACH_MAPS_MAX	    128
#define REACH_CALLS_MAX	    64
#define REACH_HELPERS_MAX   256

struct reach_function {
	const char *name;
	size_t section;
	u64 begin, end; /* bytes of its section */
	bool is_program;
	bool maps[REACH_MAPS_MAX]; /* with those that its callees reach, once it is closed */
	bool helpers[REACH_HELPERS_MAX];
	bool creates_storage;
	size_t calls[REACH_CALLS_MAX];
	size_t call_count;
	bool is_closed;
};

struct reach {
	Elf *elf;
	size_t maps_section;
	Elf_Data *symbols;
	size_t symbol_count, strings;
	const char *map_names[REACH_MAPS_MAX];
	size_t map_count;
	struct reach_function functions[REACH_FUNCTIONS_MAX];
	size_t function_count;
	u64 *relocated; /* section and place of calls that have a relocation */
	size_t relocated_count;
};

static const char *reach_section_name(struct reach *reach, Elf_Scn *section)
{
	size_t names;
	GElf_Shdr header;

	gelf_getshdr(section, &header);
	elf_getshdrstrndx(reach->elf, &names);
	return elf_strptr(reach->elf, names, header.sh_name);
}

static struct reach_function *reach_function_at(struct reach *reach, size_t section, u64 offset)
{
	for (size_t i = 0; i < reach->function_count; i++) {
		struct reach_function *function = &reach->functions[i];

		if (function->section == section && offset >= function->begin &&
		    offset < function->end)
			return function;
	}
	return NULL;
}

static size_t reach_map_number(struct reach *reach, const char *name)
{
	for (size_t i = 0; i < reach->map_count; i++)
		if (!strcmp(reach->map_names[i], name))
			return i;
	assert_true(reach->map_count < REACH_MAPS_MAX);
	reach->map_names[reach->map_count] = name;
	return reach->map_count++;
}

static void reach_add_call(struct reach *reach, struct reach_function *from, size_t section,
			   u64 offset)
{
	struct reach_function *to = reach_function_at(reach, section, offset);

	assert_non_null(to);
	assert_true(from->call_count < REACH_CALLS_MAX);
	from->calls[from->call_count++] = (size_t)(to - reach->functions);
}

static const struct bpf_insn *reach_insns(struct reach *reach, size_t section, size_t *ret_count)
{
	Elf_Data *data = elf_getdata(elf_getscn(reach->elf, section), NULL);

	*ret_count = data->d_size / sizeof(struct bpf_insn);
	return data->d_buf;
}

static bool reach_is_call(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL);
}

static void reach_note_relocated(struct reach *reach, size_t section, u64 offset)
{
	reach->relocated =
		realloc(reach->relocated, (reach->relocated_count + 1) * sizeof(*reach->relocated));
	assert_non_null(reach->relocated);
	reach->relocated[reach->relocated_count++] = (u64)section << 32 | offset;
}

static bool reach_is_relocated(const struct reach *reach, size_t section, u64 offset)
{
	for (size_t i = 0; i < reach->relocated_count; i++)
		if (reach->relocated[i] == ((u64)section << 32 | offset))
			return true;
	return false;
}

/* A reference by an instruction: to a map, or to a function. */
static void reach_add_reference(struct reach *reach, size_t section, u64 offset, size_t number)
{
	struct reach_function *function = reach_function_at(reach, section, offset);
	const struct bpf_insn *insn;
	GElf_Sym symbol;
	size_t count;

	if (!function)
		return; /* of data */
	insn = reach_insns(reach, section, &count) + offset / sizeof(*insn);
	gelf_getsym(reach->symbols, (int)number, &symbol);
	if (reach_is_call(insn))
		reach_note_relocated(reach, section, offset);
	if (symbol.st_shndx == SHN_UNDEF)
		return; /* a function of the kernel's */
	if (symbol.st_shndx == reach->maps_section && GELF_ST_TYPE(symbol.st_info) != STT_SECTION)
		function->maps[reach_map_number(
			reach, elf_strptr(reach->elf, reach->strings, symbol.st_name))] = true;
	else if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
		reach_add_call(reach, function, symbol.st_shndx, symbol.st_value);
	else if (reach_is_call(insn))
		reach_add_call(reach, function, symbol.st_shndx,
			       (u64)(insn->imm + 1) * sizeof(*insn));
	else if (insn->src_reg == BPF_PSEUDO_FUNC)
		reach_add_call(reach, function, symbol.st_shndx,
			       (u64)(insn->imm + 1) * sizeof(*insn));
}

static void reach_add_references(struct reach *reach, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Rel rel;

	for (size_t i = 0; i < header->sh_size / header->sh_entsize; i++) {
		gelf_getrel(data, (int)i, &rel);
		reach_add_reference(reach, header->sh_info, rel.r_offset, GELF_R_SYM(rel.r_info));
	}
}

/* The last value that an argument got before a call is 0, as far as one sees without branches. */
static bool reach_argument_is_zero(const struct bpf_insn *call, size_t before, u8 reg)
{
	for (size_t i = 1; i <= before; i++) {
		const struct bpf_insn *insn = call - i;

		if (reach_is_call(insn))
			return false;
		if (insn->dst_reg == reg)
			return (insn->code & ~BPF_ALU64) == (BPF_MOV | BPF_K) && !insn->imm;
	}
	return false;
}

/* Calls without a relocation: of helpers, and of functions in the same section. */
static void reach_add_calls(struct reach *reach, size_t number)
{
	struct reach_function *function = &reach->functions[number];
	size_t count;
	const struct bpf_insn *insns = reach_insns(reach, function->section, &count);

	for (u64 at = function->begin; at < function->end; at += sizeof(*insns)) {
		const struct bpf_insn *insn = insns + at / sizeof(*insns);

		if (!reach_is_call(insn))
			continue;
		if (insn->src_reg == BPF_PSEUDO_CALL &&
		    !reach_is_relocated(reach, function->section, at))
			reach_add_call(reach, function, function->section,
				       at + (u64)(s64)(insn->imm + 1) * sizeof(*insn));
		if (insn->src_reg || insn->imm < 0 || insn->imm >= REACH_HELPERS_MAX)
			continue;
		function->helpers[insn->imm] = true;
		if (insn->imm == BPF_FUNC_task_storage_get &&
		    !reach_argument_is_zero(insn, (at - function->begin) / sizeof(*insn),
					    BPF_REG_4))
			function->creates_storage = true;
	}
}

static void reach_close(struct reach *reach, struct reach_function *function)
{
	if (function->is_closed)
		return;
	function->is_closed = true;
	for (size_t i = 0; i < function->call_count; i++) {
		struct reach_function *callee = &reach->functions[function->calls[i]];

		reach_close(reach, callee);
		for (size_t map = 0; map < REACH_MAPS_MAX; map++)
			function->maps[map] |= callee->maps[map];
		for (size_t helper = 0; helper < REACH_HELPERS_MAX; helper++)
			function->helpers[helper] |= callee->helpers[helper];
		function->creates_storage |= callee->creates_storage;
	}
}

static void reach_find_sections(struct reach *reach)
{
	for (Elf_Scn *section = elf_nextscn(reach->elf, NULL); section;
	     section = elf_nextscn(reach->elf, section)) {
		GElf_Shdr header;

		gelf_getshdr(section, &header);
		if (!strcmp(reach_section_name(reach, section), ".maps"))
			reach->maps_section = elf_ndxscn(section);
		if (header.sh_type == SHT_SYMTAB) {
			reach->symbols = elf_getdata(section, NULL);
			reach->symbol_count = header.sh_size / header.sh_entsize;
			reach->strings = header.sh_link;
		}
	}
}

static void reach_find_functions(struct reach *reach)
{
	for (size_t i = 0; i < reach->symbol_count; i++) {
		GElf_Sym symbol;
		struct reach_function *function = &reach->functions[reach->function_count];

		gelf_getsym(reach->symbols, (int)i, &symbol);
		if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
			continue;
		assert_true(++reach->function_count <= REACH_FUNCTIONS_MAX);
		function->name = elf_strptr(reach->elf, reach->strings, symbol.st_name);
		function->section = symbol.st_shndx;
		function->begin = symbol.st_value;
		function->end = symbol.st_value + symbol.st_size;
		function->is_program =
			strcmp(reach_section_name(reach, elf_getscn(reach->elf, symbol.st_shndx)),
			       ".text") != 0;
	}
}

/* The caller frees it by reach_free(). */
static struct reach *reach_read(const void *bytes, size_t size)
{
	struct reach *reach = calloc(1, sizeof(*reach));

	assert_non_null(reach);
	elf_version(EV_CURRENT);
	reach->elf = elf_memory((char *)bytes, size);
	assert_non_null(reach->elf);
	reach_find_sections(reach);
	assert_non_null(reach->symbols);
	assert_true(reach->maps_section > 0);
	reach_find_functions(reach);
	for (Elf_Scn *section = elf_nextscn(reach->elf, NULL); section;
	     section = elf_nextscn(reach->elf, section)) {
		GElf_Shdr header;

		gelf_getshdr(section, &header);
		if (header.sh_type == SHT_REL)
			reach_add_references(reach, section, &header);
	}
	for (size_t i = 0; i < reach->function_count; i++)
		reach_add_calls(reach, i);
	for (size_t i = 0; i < reach->function_count; i++)
		reach_close(reach, &reach->functions[i]);
	return reach;
}

static void reach_free(struct reach *reach)
{
	elf_end(reach->elf);
	free(reach->relocated);
	free(reach);
}

#endif
