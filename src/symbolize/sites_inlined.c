// SPDX-License-Identifier: Apache-2.0
/*
 * Is a function that has no symbol one that the compiler has inlined? DWARF says so of the die that
 * all its copies refer to.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

#include "../base/clock.h"
#include "dwarf_none.h"
#include "dwarf_units.h"
#include "lines.h"
#include "sites.h"

#define BUDGET_NS (2 * NS_PER_S)
#define DEPTH_MAX 8 /* of namespaces and classes */

static bool was_inlined(Dwarf_Die *die, const char *name)
{
	const char *found = dwarf_diename(die);
	Dwarf_Attribute attribute;
	Dwarf_Word how;

	return found && !strcmp(found, name) && dwarf_attr(die, DW_AT_inline, &attribute) &&
	       !dwarf_formudata(&attribute, &how) &&
	       (how == DW_INL_inlined || how == DW_INL_declared_inlined);
}

static bool holds_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

static bool unit_has(struct dwarf_units *units, Dwarf_Die *unit, const char *name)
{
	Dwarf_Die dies[DEPTH_MAX];
	size_t depth = 0;

	if (dwarf_child(unit, &dies[0]))
		return false;
	while (dwarf_units_step(units)) {
		int tag = dwarf_tag(&dies[depth]);

		if (tag == DW_TAG_subprogram && was_inlined(&dies[depth], name))
			return true;
		if (holds_functions(tag) && depth + 1 < DEPTH_MAX &&
		    !dwarf_child(&dies[depth], &dies[depth + 1])) {
			depth++;
			continue;
		}
		while (dwarf_siblingof(&dies[depth], &dies[depth]))
			if (!depth-- || !dwarf_units_step(units))
				return false;
	}
	return false;
}

/* The budget is dwarf_units's; its index by address is not needed here. */
static bool search(Dwarf *dwarf, const char *name)
{
	struct dwarf_units budget = {.budget_ns = BUDGET_NS};
	Dwarf_Off at = 0, next;
	size_t header_size;
	bool is_found = false;

	dwarf_units_begin(&budget);
	for (; !is_found && !dwarf_nextcu(dwarf, at, &next, &header_size, NULL, NULL, NULL);
	     at = next) {
		Dwarf_Die die;

		if (!dwarf_units_step(&budget) || next <= at)
			break;
		if (dwarf_offdie(dwarf, at + header_size, &die))
			is_found = unit_has(&budget, &die, name);
	}
	return is_found;
}

bool sites_is_inlined(const struct elf_file *file, const char *name)
{
	struct dwarf_none none = {0};
	bool is_found = false;
	size_t bytes;
	Dwarf *dwarf;

	if (lines_check_sections(file->elf, &bytes))
		return false;
	dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (!dwarf)
		return false;
	if (!dwarf_none_open(&none)) {
		/* Else libdw opens whatever file the section .gnu_debugaltlink names. */
		dwarf_setalt(dwarf, none.dwarf);
		is_found = search(dwarf, name);
	}
	dwarf_end(dwarf);
	dwarf_none_close(&none);
	return is_found;
}
