// SPDX-License-Identifier: Apache-2.0
/*
 * Header blocks of HTTP/2: the examples of RFC 7541, appendix C, with the sizes of the table that
 * it gives; what is not known is not said; and no bytes do harm.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "../../abi/records.h"
#include "../../signals/requests/hpack_names.h"
#include "requests_protocol.h"

static struct hpack_table table;
static struct hpack_fields fields;
static u8 block[512];

static struct bytes hex(const char *text)
{
	size_t length = 0;

	for (; *text; text++) {
		static const char digits[] = "0123456789abcdef";
		size_t digit = (size_t)(strchr(digits, *text) - digits);

		if (*text == ' ')
			continue;
		if (length % 2)
			block[length / 2] = (u8)(block[length / 2] | digit);
		else
			block[length / 2] = (u8)(digit << 4);
		length++;
	}
	return (struct bytes){block, length / 2};
}

static int start(void **state)
{
	(void)state;
	hpack_open(&table);
	return 0;
}

static void assert_field(u32 name, const char *value)
{
	const struct hpack_text *text = &fields.of[name];

	assert_int_equal(text->is_there, value != NULL);
	if (!value)
		return;
	assert_int_equal(text->length, strlen(value));
	assert_memory_equal(text->bytes, value, strlen(value));
}

/* The next block: what is in it, and what the table has become. */
static void add(const char *text, u32 size, u32 entries)
{
	struct bytes bytes = hex(text);

	hpack_add(&table, table.blocks + 1, bytes);
	assert_false(table.is_lost);
	assert_int_equal(table.size, size);
	assert_int_equal(table.inserted - table.evicted, entries);
	hpack_read(&table, table.blocks, bytes, false, &fields);
}

static void requests_of_the_standard(void **state)
{
	(void)state;
	add("8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", 57, 1);
	assert_field(HPACK_METHOD, "GET");
	assert_field(HPACK_PATH, "/");
	add("8286 84be 5808 6e6f 2d63 6163 6865", 110, 2);
	assert_field(HPACK_PATH, "/");
	add("8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65", 164, 3);
	assert_field(HPACK_PATH, "/index.html");
}

static void requests_in_huffman_code(void **state)
{
	(void)state;
	add("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", 57, 1);
	add("8286 84be 5886 a8eb 1064 9cbf", 110, 2);
	add("8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf", 164, 3);
	assert_field(HPACK_METHOD, "GET");
	assert_field(HPACK_PATH, "/index.html");
}

/* The table has 256 bytes: entries leave it. */
static void answers_of_the_standard(void **state)
{
	(void)state;
	table.limit = 256;
	add("4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 "
	    "303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 "
	    "6f6d",
	    222, 4);
	assert_field(HPACK_STATUS, "302");
	add("4803 3330 37c1 c0bf", 222, 4);
	assert_field(HPACK_STATUS, "307");
	add("88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 "
	    "5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 "
	    "5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31",
	    215, 3);
	assert_field(HPACK_STATUS, "200");
}

static void answers_in_huffman_code(void **state)
{
	(void)state;
	table.limit = 256;
	add("4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b "
	    "ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
	    222, 4);
	assert_field(HPACK_STATUS, "302");
	add("4883 640e ffc1 c0bf", 222, 4);
	assert_field(HPACK_STATUS, "307");
	add("88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad "
	    "94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 "
	    "65c0 03ed 4ee5 b106 3d50 07",
	    215, 3);
}

/* ":path /a" as a literal that is inserted; then by its index, while others are inserted. */
static void a_block_is_read_by_the_table_that_it_had(void **state)
{
	(void)state;
	hpack_add(&table, 1, hex("44 02 2f61"));
	hpack_add(&table, 2, hex("44 02 2f62"));
	hpack_read(&table, 1, hex("82be"), false, &fields);
	assert_field(HPACK_PATH, "/a");
	hpack_read(&table, 2, hex("82be"), false, &fields);
	assert_field(HPACK_PATH, "/b");
	hpack_read(&table, 2, hex("82bf"), false, &fields);
	assert_field(HPACK_PATH, "/a");
}

static void what_is_not_known_is_not_said(void **state)
{
	struct request_text text;

	(void)state;
	hpack_add(&table, 1, hex("44 02 2f61"));
	hpack_read(NULL, 1, hex("82be"), false, &fields);
	assert_field(HPACK_METHOD, "GET");
	assert_field(HPACK_PATH, NULL);
	assert_false(hpack_name_request(&fields, &text));
	assert_string_equal(text.endpoint, "(h2, unnamed)");
	hpack_read(&table, REQUEST_BLOCK_NOT_KNOWN, hex("82be"), false, &fields);
	assert_field(HPACK_PATH, NULL);
	hpack_read(&table, 2, hex("82be"), false, &fields); /* a block that is not there yet */
	assert_field(HPACK_PATH, NULL);
	hpack_read(&table, 1, hex("82be"), true, &fields); /* what follows may change the table */
	assert_field(HPACK_PATH, NULL);
	hpack_read(&table, 0, hex("82be"), false, &fields); /* before anything was inserted */
	assert_field(HPACK_PATH, NULL);
	hpack_add(&table, 3, hex("44 02 2f62")); /* one is missing */
	assert_true(table.is_lost);
}

/* More of them than it is known of how the table was. */
static void old_blocks_are_forgotten(void **state)
{
	(void)state;
	hpack_add(&table, 1, hex("44 02 2f61"));
	for (u32 i = 2; i <= 100; i++)
		hpack_add(&table, i, hex("44 02 2f62"));
	hpack_read(&table, 1, hex("82be"), false, &fields);
	assert_field(HPACK_PATH, "/a");
	for (u32 i = 101; i <= HPACK_BLOCKS + 1; i++)
		hpack_add(&table, i, hex("44 02 2f62"));
	hpack_read(&table, 1, hex("82be"), false, &fields);
	assert_field(HPACK_PATH, NULL);
	hpack_read(&table, HPACK_BLOCKS, hex("82be"), false, &fields);
	assert_field(HPACK_PATH, "/b");
	assert_false(table.is_lost);
}

static void limits_of_a_table(void **state)
{
	(void)state;
	hpack_add(&table, 1, hex("44 02 2f61"));
	hpack_add(&table, 2, hex("20 82")); /* none: everything leaves it */
	assert_int_equal(table.size, 0);
	hpack_read(&table, 2, hex("44 02 2f63"), false, &fields);
	hpack_add(&table, 3, hex("be"));
	assert_true(table.is_lost); /* there is no such entry */
	hpack_open(&table);
	hpack_add(&table, 1, hex("3f e2 1f")); /* 4097 */
	assert_true(table.is_lost);
	hpack_open(&table);
	hpack_add(&table, 1, hex("3f e1 1f")); /* 4096 */
	assert_false(table.is_lost);
	assert_int_equal(table.limit, 4096);
}

/* --- names --- */

/* method and path as literals */
static size_t put(const char *method, const char *path, const char *type)
{
	const struct {
		u8 first;
		const char *value;
	} parts[] = {{0x02, method}, {0x04, path}, {0x0f, type}};
	size_t at = 0;

	for (size_t i = 0; i < 3; i++) {
		size_t length = parts[i].value ? strlen(parts[i].value) : 0;

		if (!parts[i].value)
			continue;
		block[at++] = parts[i].first;
		if (parts[i].first == 0x0f)
			block[at++] = 31 - 15;
		block[at++] = (u8)length;
		memcpy(block + at, parts[i].value, length);
		at += length;
	}
	return at;
}

static void assert_name(const char *method, const char *path, const char *type, const char *name)
{
	struct request_text text;

	hpack_read(NULL, REQUEST_BLOCK_NOT_KNOWN, (struct bytes){block, put(method, path, type)},
		   false, &fields);
	hpack_name_request(&fields, &text);
	assert_string_equal(text.endpoint, name);
}

static void names_of_requests(void **state)
{
	(void)state;
	assert_name("GET", "/users/42/orders?q=" SECRET, NULL, "GET /users/:id/orders");
	assert_name("OPTIONS", "*", NULL, "OPTIONS *");
	assert_name("POST", "/grpc.health.v1.Health/Check", "application/grpc",
		    "POST /grpc.health.v1.Health/Check");
	assert_name("POST", "/com.example.inventory.v1.InventoryService/AddItem", NULL,
		    "POST /com.example.inventory.v1.InventoryService/AddItem");
	assert_name("GET", "/com.example.inventory.v1.InventoryService/AddItem", NULL,
		    "GET /:id/AddItem");
	assert_name("POST", "/a.b.c1234567890123456789012/x", NULL, "POST /:id/x");
	assert_name("GET", "nothing", NULL, "(h2, unnamed)");
	assert_name("get", "/", NULL, "(h2, unnamed)");
	assert_name("GET", NULL, NULL, "(h2, unnamed)");
}

static struct answer_text answer_of(const char *head, const char *last, bool is_rpc)
{
	struct hpack_fields request, answer, trailer;
	struct answer_text text;

	hpack_read(NULL, 0, (struct bytes){block, put("POST", is_rpc ? "/a.B/C" : "/", NULL)},
		   false, &request);
	hpack_read(NULL, 0, hex(head), false, &answer);
	hpack_read(NULL, 0, hex(last), false, &trailer);
	hpack_name_answer(&request, &answer, &trailer, &text);
	return text;
}

#define GRPC_TYPE   "5f 10 6170706c69636174696f6e2f67727063"
#define GRPC_STATUS "40 0b 677270632d737461747573 "

static void statuses_of_answers(void **state)
{
	struct answer_text text;

	(void)state;
	text = answer_of("88", "", false);
	assert_string_equal(text.status, "200");
	assert_false(text.is_error);
	text = answer_of("48 03 353033", "", false);
	assert_string_equal(text.status, "503");
	assert_true(text.is_error);
	text = answer_of("08 03 313033", "8d", false); /* 103, and then 404 */
	assert_string_equal(text.status, "404");
	text = answer_of("08 03 313033", "", false);
	assert_string_equal(text.status, "");
	text = answer_of("be", "", false);
	assert_string_equal(text.status, "");
	text = answer_of("88" GRPC_TYPE, GRPC_STATUS "01 30", true);
	assert_string_equal(text.status, "grpc 0");
	assert_false(text.is_error);
	text = answer_of("88", GRPC_STATUS "02 3134", false);
	assert_string_equal(text.status, "grpc 14");
	assert_true(text.is_error);
	text = answer_of("88", "bf", true); /* 200 says nothing of an RPC */
	assert_string_equal(text.status, "");
	text = answer_of("88", "bf", false);
	assert_string_equal(text.status, "200");
}

/* --- an enemy's bytes --- */

static void no_bytes_do_harm(void **state)
{
	(void)state;
	srand(1);
	for (int round = 0; round < 200000; round++) {
		size_t length = (size_t)rand() % 40;
		struct request_text text;
		u8 *bytes = malloc(length ? length : 1);

		for (size_t i = 0; i < length; i++)
			bytes[i] = (u8)(rand() % 3 ? rand()
						   : "\x82\x84\x44\x40\xbe\x7f\x3f"[rand() % 7]);
		hpack_add(&table, table.blocks + 1, (struct bytes){bytes, length});
		hpack_read(&table, table.blocks, (struct bytes){bytes, length}, rand() % 2,
			   &fields);
		hpack_name_request(&fields, &text);
		assert_harmless(text.endpoint, sizeof(text.endpoint));
		assert_true(table.size <= table.limit);
		assert_true(table.inserted - table.evicted <= HPACK_ENTRIES / 2);
		if (table.is_lost && rand() % 8 == 0)
			hpack_open(&table);
		else
			table.is_lost = false;
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(requests_of_the_standard, start),
		cmocka_unit_test_setup(requests_in_huffman_code, start),
		cmocka_unit_test_setup(answers_of_the_standard, start),
		cmocka_unit_test_setup(answers_in_huffman_code, start),
		cmocka_unit_test_setup(a_block_is_read_by_the_table_that_it_had, start),
		cmocka_unit_test_setup(what_is_not_known_is_not_said, start),
		cmocka_unit_test_setup(old_blocks_are_forgotten, start),
		cmocka_unit_test_setup(limits_of_a_table, start),
		cmocka_unit_test_setup(names_of_requests, start),
		cmocka_unit_test_setup(statuses_of_answers, start),
		cmocka_unit_test_setup(no_bytes_do_harm, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
