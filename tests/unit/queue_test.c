// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/clock.h"
#include "../../src/model/queue.h"

static void size_is_checked(void **state)
{
	struct queue *queue;

	(void)state;
	assert_int_equal(queue_create(0, &queue), -EINVAL);
	assert_int_equal(queue_create(QUEUE_BYTES_MIN + 1, &queue), -EINVAL);
	assert_int_equal(queue_create(QUEUE_BYTES_MAX * 2ULL, &queue), -EINVAL);
	queue_destroy(NULL);
}

/* Records of all sizes, so that every way of meeting the ring's end occurs. */
static void what_goes_in_comes_out_in_order(void **state)
{
	char out[RECORD_SIZE_MAX];
	struct queue *queue;
	u64 pushed = 0, popped = 0;

	(void)state;
	assert_int_equal(queue_create(QUEUE_BYTES_MIN, &queue), 0);
	for (int round = 0; round < 2000; round++) {
		const void *data;
		size_t size;

		for (int i = 0; i < 7; i++) {
			size = 1 + (pushed * 37) % 999;
			memset(out, (int)(pushed & 0xff), size);
			if (!queue_push(queue, out, size, 1))
				break;
			pushed++;
		}
		for (int i = 0; i < 7 && queue_peek(queue, &data, &size); i++) {
			assert_int_equal(size, 1 + (popped * 37) % 999);
			memset(out, (int)(popped & 0xff), size);
			assert_memory_equal(data, out, size);
			queue_pop(queue, RECORD_OK, 2);
			popped++;
		}
	}
	assert_int_equal(pushed, popped);
	assert_int_equal(queue_pushed(queue), pushed);
	queue_destroy(queue);
}

static void full_queue_refuses_and_stays_whole(void **state)
{
	char record[1000] = {0};
	struct queue_outcome outcome;
	struct queue *queue;
	const void *data;
	size_t size, fitted = 0, seen = 0;

	(void)state;
	assert_int_equal(queue_create(QUEUE_BYTES_MIN, &queue), 0);
	while (queue_push(queue, record, sizeof(record), 1))
		fitted++;
	assert_true(fitted >= QUEUE_BYTES_MIN / 1024 - 1);
	assert_false(queue_push(queue, record, sizeof(record), 1));
	assert_true(queue_high_water(queue) <= queue_bytes(queue));
	while (queue_peek(queue, &data, &size)) {
		queue_pop(queue, seen % 2 ? RECORD_OK : RECORD_MALFORMED, 1001);
		seen++;
	}
	assert_int_equal(seen, fitted);
	queue_outcome(queue, &outcome);
	assert_int_equal(outcome.accepted + outcome.malformed, fitted);
	assert_int_equal(outcome.unknown, 0);
	assert_in_range(outcome.latency_p99_ns, 1000, 1280);
	queue_destroy(queue);
}

static void too_large_a_record_is_refused(void **state)
{
	static char record[RECORD_SIZE_MAX + 1];
	struct queue *queue;

	(void)state;
	assert_int_equal(queue_create(QUEUE_BYTES_MIN, &queue), 0);
	assert_true(queue_push(queue, record, RECORD_SIZE_MAX, 1));
	assert_false(queue_push(queue, record, RECORD_SIZE_MAX + 1, 1));
	queue_destroy(queue);
}

#define THREAD_RECORDS 200000

static void *produce(void *context)
{
	for (u64 i = 0; i < THREAD_RECORDS;)
		if (queue_push(context, &i, sizeof(i), 1))
			i++;
	return NULL;
}

static void two_threads_agree(void **state)
{
	struct queue *queue;
	pthread_t thread;

	(void)state;
	assert_int_equal(queue_create(QUEUE_BYTES_MIN, &queue), 0);
	assert_int_equal(pthread_create(&thread, NULL, produce, queue), 0);
	for (u64 expected = 0; expected < THREAD_RECORDS;) {
		const void *data;
		size_t size;
		u64 value;

		if (!queue_peek(queue, &data, &size))
			continue;
		memcpy(&value, data, sizeof(value));
		assert_int_equal(value, expected);
		queue_pop(queue, RECORD_OK, 1);
		expected++;
	}
	pthread_join(thread, NULL);
	queue_destroy(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(size_is_checked),
		cmocka_unit_test(what_goes_in_comes_out_in_order),
		cmocka_unit_test(full_queue_refuses_and_stays_whole),
		cmocka_unit_test(too_large_a_record_is_refused),
		cmocka_unit_test(two_threads_agree),
	};

	return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
