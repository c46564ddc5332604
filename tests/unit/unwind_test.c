// SPDX-License-Identifier: Apache-2.0
/*
 * The step from a frame to its caller, compiled for the host: each rule on a stack made by hand,
 * and tables that lie.
 */
#include "unit.h"

#include <stdlib.h>

#include "../../src/base/cleanup.h"
#include "bpf_native.h"

#define TEXT  0x400000ULL /* where the module is mapped */
#define STACK 0x7f0000000000ULL
#define WORDS 64

static struct unwind_row rows[64];
static struct unwind_page pages[4];
static struct unwind_module modules[2];
static struct unwind_mapping mappings[8];
static u64 stack[WORDS];

#define AT(table, place) ((place) < ARRAY_SIZE(table) ? &(table)[place] : NULL)

static bool changes; /* the page, while its rows are read */

static struct unwind_row *unwind_row_at(u32 place)
{
	if (changes)
		pages[0].run = 0;
	return AT(rows, place);
}

static struct unwind_page *unwind_page_at(u32 place)
{
	return AT(pages, place);
}

static struct unwind_module *unwind_module_at(u32 place)
{
	return AT(modules, place);
}

static struct unwind_mapping *unwind_mapping_at(u32 place)
{
	return AT(mappings, place);
}

static long unwind_read(void *to, u32 size, u64 from)
{
	if (from < STACK || from + size > STACK + sizeof(stack))
		return -14;
	memcpy(to, (char *)stack + (from - STACK), size);
	return 0;
}

/* A return probe's doing: what was there before. */
static u64 replaced_at, replaced_ip;

static bool unwind_find_return(u64 at, u64 *ret_ip)
{
	if (at != replaced_at)
		return false;
	*ret_ip = replaced_ip;
	return true;
}

#include "../../bpf/unwind.bpf.h"

static struct unwind_walk walk;

static u64 run_of(u64 first, u64 count)
{
	return first << UNWIND_RUN_SHIFT | count;
}

/* Two modules beside each other; the rows of the first are the test's, from 0x1000 on. */
static int start(void **state)
{
	(void)state;
	memset(rows, 0, sizeof(rows));
	memset(stack, 0, sizeof(stack));
	modules[0] = (struct unwind_module){.first_page = 0, .page_count = 2};
	pages[0] = (struct unwind_page){.run = run_of(0, 1)};
	pages[1] = (struct unwind_page){.run = UNWIND_RUN_EMPTY};
	mappings[0] = (struct unwind_mapping){TEXT, TEXT + 0x20000, TEXT, 0, 7};
	mappings[1] =
		(struct unwind_mapping){TEXT + 0x30000, TEXT + 0x40000, 0, UNWIND_NO_TABLE, 7};
	mappings[2] = (struct unwind_mapping){TEXT + 0x50000, TEXT + 0x60000, 0, 9, 7};
	walk = (struct unwind_walk){
		.ip = TEXT + 0x1100,
		.sp = STACK,
		.fp = STACK + 80,
		.first = 0,
		.count = 3,
		.generation = 7,
	};
	return 0;
}

static void row_is(u32 kind, u16 cfa, s8 fp)
{
	rows[0] = (struct unwind_row){.pc = 0x1000, .cfa = cfa, .fp = fp, .kind = (u8)kind};
}

static void sp_rule_finds_caller(void **state)
{
	(void)state;
	row_is(ROW_SP, 4, 0);
	stack[3] = TEXT + 0x1200;
	assert_int_equal(unwind_step(&walk), 0);
	assert_int_equal(walk.ip, TEXT + 0x1200);
	assert_int_equal(walk.sp, STACK + 32);
	assert_int_equal(walk.fp, STACK + 80); /* not saved: still there */
	assert_int_equal(unwind_pc(&walk), TEXT + 0x11ff);
}

static void replaced_return_address_is_found(void **state)
{
	(void)state;
	row_is(ROW_SP, 4, 0);
	stack[3] = 0x7fffffffe000; /* where the kernel maps its trampoline */
	stack[7] = TEXT + 0x1300;
	replaced_at = STACK + 24;
	replaced_ip = TEXT + 0x1200;
	assert_int_equal(unwind_step(&walk), 0);
	assert_int_equal(unwind_step(&walk), 0);
	assert_int_equal(walk.address, TEXT + 0x11ff);
	assert_int_equal(walk.frames, 2);
	assert_int_equal(walk.ip, TEXT + 0x1300);
	replaced_at = 0;
}

static void fp_is_restored(void **state)
{
	(void)state;
	row_is(ROW_SP | ROW_FP_SAVED, 4, -2);
	stack[2] = 0x1234;
	stack[3] = TEXT + 0x1200;
	assert_int_equal(unwind_step(&walk), 0);
	assert_int_equal(walk.fp, 0x1234);
}

static void fp_rule_finds_caller(void **state)
{
	(void)state;
	row_is(ROW_FP | ROW_FP_SAVED, 2, -2);
	stack[10] = STACK + 200;
	stack[11] = TEXT + 0x1300;
	assert_int_equal(unwind_step(&walk), 0);
	assert_int_equal(walk.ip, TEXT + 0x1300);
	assert_int_equal(walk.fp, STACK + 200);
	assert_int_equal(walk.sp, STACK + 96);
}

static void realigned_stack_is_followed(void **state)
{
	(void)state;
	row_is(ROW_FP_DEREF | ROW_FP_AT_FP, (u16)-1, 0);
	stack[9] = STACK + 160; /* at fp - 8: the CFA */
	stack[10] = STACK + 240;
	stack[19] = TEXT + 0x1400;
	assert_int_equal(unwind_step(&walk), 0);
	assert_int_equal(walk.ip, TEXT + 0x1400);
	assert_int_equal(walk.sp, STACK + 160);
	assert_int_equal(walk.fp, STACK + 240);
}

static void saved_stack_pointer_is_followed(void **state)
{
	(void)state;
	row_is(ROW_SP_DEREF8, 3, 0);
	stack[3] = STACK + 56;
	stack[7] = TEXT + 0x1500;
	assert_int_equal(unwind_step(&walk), 0);
	assert_int_equal(walk.ip, TEXT + 0x1500);
	assert_int_equal(walk.sp, STACK + 64);
}

static void plt_depends_on_place(void **state)
{
	(void)state;
	row_is(ROW_PLT, 11, 0);
	stack[0] = TEXT + 0x1600;
	stack[1] = TEXT + 0x1700;
	walk.ip = TEXT + 0x1100 + 6;
	assert_int_equal(unwind_step(&walk), 0);
	assert_int_equal(walk.ip, TEXT + 0x1600);
	start(state);
	row_is(ROW_PLT, 11, 0);
	stack[1] = TEXT + 0x1700;
	walk.ip = TEXT + 0x1100 + 11;
	assert_int_equal(unwind_step(&walk), 0);
	assert_int_equal(walk.ip, TEXT + 0x1700);
}

static void register_rule_needs_the_innermost_frame(void **state)
{
	(void)state;
	row_is(ROW_REGISTER, 10 << 12 | 1, 0);
	walk.registers[10] = STACK + 40;
	stack[5] = TEXT + 0x1800;
	assert_int_equal(unwind_step(&walk), 0);
	assert_int_equal(walk.ip, TEXT + 0x1800);
	walk.ip = TEXT + 0x1100;
	assert_int_equal(unwind_step(&walk), 1);
	assert_int_equal(walk.stop, STOP_BAD_ROW);
}

/* As multiplications of big numbers have it: an array below the saved stack pointer. */
static void indexed_rule_needs_its_register(void **state)
{
	(void)state;
	row_is(ROW_SP_INDEXED, 9 << 12 | 1, 0);
	walk.registers[9] = 4;
	stack[5] = STACK + 72;
	stack[9] = TEXT + 0x1900;
	assert_int_equal(unwind_step(&walk), 0);
	assert_int_equal(walk.ip, TEXT + 0x1900);
	assert_int_equal(walk.sp, STACK + 80);
}

/* After a signal's frame the address is where it was interrupted: the function may begin there. */
static void signal_frame_gives_exact_address(void **state)
{
	(void)state;
	row_is(ROW_SIGNAL, 0, 0);
	stack[15] = 0xabc;
	stack[20] = STACK + 400;
	stack[21] = TEXT + 0x1000;
	assert_int_equal(unwind_step(&walk), 0);
	assert_int_equal(walk.ip, TEXT + 0x1000);
	assert_int_equal(walk.address, TEXT + 0x1100);
	assert_int_equal(unwind_pc(&walk), TEXT + 0x1000);
	assert_int_equal(walk.sp, STACK + 400);
	assert_int_equal(walk.fp, 0xabc);
}

static void outermost_function_ends_it(void **state)
{
	(void)state;
	row_is(ROW_END, 0, 0);
	assert_int_equal(unwind_step(&walk), 1);
	assert_int_equal(walk.stop, STOP_END);
	start(state);
	row_is(ROW_SP, 1, 0);
	assert_int_equal(unwind_step(&walk), 1);
	assert_int_equal(walk.stop, STOP_ZERO);
}

static void code_without_table_uses_fp(void **state)
{
	(void)state;
	walk.ip = TEXT + 0x30010;
	stack[10] = STACK + 160;
	stack[11] = TEXT + 0x30020;
	assert_int_equal(unwind_step(&walk), 0);
	assert_int_equal(walk.ip, TEXT + 0x30020);
	assert_int_equal(walk.fp, STACK + 160);
	stack[20] = 0;
	stack[21] = TEXT + 0x30030;
	assert_int_equal(unwind_step(&walk), 0);
	assert_int_equal(unwind_step(&walk), 1);
	assert_int_equal(walk.stop, STOP_ZERO);
	assert_int_equal(walk.frames, 3);
}

static void insane_fp_is_refused(void **state)
{
	const u64 insane[] = {0, STACK - 8, STACK + 3, STACK + (2ULL << 20)};

	for (size_t i = 0; i < ARRAY_SIZE(insane); i++) {
		start(state);
		walk.ip = TEXT + 0x30010;
		walk.fp = insane[i];
		assert_int_equal(unwind_step(&walk), 1);
		assert_int_equal(walk.stop, STOP_BAD_FRAME);
	}
}

static void stop_says_why(void **state)
{
	walk.ip = TEXT + 0x28000;
	assert_int_equal(unwind_step(&walk), 1);
	assert_int_equal(walk.stop, STOP_NO_MAPPING);
	start(state);
	walk.ip = TEXT - 1;
	assert_int_equal(unwind_step(&walk), 1);
	assert_int_equal(walk.stop, STOP_NO_MAPPING);
	start(state);
	row_is(ROW_SP, 1, 0);
	walk.ip = TEXT + 0x100; /* before the first row */
	assert_int_equal(unwind_step(&walk), 1);
	assert_int_equal(walk.stop, STOP_NO_ROW);
	start(state);
	walk.ip = TEXT + 0x10010; /* a page without rows */
	assert_int_equal(unwind_step(&walk), 1);
	assert_int_equal(walk.stop, STOP_NO_ROW);
	start(state);
	mappings[0].generation = 8;
	assert_int_equal(unwind_step(&walk), 1);
	assert_int_equal(walk.stop, STOP_STALE);
	start(state);
	row_is(ROW_SP, WORDS + 8, 0);
	assert_int_equal(unwind_step(&walk), 1);
	assert_int_equal(walk.stop, STOP_UNREADABLE);
	start(state);
	row_is(ROW_BAD, 0, 0);
	assert_int_equal(unwind_step(&walk), 1);
	assert_int_equal(walk.stop, STOP_BAD_ROW);
}

/* A stack that leads back to itself: each step must lead outwards. */
static void walk_does_not_go_in_circles(void **state)
{
	(void)state;
	row_is(ROW_FP, 0, 0);
	walk.fp = STACK;
	stack[0] = TEXT + 0x1100;
	assert_int_equal(unwind_step(&walk), 1);
	assert_int_equal(walk.stop, STOP_BAD_FRAME);
}

static void lying_tables_end_the_walk(void **state)
{
	walk.ip = TEXT + 0x50010; /* a module that is not there */
	assert_int_equal(unwind_step(&walk), 1);
	start(state);
	pages[0] = (struct unwind_page){.run = run_of(0xfffffff0, 0xffff)};
	assert_int_equal(unwind_step(&walk), 1);
	start(state);
	modules[0].first_page = 0xffffffff;
	assert_int_equal(unwind_step(&walk), 1);
	start(state);
	walk.first = 0xfffffff0;
	walk.count = 0xffffffff;
	assert_int_equal(unwind_step(&walk), 1);
}

static void page_that_is_not_loaded_is_named(void **state)
{
	row_is(ROW_SP, 4, 0);
	stack[3] = TEXT + 0x1200;
	pages[0].run = 0;
	assert_int_equal(unwind_step(&walk), 1);
	assert_int_equal(walk.stop, STOP_NO_PAGE);
	assert_int_equal(walk.frames, 1); /* it is kept all the same */
	assert_int_equal(walk.module, 0);
	assert_int_equal(walk.page, 0);
	assert_int_equal(pages[0].is_used, 0);
	start(state);
	walk.ip = TEXT + 0x11100; /* and of one that has no rows, it is known that it has none */
	assert_int_equal(unwind_step(&walk), 1);
	assert_int_equal(walk.stop, STOP_NO_ROW);
}

static void page_that_is_used_is_marked(void **state)
{
	(void)state;
	row_is(ROW_SP, 4, 0);
	stack[3] = TEXT + 0x1200;
	assert_int_equal(unwind_step(&walk), 0);
	assert_int_equal(pages[0].is_used, 1);
	assert_int_equal(pages[1].is_used, 0);
}

/* User space gives the rows to another page while they are read. */
static void page_that_changes_meanwhile_is_not_believed(void **state)
{
	(void)state;
	row_is(ROW_SP, 4, 0);
	stack[3] = TEXT + 0x1200;
	changes = true;
	assert_int_equal(unwind_step(&walk), 1);
	changes = false;
	assert_int_equal(walk.stop, STOP_NO_PAGE);
	assert_int_equal(pages[0].is_used, 0);
}

/* Any tables, any stack: it ends, and within bounds. */
static void random_tables_end_the_walk(void **state)
{
	(void)state;
	srandom(1);
	for (int round = 0; round < 20000; round++) {
		u32 steps = 0;

		start(state);
		pages[0].run = run_of(0, 64);
		for (u32 i = 0; i < 64; i++)
			rows[i] = (struct unwind_row){.pc = 0x1000 + 4 * i,
						      .cfa = (u16)(random() % 12),
						      .fp = (s8)(random() % 7 - 3),
						      .kind = (u8)(random() & 0x3f)};
		for (u32 i = 0; i < WORDS; i++)
			stack[i] = random() % 2 ? TEXT + 0x1000 + (u64)random() % 256
						: STACK + 8 * ((u64)random() % WORDS);
		while (steps++ < 1000 && !unwind_step(&walk))
			;
		assert_in_range(steps, 1, 1000);
		assert_in_range(walk.stop, STOP_END, STOP_COUNT - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(sp_rule_finds_caller, start),
		cmocka_unit_test_setup(page_that_is_not_loaded_is_named, start),
		cmocka_unit_test_setup(page_that_is_used_is_marked, start),
		cmocka_unit_test_setup(page_that_changes_meanwhile_is_not_believed, start),
		cmocka_unit_test_setup(replaced_return_address_is_found, start),
		cmocka_unit_test_setup(fp_is_restored, start),
		cmocka_unit_test_setup(fp_rule_finds_caller, start),
		cmocka_unit_test_setup(realigned_stack_is_followed, start),
		cmocka_unit_test_setup(saved_stack_pointer_is_followed, start),
		cmocka_unit_test_setup(plt_depends_on_place, start),
		cmocka_unit_test_setup(register_rule_needs_the_innermost_frame, start),
		cmocka_unit_test_setup(indexed_rule_needs_its_register, start),
		cmocka_unit_test_setup(signal_frame_gives_exact_address, start),
		cmocka_unit_test_setup(outermost_function_ends_it, start),
		cmocka_unit_test_setup(code_without_table_uses_fp, start),
		cmocka_unit_test_setup(insane_fp_is_refused, start),
		cmocka_unit_test_setup(stop_says_why, start),
		cmocka_unit_test_setup(walk_does_not_go_in_circles, start),
		cmocka_unit_test_setup(lying_tables_end_the_walk, start),
		cmocka_unit_test_setup(random_tables_end_the_walk, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
