// SPDX-License-Identifier: Apache-2.0
#include "dwarf_units.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "../base/clock.h"

#define UNITS_MAX     (1u << 18)
#define RANGES_MAX    (1u << 20) /* of all units, or of the functions of one */
#define DEPTH_MAX     8		 /* of namespaces and classes that functions are declared in */
#define LOOK_BACK_MAX 8		 /* ranges that may overlap another */
#define CLOCK_EVERY   64	 /* steps: some microseconds, unless the file is hostile */

void dwarf_units_begin(struct dwarf_units *units)
{
	units->since_ns = clock_thread_cpu_ns();
	units->steps = 0;
}

void dwarf_units_end(struct dwarf_units *units)
{
	units->spent_ns += clock_thread_cpu_ns() - units->since_ns;
	if (units->spent_ns > units->budget_ns)
		units->is_spent = true;
}

bool dwarf_units_step(struct dwarf_units *units)
{
	if (units->steps++ % CLOCK_EVERY == CLOCK_EVERY - 1 &&
	    units->spent_ns + clock_thread_cpu_ns() - units->since_ns > units->budget_ns)
		units->is_spent = true;
	return !units->is_spent;
}

static int by_begin(const void *a, const void *b)
{
	const struct die_range *left = a, *right = b;

	if (left->begin != right->begin)
		return left->begin < right->begin ? -1 : 1;
	return left->end > right->end ? -1 : left->end < right->end; /* the inner one comes last */
}

static const struct die_range *find_range(const struct die_ranges *ranges, u64 address)
{
	size_t low = 0, high = ranges->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->items[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t back = 0; back < LOOK_BACK_MAX && back < low; back++)
		if (address < ranges->items[low - 1 - back].end)
			return &ranges->items[low - 1 - back];
	return NULL;
}

/* All ranges of a die: 0 or -ENOMEM. */
static int add_ranges(struct dwarf_units *units, struct die_ranges *ranges, Dwarf_Die *die,
		      u32 unit)
{
	struct die_range range = {.offset = dwarf_dieoffset(die), .unit = unit};
	Dwarf_Addr base = 0, begin, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &begin, &end)) > 0 && dwarf_units_step(units)) {
		if (!begin || begin >= end)
			continue; /* nothing, or what the linker threw away */
		if (ranges->count >= RANGES_MAX) {
			units->is_cut = true;
			break;
		}
		if (ranges->count == ranges->capacity) {
			size_t larger = ranges->capacity ? ranges->capacity * 2 : 64;
			void *items = reallocarray(ranges->items, larger, sizeof(range));

			if (!items)
				return -ENOMEM;
			ranges->items = items;
			ranges->capacity = larger;
		}
		range.begin = begin;
		range.end = end;
		ranges->items[ranges->count++] = range;
	}
	return 0;
}

static void sort_ranges(struct die_ranges *ranges)
{
	if (ranges->count)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items), by_begin);
}

static int add_unit(struct dwarf_units *units, Dwarf_Die *die)
{
	if (units->unit_count == units->unit_capacity) {
		size_t larger = units->unit_capacity ? units->unit_capacity * 2 : 64;
		struct dwarf_unit *items = reallocarray(units->units, larger, sizeof(*items));

		if (!items)
			return -ENOMEM;
		units->units = items;
		units->unit_capacity = larger;
	}
	units->units[units->unit_count] = (struct dwarf_unit){0};
	return add_ranges(units, &units->ranges, die, (u32)units->unit_count++);
}

int dwarf_units_open(struct dwarf_units *units, Dwarf *dwarf, u64 budget_ns, u64 spent_ns)
{
	Dwarf_Off at = 0, next;
	size_t header_size;
	int err = 0;

	*units = (struct dwarf_units){.dwarf = dwarf, .budget_ns = budget_ns, .spent_ns = spent_ns};
	dwarf_units_begin(units);
	for (; !err && !dwarf_nextcu(dwarf, at, &next, &header_size, NULL, NULL, NULL); at = next) {
		Dwarf_Die die;

		if (!dwarf_units_step(units) || next <= at)
			break;
		if (units->unit_count >= UNITS_MAX) {
			units->is_cut = true;
			break;
		}
		if (dwarf_offdie(dwarf, at + header_size, &die) &&
		    dwarf_tag(&die) == DW_TAG_compile_unit)
			err = add_unit(units, &die);
	}
	sort_ranges(&units->ranges);
	dwarf_units_end(units);
	if (err)
		dwarf_units_close(units);
	return err;
}

void dwarf_units_close(struct dwarf_units *units)
{
	for (size_t i = 0; i < units->unit_count; i++)
		free(units->units[i].functions.items);
	free(units->units);
	free(units->ranges.items);
	*units = (struct dwarf_units){0};
}

struct dwarf_unit *dwarf_units_find(struct dwarf_units *units, u64 address, Dwarf_Die *ret_die)
{
	const struct die_range *range = find_range(&units->ranges, address);

	if (!range || !dwarf_offdie(units->dwarf, range->offset, ret_die))
		return NULL;
	return &units->units[range->unit];
}

static bool holds_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

/* The functions beneath a die, in namespaces and classes too. What is missing is not found. */
static void add_functions(struct dwarf_units *units, struct die_ranges *functions, Dwarf_Die *top)
{
	Dwarf_Die dies[DEPTH_MAX];
	size_t depth = 0;

	if (dwarf_child(top, &dies[0]))
		return;
	while (dwarf_units_step(units)) {
		int tag = dwarf_tag(&dies[depth]);

		if (tag == DW_TAG_subprogram && add_ranges(units, functions, &dies[depth], 0))
			return;
		if (holds_functions(tag) && depth + 1 < DEPTH_MAX &&
		    !dwarf_child(&dies[depth], &dies[depth + 1])) {
			depth++;
			continue;
		}
		while (dwarf_siblingof(&dies[depth], &dies[depth]))
			if (!depth-- || !dwarf_units_step(units))
				return;
	}
}

bool dwarf_units_function(struct dwarf_units *units, struct dwarf_unit *unit, Dwarf_Die *unit_die,
			  u64 address, Dwarf_Die *ret_die)
{
	const struct die_range *range;

	if (!unit->is_read) {
		add_functions(units, &unit->functions, unit_die);
		sort_ranges(&unit->functions);
		unit->is_read = true;
	}
	range = find_range(&unit->functions, address);
	return range && dwarf_offdie(units->dwarf, range->offset, ret_die);
}
