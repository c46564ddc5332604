// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "../../src/symbolize/lines.h"
#include "elf_image.h"

static int take_first(struct dl_phdr_info *info, size_t size, void *bias)
{
	(void)size;
	*(u64 *)bias = info->dlpi_addr;
	return 1;
}

__attribute__((noinline)) static u64 where_called(void)
{
	return (u64)__builtin_extract_return_addr(__builtin_return_address(0)) - 1;
}

struct caller {
	u64 address;
	u32 line, outer_line;
};

__attribute__((always_inline)) static inline void inner_function(struct caller *caller)
{
	caller->address = where_called(), caller->line = __LINE__;
	__asm__ volatile("" ::: "memory"); /* the call is not the last thing */
}

__attribute__((noinline)) static void outer_function(struct caller *caller)
{
	inner_function(caller), caller->outer_line = __LINE__;
	__asm__ volatile("" ::: "memory");
}

static const char *last_part(const char *path)
{
	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

static void inlined_function_comes_before_its_caller(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct frame_name names[FRAME_NAMES_MAX];
	struct lines *lines = NULL;
	struct caller caller;
	struct elf_file file;
	u64 bias = 0;
	int err;

	(void)state;
	outer_function(&caller);
	dl_iterate_phdr(take_first, &bias);
	assert_int_equal(elf_file_open(fd, &file), 0);
	err = lines_open(&file, 0, &lines);
	if (err == -ENOENT)
		skip(); /* built without -g */
	assert_int_equal(err, 0);
	assert_int_equal(lines_find(lines, caller.address - bias, names), 2);
	assert_string_equal(names[0].name, "inner_function");
	assert_string_equal(last_part(names[0].file), "lines_test.c");
	assert_int_equal(names[0].line, caller.line);
	assert_string_equal(names[1].name, "outer_function");
	assert_int_equal(names[1].line, caller.outer_line);
	assert_int_equal(lines_find(lines, 1, names), 0);
	assert_int_equal(lines_find(lines, ~0ULL, names), 0);
	assert_false(lines_are_cut(lines));
	lines_close(lines);
	elf_file_close(&file);
	close(fd);
}

static int open_image(struct elf_image *image, struct lines **ret_lines)
{
	struct elf_file file;
	int err;

	assert_int_equal(elf_file_open_memory(image->bytes, image->size, &file), 0);
	err = lines_open(&file, 0, ret_lines);
	if (!err)
		lines_close(*ret_lines);
	elf_file_close(&file);
	return err;
}

static void file_without_dwarf_is_told(void **state)
{
	static struct elf_image image;
	struct lines *lines = NULL;

	(void)state;
	image_begin(&image);
	image_code(&image, ".text", 0x1000, NULL, 0x1000);
	image_end(&image);
	assert_int_equal(open_image(&image, &lines), -ENOENT);
}

static void too_much_is_refused(void **state)
{
	const Elf64_Shdr header = {.sh_type = SHT_PROGBITS};
	Elf64_Chdr packed = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = 4ULL << 30};
	static struct elf_image image;
	struct lines *lines = NULL;
	size_t number;

	(void)state;
	image_begin(&image);
	number = image_section(&image, ".debug_info", header, "x", 1);
	image.sections[number].sh_size = 4ULL << 30;
	image_end(&image);
	assert_int_equal(open_image(&image, &lines), -EFBIG);

	image_begin(&image);
	number = image_section(&image, ".debug_info", header, &packed, sizeof(packed));
	image.sections[number].sh_flags = SHF_COMPRESSED;
	image_end(&image);
	assert_int_equal(open_image(&image, &lines), -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inlined_function_comes_before_its_caller),
		cmocka_unit_test(file_without_dwarf_is_told),
		cmocka_unit_test(too_much_is_refused),
	};

	return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
