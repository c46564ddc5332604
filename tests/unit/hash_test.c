// SPDX-License-Identifier: Apache-2.0
#include <asm/unistd.h>
#include <string.h>

#include "../../abi/records.h"
#include "../../src/base/cleanup.h"
#include "../../src/base/hash.h"
#include "../../src/base/number_map.h"
#include "../../src/base/utf8.h"
#include "../../src/model/syscall.h"
#include "unit.h"

struct item {
	u64 key;
	u64 value;
};

static void items_are_found_by_their_key(void **state)
{
	struct hash hash;

	(void)state;
	hash_init(&hash, sizeof(struct item), sizeof(u64), 10000);
	assert_null(hash_find(&hash, &(u64){1}));
	for (u64 i = 0; i < 10000; i++) {
		u64 key = i * 4096;
		struct item *item = hash_add(&hash, &key);

		assert_non_null(item);
		assert_true(item->key == key && item->value == 0);
		item->value = i;
	}
	assert_null(hash_add(&hash, &(u64){1})); /* more than max */
	for (u64 i = 0; i < 10000; i++) {
		u64 key = i * 4096;
		struct item *item = hash_add(&hash, &key);

		assert_true(item && item->value == i && item == hash_item(&hash, i));
	}
	assert_null(hash_find(&hash, &(u64){1}));
	assert_int_equal(hash.count, 10000);
	hash_free(&hash);
}

static void cleared_hash_is_as_new(void **state)
{
	struct hash hash;

	(void)state;
	hash_init(&hash, sizeof(struct item), sizeof(u64), 100);
	hash_clear(&hash); /* before it has any memory */
	for (u64 round = 0; round < 3; round++) {
		for (u64 key = round; key < round + 100; key++) {
			struct item *item = hash_add(&hash, &key);

			assert_true(item && item->value == 0);
			item->value = 1;
		}
		hash_clear(&hash);
		assert_int_equal(hash.count, 0);
		assert_null(hash_find(&hash, &(u64){50}));
	}
	hash_free(&hash);
}

static bool is_third(const void *item, const void *context)
{
	return *(const u64 *)item % 3 == *(const u64 *)context;
}

static void what_is_not_retained_is_gone(void **state)
{
	const u64 rest = 1;
	struct hash hash;

	(void)state;
	hash_init(&hash, 2 * sizeof(u64), sizeof(u64), 300);
	for (u64 key = 0; key < 300; key++)
		((u64 *)hash_add(&hash, &key))[1] = key * 7;
	hash_retain(&hash, is_third, &rest);
	assert_int_equal(hash.count, 100);
	for (u64 key = 0; key < 300; key++) {
		const u64 *item = hash_find(&hash, &key);

		assert_int_equal(item != NULL, key % 3 == rest);
		if (item)
			assert_int_equal(item[1], key * 7);
	}
	for (u64 i = 1; i < hash.count; i++) /* in their order */
		assert_true(*(u64 *)hash_item(&hash, i) > *(u64 *)hash_item(&hash, i - 1));
	for (u64 key = 300; key < 500; key++)
		assert_non_null(hash_add(&hash, &key));
	assert_null(hash_add(&hash, &(u64){1000}));
	hash_free(&hash);
}

static void keys_may_have_any_length(void **state)
{
	struct hash hash;

	(void)state;
	hash_init(&hash, 16, 11, 100);
	for (char c = 'a'; c <= 'z'; c++) {
		char key[11] = "0123456789";

		key[10] = c;
		((char *)hash_add(&hash, key))[15] = c;
	}
	assert_int_equal(((char *)hash_find(&hash, "0123456789q"))[15], 'q');
	assert_null(hash_find(&hash, "0123456789!"));
	hash_free(&hash);
}

static void numbers_come_and_go(void **state)
{
	static char things[500];
	struct number_map map;
	u32 next = 1;

	(void)state;
	assert_int_equal(number_map_init(&map, 100), 0);
	assert_null(number_map_find(&map, 1));
	for (u32 turn = 0; turn < 20000; turn++) {
		u32 number = (next = next * 1103515245 + 12345) >> 8 & 255;

		if (number_map_find(&map, number))
			assert_ptr_equal(number_map_remove(&map, number), &things[number]);
		else if (number_map_set(&map, number, &things[number]))
			assert_int_equal(map.count, 100);
		for (u32 i = 0; i < map.count; i++)
			assert_ptr_equal(number_map_find(&map, map.items[i].number),
					 &things[map.items[i].number]);
	}
	assert_null(number_map_remove(&map, 1000));
	number_map_free(&map);
}

static void foreign_text_becomes_valid(void **state)
{
	static const struct {
		const char *from, *expect;
	} rows[] = {
		{"plain", "plain"},
		{"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
		{"\xff", "\xef\xbf\xbd"},
		{"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},		  /* overlong */
		{"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* surrogate */
		{"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"cut\xe2\x82", "cut\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
	};
	char to[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		utf8_copy(to, sizeof(to), rows[i].from, strlen(rows[i].from));
		assert_string_equal(to, rows[i].expect);
	}
	utf8_copy(to, 6, "abcd\xe2\x82\xac", 7); /* no half character */
	assert_string_equal(to, "abcd");
	utf8_copy(to, 8, "abcd\xe2\x82\xac", 7);
	assert_string_equal(to, "abcd\xe2\x82\xac");
	utf8_copy(to, sizeof(to), "ab\0cd", 5);
	assert_string_equal(to, "ab");
}

static void terminals_are_not_spoken_to(void **state)
{
	char to[64];

	(void)state;
	utf8_escape(to, sizeof(to), "a\033[31m\n\x7f\xc2\x9b\xe2\x80\xae z");
	assert_string_equal(to, "a\\x1b[31m\\x0a\\x7f\\x9b\\u202e z");
	utf8_escape(to, 6, "abcd\033");
	assert_string_equal(to, "abcd");
	assert_int_equal(utf8_columns("gr\xc3\xbc\xc3\x9f"), 4);
}

static void system_calls_have_names(void **state)
{
	(void)state;
	assert_string_equal(syscall_name(0), "");
	assert_string_equal(syscall_name(1 + __NR_openat), "openat");
	assert_string_equal(syscall_name(1 + __NR_futex), "futex");
	assert_string_equal(syscall_name(1 + 9999), "syscall 9999");
	assert_string_equal(syscall_name((1 + 9999) | CALL_COMPAT), "32-bit syscall 9999");
#ifdef __x86_64__
	assert_string_equal(syscall_name((1 + 3) | CALL_COMPAT), "read");
	assert_string_equal(syscall_name(1 + 3), "close");
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_are_found_by_their_key),
		cmocka_unit_test(cleared_hash_is_as_new),
		cmocka_unit_test(what_is_not_retained_is_gone),
		cmocka_unit_test(keys_may_have_any_length),
		cmocka_unit_test(numbers_come_and_go),
		cmocka_unit_test(foreign_text_becomes_valid),
		cmocka_unit_test(terminals_are_not_spoken_to),
		cmocka_unit_test(system_calls_have_names),
	};

	return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
