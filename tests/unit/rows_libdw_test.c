// SPDX-License-Identifier: Apache-2.0
/*
 * Rows of the files that this very process has mapped, held against what libdw's own interpreter
 * says of the same addresses.
 */
#include "unit.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../src/base/cleanup.h"
#include "../../src/symbolize/proc_maps.h"
#include "../../src/symbolize/row_table.h"

static const struct unwind_row *find(const struct row_table *table, u64 address)
{
	const struct unwind_row *found = NULL;

	for (size_t i = 0; i < table->count && table->rows[i].pc <= address; i++)
		found = &table->rows[i];
	return found;
}

static bool ops_are(const Dwarf_Op *ops, size_t count, const u8 *atoms, size_t atom_count)
{
	if (count != atom_count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (ops[i].atom != atoms[i])
			return false;
	return true;
}

static u16 words(Dwarf_Word offset)
{
	return (u16)((s64)offset / 8);
}

/* The CFA of a frame as libdw has it, which is a list of operations in any case. */
static struct unwind_row judged_cfa(const Dwarf_Op *ops, size_t count)
{
	static const u8 plt[] = {DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, DW_OP_lit11,
				 DW_OP_ge,    DW_OP_lit3,   DW_OP_shl,	 DW_OP_plus};
	static const u8 plt10[] = {DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, DW_OP_lit10,
				   DW_OP_ge,	DW_OP_lit3,   DW_OP_shl,   DW_OP_plus};
	bool is_more = count == 3 && ops[2].atom == DW_OP_plus_uconst && ops[2].number == 8;
	u64 reg;

	if (ops_are(ops, count, plt, sizeof(plt)))
		return (struct unwind_row){.kind = ROW_PLT, .cfa = 11};
	if (ops_are(ops, count, plt10, sizeof(plt10)))
		return (struct unwind_row){.kind = ROW_PLT, .cfa = 10};
	if (count == 1 && ops[0].atom == DW_OP_bregx && ops[0].number2 % 8 == 0 &&
	    ops[0].number2 / 8 <= 0xffff) {
		reg = ops[0].number;
		if (reg == 7 || reg == 6)
			return (struct unwind_row){.kind = reg == 7 ? ROW_SP : ROW_FP,
						   .cfa = words(ops[0].number2)};
		return (struct unwind_row){.kind = ROW_REGISTER,
					   .cfa = (u16)(reg << 12 | words(ops[0].number2))};
	}
	if ((count == 2 || is_more) && ops[1].atom == DW_OP_deref) {
		if (ops[0].atom == DW_OP_breg7)
			return (struct unwind_row){.kind = is_more ? ROW_SP_DEREF8 : ROW_SP_DEREF,
						   .cfa = words(ops[0].number)};
		if (ops[0].atom == DW_OP_breg6)
			return (struct unwind_row){.kind = is_more ? ROW_FP_DEREF8 : ROW_FP_DEREF,
						   .cfa = words(ops[0].number)};
	}
	return (struct unwind_row){.kind = ROW_BAD};
}

static struct unwind_row judged(Dwarf_CFI *cfi, u64 address)
{
	struct unwind_row row = {.kind = ROW_GAP};
	Dwarf_Op memory[3], *ops;
	Dwarf_Frame *frame;
	bool is_signal;
	size_t count;

	if (dwarf_cfi_addrframe(cfi, address, &frame))
		return row;
	assert_true(dwarf_frame_info(frame, NULL, NULL, &is_signal) >= 0);
	row.kind = ROW_BAD;
	if (!dwarf_frame_cfa(frame, &ops, &count))
		row = judged_cfa(ops, count);
	assert_int_equal(dwarf_frame_register(frame, 16, memory, &ops, &count), 0);
	if (is_signal)
		row = (struct unwind_row){.kind = ROW_SIGNAL};
	else if (!count && ops == memory)
		row = (struct unwind_row){.kind = ROW_END};
	else if (count != 2 || ops[0].atom != DW_OP_call_frame_cfa ||
		 ops[1].atom != DW_OP_plus_uconst || (s64)ops[1].number != -8)
		row = (struct unwind_row){.kind = ROW_BAD};
	assert_int_equal(dwarf_frame_register(frame, 6, memory, &ops, &count), 0);
	if (row.kind != ROW_SIGNAL && row.kind != ROW_END && row.kind != ROW_BAD && count) {
		/* An expression has the CFA before it, too, on its stack. */
		if (ops[0].atom == DW_OP_call_frame_cfa && count == 2 &&
		    ops[1].atom == DW_OP_breg6) {
			row.kind |= ROW_FP_AT_FP;
			row.fp = (s8)words(ops[1].number);
		} else if (ops[0].atom == DW_OP_call_frame_cfa &&
			   (count == 1 || (count == 2 && ops[1].atom == DW_OP_plus_uconst))) {
			row.kind |= ROW_FP_SAVED;
			row.fp = count == 2 ? (s8)words(ops[1].number) : 0;
		} else {
			row = (struct unwind_row){.kind = ROW_BAD};
		}
	}
	free(frame);
	return row;
}

static void hold_against_libdw(const char *path, const struct row_table *table, Dwarf_CFI *cfi)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct unwind_row *row = &table->rows[i];
		u64 last = i + 1 < table->count ? row[1].pc - 1 : row->pc;
		struct unwind_row expected = judged(cfi, row->pc), at_end = judged(cfi, last);

		if (expected.kind != row->kind || expected.cfa != row->cfa ||
		    expected.fp != row->fp)
			fail_msg("%s: at %x kind %x cfa %x fp %d, libdw: kind %x cfa %x fp %d",
				 path, row->pc, row->kind, row->cfa, row->fp, expected.kind,
				 expected.cfa, expected.fp);
		/* up to its end, unless that is padding, of which libdw knows nothing */
		if (at_end.kind != ROW_GAP)
			assert_int_equal(at_end.kind, row->kind);
	}
}

static void check_file(const char *path, struct elf_file *file, struct row_table *ret_table)
{
	Dwarf_CFI *cfi = dwarf_getcfi_elf(file->elf);

	assert_int_equal(row_table_build(file, ret_table), 0);
	assert_false(ret_table->is_cut);
	hold_against_libdw(path, ret_table, cfi);
	dwarf_cfi_end(cfi);
}

static void own_modules_have_the_rows_that_libdw_has(void **state)
{
	static struct proc_mapping mappings[1000];
	u64 here = (u64)(size_t)own_modules_have_the_rows_that_libdw_has;
	size_t signals = 0;
	ssize_t count;

	(void)state;
	_cleanup_close_ int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	count = proc_maps_read(maps, mappings, ARRAY_SIZE(mappings));
	assert_in_range(count, 2, ARRAY_SIZE(mappings));
	for (ssize_t i = 0; i < count; i++) {
		const struct proc_mapping *mapping = &mappings[i];
		bool is_own = mapping->begin <= here && here < mapping->end;
		_cleanup_close_ int fd = -1;
		const struct unwind_row *row;
		struct row_table table;
		struct elf_file file;
		u64 bias;

		if (!is_own && !mapping->is_vdso && !strstr(mapping->path, "/libc.so.6") &&
		    !strstr(mapping->path, "/libcmocka"))
			continue;
		if (mapping->is_vdso) {
			assert_int_equal(elf_file_open_memory((void *)(size_t)mapping->begin,
							      mapping->end - mapping->begin, &file),
					 0);
		} else {
			fd = open(mapping->path, O_RDONLY | O_CLOEXEC);
			assert_int_equal(elf_file_open(fd, &file), 0);
		}
		check_file(mapping->path, &file, &table);
		assert_true(table.count > 1);
		for (size_t at = 0; at < table.count; at++)
			signals += table.rows[at].kind == ROW_SIGNAL;
		if (is_own) {
			GElf_Ehdr header;

			assert_true(elf_file_bias(&file, mapping->begin, mapping->offset, &bias));
			row = find(&table, here - bias);
			assert_true(row && (row->kind == ROW_SP || row->kind == ROW_FP));
			assert_non_null(gelf_getehdr(file.elf, &header));
			row = find(&table, header.e_entry); /* _start */
			assert_true(row && row->kind == ROW_END);
		}
		row_table_close(&table);
		elf_file_close(&file);
	}
	assert_true(signals > 0); /* libc's, on which handlers return */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_modules_have_the_rows_that_libdw_has),
	};

	return cmocka_run_group_tests_name("rows_libdw", tests, NULL, NULL);
}
