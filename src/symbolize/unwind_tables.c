// SPDX-License-Identifier: Apache-2.0
/*
 * Rows of a module are one run, as they come. Pages are windows on it which overlap by a row: the
 * row that holds at a page's beginning is the last one of the pages before. So nothing is copied
 * twice, and a page without a row of its own costs no room.
 */
#include "unwind_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "room.h"

#define PAGE_ROWS_MAX	 (1u << UNWIND_ROWS_STEPS)
#define PROCESS_MAPS_MAX (1u << UNWIND_MAPPINGS_STEPS)

/* What is in a place of the array of modules. */
struct slot {
	bool is_used;
	u32 owner;
	u32 first_row, row_count;
	u32 first_page, page_count;
	u32 users;	 /* mappings that name it */
	u64 readable_ns; /* without users: until then the kernel may read it */
};

struct unwind_tables {
	struct unwind_memory memory;
	struct room rows, pages, mappings;
	struct slot *slots;
	u32 generation; /* the last one given out */
	struct unwind_counts counts;
};

int unwind_tables_create(const struct unwind_memory *memory, struct unwind_tables **ret_tables)
{
	struct unwind_tables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return -ENOMEM;
	tables->memory = *memory;
	tables->slots = calloc(memory->module_count, sizeof(*tables->slots));
	if (!tables->slots || room_init(&tables->rows, memory->row_count) ||
	    room_init(&tables->pages, memory->page_count) ||
	    room_init(&tables->mappings, memory->mapping_count)) {
		unwind_tables_free(tables);
		return -ENOMEM;
	}
	*ret_tables = tables;
	return 0;
}

void unwind_tables_free(struct unwind_tables *tables)
{
	if (!tables)
		return;
	room_free(&tables->rows);
	room_free(&tables->pages);
	room_free(&tables->mappings);
	free(tables->slots);
	free(tables);
}

/* --- modules --- */

static bool has_slot(const struct unwind_tables *tables, u32 module)
{
	return module < tables->memory.module_count && tables->slots[module].is_used;
}

bool unwind_tables_has(const struct unwind_tables *tables, u32 module, u32 owner)
{
	return has_slot(tables, module) && tables->slots[module].owner == owner;
}

/* Rows that fit: those behind the last page that a module may have do not. */
static size_t usable_rows(const struct row_table *table)
{
	size_t count = table->count;

	while (count && table->rows[count - 1].pc >> UNWIND_PAGE_SHIFT >= UNWIND_MODULE_PAGES_MAX)
		count--;
	return count;
}

/* True if rows had to be left out. */
static bool write_pages(struct unwind_tables *tables, const struct slot *slot)
{
	const struct unwind_memory *memory = &tables->memory;
	struct unwind_row *rows = memory->rows + slot->first_row;
	bool is_cut = false;
	u32 next = 0; /* the first row behind the page's beginning */

	for (u32 i = 0; i < slot->page_count; i++) {
		u64 begin = (u64)i << UNWIND_PAGE_SHIFT, end = begin + (1u << UNWIND_PAGE_SHIFT);
		struct unwind_page page;
		u32 first;

		while (next < slot->row_count && rows[next].pc <= begin)
			next++;
		first = next ? next - 1 : 0;
		while (next < slot->row_count && rows[next].pc < end)
			next++;
		page = (struct unwind_page){slot->first_row + first, next - first};
		if (page.count > PAGE_ROWS_MAX) { /* nothing is said of what comes behind */
			page.count = PAGE_ROWS_MAX;
			rows[first + page.count - 1].kind = ROW_BAD;
			is_cut = true;
		}
		memory->pages[slot->first_page + i] = page;
	}
	return is_cut;
}

static void free_slot(struct unwind_tables *tables, struct slot *slot)
{
	room_give_back(&tables->rows, slot->first_row, slot->row_count, 0);
	room_give_back(&tables->pages, slot->first_page, slot->page_count, 0);
	tables->counts.modules--;
	*slot = (struct slot){0};
}

/*
 * Mappings that were given up name it still, and somebody may still have them: the child of a
 * process, of which we were not told. It is to find that they are over, not another module's rows.
 */
static void end_mappings_of(struct unwind_tables *tables, u32 module)
{
	for (u32 i = 0; i < tables->memory.mapping_count; i++)
		if (tables->memory.mappings[i].module == module)
			__atomic_store_n(&tables->memory.mappings[i].generation, 0,
					 __ATOMIC_RELEASE);
}

/* The one that is out of use for longest, and that nobody reads any more: false if none is. */
static bool evict(struct unwind_tables *tables, u64 now_ns)
{
	struct slot *oldest = NULL;

	for (u32 i = 0; i < tables->memory.module_count; i++) {
		struct slot *slot = &tables->slots[i];

		if (slot->is_used && !slot->users && slot->readable_ns <= now_ns &&
		    (!oldest || slot->readable_ns < oldest->readable_ns))
			oldest = slot;
	}
	if (!oldest)
		return false;
	end_mappings_of(tables, (u32)(oldest - tables->slots));
	free_slot(tables, oldest);
	tables->counts.evicted++;
	return true;
}

static struct slot *free_place(const struct unwind_tables *tables)
{
	for (u32 i = 0; i < tables->memory.module_count; i++)
		if (!tables->slots[i].is_used)
			return &tables->slots[i];
	return NULL;
}

static bool try_add(struct unwind_tables *tables, u32 row_count, u32 page_count, u64 now_ns,
		    struct slot **ret_slot)
{
	struct slot *slot = free_place(tables);

	if (!slot || !room_take(&tables->rows, row_count, now_ns, &slot->first_row))
		return false;
	if (!room_take(&tables->pages, page_count, now_ns, &slot->first_page)) {
		room_give_back(&tables->rows, slot->first_row, row_count, 0);
		return false;
	}
	slot->row_count = row_count;
	slot->page_count = page_count;
	*ret_slot = slot;
	return true;
}

u32 unwind_tables_add(struct unwind_tables *tables, const struct row_table *table, u32 owner,
		      u64 now_ns)
{
	size_t count = usable_rows(table);
	bool is_cut = table->is_cut || count < table->count;
	struct slot *slot;
	u32 pages, module;

	if (is_cut && !count)
		tables->counts.cut++;
	if (!count)
		return UNWIND_NO_TABLE;
	pages = (table->rows[count - 1].pc >> UNWIND_PAGE_SHIFT) + 1;
	while (!try_add(tables, (u32)count, pages, now_ns, &slot))
		if (!evict(tables, now_ns)) {
			tables->counts.full++;
			return UNWIND_NO_TABLE;
		}
	memcpy(tables->memory.rows + slot->first_row, table->rows, count * sizeof(*table->rows));
	is_cut |= write_pages(tables, slot);
	module = (u32)(slot - tables->slots);
	tables->memory.modules[module] = (struct unwind_module){slot->first_page, pages};
	slot->is_used = true;
	slot->owner = owner;
	slot->readable_ns = now_ns + UNWIND_GRACE_NS; /* its first user is about to come */
	tables->counts.modules++;
	tables->counts.cut += is_cut;
	return module;
}

/* --- mappings --- */

static void use(struct unwind_tables *tables, u32 module, bool is_more, u64 now_ns)
{
	struct slot *slot;

	if (!has_slot(tables, module))
		return;
	slot = &tables->slots[module];
	if (is_more)
		slot->users++;
	else
		slot->users--;
	slot->readable_ns = now_ns + UNWIND_GRACE_NS;
}

/* Who still has the place's owner before finds a generation that is not his, at every moment. */
static void write_mapping(struct unwind_mapping *place, const struct unwind_mapping *mapping,
			  u32 generation)
{
	__atomic_store_n(&place->generation, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	place->begin = mapping->begin;
	place->end = mapping->end;
	place->bias = mapping->bias;
	place->module = mapping->module;
	__atomic_store_n(&place->generation, generation, __ATOMIC_RELEASE);
}

int unwind_tables_map(struct unwind_tables *tables, const struct unwind_mapping *mappings,
		      size_t count, u64 now_ns, struct unwind_process *ret_process)
{
	struct unwind_process process = {.generation = tables->generation + 1};

	if (count > PROCESS_MAPS_MAX) {
		tables->counts.mappings_cut++;
		count = PROCESS_MAPS_MAX;
	}
	process.count = (u32)count;
	if (!process.generation || /* all numbers are used up */
	    !room_take(&tables->mappings, process.count, now_ns, &process.first)) {
		tables->counts.mappings_full++;
		return -ENOSPC;
	}
	tables->generation = process.generation;
	for (u32 i = 0; i < process.count; i++) {
		write_mapping(&tables->memory.mappings[process.first + i], &mappings[i],
			      process.generation);
		use(tables, mappings[i].module, true, now_ns);
	}
	*ret_process = process;
	return 0;
}

/* The entries stay as they are: the kernel side may be reading them. */
void unwind_tables_unmap(struct unwind_tables *tables, const struct unwind_process *process,
			 u64 now_ns)
{
	for (u32 i = 0; i < process->count; i++)
		use(tables, tables->memory.mappings[process->first + i].module, false, now_ns);
	room_give_back(&tables->mappings, process->first, process->count, now_ns + UNWIND_GRACE_NS);
}

void unwind_tables_counts(const struct unwind_tables *tables, struct unwind_counts *ret_counts)
{
	*ret_counts = tables->counts;
	ret_counts->rows = tables->rows.used;
	ret_counts->mappings = tables->mappings.used;
}
