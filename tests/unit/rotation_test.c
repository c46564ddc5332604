// SPDX-License-Identifier: Apache-2.0
/* Files of a recording in several: their names, and which of them are removed. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../src/base/recent.h"
#include "../../src/engine/rotation.h"

static char folder[] = "/tmp/dwell-rotation-XXXXXX";

static const char *path_of(const char *name)
{
	static char paths[4][128];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static void make_file(const char *name)
{
	int fd = open(path_of(name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static int start(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int stop(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static void the_number_comes_before_the_suffix(void **state)
{
	char path[64], small[8];

	(void)state;
	assert_int_equal(rotation_name("a/x.dwell", 1, path, sizeof(path)), 0);
	assert_string_equal(path, "a/x.0001.dwell");
	assert_int_equal(rotation_name("plain", 12345, path, sizeof(path)), 0);
	assert_string_equal(path, "plain.12345");
	assert_int_equal(rotation_name(".dwell", 2, path, sizeof(path)), 0);
	assert_string_equal(path, ".dwell.0002");
	assert_int_equal(rotation_name("a/x.dwell", 1, small, sizeof(small)), -ENAMETOOLONG);
}

static void numbers_continue_after_files_that_are_there(void **state)
{
	(void)state;
	assert_int_equal(rotation_highest(path_of("x.dwell")), 0);
	make_file("x.0007.dwell");
	make_file("x.0009.dwell-wal");
	make_file("x.99.dwell");
	make_file("x.0042.other");
	make_file("y.0050.dwell");
	make_file("x.99999999999999999999.dwell");
	assert_int_equal(rotation_highest(path_of("x.dwell")), 9);
	assert_int_equal(rotation_highest("/nonexistent/folder/x.dwell"), 0);
}

static void only_the_file_that_was_written_is_removed(void **state)
{
	struct session_files files;
	struct files_identity identity;
	const char *path = path_of("mine.dwell");

	(void)state;
	assert_int_equal(files_create(path, &files), 0);
	files_identify(&files, &identity);
	files_close(&files, FILES_NEED_WAL);
	assert_int_equal(rename(path, path_of("saved")), 0);
	assert_int_equal(files_remove(path, &identity), -ESTALE);
	make_file("mine.dwell");
	assert_int_equal(files_remove(path, &identity), -ESTALE);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rename(path_of("saved"), path), 0);
	assert_int_equal(files_remove(path, &identity), 0);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_not_equal(access(path_of("mine.dwell-wal"), F_OK), 0);
}

static void what_is_used_is_not_forgotten(void **state)
{
	struct recent recent;
	size_t seen = 0;
	bool is_new;

	(void)state;
	recent_init(&recent, 2 * sizeof(u64), sizeof(u64), 10);
	for (u64 key = 1; key <= 100; key++) {
		u64 first = 1, *item = recent_add(&recent, &key, &is_new);

		assert_true(item && is_new);
		item[1] = key * 3;
		item = recent_find(&recent, &first, NULL);
		assert_non_null(item);
		assert_int_equal(item[1], 3);
	}
	assert_true(recent_count(&recent) <= 20);
	for (size_t i = 0; i < recent_count(&recent); i++) {
		const u64 *item = recent_item(&recent, i);

		seen += item && item[0] == 1; /* though both tables have it */
	}
	assert_int_equal(seen, 1);
	assert_null(recent_find(&recent, &(u64){50}, NULL));
	recent_free(&recent);
}

static bool is_odd(const void *item)
{
	return *(const u64 *)item % 2;
}

/* Twice, as what was added last is in the younger table. */
static void what_is_kept_outlives_its_table(void **state)
{
	struct recent recent;
	bool is_new;

	(void)state;
	recent_init(&recent, 2 * sizeof(u64), sizeof(u64), 10);
	for (u64 key = 1; key <= 4; key++)
		((u64 *)recent_add(&recent, &key, &is_new))[1] = key * 3;
	recent_age(&recent, is_odd);
	assert_int_equal(recent_count(&recent), 4);
	recent_age(&recent, is_odd);
	assert_int_equal(recent_count(&recent), 2);
	recent_age(&recent, is_odd);
	assert_int_equal(((u64 *)recent_find(&recent, &(u64){3}, NULL))[1], 9);
	assert_null(recent_find(&recent, &(u64){4}, NULL));
	recent_age(&recent, NULL);
	recent_age(&recent, NULL);
	assert_int_equal(recent_count(&recent), 0);
	recent_free(&recent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_number_comes_before_the_suffix),
		cmocka_unit_test(numbers_continue_after_files_that_are_there),
		cmocka_unit_test(only_the_file_that_was_written_is_removed),
		cmocka_unit_test(what_is_used_is_not_forgotten),
		cmocka_unit_test(what_is_kept_outlives_its_table),
	};

	return cmocka_run_group_tests_name("rotation", tests, start, stop);
}
