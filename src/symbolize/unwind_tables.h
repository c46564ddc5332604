/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer of the tables of abi/unwind.h, which the kernel side reads at the same time: rows of
 * modules, and mappings of processes. Owns who has which part of the four arrays, which are the
 * caller's memory. Called by symbolize, in the unprivileged process.
 */
#ifndef DWELL_SYMBOLIZE_UNWIND_TABLES_H
#define DWELL_SYMBOLIZE_UNWIND_TABLES_H

#include "../../abi/unwind.h"
#include "row_table.h"
#include "unwind_pages.h"

/* The kernel may still read what was given up so long ago. */
#define UNWIND_GRACE_NS 2000000000ULL

/* Of one module: 512 MiB of code; a file that claims more wants the room of all others. */
#define UNWIND_MODULE_PAGES_MAX 8192

struct unwind_memory {
	struct unwind_row *rows;
	struct unwind_page *pages;
	struct unwind_module *modules;
	struct unwind_mapping *mappings;
	u32 row_count, page_count, module_count, mapping_count;
};

struct unwind_counts {
	u64 rows, modules, mappings; /* in use */
	u64 capacity;		     /* rows that there can be */
	struct unwind_page_counts pages;
	u64 evicted;	   /* tables that made room for others */
	u64 full;	   /* tables for which there was no room */
	u64 cut;	   /* tables that are not whole */
	u64 mappings_cut;  /* of processes with too many */
	u64 mappings_full; /* processes for which there was no room */
};

struct unwind_tables;

int unwind_tables_create(const struct unwind_memory *memory, u32 generation,
			 struct unwind_tables **ret_tables);
void unwind_tables_free(struct unwind_tables *tables); /* NULL is allowed */

/*
 * The rows become a module of the kernel side: its number, or UNWIND_NO_TABLE if there is no room
 * even without the tables that no process uses, or no row. owner is the caller's own number of it.
 * A module of up to half of all rows is loaded at once, if there is room to spare; of others,
 * pages are loaded when a walk asks for them.
 */
u32 unwind_tables_add(struct unwind_tables *tables, const struct row_table *table, u32 owner,
		      u64 now_ns);

/* Are all pages of the module loaded? If not, its rows will be wanted again. */
bool unwind_tables_is_whole(const struct unwind_tables *tables, u32 module);

/* Whose page that is; false: nobody's. */
bool unwind_tables_owner(const struct unwind_tables *tables, u32 module, u32 place, u32 *ret_owner);
bool unwind_tables_is_loaded(const struct unwind_tables *tables, u32 place);

/* A walk has asked for that page. */
void unwind_tables_load(struct unwind_tables *tables, u32 module, u32 place,
			const struct row_table *table, u64 now_ns);

/* Its neighbours, where there is room to spare: the next walk may come to them. */
void unwind_tables_load_near(struct unwind_tables *tables, u32 module, u32 place,
			     const struct row_table *table, u64 now_ns);

/* Does it still have that module? Who is used by no mapping may have made room. */
bool unwind_tables_has(const struct unwind_tables *tables, u32 module, u32 owner);

/*
 * Mappings, sorted; their generation is filled in, and is one that was never used before: 0, or
 * -ENOSPC. They keep their modules' tables. Complete before it returns.
 */
int unwind_tables_map(struct unwind_tables *tables, const struct unwind_mapping *mappings,
		      size_t count, u64 now_ns, struct unwind_process *ret_process);
void unwind_tables_unmap(struct unwind_tables *tables, const struct unwind_process *process,
			 u64 now_ns);

void unwind_tables_counts(const struct unwind_tables *tables, struct unwind_counts *ret_counts);

#endif
