// SPDX-License-Identifier: Apache-2.0
/* The process that starts others: what it says of a helper is true however short its life. */
#include "unit.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "../../src/base/socket.h"
#include "../../src/base/spawner.h"

#define HELPERS 300

static void end_at_once(int sock, void *context)
{
	(void)sock;
	(void)context;
}

static void say_hello(int sock, void *context)
{
	socket_send(sock, "hello", 5, -1);
	(void)context;
}

static const struct spawner_role roles[] = {{.run = end_at_once}, {.run = say_hello}};

static int start(void **state)
{
	return spawner_start(roles, 2, -1, (struct spawner **)state);
}

static int stop(void **state)
{
	spawner_stop(*state);
	return 0;
}

/* Its end is seen by its file descriptor, though it may be gone before it has one. */
static void helper_may_end_at_once(void **state)
{
	for (int i = 0; i < HELPERS; i++) {
		struct helper helper;
		struct pollfd ended;

		assert_int_equal(spawner_spawn(*state, 0, &helper), 0);
		ended = (struct pollfd){.fd = helper.pid_fd, .events = POLLIN};
		assert_int_equal(poll(&ended, 1, 5000), 1);
		helper_end(&helper, 0);
	}
}

static void last_words_arrive(void **state)
{
	char word[16];

	for (int i = 0; i < HELPERS; i++) {
		struct helper helper;

		assert_int_equal(spawner_spawn(*state, 1, &helper), 0);
		assert_int_equal(socket_receive(helper.sock, word, sizeof(word), NULL, 5000), 5);
		helper_end(&helper, 0);
	}
}

static int count_children(pid_t pid)
{
	char path[64];
	FILE *children;
	int count = 0, child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	children = fopen(path, "r");
	if (!children)
		return -1;
	while (fscanf(children, "%d", &child) == 1)
		count++;
	fclose(children);
	return count;
}

/* The last one may end after the spawner looked; none of them stays. */
static void no_zombie_stays(void **state)
{
	pid_t pid = spawner_pid(*state);
	int left = -1;

	if (count_children(pid) < 0)
		skip(); /* a kernel without this file */
	helper_may_end_at_once(state);
	for (int i = 0; i < 500 && left; i++) {
		usleep(10000);
		left = count_children(pid);
	}
	assert_int_equal(left, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(helper_may_end_at_once),
		TEST(last_words_arrive),
		TEST(no_zombie_stays),
	};

	return cmocka_run_group_tests_name("spawner", tests, NULL, NULL);
}
