// SPDX-License-Identifier: Apache-2.0
/* What is said of locks: by made-up numbers, at both sides of each bound. */
#include "unit.h"

#include <string.h>

#include "../../abi/locks.h"
#include "../../signals/locks/judge.h"
#include "../../src/base/clock.h"

#define ROWS_MAX 8

struct made {
	struct series_row rows[ROWS_MAX];
	const struct series_row *list[ROWS_MAX];
	struct series_set set;
	struct remarks remarks;
};

static void add_row(struct made *made, u8 kind, u64 count, u64 value)
{
	struct series_row *row = &made->rows[made->set.count];

	row->key = (struct series_key){.tgid = 7, .kind = kind, .object = 5};
	row->object_name = "a_lock";
	row->process = "program (7)";
	for (u64 i = 0; i < count; i++)
		hist_add(&row->hist, value);
	made->list[made->set.count++] = row;
	made->set.rows = made->list;
}

static bool says(const struct made *made, const char *text)
{
	for (size_t i = 0; i < made->remarks.count; i++)
		if (strstr(made->remarks.text[i], text))
			return true;
	return false;
}

static void judge(struct made *made)
{
	made->set.span_ns = NS_PER_S;
	locks_judge(&made->set, &made->remarks);
}

static void long_hold_has_few_long_waits(void **state)
{
	static struct made made;

	(void)state;
	add_row(&made, LOCKS_WAIT, 200, 5 * NS_PER_MS);
	add_row(&made, LOCKS_WAITER, 2, 1);
	add_row(&made, LOCKS_HELD, 200, 5 * NS_PER_MS);
	judge(&made);
	assert_true(says(&made, "its holders ran for 100 % of the 1.00 s that they held it while "
				"others waited: do less while it is held"));
	assert_true(says(&made, "a_lock in program (7): a long hold: 2 threads waited 200 times"));
	assert_true(says(&made, "1 % of the waits for 5.00 ms or more"));
	assert_false(says(&made, "convoy"));
}

static void convoy_has_many_short_waits(void **state)
{
	static struct made made;

	(void)state;
	add_row(&made, LOCKS_WAIT, 8000, 250000);
	add_row(&made, LOCKS_WAITER, 8, 1);
	judge(&made);
	assert_true(says(&made, "a convoy: 8 threads waited 8,000 times"));
	assert_false(says(&made, "long hold"));
}

static void busy_lock_of_two_threads_is_neither(void **state)
{
	static struct made made;

	(void)state;
	add_row(&made, LOCKS_WAIT, 8000, 250000);
	add_row(&made, LOCKS_WAITER, 2, 1);
	judge(&made);
	assert_int_equal(made.remarks.count, 0);
}

static void holder_without_a_cpu_is_told(void **state)
{
	static struct made made;

	(void)state;
	add_row(&made, LOCKS_WAIT, 20, 10 * NS_PER_MS);
	add_row(&made, LOCKS_HELD, 20, 10 * NS_PER_MS);
	add_row(&made, LOCKS_HELD_QUEUE, 20, 83 * NS_PER_MS / 10);
	judge(&made);
	assert_true(says(&made,
			 "its holders waited for a CPU for 83 % of the 200 ms that they held it "
			 "while others waited"));
	assert_false(says(&made, "were blocked"));
	assert_false(says(&made, "do less"));
}

static void holder_that_waits_is_told(void **state)
{
	static struct made made;

	(void)state;
	add_row(&made, LOCKS_FILE_WAIT, 20, 10 * NS_PER_MS);
	add_row(&made, LOCKS_HELD, 20, 10 * NS_PER_MS);
	add_row(&made, LOCKS_HELD_BLOCK, 20, 9 * NS_PER_MS);
	judge(&made);
	assert_true(
		says(&made, "its holders were blocked for 90 % of the 200 ms that they held it"));
	assert_false(says(&made, "waited for a CPU"));
}

/* One that is hardly waited for, others without a place, and herds that are few. */
static void little_is_not_worth_a_word(void **state)
{
	static struct made made;

	(void)state;
	add_row(&made, LOCKS_WAIT, 200, 3000);
	add_row(&made, LOCKS_BROADCAST, 3, 6);
	add_row(&made, LOCKS_WAIT, 200, 5 * NS_PER_MS);
	made.rows[2].key.object = SERIES_OTHER;
	judge(&made);
	assert_int_equal(made.remarks.count, 0);
}

static void herds_are_named(void **state)
{
	static struct made made;

	(void)state;
	add_row(&made, LOCKS_BROADCAST, 20, 6);
	judge(&made);
	assert_true(says(&made, "20 broadcasts woke 6.0 threads each on average, up to 6"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_hold_has_few_long_waits),
		cmocka_unit_test(convoy_has_many_short_waits),
		cmocka_unit_test(busy_lock_of_two_threads_is_neither),
		cmocka_unit_test(holder_without_a_cpu_is_told),
		cmocka_unit_test(holder_that_waits_is_told),
		cmocka_unit_test(little_is_not_worth_a_word),
		cmocka_unit_test(herds_are_named),
	};

	return cmocka_run_group_tests_name("locks", tests, NULL, NULL);
}
