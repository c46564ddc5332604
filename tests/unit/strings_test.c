// SPDX-License-Identifier: Apache-2.0
#include "../../src/base/strings.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

static void texts_are_kept_once(void **state)
{
	struct strings strings;
	char text[16];

	(void)state;
	strings_init(&strings, 1 << 20);
	assert_string_equal(strings_get(&strings, 0), "");
	for (u32 round = 0; round < 2; round++)
		for (u32 i = 0; i < 5000; i++) {
			snprintf(text, sizeof(text), "text %u", i);
			assert_int_equal(strings_add(&strings, text), i + 1); /* 0 is "" */
		}
	assert_int_equal(strings_add(&strings, ""), 0);
	assert_int_equal(strings.count, 5001);
	assert_string_equal(strings_get(&strings, 4243), "text 4242");
	assert_string_equal(strings_get(&strings, 5001), "");
	assert_string_equal(strings_get(&strings, STRINGS_NONE), "");
	strings_free(&strings);
}

static void what_is_too_much_is_refused(void **state)
{
	struct strings strings;

	(void)state;
	strings_init(&strings, 10); /* "", "abc", "defg": 1 + 4 + 5 bytes */
	assert_int_equal(strings_add(&strings, "abc"), 1);
	assert_int_equal(strings_add(&strings, "defgh"), STRINGS_NONE);
	assert_int_equal(strings_add(&strings, "defg"), 2);
	assert_int_equal(strings_add(&strings, "x"), STRINGS_NONE);
	assert_int_equal(strings_add(&strings, "abc"), 1);
	strings_free(&strings);
	strings_init(&strings, 0);
	assert_int_equal(strings_add(&strings, "x"), STRINGS_NONE);
	strings_free(&strings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_kept_once),
		cmocka_unit_test(what_is_too_much_is_refused),
	};

	return cmocka_run_group_tests_name("strings", tests, NULL, NULL);
}
