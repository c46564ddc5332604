// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../src/symbolize/perf_map.h"

#define PLENTY (64u << 20)

static struct perf_map *map_of(const char *text)
{
	int fd = memfd_create("perf-1.map", 0);
	struct perf_map *map = perf_map_create();

	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(perf_map_update(map, fd, PLENTY), 0);
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
	struct perf_map *map = perf_map_create();
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(perf_map_update(map, fds[0], PLENTY), -EINVAL);
	close(fds[0]);
	close(fds[1]);
	perf_map_close(map);
}

static void update(struct perf_map *map, int fd)
{
	int err;

	do /* a file that was rewritten waits for its turn */
		err = perf_map_update(map, fd, PLENTY);
	while (err == -EAGAIN);
	assert_int_equal(err, 0);
}

static void write_lines(int fd, u64 first, int count, const char *name)
{
	char text[64];

	for (int i = 0; i < count; i++) {
		int length = snprintf(text, sizeof(text), "%llx 10 %s%d\n",
				      (unsigned long long)first + 0x10ULL * (unsigned)i, name, i);

		assert_int_equal(write(fd, text, (size_t)length), length);
	}
}

/* The bytes that were read are replaced by others of the same length: nobody looks at them again.
 */
static void only_what_was_added_is_read(void **state)
{
	int fd = memfd_create("perf-1.map", 0);
	struct perf_map *map = perf_map_create();
	const char begin[] = "1000 10 first\n2000 10 seco";

	(void)state;
	write_lines(fd, 0x100000, 100, "early_");
	assert_int_equal(write(fd, begin, strlen(begin)), (ssize_t)strlen(begin));
	update(map, fd);
	assert_string_equal(perf_map_find(map, 0x1000), "first");
	assert_null(perf_map_find(map, 0x2000)); /* it is still being written */
	assert_int_equal(pwrite(fd, "xxxxx", 5, 1000), 5);
	assert_int_equal(write(fd, "nd\n1000 10 later\n", 17), 17);
	update(map, fd);
	assert_string_equal(perf_map_find(map, 0x2000), "second");
	assert_string_equal(perf_map_find(map, 0x1000), "later");
	assert_string_equal(perf_map_find(map, 0x100000 + 0x10 * 99), "early_99");
	assert_int_equal(perf_map_refused(map), 0);
	/* many more, so that they join the others; each is found, the later of two first */
	for (int round = 0; round < 8; round++) {
		write_lines(fd, 0x200000 + 0x8000 * (u64)round, 1500, round % 2 ? "odd_" : "even_");
		update(map, fd);
	}
	assert_string_equal(perf_map_find(map, 0x200000), "even_0");
	assert_string_equal(perf_map_find(map, 0x200000 + 0x10 * 1499), "even_1499");
	assert_string_equal(perf_map_find(map, 0x238000 + 0x10 * 1499), "odd_1499");
	write_lines(fd, 0x200000, 2000, "over_");
	update(map, fd);
	assert_string_equal(perf_map_find(map, 0x200000), "over_0");
	assert_string_equal(perf_map_find(map, 0x2000f5), "over_15");
	assert_string_equal(perf_map_find(map, 0x1000), "later");
	close(fd);
	perf_map_close(map);
}

static void rewritten_file_is_read_from_its_beginning(void **state)
{
	int fd = memfd_create("perf-1.map", 0), other = memfd_create("perf-1.map", 0);
	struct perf_map *map = perf_map_create();

	(void)state;
	write_lines(fd, 0x1000, 50, "old_");
	update(map, fd);
	/* cut */
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	write_lines(fd, 0x1000, 10, "cut_");
	update(map, fd);
	assert_string_equal(perf_map_find(map, 0x1000), "cut_0");
	assert_null(perf_map_find(map, 0x1000 + 0x10 * 20));
	/* another head, and longer than before */
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	write_lines(fd, 0x8000, 60, "head_");
	update(map, fd);
	assert_string_equal(perf_map_find(map, 0x8000), "head_0");
	assert_null(perf_map_find(map, 0x1000));
	/* another file of the same text and more */
	write_lines(other, 0x8000, 60, "head_");
	write_lines(other, 0x8000, 1, "other_");
	update(map, other);
	assert_string_equal(perf_map_find(map, 0x8000), "other_0");
	assert_string_equal(perf_map_find(map, 0x8010), "head_1");
	close(fd);
	close(other);
	perf_map_close(map);
}

/* It would be read all the time. */
static void file_that_is_rewritten_at_once_has_to_wait(void **state)
{
	int fd = memfd_create("perf-1.map", 0);
	struct perf_map *map = perf_map_create();

	(void)state;
	write_lines(fd, 0x1000, 20000, "old_");
	update(map, fd);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(perf_map_update(map, fd, PLENTY), -EAGAIN);
	assert_string_equal(perf_map_find(map, 0x1000), "old_0");
	close(fd);
	perf_map_close(map);
}

static void memory_is_bounded_and_the_rest_counted(void **state)
{
	const size_t limit = 64u << 10;
	int fd = memfd_create("perf-1.map", 0);
	struct perf_map *map = perf_map_create();

	(void)state;
	write_lines(fd, 0x1000, 10000, "name_");
	assert_int_equal(perf_map_update(map, fd, limit), 0);
	assert_true(perf_map_bytes(map) <= limit);
	assert_string_equal(perf_map_find(map, 0x1000), "name_0");
	assert_true(perf_map_unfit(map) > 5000 && perf_map_unfit(map) < 10000);
	assert_null(perf_map_find(map, 0x1000 + 0x10 * 9999));
	close(fd);
	perf_map_close(map);
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
		cmocka_unit_test(only_what_was_added_is_read),
		cmocka_unit_test(rewritten_file_is_read_from_its_beginning),
		cmocka_unit_test(file_that_is_rewritten_at_once_has_to_wait),
		cmocka_unit_test(memory_is_bounded_and_the_rest_counted),
	};

	return cmocka_run_group_tests_name("perf_map", tests, NULL, NULL);
}
