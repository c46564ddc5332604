// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../src/symbolize/kallsyms.h"
#include "../../src/symbolize/kernel_names.h"

static int read_text(const char *text, struct kallsyms **ret_kallsyms)
{
	int fd = memfd_create("kallsyms", 0), err;

	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	err = kallsyms_read(fd, ret_kallsyms);
	close(fd);
	return err;
}

static const char kernel[] = "0000000000000000 A fixed_percpu_data\n"
			     "ffffffff81000000 T _stext\n"
			     "ffffffff81000000 T _text\n"
			     "ffffffff81000000 T startup\n"
			     "ffffffff81000100 t helper\n"
			     "ffffffff81000200 T __do_sys_read\n"
			     "ffffffff81000200 W sys_read\n"
			     "ffffffff81000300 d a_table\n"
			     "ffffffff81002000 T last\n"
			     "ffffffffc0000100 t fuse_open\t[fuse]\n"
			     "ffffffffc0000000 t fuse_init\t[fuse]\n"
			     "ffffffffc0000200 d fuse_data\t[fuse]\n"
			     "ffffffffc0300000 t bpf_prog_6deef7357e7b4530_dump\t[bpf]\n";

static void expect(const struct kallsyms *kallsyms, u64 address, const char *name,
		   const char *module, u64 offset)
{
	const char *found_module = "unset";
	u64 found_offset = 0;
	const char *found = kallsyms_find(kallsyms, address, &found_module, &found_offset);

	assert_non_null(found);
	assert_string_equal(found, name);
	if (module)
		assert_string_equal(found_module, module);
	else
		assert_null(found_module);
	assert_int_equal(found_offset, offset);
}

static void function_is_found_with_its_module(void **state)
{
	struct kallsyms *kallsyms = NULL;

	(void)state;
	assert_int_equal(read_text(kernel, &kallsyms), 0);
	assert_true(kallsyms_text(kallsyms) == 0xffffffff81000000);
	expect(kallsyms, 0xffffffff81000000, "startup", NULL, 0);
	expect(kallsyms, 0xffffffff81000180, "helper", NULL, 0x80);
	expect(kallsyms, 0xffffffff81000210, "sys_read", NULL, 0x10);
	expect(kallsyms, 0xffffffffc00000ff, "fuse_init", "fuse", 0xff);
	expect(kallsyms, 0xffffffffc0000100, "fuse_open", "fuse", 0);
	expect(kallsyms, 0xffffffffc0300040, "bpf_prog_6deef7357e7b4530_dump", "bpf", 0x40);
	kallsyms_close(kallsyms);
}

static void nothing_is_found_outside(void **state)
{
	static const u64 outside[] = {
		0,
		0x1000,
		0xffffffff80ffffff,
		0xffffffff81000300, /* data */
		0xffffffff81001fff,
		0xffffffff81100000, /* long after the last one */
		0xffffffffc0000200,
		~0ULL,
	};
	struct kallsyms *kallsyms = NULL;
	const char *module;
	u64 offset;

	(void)state;
	assert_int_equal(read_text(kernel, &kallsyms), 0);
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		assert_null(kallsyms_find(kallsyms, outside[i], &module, &offset));
	kallsyms_close(kallsyms);
}

static void hidden_addresses_are_told(void **state)
{
	struct kallsyms *kallsyms = NULL;

	(void)state;
	assert_int_equal(read_text("0000000000000000 T _text\n0000000000000000 t a\n", &kallsyms),
			 -EPERM);
	assert_null(kallsyms);
}

static void odd_lines_are_passed_over(void **state)
{
	struct kallsyms *kallsyms = NULL;

	(void)state;
	assert_int_equal(read_text("\nx\nffffffff81000000\nffffffff81000000 T\n"
				   "ffffffff81000000 T \nffffffff8100000g T b\n"
				   "ffffffff81000010 T a\x1b[J\t[m]x\nffffffff81000020 T c\n",
				   &kallsyms),
			 0);
	expect(kallsyms, 0xffffffff81000010, "a\\x1b[J", NULL, 0);
	expect(kallsyms, 0xffffffff81000020, "c", NULL, 0);
	kallsyms_close(kallsyms);
}

/* Variables are told by kernels that have all of them; of a few stray ones nothing is said. */
static void variables_are_found(void **state)
{
	int fd = memfd_create("kallsyms", 0);
	struct kallsyms *kallsyms = NULL;

	(void)state;
	assert_int_equal(write(fd, kernel, strlen(kernel)), (ssize_t)strlen(kernel));
	assert_int_equal(kallsyms_read_data(fd, &kallsyms), -ENODATA);
	assert_null(kallsyms);
	for (int i = 0; i < 2000; i++)
		dprintf(fd, "%016llx %c lock_%d\n", 0xffffffff82000000ULL + 64ULL * (unsigned)i,
			"dDbB"[i % 4], i);
	assert_int_equal(kallsyms_read_data(fd, &kallsyms), 0);
	expect(kallsyms, 0xffffffff82000000, "lock_0", NULL, 0);
	expect(kallsyms, 0xffffffff82000048, "lock_1", NULL, 8);
	expect(kallsyms, 0xffffffff81000304, "a_table", NULL, 4);
	expect(kallsyms, 0xffffffffc0000200, "fuse_data", "fuse", 0);
	kallsyms_close(kallsyms);
	close(fd);
}

/* The whole file is read for the first name, and for addresses that it may have by now. */
static void all_of_it_is_read_when_it_may_help(void **state)
{
	struct kernel_names names = {.fd = -1};
	int fd = memfd_create("kallsyms", 0);
	const u64 unknown = 0xffffffff81100000, later = 0xffffffffc0400010;
	u64 first_ns;

	(void)state;
	assert_null(kernel_names_get(&names));
	assert_int_equal(write(fd, kernel, strlen(kernel)), (ssize_t)strlen(kernel));
	assert_int_equal(kernel_names_open(&names, fd), 0);
	assert_int_equal(names.reads, 0);
	assert_non_null(kernel_names_get(&names));
	assert_non_null(kernel_names_get(&names));
	kernel_names_refresh(&names, unknown); /* it was read a moment ago */
	assert_int_equal(names.reads, 1);
	first_ns = names.again_ns;
	names.again_ns = 1;
	kernel_names_refresh(&names, unknown);
	assert_int_equal(names.reads, 2);
	assert_int_equal(names.again_ns, 2); /* in vain: the next time is later */
	names.again_ns = 1;
	kernel_names_refresh(&names, unknown); /* it had no name then */
	assert_int_equal(names.reads, 2);
	dprintf(fd, "%016llx t of_new_module\t[new]\n", (unsigned long long)later - 0x10);
	expect(kernel_names_refresh(&names, later), later, "of_new_module", "new", 0x10);
	assert_int_equal(names.reads, 3);
	assert_int_equal(names.again_ns, first_ns);
	kernel_names_close(&names);
}

static void hidden_addresses_show_at_once(void **state)
{
	struct kernel_names names = {.fd = -1};
	int fd = memfd_create("kallsyms", 0);

	(void)state;
	for (int i = 0; i < 100; i++)
		dprintf(fd, "0000000000000000 T name_%d\n", i);
	assert_int_equal(kernel_names_open(&names, fd), -EPERM);
	kernel_names_close(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(function_is_found_with_its_module),
		cmocka_unit_test(nothing_is_found_outside),
		cmocka_unit_test(hidden_addresses_are_told),
		cmocka_unit_test(odd_lines_are_passed_over),
		cmocka_unit_test(variables_are_found),
		cmocka_unit_test(all_of_it_is_read_when_it_may_help),
		cmocka_unit_test(hidden_addresses_show_at_once),
	};

	return cmocka_run_group_tests_name("kallsyms", tests, NULL, NULL);
}
