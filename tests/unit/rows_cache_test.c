// SPDX-License-Identifier: Apache-2.0
/*
 * Rows in a file of the cache: they come back as they were, or not at all.
 */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../src/base/cleanup.h"
#include "../../src/symbolize/row_table.h"
#include "tiny_elf.h"

static void make_file(struct tiny_elf *tiny, struct elf_file *ret_file)
{
	static const u8 program[] = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x41, 0x0c, 7, 4};

	tiny_elf_init(tiny);
	tiny_elf_function(tiny, TINY_TEXT, 0x100, program, sizeof(program));
	assert_int_equal(elf_file_open_memory(tiny->bytes, TINY_SIZE, ret_file), 0);
}

static int empty_file(void)
{
	int fd = memfd_create("rows", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void rows_come_back_as_they_were(void **state)
{
	_cleanup_close_ int fd = empty_file();
	struct row_table built, read;
	struct tiny_elf tiny;
	struct elf_file file;

	(void)state;
	make_file(&tiny, &file);
	assert_int_equal(row_table_build(&file, &built), 0);
	assert_int_equal(built.count, 5);
	assert_int_equal(built.bad, 1);
	for (int is_cut = 0; is_cut < 2; is_cut++) {
		built.is_cut = is_cut;
		assert_int_equal(row_table_write(fd, &file, &built), 0);
		assert_int_equal(row_table_read(fd, &file, &read), 0);
		assert_int_equal(read.count, built.count);
		assert_int_equal(read.bad, built.bad);
		assert_int_equal(read.is_cut, is_cut);
		assert_memory_equal(read.rows, built.rows, built.count * sizeof(*built.rows));
		row_table_close(&read);
	}
	row_table_close(&built);
	elf_file_close(&file);
}

static void an_empty_table_is_one_too(void **state)
{
	_cleanup_close_ int fd = empty_file();
	struct row_table table = {0};
	struct tiny_elf tiny;
	struct elf_file file;

	(void)state;
	make_file(&tiny, &file);
	assert_int_equal(row_table_write(fd, &file, &table), 0);
	table.count = 1;
	assert_int_equal(row_table_read(fd, &file, &table), 0);
	assert_int_equal(table.count, 0);
	elf_file_close(&file);
}

static void no_byte_can_be_another(void **state)
{
	_cleanup_close_ int fd = empty_file();
	struct row_table table;
	struct tiny_elf tiny;
	struct elf_file file;
	off_t size;

	(void)state;
	make_file(&tiny, &file);
	assert_int_equal(row_table_build(&file, &table), 0);
	assert_int_equal(row_table_write(fd, &file, &table), 0);
	row_table_close(&table);
	size = lseek(fd, 0, SEEK_END);
	assert_true(size > 100);
	for (off_t at = 0; at < size; at++) {
		u8 byte, other;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		other = byte ^ 1;
		assert_int_equal(pwrite(fd, &other, 1, at), 1);
		assert_int_equal(row_table_read(fd, &file, &table), -EBADMSG);
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	assert_int_equal(ftruncate(fd, size + 1), 0);
	assert_int_equal(row_table_read(fd, &file, &table), -EBADMSG);
	for (off_t shorter = size - 1; shorter >= 0; shorter--) {
		assert_int_equal(ftruncate(fd, shorter), 0);
		assert_int_equal(row_table_read(fd, &file, &table), -EBADMSG);
	}
	elf_file_close(&file);
	assert_int_equal(row_table_read(-1, &(struct elf_file){.build_id_size = 1}, &table),
			 -EBADF);
}

static void rows_of_other_files_are_refused(void **state)
{
	_cleanup_close_ int fd = empty_file();
	struct tiny_elf tiny, other;
	struct row_table table;
	struct elf_file file, other_file;

	(void)state;
	make_file(&tiny, &file);
	assert_int_equal(row_table_build(&file, &table), 0);
	assert_int_equal(row_table_write(fd, &file, &table), 0);

	make_file(&other, &other_file); /* another build id */
	other_file.build_id[3] ^= 1;
	assert_int_equal(row_table_read(fd, &other_file, &(struct row_table){0}), -EBADMSG);
	other_file.build_id_size = 0; /* which nobody can tell from any other */
	assert_int_equal(row_table_read(fd, &other_file, &(struct row_table){0}), -EINVAL);
	assert_int_equal(row_table_write(fd, &other_file, &table), -EINVAL);
	elf_file_close(&other_file);
	tiny_elf_init(&other); /* the same, but .eh_frame has another size */
	assert_int_equal(elf_file_open_memory(other.bytes, TINY_SIZE, &other_file), 0);
	assert_int_equal(row_table_read(fd, &other_file, &(struct row_table){0}), -EBADMSG);
	elf_file_close(&other_file);
	row_table_close(&table);
	elf_file_close(&file);
}

/* Whoever may write the cache can make its checksum, too: what is read is held to its promises. */
static void wrong_rows_with_a_right_checksum_are_refused(void **state)
{
	static const struct unwind_row cases[][2] = {
		{{.pc = 16, .kind = ROW_SP, .cfa = 1}, {.pc = 16, .kind = ROW_SP, .cfa = 2}},
		{{.pc = 17, .kind = ROW_SP, .cfa = 1}, {.pc = 16, .kind = ROW_SP, .cfa = 2}},
		{{.pc = 16, .kind = ROW_SP, .cfa = 1}, {.pc = 17, .kind = ROW_SP, .cfa = 1}},
		{{.pc = 16, .kind = ROW_SP}, {.pc = 17, .kind = ROW_BAD + 1}},
		{{.pc = 16, .kind = ROW_SP}, {.pc = 17, .kind = ROW_KIND_MASK}},
		{{.pc = 16, .kind = ROW_SP}, {.pc = 17, .kind = ROW_SP | 0x40}},
		{{.pc = 16, .kind = ROW_SP},
		 {.pc = 17, .kind = ROW_SP | ROW_FP_SAVED | ROW_FP_AT_FP}},
		{{.pc = 16, .kind = ROW_SP}, {.pc = 17, .kind = ROW_SP, .fp = 1}},
		{{.pc = 16, .kind = ROW_SP}, {.pc = 17, .kind = ROW_END | ROW_FP_SAVED}},
		{{.pc = 16, .kind = ROW_SP}, {.pc = 17, .kind = ROW_GAP, .cfa = 1}},
		{{.pc = 16, .kind = ROW_SP}, {.pc = 17, .kind = ROW_PLT, .cfa = 16}},
	};
	struct tiny_elf tiny;
	struct elf_file file;

	(void)state;
	make_file(&tiny, &file);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct row_table table = {.rows = (struct unwind_row *)cases[i], .count = 2};
		_cleanup_close_ int fd = empty_file();

		assert_int_equal(row_table_write(fd, &file, &table), 0);
		if (row_table_read(fd, &file, &(struct row_table){0}) != -EBADMSG)
			fail_msg("case %zu was believed", i);
	}
	elf_file_close(&file);
}

static void more_rows_than_any_file_has_are_refused(void **state)
{
	struct row_table table = {.count = ROW_TABLE_MAX + 1}, read;
	_cleanup_close_ int fd = empty_file();
	struct tiny_elf tiny;
	struct elf_file file;

	(void)state;
	make_file(&tiny, &file);
	table.rows = calloc(table.count, sizeof(*table.rows));
	for (u32 i = 0; i < table.count; i++)
		table.rows[i] = (struct unwind_row){.pc = i, .kind = ROW_SP, .cfa = i % 2};
	assert_int_equal(row_table_write(fd, &file, &table), 0);
	assert_int_equal(row_table_read(fd, &file, &read), -EBADMSG);
	table.count--;
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(row_table_write(fd, &file, &table), 0);
	assert_int_equal(row_table_read(fd, &file, &read), 0);
	assert_int_equal(read.count, ROW_TABLE_MAX);
	row_table_close(&read);
	row_table_close(&table);
	elf_file_close(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_come_back_as_they_were),
		cmocka_unit_test(an_empty_table_is_one_too),
		cmocka_unit_test(no_byte_can_be_another),
		cmocka_unit_test(rows_of_other_files_are_refused),
		cmocka_unit_test(wrong_rows_with_a_right_checksum_are_refused),
		cmocka_unit_test(more_rows_than_any_file_has_are_refused),
	};

	return cmocka_run_group_tests_name("rows_cache", tests, NULL, NULL);
}
