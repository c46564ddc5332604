// SPDX-License-Identifier: Apache-2.0
/*
 * Tables that do not all fit: pages come when they are asked for, and go when nobody uses them. No
 * module keeps the others out, and a walk that reads rows while they change finds its own or none.
 */
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/clock.h"
#include "../../src/symbolize/row_store.h"
#include "../../src/symbolize/unwind_tables.h"
#include "bpf_native.h"

#define ROWS	  (64u << 10)
#define PAGES	  4096
#define MODULES	  16
#define MAPPINGS  16
#define PAGE_ROWS 4096u /* a row each 16 bytes */

static struct unwind_memory memory;
static struct unwind_tables *tables;
static u64 now_ns;

#define AT(table, place, most) ((place) < (most) ? &(table)[place] : NULL)

static struct unwind_row *unwind_row_at(u32 place)
{
	return AT(memory.rows, place, ROWS);
}

static struct unwind_page *unwind_page_at(u32 place)
{
	return AT(memory.pages, place, PAGES);
}

static struct unwind_module *unwind_module_at(u32 place)
{
	return AT(memory.modules, place, MODULES);
}

static struct unwind_mapping *unwind_mapping_at(u32 place)
{
	return AT(memory.mappings, place, MAPPINGS);
}

static long unwind_read(void *to, u32 size, u64 from)
{
	(void)to, (void)size, (void)from;
	return -14;
}

static bool unwind_find_return(u64 at, u64 *ret_ip)
{
	(void)at, (void)ret_ip;
	return false;
}

#include "../../bpf/unwind.bpf.h"

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
	now_ns = 100 * NS_PER_S;
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

/* Each row says whose it is, and where. */
static u16 mark_of(u32 owner, u32 pc)
{
	return (u16)(owner << 12 | ((pc >> 4) & 0xfff));
}

static struct row_table make_pages(u32 owner, u32 pages)
{
	struct row_table table = {.count = (size_t)pages * PAGE_ROWS};

	table.rows = calloc(table.count, sizeof(*table.rows));
	for (u32 i = 0; i < table.count; i++)
		table.rows[i] = (struct unwind_row){
			.pc = 16 * i, .cfa = mark_of(owner, 16 * i), .kind = ROW_SP};
	return table;
}

static u32 place_of(u32 module, u32 page)
{
	return memory.modules[module].first_page + page;
}

/* As a walk does; what it finds is right. */
static u32 walk_to(u32 module, u32 owner, u32 page)
{
	u32 pc = (page << UNWIND_PAGE_SHIFT) + 16 * 77 + 5;
	struct unwind_walk walk = {0};
	struct unwind_row row;
	u32 stop = unwind_find_row(&walk, module, pc, &row);

	if (!stop)
		assert_int_equal(row.cfa, mark_of(owner, pc));
	else
		assert_int_equal(walk.page, place_of(module, page));
	return stop;
}

static struct unwind_page_counts counts_now(void)
{
	struct unwind_counts counts;

	unwind_tables_counts(tables, &counts);
	return counts.pages;
}

static bool ask(u32 module, u32 page, const struct row_table *table)
{
	unwind_tables_load(tables, module, place_of(module, page), table, now_ns);
	return unwind_tables_is_loaded(tables, place_of(module, page));
}

static void a_large_module_comes_page_by_page(void **state)
{
	struct row_table table = make_pages(1, 30);
	u32 id = unwind_tables_add(tables, &table, 1, now_ns), owner;

	(void)state;
	assert_int_not_equal(id, UNWIND_NO_TABLE);
	assert_false(unwind_tables_is_whole(tables, id));
	for (u32 i = 0; i < 30; i++)
		assert_int_equal(walk_to(id, 1, i), STOP_NO_PAGE);
	assert_true(unwind_tables_owner(tables, id, place_of(id, 20), &owner));
	assert_int_equal(owner, 1);
	assert_true(ask(id, 20, &table));
	for (u32 i = 0; i < 30; i++)
		assert_int_equal(walk_to(id, 1, i), i == 20 ? STOP_NONE : STOP_NO_PAGE);
	unwind_tables_load_near(tables, id, place_of(id, 20), &table, now_ns);
	for (u32 i = 0; i < 30; i++)
		assert_int_equal(walk_to(id, 1, i), i >= 16 && i < 24 ? STOP_NONE : STOP_NO_PAGE);
	assert_int_equal(counts_now().asked, 1);
	assert_int_equal(counts_now().evicted, 0);
	free(table.rows);
}

static void pages_of_others_cannot_be_asked_for(void **state)
{
	struct row_table table = make_pages(1, 30), other = make_pages(2, 30);
	u32 id = unwind_tables_add(tables, &table, 1, now_ns), owner;
	u32 id2 = unwind_tables_add(tables, &other, 2, now_ns);

	(void)state;
	assert_false(unwind_tables_owner(tables, id, place_of(id2, 1), &owner));
	assert_false(unwind_tables_owner(tables, id2, place_of(id, 1), &owner));
	assert_false(unwind_tables_owner(tables, id, PAGES + 1, &owner));
	assert_false(unwind_tables_owner(tables, id, 0xffffffff, &owner));
	assert_false(unwind_tables_owner(tables, MODULES + 5, 0, &owner));
	unwind_tables_load(tables, id, place_of(id2, 1), &table, now_ns);
	assert_int_equal(walk_to(id2, 2, 1), STOP_NO_PAGE);
	assert_int_equal(counts_now().asked, 0);
	free(table.rows);
	free(other.rows);
}

/* 16 pages fit; pages 0 to 7 are used all the time. */
static void what_is_not_used_makes_room(void **state)
{
	struct row_table table = make_pages(1, 40);
	u32 id = unwind_tables_add(tables, &table, 1, now_ns);

	(void)state;
	for (u32 i = 0; i < 40; i++) {
		assert_true(ask(id, i, &table));
		for (u32 k = 0; k < 8 && k <= i; k++)
			assert_int_equal(walk_to(id, 1, k), STOP_NONE);
		now_ns += UNWIND_IDLE_NS;
	}
	assert_true(counts_now().evicted >= 24);
	assert_int_equal(counts_now().refused, 0);
	assert_int_equal(counts_now().again, 0);
	assert_true(counts_now().most <= ROWS);
	assert_int_equal(walk_to(id, 1, 12), STOP_NO_PAGE);
	assert_true(ask(id, 12, &table));
	assert_int_equal(counts_now().again, 1);
	free(table.rows);
}

static void use_all(u32 id, u32 owner, u32 pages)
{
	for (u32 i = 0; i < pages; i++)
		walk_to(id, owner, i);
}

static u32 loaded(u32 id, u32 owner, u32 pages)
{
	u32 count = 0;

	for (u32 i = 0; i < pages; i++)
		count += walk_to(id, owner, i) == STOP_NONE;
	return count;
}

/* All of its pages are in use, and it wants more: it has what it has, and others get their part. */
static void no_module_keeps_others_out(void **state)
{
	struct row_table huge = make_pages(1, 40), other = make_pages(2, 20);
	u32 id = unwind_tables_add(tables, &huge, 1, now_ns), id2;

	(void)state;
	for (u32 i = 0; i < 40; i++) {
		use_all(id, 1, 40);
		ask(id, i, &huge);
		now_ns += 1000;
	}
	assert_int_equal(loaded(id, 1, 40), 16);
	assert_int_equal(counts_now().refused, 24);
	assert_int_equal(counts_now().evicted, 0);

	id2 = unwind_tables_add(tables, &other, 2, now_ns);
	for (u32 i = 0; i < 20; i++) {
		use_all(id, 1, 40);
		use_all(id2, 2, 20);
		ask(id2, i, &other);
		now_ns += 1000;
	}
	assert_int_equal(loaded(id2, 2, 20), 8);
	assert_int_equal(loaded(id, 1, 40), 8);
	assert_false(ask(id, 39, &huge));
	assert_int_equal(loaded(id2, 2, 20), 8);

	now_ns += UNWIND_IDLE_NS; /* then nobody uses the first any more */
	for (u32 i = 0; i < 4; i++) {
		use_all(id2, 2, 20);
		now_ns += UNWIND_IDLE_NS;
		use_all(id2, 2, 20);
		ask(id2, 19, &other);
		ask(id2, 18, &other);
	}
	assert_true(ask(id2, 19, &other) && ask(id2, 18, &other));
	free(huge.rows);
	free(other.rows);
}

/* What was loaded although nobody asked for it does not keep out small modules. */
static void small_modules_are_loaded_at_once(void **state)
{
	struct row_table large = make_pages(1, 7), small = make_pages(2, 2);
	u32 id = unwind_tables_add(tables, &large, 1, now_ns), ids[4];

	(void)state;
	assert_true(unwind_tables_is_whole(tables, id));
	walk_to(id, 1, 3);
	for (u32 i = 0; i < 4; i++) {
		ids[i] = unwind_tables_add(tables, &small, 2, now_ns);
		assert_true(unwind_tables_is_whole(tables, ids[i]));
	}
	assert_false(unwind_tables_is_whole(tables, id));
	assert_int_equal(walk_to(id, 1, 3), STOP_NONE);
	free(large.rows);
	free(small.rows);
}

/* --- while somebody reads --- */

static u32 read_ids[2];
static bool is_over;
static u64 found, missed, wrong;

static void *read_rows(void *context)
{
	u32 page = 0;

	(void)context;
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		u32 pc = (page << UNWIND_PAGE_SHIFT) + (page * 7919 % PAGE_ROWS) * 16,
		    which = page & 1;
		struct unwind_walk walk = {0};
		struct unwind_row row;
		u32 stop = unwind_find_row(&walk, read_ids[which], pc, &row);

		page = (page + 1) % 40;
		missed += stop == STOP_NO_PAGE;
		found += !stop;
		if (stop != STOP_NO_PAGE)
			wrong += stop || row.pc != pc || row.cfa != mark_of(which + 1, pc);
	}
	return NULL;
}

static void rows_that_change_are_not_taken(void **state)
{
	struct row_table of[2] = {make_pages(1, 40), make_pages(2, 40)};
	pthread_t reader;

	(void)state;
	for (u32 i = 0; i < 2; i++)
		read_ids[i] = unwind_tables_add(tables, &of[i], i + 1, now_ns);
	assert_int_equal(pthread_create(&reader, NULL, read_rows, NULL), 0);
	for (u32 turn = 0; turn < 20000; turn++) {
		now_ns += 2 * UNWIND_IDLE_NS;
		ask(read_ids[turn & 1], turn * 17 % 40, &of[turn & 1]);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	pthread_join(reader, NULL);
	assert_int_equal(wrong, 0);
	assert_true(found > 1000);
	assert_true(missed > 1000);
	free(of[0].rows);
	free(of[1].rows);
}

/* --- what is kept to load pages from --- */

static struct row_table some_rows(size_t count)
{
	return (struct row_table){.rows = calloc(count, sizeof(struct unwind_row)), .count = count};
}

static void the_store_keeps_what_is_asked_for(void **state)
{
	static struct row_store store;
	struct row_table table;

	(void)state;
	for (u32 i = 1; i <= 3; i++) {
		table = some_rows(ROW_STORE_ROWS / 3);
		row_store_put(&store, i, &table);
		assert_null(table.rows);
	}
	assert_non_null(row_store_get(&store, 1));
	table = some_rows(ROW_STORE_ROWS / 4);
	row_store_put(&store, 4, &table);
	assert_non_null(row_store_get(&store, 1));
	assert_null(row_store_get(&store, 2));
	assert_true(store.rows <= ROW_STORE_ROWS);
	table = some_rows(5);
	row_store_put(&store, 4, &table);
	assert_int_equal(row_store_get(&store, 4)->count, 5);
	for (u32 i = 10; i < 10 + 2 * ROW_STORE_TABLES; i++) {
		table = some_rows(1);
		row_store_put(&store, i, &table);
	}
	assert_int_equal(store.count, ROW_STORE_TABLES);
	row_store_free(&store);
	assert_int_equal(store.rows, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_large_module_comes_page_by_page, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(pages_of_others_cannot_be_asked_for, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_used_makes_room, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_module_keeps_others_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(small_modules_are_loaded_at_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(rows_that_change_are_not_taken, set_up, tear_down),
		cmocka_unit_test(the_store_keeps_what_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
