// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "../../src/base/text.h"

static void number_takes_digits_only(void **state)
{
	static const char *const bad[] = {"",	 " 1",	"1 ", "+1", "-1",
					  "0x1", "1.5", "1,", "١",  "1\n"};
	u64 value;

	(void)state;
	assert_int_equal(text_parse_u64("0", 0, 10, &value), 0);
	assert_int_equal(value, 0);
	assert_int_equal(text_parse_u64("18446744073709551615", 0, ~0ULL, &value), 0);
	assert_true(value == ~0ULL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(text_parse_u64(bad[i], 0, 100, &value), -EINVAL);
}

static void number_out_of_range_is_refused(void **state)
{
	u64 value = 7;

	(void)state;
	assert_int_equal(text_parse_u64("0", 1, 10, &value), -ERANGE);
	assert_int_equal(text_parse_u64("11", 1, 10, &value), -ERANGE);
	assert_int_equal(text_parse_u64("18446744073709551616", 0, ~0ULL, &value), -ERANGE);
	assert_int_equal(value, 7);
}

static void size_may_have_a_unit(void **state)
{
	static const char *const bad[] = {"", "K", "1k", "1KB", "1 K", "-1", "1.5M", "0x1", "1T"};
	u64 bytes = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(text_parse_size(bad[i], 0, ~0ULL, &bytes), -EINVAL);
	assert_int_equal(text_parse_size("0", 1, 10, &bytes), -ERANGE);
	assert_int_equal(text_parse_size("1K", 1, 1023, &bytes), -ERANGE);
	assert_int_equal(text_parse_size("18446744073709551615G", 0, ~0ULL, &bytes), -ERANGE);
	assert_int_equal(bytes, 7);
	assert_int_equal(text_parse_size("4096", 1, 4096, &bytes), 0);
	assert_int_equal(bytes, 4096);
	assert_int_equal(text_parse_size("3M", 1, ~0ULL, &bytes), 0);
	assert_int_equal(bytes, 3 << 20);
	assert_int_equal(text_parse_size("2G", 1, ~0ULL, &bytes), 0);
	assert_int_equal(bytes, 2ULL << 30);
}

static void duration_has_a_unit(void **state)
{
	static const char *const bad[] = {"",	  "1",	  "ms",	  "1 ms", "-1ms", "1.ms",
					  ".5s",  "1msx", "0x1s", "1d",	  "1e3s", "1.2.3s",
					  "1h5m", "1,5s", "infs", "1.-5s"};
	u64 ns = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(text_parse_duration(bad[i], 0, ~0ULL, &ns), -EINVAL);
	assert_int_equal(text_parse_duration("0s", 1, 10, &ns), -ERANGE);
	assert_int_equal(text_parse_duration("11ns", 1, 10, &ns), -ERANGE);
	assert_int_equal(text_parse_duration("18446744073709551615s", 0, ~0ULL, &ns), -ERANGE);
	assert_int_equal(text_parse_duration("18446744073709551616ns", 0, ~0ULL, &ns), -ERANGE);
	assert_int_equal(ns, 7);
	assert_int_equal(text_parse_duration("10ns", 1, 10, &ns), 0);
	assert_int_equal(ns, 10);
	assert_int_equal(text_parse_duration("100us", 1, ~0ULL, &ns), 0);
	assert_int_equal(ns, 100000);
	assert_int_equal(text_parse_duration("1ms", 1, ~0ULL, &ns), 0);
	assert_int_equal(ns, 1000000);
	assert_int_equal(text_parse_duration("2s", 1, ~0ULL, &ns), 0);
	assert_int_equal(ns, 2000000000);
}

static void times_are_understood(void **state)
{
	static const struct {
		const char *text;
		u64 ns;
	} rows[] = {
		{"1m", 60 * 1000000000ULL},
		{"90s", 90 * 1000000000ULL},
		{"500ms", 500 * 1000000ULL},
		{"2h", 7200 * 1000000000ULL},
		{"3min", 180 * 1000000000ULL},
		{"1.5s", 1500000000},
		{"0.25m", 15 * 1000000000ULL},
		{"1.5ns", 1},
		{"0.000000001s", 1},
		{"0.1234567891s", 123456789},
		{"1.5h", 5400 * 1000000000ULL},
	};
	u64 ns = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(text_parse_duration(rows[i].text, 0, ~0ULL, &ns), 0);
		assert_true(ns == rows[i].ns);
		assert_int_equal(text_parse_seconds(rows[i].text, 0, ~0ULL, &ns), 0);
		assert_true(ns == rows[i].ns);
	}
	assert_int_equal(text_parse_seconds("10", 1, ~0ULL, &ns), 0);
	assert_true(ns == 10000000000);
	assert_int_equal(text_parse_seconds("1.5", 1, ~0ULL, &ns), 0);
	assert_true(ns == 1500000000);
	assert_int_equal(text_parse_seconds("0", 1, ~0ULL, &ns), -ERANGE);
	assert_int_equal(text_parse_seconds("", 1, ~0ULL, &ns), -EINVAL);
	assert_int_equal(text_parse_seconds("6000000000h", 0, ~0ULL, &ns), -ERANGE);
}

static void list_is_bounded(void **state)
{
	u32 values[3];
	size_t count;

	(void)state;
	assert_int_equal(text_parse_list("1,2,3", 1, 9, values, 3, &count), 0);
	assert_int_equal(count, 3);
	assert_int_equal(values[2], 3);
	assert_int_equal(text_parse_list("1,2,3,4", 1, 9, values, 3, &count), -E2BIG);
	assert_int_equal(text_parse_list("1,,3", 1, 9, values, 3, &count), -EINVAL);
	assert_int_equal(text_parse_list("", 1, 9, values, 3, &count), -EINVAL);
	assert_int_equal(text_parse_list("1,all", 1, 9, values, 3, &count), -EINVAL);
}

static void symbol_has_no_strange_characters(void **state)
{
	char longest[SYMBOL_LENGTH_MAX + 2];

	(void)state;
	memset(longest, 'a', sizeof(longest));
	longest[SYMBOL_LENGTH_MAX] = '\0';
	assert_true(text_is_symbol(longest));
	longest[SYMBOL_LENGTH_MAX] = 'a';
	longest[SYMBOL_LENGTH_MAX + 1] = '\0';
	assert_false(text_is_symbol(longest));
	assert_true(text_is_symbol("std::vector<int>::push_back"));
	assert_true(text_is_symbol("do_sys_open.isra.0"));
	assert_false(text_is_symbol(""));
	assert_false(text_is_symbol("a b"));
	assert_false(text_is_symbol("../../etc"));
	assert_false(text_is_symbol("x\n"));
}

static void file_is_read_up_to_its_bound(void **state)
{
	char small[5], text[64];
	s64 number;

	(void)state;
	assert_int_equal(text_read_file("/proc/version", small, sizeof(small)), 4);
	assert_string_equal(small, "Linu");
	assert_int_equal(text_read_file("/nowhere", text, sizeof(text)), -ENOENT);
	assert_int_equal(text_read_number("/proc/version", &number), -EINVAL);
	assert_int_equal(text_read_number("/proc/sys/kernel/pid_max", &number), 0);
	assert_true(number > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(number_takes_digits_only),
		cmocka_unit_test(number_out_of_range_is_refused),
		cmocka_unit_test(size_may_have_a_unit),
		cmocka_unit_test(duration_has_a_unit),
		cmocka_unit_test(times_are_understood),
		cmocka_unit_test(list_is_bounded),
		cmocka_unit_test(symbol_has_no_strange_characters),
		cmocka_unit_test(file_is_read_up_to_its_bound),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
