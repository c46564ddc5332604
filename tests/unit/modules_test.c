// SPDX-License-Identifier: Apache-2.0
/*
 * Modules that come and go: what no process has mapped any more makes room, and comes back.
 */
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../src/base/clock.h"
#include "../../src/symbolize/modules.h"

#define MANY (4 * MODULES_IDLE_MAX)

static struct modules modules;

static int set_up(void **state)
{
	(void)state;
	return modules_init(&modules);
}

static int tear_down(void **state)
{
	(void)state;
	modules_free(&modules);
	return 0;
}

static struct file_key key_of(u64 inode)
{
	return (struct file_key){.dev = 1, .inode = inode, .size = 100};
}

static struct module *add_self(u64 inode)
{
	const struct file_key key = key_of(inode);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return modules_add_file(&modules, &key, fd, "/bin/self", false);
}

static int count_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static struct module *find(u64 inode)
{
	const struct file_key key = key_of(inode);

	return modules_find_file(&modules, &key);
}

static void files_that_nobody_maps_are_given_up_but_for_the_last(void **state)
{
	int before = count_descriptors();
	u32 count = modules.all.count, last = 0;

	(void)state;
	for (u64 i = 1; i <= MANY; i++) {
		const struct module *module = add_self(i);

		assert_non_null(module);
		assert_true(module->id > last); /* no number is used twice */
		last = module->id;
	}
	assert_int_equal(modules_reclaim(&modules, clock_now_ns()), MANY - MODULES_IDLE_MAX);
	assert_int_equal(modules.all.count, count + MODULES_IDLE_MAX);
	assert_int_equal(modules.files.count, MODULES_IDLE_MAX);
	assert_int_equal(modules.open, MODULES_IDLE_MAX);
	assert_int_equal(count_descriptors(), before + MODULES_IDLE_MAX);
	assert_null(find(1));
	assert_null(find(MANY - MODULES_IDLE_MAX));
	assert_non_null(find(MANY - MODULES_IDLE_MAX + 1));
	assert_non_null(find(MANY));
	assert_true(add_self(1)->id > last); /* one that comes back is another */
	assert_non_null(find(1));
}

static void what_is_mapped_stays(void **state)
{
	u32 first;

	(void)state;
	first = add_self(1)->id;
	for (u64 i = 2; i <= MANY; i++)
		add_self(i);
	modules_get(&modules, first)->is_needed = true;
	modules_reclaim(&modules, clock_now_ns());
	assert_ptr_equal(find(1), modules_get(&modules, first));
	assert_non_null(modules_get(&modules, MODULE_KERNEL_ID));
}

/* As of containers: each has a file of its own, of one build, whose module lives. */
static void files_of_one_build_may_be_any_number(void **state)
{
	struct file_key key = {.dev = 9, .inode = 1, .size = 100};
	const struct module *first, *own = add_self(77);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	first = modules_add_file(&modules, &key, fd, "/bin/self", true);
	for (key.inode = 2; key.inode <= MODULE_FILES_MAX + 10; key.inode++) {
		fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
		assert_ptr_equal(modules_add_file(&modules, &key, fd, "/bin/self", true), first);
		assert_ptr_equal(modules_find_file(&modules, &key), first); /* it is known now */
	}
	assert_true(modules.files.count < 20);
	assert_true(modules.files_forgotten > MODULE_FILES_MAX - 20);
	assert_ptr_equal(find(77), own); /* it is known by its file alone */
}

static void code_of_a_process_ends_with_it(void **state)
{
	int fd = memfd_create("perf-1.map", 0);
	struct module *jit = modules_add_jit(&modules);
	u32 id = jit->id;

	(void)state;
	assert_int_equal(write(fd, "1000 10 name\n", 13), 13);
	assert_int_equal(modules_read_perf_map(&modules, jit, fd, 1000), 0);
	assert_int_equal(modules.perf_maps, 1);
	jit->is_needed = true;
	modules_reclaim(&modules, clock_now_ns());
	assert_ptr_equal(modules_get(&modules, id), jit);
	jit->is_needed = false;
	assert_int_equal(modules_reclaim(&modules, clock_now_ns()), 1);
	assert_null(modules_get(&modules, id));
	assert_int_equal(modules.perf_maps, 0);
	assert_int_equal(modules.perf_bytes, 0);
	close(fd);
}

static void names_that_nobody_asks_for_are_given_up(void **state)
{
	struct module *module = add_self(1);

	(void)state;
	assert_non_null(modules_symbols(&modules, module));
	assert_true(modules.symbol_bytes > 0);
	modules_reclaim(&modules, module->named_ns + NAMES_IDLE_NS);
	assert_non_null(module->symbols);
	modules_reclaim(&modules, module->named_ns + NAMES_IDLE_NS + 1);
	assert_null(module->symbols);
	assert_int_equal(modules.symbol_bytes, 0);
	assert_non_null(modules_symbols(&modules, module));
}

/* A file with names of a user's processes that takes some 20 MB. */
static int large_map(void)
{
	int fd = memfd_create("perf-1.map", 0), count = 0;
	FILE *file = fdopen(dup(fd), "w");

	assert_non_null(file);
	for (; count < 200000; count++)
		fprintf(file,
			"%x 10 a_name_of_a_function_as_long_as_they_are_in_large_programs_%d_%s\n",
			0x1000 + 0x10 * count, count, "xxxxxxxxxxxxxxxx");
	fclose(file);
	return fd;
}

static void names_of_one_user_take_no_other_users_memory(void **state)
{
	int fd = large_map(), small = memfd_create("perf-9.map", 0);
	size_t others;

	(void)state;
	assert_int_equal(write(small, "1000 10 name\n", 13), 13);
	for (int i = 0; i < 8; i++)
		assert_int_equal(
			modules_read_perf_map(&modules, modules_add_jit(&modules), fd, 1000), 0);
	assert_true(modules.perf_bytes > PERF_USER_BYTES / 2);
	assert_true(modules.perf_bytes <= PERF_USER_BYTES + 8192);
	assert_true(modules.perf_unfit > 5 * 200000);
	/* another has its own */
	others = modules.perf_bytes;
	assert_int_equal(modules_read_perf_map(&modules, modules_add_jit(&modules), small, 1001),
			 0);
	assert_true(modules.perf_bytes > others);
	/* and all of them together are bounded, too */
	for (u32 user = 2000; user < 2010; user++)
		modules_read_perf_map(&modules, modules_add_jit(&modules), fd, user);
	assert_true(modules.perf_bytes <= PERF_BYTES_MAX + 65536);
	close(fd);
	close(small);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_that_nobody_maps_are_given_up_but_for_the_last),
		TEST(what_is_mapped_stays),
		TEST(files_of_one_build_may_be_any_number),
		TEST(code_of_a_process_ends_with_it),
		TEST(names_that_nobody_asks_for_are_given_up),
		TEST(names_of_one_user_take_no_other_users_memory),
	};

	return cmocka_run_group_tests_name("modules", tests, NULL, NULL);
}
