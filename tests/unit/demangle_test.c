// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../../src/symbolize/demangle.h"

static void names_are_as_people_write_them(void **state)
{
	static const char *const known[][2] = {
		{"main", "main"},
		{"", ""},
		{"_start", "_start"},
		{"_Zero", "_Zero"},
		{"_ZN3foo3barEi", "foo::bar(int)"},
		{"_Z3addIiEvT_", "add<int>(int)"},
		{"_ZN3foo3barEi.cold", "foo::bar(int) [clone .cold]"},
		{"_ZN3foo3barEi@plt", "foo::bar(int)@plt"},
		{"read@plt", "read@plt"},
		{"_ZNSt6vectorIiSaIiEE9push_backEOi",
		 "std::vector<int, std::allocator<int> >::push_back(int&&)"},
		{"_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE",
		 "core::fmt::Formatter::write_str"},
		{"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
		{"_RINvNtC3std3mem8align_ofjE", "std::mem::align_of::<usize>"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		char text[DEMANGLED_MAX];

		demangle(known[i][0], text, sizeof(text));
		assert_string_equal(text, known[i][1]);
	}
}

static void text_is_fit_to_be_shown(void **state)
{
	char text[DEMANGLED_MAX];

	(void)state;
	demangle("a\x1b[2Jb\xff\n", text, sizeof(text));
	assert_string_equal(text, "a\\x1b[2Jb\\xff\\x0a");
	demangle("_Z4a\x1b[Jv", text, sizeof(text));
	assert_null(strchr(text, '\x1b'));
	demangle("gr\xc3\xbc\xc3\x9f", text, sizeof(text));
	assert_string_equal(text, "gr\xc3\xbc\xc3\x9f");
}

static void text_is_cut_where_it_is_too_long(void **state)
{
	char name[5000], text[DEMANGLED_MAX], small[8];

	(void)state;
	demangle("_ZN3foo3barEi", small, sizeof(small));
	assert_string_equal(small, "foo::ba");
	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	demangle(name, text, sizeof(text));
	assert_int_equal(strlen(text), sizeof(text) - 1);
	memcpy(name, "_Z", 2); /* too long for the demangler: it is shown as it is */
	demangle(name, text, sizeof(text));
	assert_memory_equal(text, "_Zaaa", 5);
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* f(pair<int, int>, pair<of it, of it>, …): each twice as long as the one before. */
static void doubling_name_costs_little(void **state)
{
	char name[1024] = "_Z1fSt4pairIiiE", text[DEMANGLED_MAX];
	double begin = cpu_seconds();

	(void)state;
	for (size_t i = 0; i < 30; i++) {
		char digit = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i];
		size_t length = strlen(name);

		snprintf(name + length, sizeof(name) - length, "S_IS%c_S%c_E", digit, digit);
	}
	demangle(name, text, sizeof(text));
	assert_int_equal(strlen(text), sizeof(text) - 1);
	assert_memory_equal(text, "f(std::pair<int, int>", 21);
	assert_true(cpu_seconds() - begin < 0.5);
}

static void doubling_rust_name_costs_little(void **state)
{
	/* f::<(u8, u8), (of it, of it), …>: B and a number go back to where a type was. */
	char name[1024] = "_RINvC1a1fThhE", text[DEMANGLED_MAX];
	double begin = cpu_seconds();
	size_t last = strlen("INvC1a1f");

	(void)state;
	for (size_t i = 0; i < 40; i++) {
		static const char digits[] =
			"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
		size_t length = strlen(name), number = last - 1;
		char back[8];

		if (number < 62)
			snprintf(back, sizeof(back), "B%c_", digits[number]);
		else
			snprintf(back, sizeof(back), "B%c%c_", digits[number / 62],
				 digits[number % 62]);
		last = length - 2;
		snprintf(name + length, sizeof(name) - length, "T%s%sE", back, back);
	}
	strcat(name, "E");
	demangle(name, text, sizeof(text));
	assert_memory_equal(text, "a::f::<(u8, u8), (", 18);
	assert_true(cpu_seconds() - begin < 0.5);
}

static void nested_conversions_cost_little(void **state)
{
	char name[1024] = "_ZN1Acv", text[DEMANGLED_MAX];
	double begin = cpu_seconds();

	(void)state;
	for (size_t i = 0; i < 60; i++)
		strcat(name, "T_I");
	demangle(name, text, sizeof(text));
	assert_string_equal(text, name);
	assert_true(cpu_seconds() - begin < 0.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_as_people_write_them),
		cmocka_unit_test(text_is_fit_to_be_shown),
		cmocka_unit_test(text_is_cut_where_it_is_too_long),
		cmocka_unit_test(doubling_name_costs_little),
		cmocka_unit_test(doubling_rust_name_costs_little),
		cmocka_unit_test(nested_conversions_cost_little),
	};

	return cmocka_run_group_tests_name("demangle", tests, NULL, NULL);
}
