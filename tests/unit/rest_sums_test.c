// SPDX-License-Identifier: Apache-2.0
/*
 * Sums of processes whose threads' last words were lost: given back when the process has ended, and
 * not before its last sum was sent.
 */
#include "unit.h"

#include <string.h>
#include <unistd.h>

#include "../../src/engine/rest_sums.h"

#define DEAD_PID 4194305 /* no process has it */

static struct rest_sums sums;

/* What rest_sums_sent() does with the map's keys. */
static bool is_over(u64 tgid, u64 start_ns)
{
	const struct rest_sum_key key = {.start_ns = start_ns, .tgid = tgid};

	return rest_sums_is_over(&sums, &key);
}

static void next_look(void)
{
	memcpy(sums.dead, sums.dead_now, sizeof(sums.dead));
	sums.dead_count = sums.dead_now_count;
	sums.dead_now_count = 0;
}

static void sum_of_a_dead_process_goes_with_the_second_look(void **state)
{
	(void)state;
	assert_false(is_over(DEAD_PID, 7)); /* it may have ended after its sum was sent */
	assert_false(is_over((u64)getpid(), 8));
	next_look();
	assert_true(is_over(DEAD_PID, 7));
	assert_false(is_over(DEAD_PID, 9)); /* another one, of the same number */
	assert_false(is_over((u64)getpid(), 8));
	assert_false(is_over(0, 0)); /* nobody's */
	next_look();
	assert_false(is_over(0, 0));
}

static void more_dead_than_places_wait(void **state)
{
	(void)state;
	sums = (struct rest_sums){0};
	for (u64 i = 0; i < LEDGER_SUMS_MAX + 10; i++)
		assert_false(is_over(DEAD_PID, i));
	assert_int_equal(sums.dead_now_count, LEDGER_SUMS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sum_of_a_dead_process_goes_with_the_second_look),
		cmocka_unit_test(more_dead_than_places_wait),
	};

	return cmocka_run_group_tests_name("rest_sums", tests, NULL, NULL);
}
