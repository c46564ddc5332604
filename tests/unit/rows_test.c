// SPDX-License-Identifier: Apache-2.0
/*
 * Rows out of made-up .eh_frame: one for each rule, and what is left of those that no row can hold.
 */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/symbolize/row_rule.h"
#include "../../src/symbolize/row_table.h"
#include "tiny_elf.h"

#define ROW(PC, KIND, CFA, FP)                                                                     \
	{                                                                                          \
		.pc = (PC), .kind = (KIND), .cfa = (u16)(CFA), .fp = (FP)                          \
	}
#define PROGRAM(...) .program = {__VA_ARGS__}, .program_size = sizeof((const u8[]){__VA_ARGS__})
#define BEGIN	     TINY_TEXT

struct rule_case {
	const char *what; /* as an assembler is told */
	u8 program[40];
	size_t program_size;
	struct unwind_row rows[6]; /* but for the gap at the end; kind 0 ends it */
};

static const struct rule_case rule_cases[] = {
	{.what = "", .rows = {ROW(BEGIN, ROW_SP, 1, 0)}},
	{.what = "push rbp; mov rsp, rbp; ...; leave; ret",
	 PROGRAM(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x40, 0xc6, 0x0c, 7, 8),
	 .rows = {ROW(BEGIN, ROW_SP, 1, 0), ROW(BEGIN + 1, ROW_SP | ROW_FP_SAVED, 2, -2),
		  ROW(BEGIN + 4, ROW_FP | ROW_FP_SAVED, 2, -2), ROW(BEGIN + 0x44, ROW_SP, 1, 0)}},
	{.what = "remember_state; def_cfa_offset 0x1000; advance2; restore_state; advance4; nop",
	 PROGRAM(0x0a, 0x0e, 0x80, 0x20, 0x03, 0x10, 0, 0x0b, 0x04, 0x10, 0, 0, 0, 0x0e, 24, 0),
	 .rows = {ROW(BEGIN, ROW_SP, 0x200, 0), ROW(BEGIN + 0x10, ROW_SP, 1, 0),
		  ROW(BEGIN + 0x20, ROW_SP, 3, 0)}},
	{.what = "def_cfa_sf rsp, 32; def_cfa_offset_sf 40; the same again",
	 PROGRAM(0x12, 7, 0x7c, 0x41, 0x13, 0x7b, 0x41, 0x13, 0x7b),
	 .rows = {ROW(BEGIN, ROW_SP, 4, 0), ROW(BEGIN + 1, ROW_SP, 5, 0)}},
	{.what = "rbp: offset_extended, offset_extended_sf, negative_offset, same, undefined, "
		 "restore_extended",
	 PROGRAM(0x05, 6, 3, 0x41, 0x11, 6, 0x7c, 0x41, 0x2f, 6, 5, 0x41, 0x08, 6, 0x41, 0x05, 6, 3,
		 0x41, 0x07, 6, 0x41, 0x05, 6, 3, 0x06, 6),
	 .rows = {ROW(BEGIN, ROW_SP | ROW_FP_SAVED, 1, -3),
		  ROW(BEGIN + 1, ROW_SP | ROW_FP_SAVED, 1, 4),
		  ROW(BEGIN + 2, ROW_SP | ROW_FP_SAVED, 1, 5), ROW(BEGIN + 3, ROW_SP, 1, 0),
		  ROW(BEGIN + 4, ROW_SP | ROW_FP_SAVED, 1, -3), ROW(BEGIN + 5, ROW_SP, 1, 0)}},
	{.what = "undefined rip",
	 PROGRAM(0x41, 0x07, 16),
	 .rows = {ROW(BEGIN, ROW_SP, 1, 0), ROW(BEGIN + 1, ROW_END, 0, 0)}},
	{.what = "offset rip, -16; register rip, rdi; restore rip",
	 PROGRAM(0x90, 2, 0x41, 0x09, 16, 5, 0x42, 0xd0),
	 .rows = {ROW(BEGIN, ROW_BAD, 0, 0), ROW(BEGIN + 3, ROW_SP, 1, 0)}},
	{.what = "the PLT, from byte 11 on",
	 PROGRAM(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22),
	 .rows = {ROW(BEGIN, ROW_PLT, 11, 0)}},
	{.what = "the PLT of -z ibtplt, from byte 10 on",
	 PROGRAM(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3a, 0x2a, 0x33, 0x24, 0x22),
	 .rows = {ROW(BEGIN, ROW_PLT, 10, 0)}},
	{.what = "almost a PLT",
	 PROGRAM(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x2f, 0x2a, 0x33, 0x24, 0x22),
	 .rows = {ROW(BEGIN, ROW_BAD, 0, 0)}},
	{.what = "CFA = *(rsp - 8), *(rsp + 272) + 8, *(rsp + 4)",
	 PROGRAM(0x0f, 3, 0x77, 0x78, 0x06, 0x41, 0x0f, 6, 0x77, 0x90, 0x02, 0x06, 0x23, 8, 0x41,
		 0x0f, 3, 0x77, 4, 0x06),
	 .rows = {ROW(BEGIN, ROW_SP_DEREF, -1, 0), ROW(BEGIN + 1, ROW_SP_DEREF8, 34, 0),
		  ROW(BEGIN + 2, ROW_BAD, 0, 0)}},
	{.what = "CFA = *(rbp - 8) + 8, with rbp below; + 16; with an operand cut off",
	 PROGRAM(0x0f, 5, 0x76, 0x78, 0x06, 0x23, 8, 0x86, 3, 0x41, 0x0f, 5, 0x76, 0x78, 0x06, 0x23,
		 16, 0x41, 0x0f, 4, 0x76, 0x78, 0x06, 0x23),
	 .rows = {ROW(BEGIN, ROW_FP_DEREF8 | ROW_FP_SAVED, -1, -3), ROW(BEGIN + 1, ROW_BAD, 0, 0)}},
	{.what = "a realigned stack: CFA = r10; then *(rbp - 8), rbp at rbp + 0",
	 PROGRAM(0x0c, 10, 0, 0x41, 0x10, 6, 2, 0x76, 0, 0x41, 0x0f, 3, 0x76, 0x78, 0x06),
	 .rows = {ROW(BEGIN, ROW_REGISTER, 10 << 12, 0),
		  ROW(BEGIN + 1, ROW_REGISTER | ROW_FP_AT_FP, 10 << 12, 0),
		  ROW(BEGIN + 2, ROW_FP_DEREF | ROW_FP_AT_FP, -1, 0)}},
	{.what = "CFA = r15 + 0x7ff8; + 0x8000; + 4; r16; CFA = rsp + 4",
	 PROGRAM(0x0c, 15, 0xf8, 0xff, 0x01, 0x41, 0x0e, 0x80, 0x80, 0x02, 0x41, 0x0e, 4, 0x41,
		 0x0c, 16, 8, 0x41, 0x0c, 7, 4),
	 .rows = {ROW(BEGIN, ROW_REGISTER, 15 << 12 | 0xfff, 0), ROW(BEGIN + 1, ROW_BAD, 0, 0)}},
	{.what = "CFA = breg7 + 16, an expression all the same",
	 PROGRAM(0x0f, 2, 0x77, 16),
	 .rows = {ROW(BEGIN, ROW_SP, 2, 0)}},
	{.what = "CFA = rsp + 8 * 65535, rsp + 8 * 65536, rsp - 8",
	 PROGRAM(0x0e, 0xf8, 0xff, 0x1f, 0x41, 0x0e, 0x80, 0x80, 0x20, 0x41, 0x13, 1),
	 .rows = {ROW(BEGIN, ROW_SP, 65535, 0), ROW(BEGIN + 1, ROW_BAD, 0, 0)}},
	{.what = "rbp at CFA - 1024; -1032; in rax; as val_offset, val_expression; at *rax",
	 PROGRAM(0x86, 0x80, 0x01, 0x41, 0x86, 0x81, 0x01, 0x41, 0x09, 6, 0, 0x41, 0x14, 6, 1, 0x41,
		 0x16, 6, 2, 0x76, 0, 0x41, 0x10, 6, 2, 0x70, 0),
	 .rows = {ROW(BEGIN, ROW_SP | ROW_FP_SAVED, 1, -128), ROW(BEGIN + 1, ROW_BAD, 0, 0)}},
	{.what = "args_size, rules of other registers: nothing of ours",
	 PROGRAM(0x2e, 0x80, 1, 0x83, 4, 0x41, 0x09, 12, 13, 0x41, 0x16, 12, 1, 0x70, 0x41, 0xc3),
	 .rows = {ROW(BEGIN, ROW_SP, 1, 0)}},
	{.what = "advance beyond the end",
	 PROGRAM(0x03, 0, 1, 0x0e, 16),
	 .rows = {ROW(BEGIN, ROW_SP, 1, 0)}},
	{.what = "an instruction that there is not",
	 PROGRAM(0x41, 0x0e, 16, 0x41, 0x3f, 1),
	 .rows = {ROW(BEGIN, ROW_SP, 1, 0), ROW(BEGIN + 1, ROW_SP, 2, 0),
		  ROW(BEGIN + 2, ROW_BAD, 0, 0)}},
	{.what = "restore_state without remember_state",
	 PROGRAM(0x41, 0x0b),
	 .rows = {ROW(BEGIN, ROW_SP, 1, 0), ROW(BEGIN + 1, ROW_BAD, 0, 0)}},
	{.what = "remember_state without end",
	 PROGRAM(0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a,
		 0x0a, 0x0a, 0x0a),
	 .rows = {ROW(BEGIN, ROW_BAD, 0, 0)}},
	{.what = "a register of an expression, an offset to it",
	 PROGRAM(0x0f, 2, 0x77, 16, 0x41, 0x0e, 8),
	 .rows = {ROW(BEGIN, ROW_SP, 2, 0), ROW(BEGIN + 1, ROW_BAD, 0, 0)}},
	{.what = "a register of the largest number, which would be an array of all before",
	 PROGRAM(0x07, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
	 .rows = {ROW(BEGIN, ROW_SP, 1, 0)}},
};

static void check_order(const struct row_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct unwind_row *row = &table->rows[i];

		assert_true(row_rule_is_valid(row));
		if (!i)
			continue;
		assert_true(row->pc > row[-1].pc);
		assert_false(row->cfa == row[-1].cfa && row->fp == row[-1].fp &&
			     row->kind == row[-1].kind);
	}
}

static void build(struct tiny_elf *tiny, struct row_table *ret_table)
{
	struct elf_file file;

	assert_int_equal(elf_file_open_memory(tiny->bytes, TINY_SIZE, &file), 0);
	assert_int_equal(row_table_build(&file, ret_table), 0);
	check_order(ret_table);
	elf_file_close(&file);
}

static void expect_rows(const char *what, struct tiny_elf *tiny, const struct unwind_row *rows,
			size_t count)
{
	struct row_table table;

	build(tiny, &table);
	for (size_t i = 0; i < count && i < table.count; i++)
		if (memcmp(&rows[i], &table.rows[i], sizeof(rows[i])))
			fail_msg("%s: row %zu is at %x, kind %x, cfa %x, fp %d", what, i,
				 table.rows[i].pc, table.rows[i].kind, table.rows[i].cfa,
				 table.rows[i].fp);
	if (table.count != count)
		fail_msg("%s: %zu rows", what, table.count);
	row_table_close(&table);
}

static void each_rule_has_its_row(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rule_cases); i++) {
		const struct rule_case *rule = &rule_cases[i];
		struct unwind_row rows[ARRAY_SIZE(rule->rows) + 1];
		struct tiny_elf tiny;
		size_t count = 0;

		tiny_elf_init(&tiny);
		tiny_elf_function(&tiny, BEGIN, 0x100, rule->program, rule->program_size);
		for (; count < ARRAY_SIZE(rule->rows) && rule->rows[count].kind; count++)
			rows[count] = rule->rows[count];
		rows[count++] = (struct unwind_row){.pc = BEGIN + 0x100, .kind = ROW_GAP};
		expect_rows(rule->what, &tiny, rows, count);
	}
}

static void functions_are_sorted_and_gaps_are_told(void **state)
{
	static const u8 two[] = {0x0e, 16}, three[] = {0x0e, 24}, four[] = {0x0e, 32};
	const struct unwind_row rows[] = {
		ROW(BEGIN, ROW_SP, 2, 0),	  ROW(BEGIN + 0x20, ROW_SP, 3, 0),
		ROW(BEGIN + 0x30, ROW_GAP, 0, 0), ROW(BEGIN + 0x40, ROW_SP, 2, 0),
		ROW(BEGIN + 0x80, ROW_SP, 4, 0),  ROW(BEGIN + 0x90, ROW_GAP, 0, 0),
	};
	struct tiny_elf tiny;

	(void)state;
	tiny_elf_init(&tiny);
	/* one that ends where its neighbour begins, and claims more */
	tiny_elf_function(&tiny, BEGIN + 0x40, 0x1000, two, sizeof(two));
	tiny_elf_function(&tiny, BEGIN + 0x80, 0x10, four, sizeof(four));
	/* 15 bytes are padding, 16 are not; nor is what has the same rule a row of its own */
	tiny_elf_function(&tiny, BEGIN, 0x11, two, sizeof(two));
	tiny_elf_function(&tiny, BEGIN + 0x20, 0x8, three, sizeof(three));
	tiny_elf_function(&tiny, BEGIN + 0x28, 0x8, three, sizeof(three));
	/* the same twice; left out by the linker; empty; where no code is */
	tiny_elf_function(&tiny, BEGIN, 0x11, two, sizeof(two));
	tiny_elf_function(&tiny, 0, 0x10000, four, sizeof(four));
	tiny_elf_function(&tiny, BEGIN + 0x38, 0, four, sizeof(four));
	tiny_elf_function(&tiny, TINY_EH_FRAME + 0x100, 0x100, four, sizeof(four));
	expect_rows("functions", &tiny, rows, ARRAY_SIZE(rows));
}

static void signal_frames_are_told_by_their_letter(void **state)
{
	const struct unwind_row rows[] = {ROW(BEGIN - 1, ROW_SIGNAL, 0, 0),
					  ROW(BEGIN + 9, ROW_GAP, 0, 0)};
	static const u8 program[] = {0x0f, 3, 0x77, 0xa0, 1, 0x10, 16, 3, 0x77, 0xa8, 1};
	struct tiny_elf tiny;

	(void)state;
	tiny_elf_init(&tiny);
	tiny.eh_frame_size = 0;
	tiny_elf_cie(&tiny, "zRS", "\x1b", 1, "", 0);
	tiny_elf_function(&tiny, BEGIN - 1, 10, program, sizeof(program));
	expect_rows("zRS", &tiny, rows, ARRAY_SIZE(rows));
	/* a personality of eight bytes and a language's data before the encoding */
	tiny_elf_init(&tiny);
	tiny.eh_frame_size = 0;
	tiny_elf_cie(&tiny, "zPLRS", "\x00pppppppp\x1b\x1b", 11, "", 0);
	tiny_elf_function(&tiny, BEGIN - 1, 10, program, sizeof(program));
	expect_rows("zPLRS", &tiny, rows, ARRAY_SIZE(rows));
}

static void what_is_not_understood_cuts_the_table(void **state)
{
	static const struct {
		const char *augmentation, *data;
		size_t size;
	} cases[] = {
		{"zQR", "\x1b", 1}, /* a letter that we do not know */
		{"eh", "", 0},	    /* of a compiler long gone */
		{"zR", "\x3b", 1},  /* relative to some data */
		{"zR", "\x9b", 1},  /* at an address that is not in the file */
		{"zR", "\x0d", 1},  /* of no known size */
		{"zPR", "\x0f\x1b", 2}, {"zR", "", 0},
	};
	struct row_table table;
	struct tiny_elf tiny;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		tiny_elf_init(&tiny);
		tiny.eh_frame_size = 0;
		tiny_elf_cie(&tiny, cases[i].augmentation, cases[i].data, cases[i].size, "", 0);
		tiny_elf_function(&tiny, BEGIN, 10, "", 0);
		build(&tiny, &table);
		if (!table.is_cut || table.count)
			fail_msg("case %zu is understood: %zu rows", i, table.count);
		row_table_close(&table);
	}
	/* an entry that is cut off: those before it are there */
	tiny_elf_init(&tiny);
	tiny_elf_function(&tiny, BEGIN, 16, "", 0);
	tiny_elf_put(&tiny, "\x40\0\0\0\0\0\0\0", 8);
	build(&tiny, &table);
	assert_true(table.is_cut);
	assert_int_equal(table.count, 2);
	row_table_close(&table);
	/* beyond 4 GiB */
	tiny_elf_init(&tiny);
	tiny.segments[0].p_vaddr = 1ULL << 32;
	tiny.sections[1].sh_addr += 1ULL << 32;
	tiny_elf_function(&tiny, BEGIN, 16, "", 0);
	build(&tiny, &table);
	assert_true(table.is_cut);
	assert_int_equal(table.count, 0);
	row_table_close(&table);
}

static void files_without_it_have_no_rows(void **state)
{
	struct row_table table;
	struct elf_file file;
	struct tiny_elf tiny;

	(void)state;
	tiny_elf_init(&tiny);
	tiny_elf_function(&tiny, BEGIN, 16, "", 0);
	tiny.sections[1].sh_type = SHT_NOBITS; /* as in debug files */
	build(&tiny, &table);
	assert_int_equal(table.count, 0);
	tiny_elf_init(&tiny);
	tiny.header->e_shoff = tiny.header->e_shnum = tiny.header->e_shstrndx = 0;
	build(&tiny, &table);
	assert_int_equal(table.count, 0);
	assert_false(table.is_cut);
	/* one that is not all there, or larger than any */
	tiny_elf_init(&tiny);
	tiny.sections[1].sh_size = TINY_SIZE;
	assert_int_equal(elf_file_open_memory(tiny.bytes, TINY_SIZE, &file), 0);
	assert_int_equal(row_table_build(&file, &table), -EBADMSG);
	elf_file_close(&file);
	tiny.sections[1].sh_size = 65 << 20;
	assert_int_equal(elf_file_open_memory(tiny.bytes, TINY_SIZE, &file), 0);
	assert_int_equal(row_table_build(&file, &table), -EFBIG);
	elf_file_close(&file);
}

/* One function with a row for each of its bytes, and more of them than fit. */
static void too_many_rows_end_in_a_gap(void **state)
{
	const u32 count = ROW_TABLE_MAX + 10;
	struct row_table table;
	struct tiny_elf tiny;
	struct elf_file file;
	u8 *image, *at;
	u32 length;

	(void)state;
	tiny_elf_init(&tiny);
	tiny.segments[0].p_memsz = 1u << 30;
	tiny_elf_function(&tiny, BEGIN, count, "", 0);
	/* its entry is 24 bytes, the last three of which begin its program */
	length = 24 + 3 * count;
	tiny.sections[1].sh_size += length - 24;
	memcpy(tiny.eh_frame + tiny.eh_frame_size - 24, &(u32){length - 4}, 4);
	image = calloc(1, TINY_SIZE + length);
	memcpy(image, tiny.bytes, TINY_SIZE);
	at = image + TINY_EH_FRAME_AT + tiny.eh_frame_size - 3;
	for (u32 i = 0; i < count; i++, at += 3)
		memcpy(at, (u8[]){0x0e, i % 2 ? 16 : 24, 0x41}, 3);
	assert_int_equal(elf_file_open_memory(image, TINY_SIZE + length, &file), 0);
	assert_int_equal(row_table_build(&file, &table), 0);
	assert_true(table.is_cut);
	assert_int_equal(table.count, ROW_TABLE_MAX);
	assert_int_equal(table.rows[table.count - 2].kind, ROW_SP);
	assert_int_equal(table.rows[table.count - 1].kind, ROW_GAP);
	check_order(&table);
	row_table_close(&table);
	elf_file_close(&file);
	free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_has_its_row),
		cmocka_unit_test(functions_are_sorted_and_gaps_are_told),
		cmocka_unit_test(signal_frames_are_told_by_their_letter),
		cmocka_unit_test(what_is_not_understood_cuts_the_table),
		cmocka_unit_test(files_without_it_have_no_rows),
		cmocka_unit_test(too_many_rows_end_in_a_gap),
	};

	return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
