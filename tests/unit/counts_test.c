// SPDX-License-Identifier: Apache-2.0
/* What became of records, by counts of which one side is not trusted. */
#include "unit.h"

#include "../../src/capture/hotplug.h"
#include "../../src/capture/internal.h"

static struct queue *filled(size_t pushed, size_t popped)
{
	char record[64] = {0};
	struct queue *queue;
	const void *data;
	size_t size;

	assert_int_equal(queue_create(QUEUE_BYTES_MIN, &queue), 0);
	for (size_t i = 0; i < pushed; i++)
		assert_true(queue_push(queue, record, sizeof(record), 1));
	for (size_t i = 0; i < popped; i++) {
		assert_true(queue_peek(queue, &data, &size));
		queue_pop(queue, RECORD_OK, 2);
	}
	return queue;
}

static void what_the_worker_did_is_counted(void **state)
{
	struct capture capture = {.detached = true};
	struct health health;

	(void)state;
	capture.config.queue = filled(5, 3);
	assert_int_equal(capture_health(&capture, &health), 0);
	assert_int_equal(health.processed, 3);
	assert_int_equal(health.lost[LOSS_QUEUE_REST], 2);
	queue_destroy(capture.config.queue);
}

/* As when more is pushed between the two readings, or when the worker lies. */
static void counts_that_cannot_be_are_held_to_what_can(void **state)
{
	struct capture capture = {.detached = true, .pushed_before = 2};
	struct health health;

	(void)state;
	capture.config.queue = filled(5, 5);
	assert_int_equal(capture_health(&capture, &health), 0);
	assert_int_equal(health.processed, 3);
	assert_int_equal(health.lost[LOSS_QUEUE_REST], 0);
	queue_destroy(capture.config.queue);
}

static void only_a_cpu_that_came_online_is_one(void **state)
{
	(void)state;
	assert_int_equal(hotplug_parse("online@/devices/system/cpu/cpu12"), 12);
	assert_int_equal(hotplug_parse("online@/devices/system/cpu/cpu0"), 0);
	assert_int_equal(hotplug_parse("offline@/devices/system/cpu/cpu1"), -1);
	assert_int_equal(hotplug_parse("online@/devices/system/cpu/cpu"), -1);
	assert_int_equal(hotplug_parse("online@/devices/system/cpu/cpufreq"), -1);
	assert_int_equal(hotplug_parse("online@/devices/system/memory/memory3"), -1);
	assert_int_equal(hotplug_parse(""), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_worker_did_is_counted),
		cmocka_unit_test(counts_that_cannot_be_are_held_to_what_can),
		cmocka_unit_test(only_a_cpu_that_came_online_is_one),
	};

	return cmocka_run_group_tests_name("counts", tests, NULL, NULL);
}
