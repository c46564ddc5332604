// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../src/symbolize/perf_map.h"

static struct perf_map *map_of(const char *text)
{
	int fd = memfd_create("perf-1.map", 0);
	struct perf_map *map = NULL;

	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(perf_map_read(fd, &map), 0);
	close(fd);
	return map;
}

static void name_is_found_inside_only(void **state)
{
	struct perf_map *map = map_of("2000 10 second one\n0x1000 0x20 first\n");

	(void)state;
	assert_null(perf_map_find(map, 0xfff));
	assert_string_equal(perf_map_find(map, 0x1000), "first");
	assert_string_equal(perf_map_find(map, 0x101f), "first");
	assert_null(perf_map_find(map, 0x1020));
	assert_string_equal(perf_map_find(map, 0x200f), "second one");
	assert_null(perf_map_find(map, 0x2010));
	assert_int_equal(perf_map_refused(map), 0);
	perf_map_close(map);
}

static void later_line_replaces_earlier_ones(void **state)
{
	struct perf_map *map = map_of("1000 100 old\n1040 10 inner\n1080 200 next\n1000 8 start\n"
				      "10f0 10 end\n1044 4 again\n");
	static const struct {
		u64 address;
		const char *name;
	} known[] = {
		{0x1000, "start"}, {0x1007, "start"}, {0x1008, "old"},	 {0x103f, "old"},
		{0x1040, "inner"}, {0x1044, "again"}, {0x1048, "inner"}, {0x1050, "old"},
		{0x107f, "old"},   {0x1080, "next"},  {0x10f0, "end"},	 {0x1100, "next"},
		{0x127f, "next"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_string_equal(perf_map_find(map, known[i].address), known[i].name);
	assert_null(perf_map_find(map, 0x1280));
	perf_map_close(map);
}

static void what_is_no_line_is_counted(void **state)
{
	struct perf_map *map = map_of("\n1000\n1000 10\n1000 10 \n1000 0 none\nxyz 10 a\n"
				      "10000000000000000 10 big\n1000 10 good\n1000 10 being writ");

	(void)state;
	assert_int_equal(perf_map_refused(map), 7);
	assert_string_equal(perf_map_find(map, 0x1000), "good");
	perf_map_close(map);
}

static void name_is_fit_to_be_shown(void **state)
{
	struct perf_map *map = map_of("1000 10 a\x1b]0;x\x07 b\xff\n");

	(void)state;
	assert_string_equal(perf_map_find(map, 0x1000), "a\\x1b]0;x\\x07 b\xef\xbf\xbd");
	perf_map_close(map);
}

static void long_name_is_cut(void **state)
{
	static char text[200000];
	struct perf_map *map;

	(void)state;
	memset(text, 'x', sizeof(text) - 20);
	memcpy(text, "1000 10 y", 9);
	strcpy(text + sizeof(text) - 20, "\n2000 10 z\n");
	map = map_of(text);
	assert_int_equal(strlen(perf_map_find(map, 0x1000)), 511);
	assert_string_equal(perf_map_find(map, 0x2000), "z");
	perf_map_close(map);
}

static void range_at_the_end_of_memory_holds(void **state)
{
	struct perf_map *map = map_of("fffffffffffffff0 ffffffffffffffff end\n");

	(void)state;
	assert_string_equal(perf_map_find(map, ~0ULL - 1), "end");
	assert_null(perf_map_find(map, 0));
	perf_map_close(map);
}

static void pipe_is_refused(void **state)
{
	struct perf_map *map = NULL;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(perf_map_read(fds[0], &map), -EINVAL);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(name_is_found_inside_only),
		cmocka_unit_test(later_line_replaces_earlier_ones),
		cmocka_unit_test(what_is_no_line_is_counted),
		cmocka_unit_test(name_is_fit_to_be_shown),
		cmocka_unit_test(long_name_is_cut),
		cmocka_unit_test(range_at_the_end_of_memory_holds),
		cmocka_unit_test(pipe_is_refused),
	};

	return cmocka_run_group_tests_name("perf_map", tests, NULL, NULL);
}
