// SPDX-License-Identifier: Apache-2.0
/*
 * What the kernel side finds in the tables is what the row table says, at every address, and a part
 * of them that was given up is not written again before its time.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/base/clock.h"
#include "../../src/symbolize/range_pool.h"
#include "../../src/symbolize/unwind_tables.h"

#define ROWS	 100000
#define PAGES	 20000
#define MODULES	 64
#define MAPPINGS 4096

static struct unwind_memory memory;
static struct unwind_tables *tables;
static u64 now_ns;
static u64 seed;

static u32 any(u32 below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)((seed >> 33) % below);
}

static int set_up(void **state)
{
	(void)state;
	memory = (struct unwind_memory){
		.rows = calloc(ROWS, sizeof(*memory.rows)),
		.pages = calloc(PAGES, sizeof(*memory.pages)),
		.modules = calloc(MODULES, sizeof(*memory.modules)),
		.mappings = calloc(MAPPINGS, sizeof(*memory.mappings)),
		.row_count = ROWS,
		.page_count = PAGES,
		.module_count = MODULES,
		.mapping_count = MAPPINGS,
	};
	now_ns = NS_PER_S;
	seed = 1;
	return unwind_tables_create(&memory, 0, &tables);
}

static int tear_down(void **state)
{
	(void)state;
	unwind_tables_free(tables);
	free(memory.rows);
	free(memory.pages);
	free(memory.modules);
	free(memory.mappings);
	return 0;
}

/* count rows, step bytes apart on average, from begin on. */
static struct row_table make_rows(size_t count, u32 begin, u32 step)
{
	struct row_table table = {.rows = calloc(count, sizeof(*table.rows)), .count = count};
	u32 pc = begin;

	for (size_t i = 0; i < count; i++) {
		table.rows[i] = (struct unwind_row){.pc = pc, .cfa = (u16)i, .kind = ROW_SP};
		pc += 1 + any(2 * step);
	}
	return table;
}

/* As the kernel side does it, without a bound on steps but those of the contract. */
static const struct unwind_row *look_up(u32 id, u64 pc)
{
	const struct unwind_module *module = &memory.modules[id];
	const struct unwind_page *page;
	u32 low, high, first;

	if (pc >> UNWIND_PAGE_SHIFT >= module->page_count)
		return NULL;
	page = &memory.pages[module->first_page + (pc >> UNWIND_PAGE_SHIFT)];
	low = first = (u32)(page->run >> UNWIND_RUN_SHIFT);
	high = low + (page->run & UNWIND_RUN_COUNT);
	for (int i = 0; i <= UNWIND_ROWS_STEPS && low < high; i++) {
		u32 middle = low + (high - low) / 2;

		assert_true(middle < ROWS);
		if (memory.rows[middle].pc <= (u32)pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low == first ? NULL : &memory.rows[low - 1];
}

static const struct unwind_row *truth(const struct row_table *table, u64 pc)
{
	const struct unwind_row *found = NULL;

	for (size_t i = 0; i < table->count && table->rows[i].pc <= pc; i++)
		found = &table->rows[i];
	return found;
}

static void check_at(u32 id, const struct row_table *table, u64 pc)
{
	const struct unwind_row *expect = truth(table, pc), *found = look_up(id, pc);

	if (!expect)
		assert_null(found);
	else if (pc >> UNWIND_PAGE_SHIFT <= table->rows[table->count - 1].pc >> UNWIND_PAGE_SHIFT)
		assert_memory_equal(found, expect, sizeof(*expect));
}

static void each_address_finds_its_row(void **state)
{
	static const struct {
		size_t count;
		u32 begin, step;
	} shapes[] = {
		{1, 0, 1},     {1, 65536, 1},	       {2000, 0x1000, 8},   {3000, 0, 40000},
		{20000, 7, 4}, {50, 0x400000, 200000}, {10, 0xffff, 65536}, {300, 65535, 65536},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct row_table table =
			make_rows(shapes[i].count, shapes[i].begin, shapes[i].step);
		u32 id = unwind_tables_add(tables, &table, (u32)i, now_ns);
		u32 last = table.rows[table.count - 1].pc;

		assert_int_not_equal(id, UNWIND_NO_TABLE);
		for (int k = 0; k < 3000; k++) {
			size_t row = any((u32)table.count);

			check_at(id, &table, any(last + 1));
			check_at(id, &table, table.rows[row].pc);
			check_at(id, &table, table.rows[row].pc - (table.rows[row].pc > 0));
			check_at(id, &table, table.rows[row].pc & ~0xffffu);
			check_at(id, &table, table.rows[row].pc | 0xffffu);
		}
		free(table.rows);
	}
}

static void a_page_with_too_many_rows_ends_with_a_bad_one(void **state)
{
	struct row_table table = {.rows = calloc(40000, sizeof(*table.rows)), .count = 40000};
	struct unwind_counts counts;
	u32 id;

	(void)state;
	for (u32 i = 0; i < 40000; i++)
		table.rows[i] = (struct unwind_row){.pc = i, .cfa = 1, .kind = ROW_SP};
	id = unwind_tables_add(tables, &table, 0, now_ns);
	unwind_tables_counts(tables, &counts);
	assert_int_equal(counts.cut, 1);
	assert_int_equal(look_up(id, 100)->kind, ROW_SP);
	assert_int_equal(look_up(id, 39999)->kind, ROW_BAD);
	free(table.rows);
}

static void a_module_that_claims_all_addresses_gets_few(void **state)
{
	struct unwind_row rows[] = {{.pc = 16, .kind = ROW_SP}, {.pc = 0xfffffff0, .kind = ROW_SP}};
	struct row_table table = {.rows = rows, .count = 2};
	struct unwind_counts counts;
	u32 id = unwind_tables_add(tables, &table, 0, now_ns);

	(void)state;
	unwind_tables_counts(tables, &counts);
	assert_int_equal(counts.cut, 1);
	assert_int_equal(counts.rows, 1);
	assert_int_equal(memory.modules[id].page_count, 1);
	table.rows++, table.count = 1;
	assert_int_equal(unwind_tables_add(tables, &table, 0, now_ns), UNWIND_NO_TABLE);
	table.count = 0;
	assert_int_equal(unwind_tables_add(tables, &table, 0, now_ns), UNWIND_NO_TABLE);
}

static void what_no_process_uses_makes_room(void **state)
{
	struct row_table table = make_rows(ROWS / 4, 0, 4);
	struct unwind_mapping mapping = {.begin = 1, .end = 2};
	struct unwind_process process;
	struct unwind_counts counts;
	u32 ids[8];

	(void)state;
	for (u32 i = 0; i < 4; i++)
		ids[i] = unwind_tables_add(tables, &table, i, now_ns);
	/* all were made just now: somebody may be about to use them */
	assert_true(unwind_tables_is_whole(tables, ids[2]));
	assert_false(unwind_tables_is_whole(tables, ids[3]));
	mapping.module = ids[0];
	assert_int_equal(unwind_tables_map(tables, &mapping, 1, now_ns, &process), 0);
	now_ns += UNWIND_GRACE_NS;
	ids[4] = unwind_tables_add(tables, &table, 4, now_ns);
	assert_true(unwind_tables_has(tables, ids[0], 0));
	assert_true(unwind_tables_has(tables, ids[4], 4));
	assert_true(unwind_tables_is_whole(tables, ids[4]));
	assert_false(unwind_tables_has(tables, ids[1], 1));
	check_at(ids[4], &table, 1000);

	unwind_tables_unmap(tables, &process, now_ns);
	now_ns += UNWIND_GRACE_NS - 1;
	for (u32 i = 5; i < 7; i++)
		ids[i] = unwind_tables_add(tables, &table, i, now_ns);
	assert_true(unwind_tables_is_whole(tables, ids[5]));
	assert_false(unwind_tables_is_whole(tables, ids[6]));
	assert_true(unwind_tables_has(tables, ids[0], 0));
	now_ns++;
	assert_int_equal(memory.mappings[process.first].generation, process.generation);
	ids[7] = unwind_tables_add(tables, &table, 7, now_ns);
	assert_true(unwind_tables_is_whole(tables, ids[7]));
	/* whoever still has the mapping, a child that we do not know, does not take the new rows */
	assert_int_equal(memory.mappings[process.first].generation, 0);
	unwind_tables_counts(tables, &counts);
	assert_int_equal(counts.modules, 4);
	assert_int_equal(counts.evicted, 4);
	assert_int_equal(counts.full, 0);
	assert_true(counts.rows <= ROWS - ROWS / 8);
	free(table.rows);
}

static void there_are_so_many_modules(void **state)
{
	struct row_table table = make_rows(10, 0, 4);
	struct unwind_counts counts;

	(void)state;
	for (u32 i = 0; i < MODULES; i++)
		assert_int_not_equal(unwind_tables_add(tables, &table, i, now_ns), UNWIND_NO_TABLE);
	assert_int_equal(unwind_tables_add(tables, &table, MODULES, now_ns), UNWIND_NO_TABLE);
	unwind_tables_counts(tables, &counts);
	assert_int_equal(counts.full, 1);
	assert_int_equal(counts.modules, MODULES);
	free(table.rows);
}

static void mappings_have_their_grace(void **state)
{
	struct unwind_mapping mappings[1024];
	struct unwind_process processes[4], next;

	(void)state;
	for (u32 i = 0; i < 1024; i++)
		mappings[i] = (struct unwind_mapping){i * 16, i * 16 + 8, 3, UNWIND_NO_TABLE, 0};
	for (u32 i = 0; i < 4; i++) {
		assert_int_equal(unwind_tables_map(tables, mappings, 1024, now_ns, &processes[i]),
				 0);
		assert_int_equal(processes[i].generation, i + 1);
		assert_int_equal(processes[i].first, i * 1024);
	}
	assert_int_not_equal(unwind_tables_map(tables, mappings, 1, now_ns, &next), 0);
	unwind_tables_unmap(tables, &processes[2], now_ns);
	now_ns += UNWIND_GRACE_NS - 1;
	assert_int_not_equal(unwind_tables_map(tables, mappings, 1, now_ns, &next), 0);
	assert_int_equal(memory.mappings[2048].generation, 3);
	now_ns++;
	assert_int_equal(unwind_tables_map(tables, mappings, 1024, now_ns, &next), 0);
	assert_int_equal(next.first, 2048);
	assert_int_equal(next.generation, 5);
	for (u32 i = 0; i < 1024; i++) {
		assert_int_equal(memory.mappings[2048 + i].generation, 5);
		assert_int_equal(memory.mappings[2048 + i].begin, i * 16);
	}
}

static void too_many_mappings_are_cut(void **state)
{
	_cleanup_free_ struct unwind_mapping *mappings = calloc(3000, sizeof(*mappings));
	struct unwind_process process;
	struct unwind_counts counts;

	(void)state;
	assert_int_equal(unwind_tables_map(tables, mappings, 3000, now_ns, &process), 0);
	unwind_tables_counts(tables, &counts);
	assert_int_equal(process.count, 1 << UNWIND_MAPPINGS_STEPS);
	assert_int_equal(counts.mappings, process.count);
	assert_int_equal(counts.mappings_cut, 1);
}

/* Ranges that come and go at random never overlap, and all of the room is there in the end. */
static void range_pool_does_not_leak(void **state)
{
	enum { COUNT = 2000, PLACES = 5000 };
	static struct range_pool_range held[COUNT];
	static u8 owner[PLACES];
	struct range_pool pool;
	u32 first;

	(void)state;
	assert_int_equal(range_pool_init(&pool, PLACES), 0);
	for (u32 turn = 0; turn < 100000; turn++) {
		struct range_pool_range *range = &held[any(COUNT)];

		now_ns++;
		if (range->count) {
			memset(owner + range->first, 0, range->count);
			range_pool_give_back(&pool, range->first, range->count,
					     any(3) ? 0 : now_ns + 50);
			range->count = 0;
			continue;
		}
		range->count = 1 + any(10);
		if (!range_pool_take(&pool, range->count, now_ns, &range->first)) {
			range->count = 0;
			continue;
		}
		for (u32 i = 0; i < range->count; i++) {
			assert_int_equal(owner[range->first + i], 0);
			owner[range->first + i] = 1;
		}
	}
	for (u32 i = 0; i < COUNT; i++)
		range_pool_give_back(&pool, held[i].first, held[i].count, now_ns);
	assert_true(range_pool_take(&pool, PLACES, now_ns + 50, &first));
	assert_false(range_pool_take(&pool, 1, now_ns, &first));
	range_pool_free(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_address_finds_its_row, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_page_with_too_many_rows_ends_with_a_bad_one,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_module_that_claims_all_addresses_gets_few, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_no_process_uses_makes_room, set_up, tear_down),
		cmocka_unit_test_setup_teardown(there_are_so_many_modules, set_up, tear_down),
		cmocka_unit_test_setup_teardown(mappings_have_their_grace, set_up, tear_down),
		cmocka_unit_test_setup_teardown(too_many_mappings_are_cut, set_up, tear_down),
		cmocka_unit_test_setup_teardown(range_pool_does_not_leak, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
