// SPDX-License-Identifier: Apache-2.0
/* A stream into memory has all that was written, or says that it has not. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "../../src/base/memory_stream.h"
#include "unit.h"

#define NUMBERS 100000

static void all_of_it_is_there(void **state)
{
	struct memory_stream stream;
	const char *at;

	(void)state;
	assert_int_equal(memory_stream_open(&stream), 0);
	for (int i = 0; i < NUMBERS; i++)
		fprintf(stream.out, "%06d", i);
	assert_int_equal(memory_stream_end(&stream), 0);
	assert_true(stream.size == NUMBERS * 6 && strlen(stream.text) == stream.size);
	at = stream.text;
	for (int i = 0; i < NUMBERS; i++, at += 6) {
		char number[8];

		snprintf(number, sizeof(number), "%06d", i);
		assert_memory_equal(at, number, 6);
	}
	memory_stream_free(&stream);
}

static void nothing_written_is_an_empty_text(void **state)
{
	struct memory_stream stream;

	(void)state;
	assert_int_equal(memory_stream_open(&stream), 0);
	assert_int_equal(memory_stream_end(&stream), 0);
	assert_string_equal(stream.text, "");
	memory_stream_free(&stream);
}

/* It cannot grow once, and could again later: what is missing is not forgotten. */
static void a_gap_is_an_error(void **state)
{
	struct memory_stream stream;
	struct memory_stream before;

	(void)state;
	assert_int_equal(memory_stream_open(&stream), 0);
	before = stream;
	stream.size = stream.room = SIZE_MAX - 1;
	fputs("lost", stream.out);
	fflush(stream.out);
	stream.size = before.size;
	stream.room = before.room;
	fputs("kept", stream.out);
	fflush(stream.out);
	assert_int_equal(memory_stream_end(&stream), -ENOMEM);
	assert_null(stream.text);
	memory_stream_free(&stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_is_there),
		cmocka_unit_test(nothing_written_is_an_empty_text),
		cmocka_unit_test(a_gap_is_an_error),
	};

	return cmocka_run_group_tests_name("memory_stream", tests, NULL, NULL);
}
