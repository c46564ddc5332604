// SPDX-License-Identifier: Apache-2.0
/*
 * Processes that wait to be looked at: whoever comes, goes, or is asked for meanwhile.
 */
#include "unit.h"

#include <stdlib.h>

#include "../../src/base/clock.h"
#include "../../src/engine/process_list.h"

#define FOR_EVER (~0ULL)

static struct process_list *list;
static u32 looks;

static int start(void **state)
{
	(void)state;
	looks = 0;
	list = calloc(1, sizeof(*list));
	return list ? process_list_init(list) : -1;
}

static int stop(void **state)
{
	(void)state;
	process_list_free(list);
	free(list);
	return 0;
}

static struct process *want(u32 tgid)
{
	struct process *process = process_list_get(list, tgid);

	assert_non_null(process);
	process_list_want(list, process, clock_now_ns());
	return process;
}

/* As when it execs each time that it is looked at. */
static bool wants_again(void *context, struct process *process, u64 until_ns)
{
	(void)context;
	(void)until_ns;
	looks++;
	process_list_want_at(list, process, FOR_EVER - 1);
	return true;
}

static void a_full_list_stays_within_its_bounds(void **state)
{
	(void)state;
	for (u32 i = 1; i <= PROCESS_LIST_MAX; i++)
		want(i);
	assert_null(process_list_get(list, PROCESS_LIST_MAX + 1));
	assert_int_equal(list->refused, 1);
	process_list_look(list, FOR_EVER, wants_again, NULL);
	assert_int_equal(looks, PROCESS_LIST_MAX);
	assert_int_equal(list->waiting_count, PROCESS_LIST_MAX);
	assert_int_equal(list->refused, 1);
}

/* Not done, and asked for meanwhile: it stands in the list once, or it would be freed twice. */
static bool is_not_done(void *context, struct process *process, u64 until_ns)
{
	(void)context;
	(void)until_ns;
	if (!looks++) {
		process_list_want(list, process, clock_now_ns());
		return false;
	}
	process_list_remove(list, process);
	return true;
}

static void one_that_is_not_done_waits_once(void **state)
{
	(void)state;
	want(7);
	process_list_look(list, FOR_EVER, is_not_done, NULL);
	assert_int_equal(looks, 2);
	assert_int_equal(list->waiting_count, 0);
	assert_null(process_list_find(list, 7));
}

static void who_costs_much_is_looked_at_less_often(void **state)
{
	struct process *cheap = process_list_get(list, 1), *dear = process_list_get(list, 2);
	u64 begin_ns = clock_now_ns();

	(void)state;
	for (int i = 0; i < 12; i++) {
		process_list_done(cheap, begin_ns, begin_ns + 1000);
		process_list_done(dear, begin_ns, begin_ns + 50 * NS_PER_MS);
	}
	process_list_want(list, cheap, begin_ns);
	process_list_want(list, dear, begin_ns);
	assert_true(cheap->due_ns < begin_ns + 200 * NS_PER_MS);
	assert_true(dear->due_ns > begin_ns + 500 * NS_PER_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_full_list_stays_within_its_bounds, start, stop),
		cmocka_unit_test_setup_teardown(one_that_is_not_done_waits_once, start, stop),
		cmocka_unit_test_setup_teardown(who_costs_much_is_looked_at_less_often, start,
						stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
