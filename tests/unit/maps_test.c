// SPDX-License-Identifier: Apache-2.0
/*
 * Lines of /proc/PID/maps, sound and otherwise, and the file of this very process.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../src/base/cleanup.h"
#include "../../src/symbolize/proc_maps.h"

#define PADDING "                    "

static void lines_of_executable_memory_are_understood(void **state)
{
	static const struct {
		const char *line;
		struct proc_mapping expected;
	} rows[] = {
		{"55d0-66e0 r-xp 00001000 fe:01 42" PADDING "/usr/bin/a b",
		 {.begin = 0x55d0,
		  .end = 0x66e0,
		  .offset = 0x1000,
		  .inode = 42,
		  .major = 0xfe,
		  .minor = 1,
		  .path = "/usr/bin/a b"}},
		{"1000-2000 r-xp 00000000 00:2f 7 /x (deleted)",
		 {.begin = 0x1000,
		  .end = 0x2000,
		  .inode = 7,
		  .minor = 0x2f,
		  .is_deleted = true,
		  .path = "/x"}},
		{"1000-2000 rwxs 00000000 00:01 9 /memfd:a (deleted) (deleted)",
		 {.begin = 0x1000,
		  .end = 0x2000,
		  .inode = 9,
		  .minor = 1,
		  .is_deleted = true,
		  .path = "/memfd:a (deleted)"}},
		{"1000-2000 r-xp 00000000 00:01 9 //anon",
		 {.begin = 0x1000, .end = 0x2000, .inode = 9, .minor = 1, .path = "//anon"}},
		{"1000-2000 r-xp 00000000 00:01 9 /a\\012b",
		 {.begin = 0x1000, .end = 0x2000, .inode = 9, .minor = 1, .path = "/a\\012b"}},
		{"1000-2000 rwxp 00000000 00:00 0 ", {.begin = 0x1000, .end = 0x2000}},
		{"1000-2000 rwxp 00000000 00:00 0", {.begin = 0x1000, .end = 0x2000}},
		{"1000-2000 rwxp 00000000 00:00 0 [heap]", {.begin = 0x1000, .end = 0x2000}},
		{"1000-2000 rwxp 00000000 00:00 0 [anon:JIT (deleted)]",
		 {.begin = 0x1000, .end = 0x2000}},
		{"7ffd000-7fff000 r-xp 00000000 00:00 0" PADDING "[vdso]",
		 {.begin = 0x7ffd000, .end = 0x7fff000, .is_vdso = true, .path = "[vdso]"}},
		{"1000-2000 r-xp 00000000 00:01 9 [vdso]", /* a file cannot pass for it */
		 {.begin = 0x1000, .end = 0x2000, .inode = 9, .minor = 1, .path = "[vdso]"}},
		{"0-ffffffffffffffff --xp ffffffffffffffff ffffffff:ffffffff "
		 "18446744073709551615 /",
		 {.end = ~0ULL,
		  .offset = ~0ULL,
		  .inode = ~0ULL,
		  .major = ~0U,
		  .minor = ~0U,
		  .path = "/"}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct proc_mapping *expected = &rows[i].expected;
		struct proc_mapping mapping;

		if (!proc_maps_parse(rows[i].line, strlen(rows[i].line), &mapping))
			fail_msg("%s: refused", rows[i].line);
		assert_string_equal(mapping.path, expected->path);
		assert_int_equal(mapping.begin, expected->begin);
		assert_int_equal(mapping.end, expected->end);
		assert_int_equal(mapping.offset, expected->offset);
		assert_int_equal(mapping.inode, expected->inode);
		assert_int_equal(mapping.major, expected->major);
		assert_int_equal(mapping.minor, expected->minor);
		assert_int_equal(mapping.is_vdso, expected->is_vdso);
		assert_int_equal(mapping.is_deleted, expected->is_deleted);
	}
}

static void other_lines_are_refused(void **state)
{
	static const char *const lines[] = {
		"",
		" ",
		"1000",
		"1000-2000",
		"1000-2000 ",
		"1000-2000 r-x",
		"1000-2000 r-xp",
		"1000-2000 r-xp 0 0:0",
		"1000-2000 r-xp 0 0:0 ",
		"1000-2000 r-xp 0 0:0 1/x",
		"1000-2000 r-xp 0 0:0 a /x",
		"1000-2000 r-xp 0 0:100000000 1 /x",
		"1000-2000 r-xp 10000000000000000 0:0 1 /x",
		"1000-2000 rw-p 0 0:0 1 /not/executable",
		"2000-1000 r-xp 0 0:0 1 /backwards",
		"1000-1000 r-xp 0 0:0 1 /empty",
		"1000-2000 R-XP 0 0:0 1 /x",
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]",
	};
	static const char with_nul[] = "1000-2000 r-xp 0 0:0 1 /x\0y";
	struct proc_mapping mapping;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (proc_maps_parse(lines[i], strlen(lines[i]), &mapping))
			fail_msg("'%s': accepted", lines[i]);
	assert_false(proc_maps_parse(with_nul, sizeof(with_nul) - 1, &mapping));
}

static void of_long_paths_the_end_is_kept(void **state)
{
	char line[8192] = "1000-2000 r-xp 0 0:0 1 /", *path = line + strlen(line);
	struct proc_mapping mapping;

	(void)state;
	memset(path, 'a', 4096);
	strcpy(path + 4096, "/the-end (deleted)");
	assert_true(proc_maps_parse(line, strlen(line), &mapping));
	assert_int_equal(strlen(mapping.path), MAPS_PATH_BYTES - 1);
	assert_string_equal(mapping.path + MAPS_PATH_BYTES - 1 - 9, "a/the-end");
	assert_true(mapping.is_deleted);

	/* of three bytes each: the end begins with a whole one */
	for (size_t i = 0; i < 300; i++)
		memcpy(path + 3 * i, "\xe2\x82\xac", 3);
	strcpy(path + 900, "ab");
	assert_true(proc_maps_parse(line, strlen(line), &mapping));
	assert_int_equal(strlen(mapping.path), 254);
	assert_memory_equal(mapping.path, "\xe2\x82\xac", 3);
}

static int file_with(const char *text, size_t size)
{
	int fd = memfd_create("maps", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), size);
	return fd;
}

static void lines_across_buffers_are_found(void **state)
{
	static char text[4 << 20];
	static struct proc_mapping mappings[2000];
	size_t size = 0;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		size += (size_t)sprintf(text + size, "%x000-%x000 r-%cp 0 0:0 %d /", i, i + 1,
					i % 2 ? 'x' : '-', i);
		memset(text + size, 'b', (size_t)i);
		size += (size_t)i;
		text[size++] = '\n';
	}
	_cleanup_close_ int fd = file_with(text, size);

	assert_int_equal(proc_maps_read(fd, mappings, 2000), 1000);
	for (int i = 0; i < 1000; i++) {
		size_t length = strlen(mappings[i].path);

		assert_int_equal(mappings[i].inode, 2 * i + 1);
		assert_int_equal(length, 2 * i + 2 < 255 ? 2 * i + 2 : 255);
	}
	/* more than fit: counted; and the same descriptor is read from its beginning again */
	mappings[10].inode = 12345;
	assert_int_equal(proc_maps_read(fd, mappings, 10), 1000);
	assert_int_equal(mappings[0].inode, 1);
	assert_int_equal(mappings[10].inode, 12345);
}

static void a_line_that_is_too_long_is_left_out(void **state)
{
	static const char before[] = "1000-2000 r-xp 0 0:0 1 /a\n3000-4000 r-xp 0 0:0 2 /";
	static const char after[] = "\n5000-6000 r-xp 0 0:0 3 /c\n7000-8000 r-xp 0 0:0 4 /cut";
	static char text[100000 + sizeof(before) + sizeof(after)];
	struct proc_mapping mappings[4];

	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text, before, sizeof(before) - 1);
	memcpy(text + sizeof(before) - 1 + 100000, after, sizeof(after) - 1);
	_cleanup_close_ int fd = file_with(text, sizeof(text) - 2);

	assert_int_equal(proc_maps_read(fd, mappings, 4), 2);
	assert_string_equal(mappings[0].path, "/a");
	assert_string_equal(mappings[1].path, "/c");
	assert_int_equal(proc_maps_read(-1, mappings, 4), -EBADF);
}

static void own_maps_have_what_this_process_knows(void **state)
{
	static struct proc_mapping mappings[1000];
	u64 here = (u64)(size_t)own_maps_have_what_this_process_knows;
	u64 vdso = getauxval(AT_SYSINFO_EHDR);
	bool has_here = false, has_vdso = !vdso;
	char exe[4096] = "";
	ssize_t count;

	(void)state;
	_cleanup_close_ int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	count = proc_maps_read(fd, mappings, ARRAY_SIZE(mappings));
	assert_in_range(count, 2, ARRAY_SIZE(mappings));
	for (ssize_t i = 0; i < count; i++) {
		if (i)
			assert_true(mappings[i].begin >= mappings[i - 1].end);
		if (mappings[i].begin <= here && here < mappings[i].end) {
			size_t length = strlen(mappings[i].path);

			assert_true(length <= strlen(exe));
			assert_string_equal(mappings[i].path, exe + strlen(exe) - length);
			has_here = true;
		}
		if (mappings[i].is_vdso)
			has_vdso = mappings[i].begin == vdso;
	}
	assert_true(has_here);
	assert_true(has_vdso);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_executable_memory_are_understood),
		cmocka_unit_test(other_lines_are_refused),
		cmocka_unit_test(of_long_paths_the_end_is_kept),
		cmocka_unit_test(lines_across_buffers_are_found),
		cmocka_unit_test(a_line_that_is_too_long_is_left_out),
		cmocka_unit_test(own_maps_have_what_this_process_knows),
	};

	return cmocka_run_group_tests_name("maps", tests, NULL, NULL);
}
