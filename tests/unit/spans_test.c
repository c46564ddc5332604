// SPDX-License-Identifier: Apache-2.0
/*
 * Ranges are sorted whatever order they come in: by address up to some point, as the kernel tells
 * its functions, with many names for one address, or none of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../src/symbolize/spans.h"

#define COUNT 2000

/*
 * In front they come by address; behind, from `first` up in no order; each address `aliases` times,
 * and so far from the next.
 */
static void fill(struct spans *spans, size_t front, u64 first, u32 aliases, u64 distance)
{
	spans_init(spans, COUNT, 1u << 20);
	for (size_t i = 0; i < COUNT; i++) {
		struct span span = {.size = 1, .order = (u32)rand() % 3};
		char name[16];
		u64 place = i < front ? i : first + (u64)rand() % COUNT;

		span.begin = 0x1000 + place / aliases * distance;
		snprintf(name, sizeof(name), "f%d", rand() % 1000);
		assert_int_equal(spans_add(spans, span, name, strlen(name)), 0);
	}
}

static bool is_before(const struct spans *spans, const struct span *a, const struct span *b)
{
	if (a->begin != b->begin)
		return a->begin < b->begin;
	if (a->order != b->order)
		return a->order > b->order;
	return strcmp(spans_name(spans, a), spans_name(spans, b)) <= 0;
}

static u64 sum(const struct spans *spans)
{
	u64 all = 0;

	for (size_t i = 0; i < spans->count; i++)
		all += spans->items[i].begin * 31 + spans->items[i].name;
	return all;
}

static void any_order_is_sorted(void **state)
{
	static const size_t fronts[] = {0, 1, COUNT / 2, COUNT - 20, COUNT};
	static const u64 firsts[] = {0, COUNT / 4, 3 * COUNT};
	static const u32 aliases[] = {1, 3, 200};
	static const u64 distances[] = {1, 0xfff, 0x8000000000001}; /* up to the last bits */

	(void)state;
	for (size_t i = 0; i < 5 * 3 * 3 * 3; i++) {
		struct spans spans;
		u64 before;

		fill(&spans, fronts[i % 5], firsts[i / 5 % 3], aliases[i / 15 % 3],
		     distances[i / 45]);
		before = sum(&spans);
		spans_sort(&spans);
		assert_int_equal(spans.count, COUNT);
		assert_true(sum(&spans) == before);
		for (size_t k = 1; k < COUNT; k++)
			assert_true(is_before(&spans, &spans.items[k - 1], &spans.items[k]));
		spans_free(&spans);
	}
}

static void none_are_sorted(void **state)
{
	struct spans spans;

	(void)state;
	spans_init(&spans, COUNT, 1u << 20);
	spans_sort(&spans);
	assert_int_equal(spans.count, 0);
	spans_free(&spans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order_is_sorted),
		cmocka_unit_test(none_are_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
