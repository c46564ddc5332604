/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which unit of a file's DWARF, and which function of it, an address is in: an index by address, of
 * units when it is opened, of a unit's functions when it is first asked for. Owns the index, not
 * the Dwarf handle. Bounded in time: what is hostile may cost budget_ns, all in all. Called by
 * lines.
 */
#ifndef DWELL_SYMBOLIZE_DWARF_UNITS_H
#define DWELL_SYMBOLIZE_DWARF_UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "../../abi/types.h"

/* From begin up to end: the die is at offset. */
struct die_range {
	u64 begin, end;
	Dwarf_Off offset;
	u32 unit; /* its place in units, of ranges of units */
};

struct die_ranges {
	struct die_range *items;
	size_t count, capacity;
};

struct dwarf_unit {
	bool is_read; /* functions are */
	struct die_ranges functions;
	enum { LINES_UNKNOWN, LINES_READ, LINES_REFUSED } lines; /* lines' own */
};

struct dwarf_units {
	Dwarf *dwarf;
	struct dwarf_unit *units;
	size_t unit_count, unit_capacity;
	struct die_ranges ranges; /* of units */
	u64 budget_ns, spent_ns, since_ns;
	u32 steps;
	bool is_spent; /* nothing more is looked at */
	bool is_cut;   /* something did not fit */
};

/* spent_ns: of the budget, before. 0 or -ENOMEM. */
int dwarf_units_open(struct dwarf_units *units, Dwarf *dwarf, u64 budget_ns, u64 spent_ns);
void dwarf_units_close(struct dwarf_units *units);

/* Around all that reads DWARF: the time between them is what counts. */
void dwarf_units_begin(struct dwarf_units *units);
void dwarf_units_end(struct dwarf_units *units);
/* One more die or range was looked at: false if the budget is spent. */
bool dwarf_units_step(struct dwarf_units *units);

/* The unit that address is in, and its die; NULL: in none. */
struct dwarf_unit *dwarf_units_find(struct dwarf_units *units, u64 address, Dwarf_Die *ret_die);
/* The function of the unit: false if there is none. */
bool dwarf_units_function(struct dwarf_units *units, struct dwarf_unit *unit, Dwarf_Die *unit_die,
			  u64 address, Dwarf_Die *ret_die);

#endif
