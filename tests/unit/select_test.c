// SPDX-License-Identifier: Apache-2.0
/*
 * From options to filters. What needs a cgroup of one's own is tested live.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../src/base/cgroup.h"
#include "../../src/engine/selection.h"

static struct selection selection;

/* Complaints are for people; the tests look at what comes back. */
static int start(void **state)
{
	(void)state;
	memset(&selection, 0, sizeof(selection));
	return 0;
}

static const char *described(void)
{
	static char text[SELECT_TEXT_BYTES];

	select_describe(&selection, text, sizeof(text));
	return text;
}

static void numbers_become_filters(void **state)
{
	char self[16], text[64];

	(void)state;
	snprintf(self, sizeof(self), "%d", getpid());
	assert_int_equal(select_take(&selection, 'p', self), 0);
	assert_int_equal(select_take(&selection, 'p', "1"), 0);
	assert_int_equal(select_take(&selection, 't', self), 0);
	assert_int_equal(selection.count, 3);
	assert_int_equal(selection.filters[0].kind, FILTER_BY_PID);
	assert_int_equal(selection.filters[0].value[0], getpid());
	assert_int_equal(selection.filters[2].kind, FILTER_BY_TID);
	snprintf(text, sizeof(text), "pid %s,1 and tid %s", self, self);
	assert_string_equal(described(), text);
}

static void bad_numbers_are_refused(void **state)
{
	static const char *const bad[] = {"", "0", "-1", "1,", "x", "1 2", "4194305"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_true(select_take(&selection, 'p', bad[i]) < 0);
	assert_int_equal(select_take(&selection, 'p', "4194304"), -ESRCH);
	assert_int_equal(select_take(&selection, 't', "4194304"), -ESRCH);
	assert_int_equal(selection.count, 0);
}

static void *tell_tid(void *tid)
{
	snprintf(tid, 16, "%ld", syscall(SYS_gettid));
	assert_int_equal(select_take(&selection, 'p', tid), -ESRCH); /* no process */
	assert_int_equal(select_take(&selection, 't', tid), 0);
	return NULL;
}

static void thread_is_no_process(void **state)
{
	pthread_t thread;
	char tid[16];

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, tell_tid, tid), 0);
	pthread_join(thread, NULL);
	assert_int_equal(selection.count, 1);
}

static void names_are_cut_as_the_kernel_does(void **state)
{
	(void)state;
	assert_int_equal(select_take(&selection, SELECT_COMM, "a-name-that-is-too-long"), 0);
	assert_memory_equal(selection.filters[0].value, "a-name-that-is-\0", 16);
	assert_int_equal(select_take(&selection, SELECT_COMM, "nginx"), 0);
	assert_memory_equal(selection.filters[1].value, "nginx\0\0\0\0\0\0\0\0\0\0\0", 16);
	assert_int_equal(select_take(&selection, SELECT_COMM, ""), -EINVAL);
}

static void users_have_names_and_numbers(void **state)
{
	(void)state;
	assert_int_equal(select_take(&selection, SELECT_UID, "root"), 0);
	assert_int_equal(selection.filters[0].value[0], 0);
	assert_int_equal(select_take(&selection, SELECT_UID, "1000"), 0);
	assert_int_equal(selection.filters[1].value[0], 1000);
	assert_int_equal(select_take(&selection, SELECT_UID, "no-such-user-here"), -EINVAL);
	assert_int_equal(select_take(&selection, SELECT_UID, "4294967295"), -EINVAL); /* is -1 */
}

static void executables_are_files(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(select_take(&selection, SELECT_EXE, "/proc/self/exe"), 0);
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	assert_int_equal(selection.filters[0].value[0], st.st_ino);
	assert_true(selection.filters[0].value[1] > 0);
	assert_int_equal(select_take(&selection, SELECT_EXE, "/no/such/file"), -ENOENT);
	assert_int_equal(select_take(&selection, SELECT_EXE, "/tmp"), -EINVAL);
}

static void cgroups_are_found_by_path(void **state)
{
	struct cgroup_mount mount;

	(void)state;
	assert_true(select_take(&selection, SELECT_CGROUP, "no/such/cgroup") < 0);
	assert_true(select_take(&selection, SELECT_CONTAINER, "zzzzzz") < 0);
	assert_true(select_take(&selection, SELECT_CONTAINER, "") < 0);
	assert_int_equal(selection.count, 0);
	if (cgroup_list_mounts(&mount, 1) != 1)
		skip();
	assert_int_equal(select_take(&selection, SELECT_CGROUP, mount.at), 0);
	assert_int_equal(selection.count, 1);
	assert_int_equal(selection.filters[0].value[1], mount.hierarchy);
	assert_int_equal(select_take(&selection, SELECT_CGROUP, "/"), 0);
	assert_true(selection.count >= 2); /* of each hierarchy */
}

static void something_must_be_chosen(void **state)
{
	struct capture_config config = {0};

	(void)state;
	assert_int_equal(select_finish(&selection), -EINVAL);
	assert_int_equal(select_take(&selection, 'a', NULL), 0);
	assert_int_equal(select_finish(&selection), 0);
	assert_string_equal(described(), "all");
	select_apply(&selection, &config);
	assert_int_equal(config.live.scope, SCOPE_ALL);
	assert_int_equal(select_take(&selection, SELECT_COMM, "x"), 0);
	assert_int_equal(select_finish(&selection), -EINVAL);
	selection.all = false;
	assert_int_equal(select_finish(&selection), 0);
	select_apply(&selection, &config);
	assert_int_equal(config.live.scope, SCOPE_LISTED);
	assert_int_equal(config.filter_count, 1);
	assert_int_equal(select_take(&selection, '?', NULL), -ENOENT);
}

static void too_many_are_refused(void **state)
{
	(void)state;
	for (int i = 0; i < FILTERS_MAX; i++)
		assert_int_equal(select_take(&selection, SELECT_COMM, "0123456789"), 0);
	assert_int_equal(select_take(&selection, SELECT_COMM, "x"), -E2BIG);
	assert_true(strlen(described()) < SELECT_WORD_BYTES + 8);
	assert_string_equal(described() + strlen(described()) - 4, ",...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(numbers_become_filters, start),
		cmocka_unit_test_setup(bad_numbers_are_refused, start),
		cmocka_unit_test_setup(thread_is_no_process, start),
		cmocka_unit_test_setup(names_are_cut_as_the_kernel_does, start),
		cmocka_unit_test_setup(users_have_names_and_numbers, start),
		cmocka_unit_test_setup(executables_are_files, start),
		cmocka_unit_test_setup(cgroups_are_found_by_path, start),
		cmocka_unit_test_setup(something_must_be_chosen, start),
		cmocka_unit_test_setup(too_many_are_refused, start),
	};

	return cmocka_run_group_tests_name("select", tests, NULL, NULL);
}
