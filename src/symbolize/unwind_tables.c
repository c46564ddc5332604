// SPDX-License-Identifier: Apache-2.0
/*
 * Each page is a run of rows of its own, and begins with the row that holds at its beginning, which
 * is also the last one of the page before.
 */
#include "unwind_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_PART	 2 /* a module of up to one in so many of all rows is loaded at once */
#define NEIGHBOURS	 8 /* pages: half a MiB of code */
#define PROCESS_MAPS_MAX (1u << UNWIND_MAPPINGS_STEPS)

/* What is in a place of the array of modules. */
struct slot {
	bool is_used;
	u32 owner;
	u32 first_page, page_count;
	u32 users;	 /* mappings that name it */
	u64 readable_ns; /* without users: until then the kernel may read it */
};

struct unwind_tables {
	struct unwind_memory memory;
	struct unwind_pages pages;
	struct range_pool places, mappings; /* places: of pages */
	struct slot *slots;
	u32 generation; /* the last one given out */
	struct unwind_counts counts;
};

int unwind_tables_create(const struct unwind_memory *memory, u32 generation,
			 struct unwind_tables **ret_tables)
{
	struct unwind_tables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return -ENOMEM;
	tables->memory = *memory;
	tables->generation = generation;
	tables->slots = calloc(memory->module_count, sizeof(*tables->slots));
	if (!tables->slots ||
	    unwind_pages_init(&tables->pages, memory->rows, memory->row_count, memory->pages,
			      memory->page_count, memory->module_count) ||
	    range_pool_init(&tables->places, memory->page_count) ||
	    range_pool_init(&tables->mappings, memory->mapping_count)) {
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
	unwind_pages_free(&tables->pages);
	range_pool_free(&tables->places);
	range_pool_free(&tables->mappings);
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

/* The first row that begins at pc or behind. */
static u32 row_from(const struct row_table *table, size_t count, u64 pc)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->rows[middle].pc < pc)
			low = middle + 1;
		else
			high = middle;
	}
	return (u32)low;
}

/* The rows of a page: how many, the first of which is *ret_first. */
static u32 rows_of(const struct row_table *table, u32 page, u32 *ret_first)
{
	u64 begin = (u64)page << UNWIND_PAGE_SHIFT;
	u32 first = row_from(table, table->count, begin);
	u32 end = row_from(table, table->count, begin + (1u << UNWIND_PAGE_SHIFT));

	if (first && (first == table->count || table->rows[first].pc > begin))
		first--;
	*ret_first = first;
	return end - first;
}

/* True if it is loaded, or needs not be. */
static bool load(struct unwind_tables *tables, const struct slot *slot, u32 page,
		 const struct row_table *table, bool is_asked, u64 now_ns)
{
	u32 first, count = rows_of(table, page, &first), place = slot->first_page + page;

	if (!count) {
		unwind_pages_set_empty(&tables->pages, place);
		return true;
	}
	return unwind_pages_load(&tables->pages, place, (u32)(slot - tables->slots),
				 table->rows + first, count, is_asked, now_ns);
}

static bool has_full_page(const struct row_table *table, u32 page_count)
{
	u32 first;

	for (u32 i = 0; i < page_count; i++)
		if (rows_of(table, i, &first) > UNWIND_PAGE_ROWS_MAX)
			return true;
	return false;
}

static void free_slot(struct unwind_tables *tables, struct slot *slot)
{
	unwind_pages_clear(&tables->pages, slot->first_page, slot->page_count);
	range_pool_give_back(&tables->places, slot->first_page, slot->page_count, 0);
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

static struct slot *try_add(struct unwind_tables *tables, u32 page_count, u64 now_ns)
{
	struct slot *slot = free_place(tables);

	if (!slot || !range_pool_take(&tables->places, page_count, now_ns, &slot->first_page))
		return NULL;
	slot->page_count = page_count;
	unwind_pages_clear(&tables->pages, slot->first_page, page_count);
	return slot;
}

static struct slot *add_slot(struct unwind_tables *tables, u32 page_count, u32 owner, u64 now_ns)
{
	struct slot *slot;
	u32 module;

	while (!(slot = try_add(tables, page_count, now_ns)))
		if (!evict(tables, now_ns))
			return NULL;
	module = (u32)(slot - tables->slots);
	tables->memory.modules[module] = (struct unwind_module){slot->first_page, page_count};
	slot->is_used = true;
	slot->owner = owner;
	slot->readable_ns = now_ns + UNWIND_GRACE_NS; /* its first user is about to come */
	tables->counts.modules++;
	return slot;
}

/* All of a small module, so that no walk has to ask; tables that no process uses make room. */
static void load_whole(struct unwind_tables *tables, const struct slot *slot,
		       const struct row_table *table, u64 now_ns)
{
	u32 count = (u32)table->count + slot->page_count; /* pages share rows */

	if (count > tables->memory.row_count / WHOLE_PART)
		return;
	while (!unwind_pages_has_spare(&tables->pages, count))
		if (!evict(tables, now_ns))
			break;
	for (u32 i = 0; i < slot->page_count; i++)
		load(tables, slot, i, table, false, now_ns);
}

u32 unwind_tables_add(struct unwind_tables *tables, const struct row_table *table, u32 owner,
		      u64 now_ns)
{
	struct row_table usable = *table;
	struct slot *slot;
	u32 pages;

	usable.count = usable_rows(table);
	usable.is_cut |= usable.count < table->count;
	if (!usable.count) {
		tables->counts.cut += usable.is_cut;
		return UNWIND_NO_TABLE;
	}
	pages = (usable.rows[usable.count - 1].pc >> UNWIND_PAGE_SHIFT) + 1;
	slot = add_slot(tables, pages, owner, now_ns);
	if (!slot) {
		tables->counts.full++;
		return UNWIND_NO_TABLE;
	}
	tables->counts.cut += usable.is_cut || has_full_page(&usable, pages);
	load_whole(tables, slot, &usable, now_ns);
	return (u32)(slot - tables->slots);
}

bool unwind_tables_is_whole(const struct unwind_tables *tables, u32 module)
{
	const struct slot *slot;

	if (!has_slot(tables, module))
		return true;
	slot = &tables->slots[module];
	for (u32 i = 0; i < slot->page_count; i++)
		if (!unwind_pages_is_loaded(&tables->pages, slot->first_page + i))
			return false;
	return true;
}

bool unwind_tables_owner(const struct unwind_tables *tables, u32 module, u32 place, u32 *ret_owner)
{
	const struct slot *slot;

	if (!has_slot(tables, module))
		return false;
	slot = &tables->slots[module];
	*ret_owner = slot->owner;
	return place >= slot->first_page && place - slot->first_page < slot->page_count;
}

bool unwind_tables_is_loaded(const struct unwind_tables *tables, u32 place)
{
	return place < tables->memory.page_count && unwind_pages_is_loaded(&tables->pages, place);
}

/* Pages from first to end of the module, but for those that are loaded. */
static void load_pages(struct unwind_tables *tables, const struct slot *slot, u32 first, u32 end,
		       const struct row_table *table, bool is_asked, u64 now_ns)
{
	struct row_table usable = *table;

	usable.count = usable_rows(table);
	for (u32 i = first; i < end && i < slot->page_count; i++)
		if (!unwind_pages_is_loaded(&tables->pages, slot->first_page + i))
			load(tables, slot, i, &usable, is_asked, now_ns);
}

void unwind_tables_load(struct unwind_tables *tables, u32 module, u32 place,
			const struct row_table *table, u64 now_ns)
{
	u32 owner, page;

	if (!unwind_tables_owner(tables, module, place, &owner))
		return;
	page = place - tables->slots[module].first_page;
	load_pages(tables, &tables->slots[module], page, page + 1, table, true, now_ns);
}

void unwind_tables_load_near(struct unwind_tables *tables, u32 module, u32 place,
			     const struct row_table *table, u64 now_ns)
{
	u32 owner, page;

	if (!unwind_tables_owner(tables, module, place, &owner))
		return;
	page = place - tables->slots[module].first_page;
	page -= page % NEIGHBOURS;
	load_pages(tables, &tables->slots[module], page, page + NEIGHBOURS, table, false, now_ns);
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
	/* An exchange: what is written next must not be seen before it. */
	__atomic_exchange_n(&place->generation, 0, __ATOMIC_ACQ_REL);
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
	    !range_pool_take(&tables->mappings, process.count, now_ns, &process.first)) {
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
	range_pool_give_back(&tables->mappings, process->first, process->count,
			     now_ns + UNWIND_GRACE_NS);
}

void unwind_tables_counts(const struct unwind_tables *tables, struct unwind_counts *ret_counts)
{
	*ret_counts = tables->counts;
	ret_counts->rows = tables->pages.pool.used;
	ret_counts->capacity = tables->memory.row_count;
	ret_counts->pages = tables->pages.counts;
	ret_counts->mappings = tables->mappings.used;
}
