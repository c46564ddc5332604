// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include <stdlib.h>

#include "../../src/model/health.h"
#include "../../src/model/record.h"
#include "../../src/model/signal.h"

static struct rec_canary good(void)
{
	return (struct rec_canary){
		.hdr = {.type = SIG_CANARY,
			.version = SIG_VERSION_CANARY,
			.size = sizeof(struct rec_canary),
			.ts_ns = 1,
			.seq = 1},
	};
}

static enum record_verdict verdict(const struct rec_canary *record, size_t size)
{
	const struct rec_hdr *hdr = NULL;
	enum record_verdict found = record_check(record, size, &hdr);

	assert_true((found == RECORD_OK) == (hdr != NULL));
	return found;
}

static void good_record_is_taken(void **state)
{
	struct rec_canary record = good();

	(void)state;
	assert_int_equal(verdict(&record, sizeof(record)), RECORD_OK);
}

static void impossible_record_is_malformed(void **state)
{
	struct rec_canary record = good();

	(void)state;
	for (size_t size = 0; size < sizeof(record); size++)
		assert_int_equal(verdict(&record, size), RECORD_MALFORMED);
	record.hdr.size = sizeof(record) - 8; /* what it says of itself is not its signal's size */
	assert_int_equal(verdict(&record, sizeof(record) - 8), RECORD_MALFORMED);
	record = good();
	record.hdr.ts_ns = 0;
	assert_int_equal(verdict(&record, sizeof(record)), RECORD_MALFORMED);
	record = good();
	record.hdr.seq = 0;
	assert_int_equal(verdict(&record, sizeof(record)), RECORD_MALFORMED);
}

static void foreign_record_is_unknown(void **state)
{
	struct rec_canary record = good();

	(void)state;
	record.hdr.type = 0;
	assert_int_equal(verdict(&record, sizeof(record)), RECORD_UNKNOWN);
	record.hdr.type = 0xffff;
	assert_int_equal(verdict(&record, sizeof(record)), RECORD_UNKNOWN);
	record = good();
	record.hdr.version++;
	assert_int_equal(verdict(&record, sizeof(record)), RECORD_UNKNOWN);
}

static void records_sort_by_cpu_time_and_sequence(void **state)
{
	struct rec_hdr records[] = {
		{.cpu = 1, .ts_ns = 1, .seq = 1},
		{.cpu = 0, .ts_ns = 5, .seq = 3},
		{.cpu = 0, .ts_ns = 5, .seq = 2},
		{.cpu = 0, .ts_ns = 4, .seq = 9},
	};

	(void)state;
	qsort(records, 4, sizeof(records[0]), record_compare);
	assert_int_equal(records[0].seq, 9);
	assert_int_equal(records[1].seq, 2);
	assert_int_equal(records[2].seq, 3);
	assert_int_equal(records[3].cpu, 1);
}

static void every_row_has_its_signal(void **state)
{
	(void)state;
	assert_null(signal_rows[0].signal);
	assert_non_null(signal_rows[SIG_CANARY].signal);
	assert_string_equal(signal_rows[SIG_CANARY].name, "canary");
	assert_int_equal(signal_rows[SIG_CANARY].record_size, sizeof(struct rec_canary));
}

static void health_balances(void **state)
{
	struct health health = {.sent = 100, .processed = 60, .coalesced = 10};

	(void)state;
	for (int i = 0; i < LOSS_COUNT; i++) {
		assert_non_null(loss_names[i]);
		assert_non_null(loss_meanings[i]);
		health.lost[i] = 5;
	}
	assert_int_equal(health_lost(&health), 5 * LOSS_COUNT);
	assert_int_equal(health_imbalance(&health), 30 - 5 * LOSS_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_record_is_taken),
		cmocka_unit_test(impossible_record_is_malformed),
		cmocka_unit_test(foreign_record_is_unknown),
		cmocka_unit_test(records_sort_by_cpu_time_and_sequence),
		cmocka_unit_test(every_row_has_its_signal),
		cmocka_unit_test(health_balances),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
