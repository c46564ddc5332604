// SPDX-License-Identifier: Apache-2.0
/*
 * The opener is replaced when it hangs, and when somebody kills it; what it was about to open is
 * unreachable, and all else goes on. A stopped process stands for one that a file system keeps
 * waiting.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../src/base/clock.h"
#include "../../src/engine/opener.h"

static struct spawner_role role;
static struct spawner *spawner;
static struct opener *opener;

static int set_up(void **state)
{
	(void)state;
	return opener_make_role(&role) || spawner_start(&role, 1, -1, &spawner) ||
	       opener_start(spawner, 0, &role, &opener);
}

static int tear_down(void **state)
{
	(void)state;
	opener_stop(opener);
	spawner_stop(spawner);
	opener_free_role(&role);
	return 0;
}

/* A file of this process: the one that has this function. */
static struct unwinding_file find_own_code(void)
{
	struct unwinding_file found = {0};
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long long begin, end, pc = (unsigned long long)(size_t)find_own_code;
	char line[4096];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx", &begin, &end) == 2 && begin <= pc && pc < end)
			found = (struct unwinding_file){begin, end};
	if (maps)
		fclose(maps);
	return found;
}

static int open_own_code(struct file_facts *ret_facts)
{
	struct unwinding_file file = find_own_code();
	int maps_fd = -1, err = opener_process(opener, (u32)getpid(), &maps_fd);

	if (maps_fd >= 0)
		close(maps_fd);
	if (!err)
		err = opener_facts(opener, &file, 1, ret_facts);
	return err ? err : opener_mapped_file(opener, &file, ret_facts);
}

static void opens_a_mapped_file(void **state)
{
	struct file_facts facts;
	char magic[4];
	int fd = open_own_code(&facts);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(facts.refusal, FILE_TAKEN);
	assert_int_equal(pread(fd, magic, sizeof(magic), 0), sizeof(magic));
	assert_memory_equal(magic, "\177ELF", sizeof(magic));
	close(fd);
}

static void is_replaced_when_killed(void **state)
{
	pid_t first = opener_pid(opener);
	struct opener_counts counts;
	struct file_facts facts;
	int fd;

	(void)state;
	assert_int_equal(kill(first, SIGKILL), 0);
	fd = open_own_code(&facts);
	assert_true(fd >= 0);
	close(fd);
	assert_int_not_equal(opener_pid(opener), first);
	opener_counts(opener, &counts);
	assert_int_equal(counts.replaced, 1);
	assert_int_equal(counts.hangs, 0);
}

static void a_hang_ends_at_the_deadline(void **state)
{
	struct unwinding_file file = find_own_code();
	struct opener_counts counts;
	struct file_facts facts;
	u64 begin_ns, waited_ns;
	int maps_fd = -1, fd;

	(void)state;
	assert_int_equal(opener_process(opener, (u32)getpid(), &maps_fd), 0);
	close(maps_fd);
	assert_int_equal(opener_facts(opener, &file, 1, &facts), 0);
	assert_int_equal(kill(opener_pid(opener), SIGSTOP), 0);
	begin_ns = clock_now_ns();
	assert_int_equal(opener_mapped_file(opener, &file, &facts), -1);
	waited_ns = clock_now_ns() - begin_ns;
	assert_int_equal(facts.refusal, FILE_UNREACHABLE);
	assert_true(waited_ns >= OPENER_FIRST_MS * NS_PER_MS);
	assert_true(waited_ns < 2 * OPENER_PATIENCE_MS * NS_PER_MS);
	opener_counts(opener, &counts);
	assert_int_equal(counts.hangs, 1);
	assert_int_equal(opener_pid(opener), 0);

	/* Other calls go on, with another opener; that file system is left alone. */
	maps_fd = -1;
	assert_int_equal(opener_process(opener, (u32)getpid(), &maps_fd), 0);
	close(maps_fd);
	assert_int_equal(opener_facts(opener, &file, 1, &facts), 0);
	assert_int_equal(facts.refusal, FILE_TAKEN);
	begin_ns = clock_now_ns();
	fd = opener_mapped_file(opener, &file, &facts);
	assert_int_equal(fd, -1);
	assert_int_equal(facts.refusal, FILE_UNREACHABLE);
	opener_counts(opener, &counts);
	assert_int_equal(counts.hangs, 1);
}

/* A perf map that hangs is left alone for a while; all else of that process goes on. */
static void a_perf_map_that_hangs_is_left_alone(void **state)
{
	struct unwinding_file file = find_own_code();
	struct target_map map = {.fd = -1};
	struct opener_counts counts;
	struct file_facts facts;
	int maps_fd = -1;

	(void)state;
	assert_int_equal(opener_process(opener, (u32)getpid(), &maps_fd), 0);
	close(maps_fd);
	assert_int_equal(kill(opener_pid(opener), SIGSTOP), 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(opener_perf_map(opener, (u32)getpid(), &map), -EBUSY);
	assert_int_equal(map.fd, -1);
	opener_counts(opener, &counts);
	assert_int_equal(counts.hangs, 1);
	assert_int_equal(opener_process(opener, (u32)getpid(), &maps_fd), 0);
	close(maps_fd);
	assert_int_equal(opener_facts(opener, &file, 1, &facts), 0);
	assert_int_equal(facts.refusal, FILE_TAKEN);
}

static void facts_of_the_rest_come_after_a_hang(void **state)
{
	struct unwinding_file files[2] = {find_own_code(), find_own_code()};
	struct file_facts facts[2];
	int maps_fd = -1;

	(void)state;
	assert_int_equal(opener_process(opener, (u32)getpid(), &maps_fd), 0);
	close(maps_fd);
	assert_int_equal(kill(opener_pid(opener), SIGSTOP), 0);
	assert_int_equal(opener_facts(opener, files, 2, facts), 0);
	assert_int_equal(facts[0].refusal, FILE_UNREACHABLE);
	assert_int_equal(facts[1].refusal, FILE_TAKEN);
}

/* What is not mapped any more ends a request, and leaves no reply for the next one. */
static void a_refusal_leaves_no_reply(void **state)
{
	struct unwinding_file files[3] = {{0x1000, 0x2000}, find_own_code(), find_own_code()};
	struct file_facts facts[3];
	int maps_fd = -1;

	(void)state;
	for (int i = 0; i < 200; i++) {
		assert_int_equal(opener_process(opener, (u32)getpid(), &maps_fd), 0);
		assert_true(maps_fd >= 0);
		close(maps_fd);
		assert_int_equal(opener_facts(opener, files, 3, facts), -ESTALE);
		assert_int_equal(opener_facts(opener, files + 1, 2, facts), 0);
		assert_int_equal(facts[1].refusal, FILE_TAKEN);
	}
}

static void a_process_that_is_gone_is_told(void **state)
{
	int maps_fd = -1;

	(void)state;
	assert_int_equal(opener_process(opener, 0x7ffffff0, &maps_fd), -ENOENT);
	assert_int_equal(maps_fd, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(opens_a_mapped_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(is_replaced_when_killed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_hang_ends_at_the_deadline, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_perf_map_that_hangs_is_left_alone, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(facts_of_the_rest_come_after_a_hang, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_refusal_leaves_no_reply, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_process_that_is_gone_is_told, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
