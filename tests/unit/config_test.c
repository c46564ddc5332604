// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include <errno.h>

#include "../../abi/unwind.h"
#include "../../src/capture/capture.h"

static const struct probe probe = {.program = "canary_tp_btf"};
static const struct filter_key one_pid = {FILTER_BY_PID, {1}};

/* Never used as a queue: only that there is one is checked. */
static struct queue *some_queue(void)
{
	return (struct queue *)&one_pid;
}

static struct capture_config good(void)
{
	struct capture_config config = {
		.probes = &probe,
		.probe_count = 1,
		.ring_bytes = RING_BYTES_MIN,
		.queue = some_queue(),
	};

	capture_live_defaults(&config.live);
	return config;
}

static int check(const struct capture_config *config)
{
	char complaint[160] = "";
	int err = capture_config_check(config, complaint, sizeof(complaint));

	assert_true((err == 0) == (complaint[0] == '\0'));
	return err;
}

static void defaults_are_good_and_measure_nothing(void **state)
{
	struct capture_config config = good();

	(void)state;
	assert_int_equal(check(&config), 0);
	assert_int_equal(config.live.scope, SCOPE_NONE);
}

static void sizes_are_checked(void **state)
{
	static const u32 bad[] = {0, 1, 4096, RING_BYTES_MIN + 1, RING_BYTES_MAX * 2u, ~0u};
	struct capture_config config = good();

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		config.ring_bytes = bad[i];
		assert_int_equal(check(&config), -ERANGE);
	}
	config = good();
	config.unwind_rows = UNWIND_ROWS_LEAST - 1;
	assert_int_equal(check(&config), -ERANGE);
	config.unwind_rows = UNWIND_ROWS_MOST + 1;
	assert_int_equal(check(&config), -ERANGE);
	config.unwind_rows = UNWIND_ROWS_LEAST;
	assert_int_equal(check(&config), 0);
	config = good();
	config.probe_count = 0;
	assert_int_equal(check(&config), -E2BIG);
	config.probe_count = CAPTURE_PROBES_MAX + 1;
	assert_int_equal(check(&config), -E2BIG);
}

static void filters_and_scope_go_together(void **state)
{
	struct capture_config config = good();

	(void)state;
	config.live.scope = SCOPE_LISTED;
	assert_int_equal(check(&config), -EINVAL);
	config.filters = &one_pid;
	config.filter_count = 1;
	assert_int_equal(check(&config), 0);
	config.live.scope = SCOPE_ALL;
	assert_int_equal(check(&config), -EINVAL);
	config.live.scope = SCOPE_LISTED;
	config.filter_count = FILTERS_MAX + 1;
	assert_int_equal(check(&config), -E2BIG);
}

static void filters_are_checked(void **state)
{
	static const struct {
		struct filter_key filter;
		int err;
	} rows[] = {
		{{FILTER_BY_PID, {0}}, -ERANGE},
		{{FILTER_BY_TID, {PID_LIMIT + 1}}, -ERANGE},
		{{FILTER_BY_TREE, {0}}, -ERANGE},
		{{FILTER_BY_TREE, {PID_LIMIT}}, 0},
		{{FILTER_BY_PID, {1, 1}}, -ERANGE},
		{{FILTER_BY_UID, {0}}, 0},
		{{FILTER_BY_UID, {U32_LIMIT + 1}}, -ERANGE},
		{{FILTER_BY_COMM, {'a'}}, 0},
		{{FILTER_BY_COMM, {0}}, -ERANGE},
		{{FILTER_BY_COMM, {'a', ~0ULL}}, -ERANGE}, /* not ended by NUL */
		{{FILTER_BY_EXE, {0, 1}}, -ERANGE},
		{{FILTER_BY_CGROUP, {1, 0}}, 0},
		{{FILTER_BY_CGROUP, {1, U32_LIMIT + 1}}, -ERANGE},
		{{FILTER_KIND_COUNT, {1}}, -EINVAL},
	};
	struct capture_config config = good();

	(void)state;
	config.live.scope = SCOPE_LISTED;
	config.filter_count = 1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		config.filters = &rows[i].filter;
		assert_int_equal(check(&config), rows[i].err);
	}
}

static void live_knobs_are_checked(void **state)
{
	struct capture_config config = good();

	(void)state;
	config.live.scope = SCOPE_LISTED + 1;
	assert_int_equal(check(&config), -ERANGE);
	config = good();
	config.live.sample_one_in = 0;
	assert_int_equal(check(&config), -ERANGE);
	config.live.sample_one_in = 1000001;
	assert_int_equal(check(&config), -ERANGE);
}

static void probes_are_checked(void **state)
{
	const struct {
		struct probe probe;
		int err;
	} rows[] = {
		{{.program = ""}, -EINVAL},
		{{.program = "a b"}, -EINVAL},
		{{.program = "x", .function = "f;g"}, -EINVAL},
		{{.program = "x", .source = "no_such_object"}, -EINVAL},
		{{.program = "x", .kind = PROBE_PERF}, -EINVAL},
		{{.program = "x", .kind = PROBE_PERF, .perf_freq = 10001}, -ERANGE},
		{{.program = "x", .kind = PROBE_PERF, .perf_freq = 10000}, 0},
		{{.program = "x", .called_by = "y"}, -EINVAL},
		{{.program = "x", .called_by = "y", .call_array = "z"}, 0},
		{{.program = "x", .pid = -1}, -ERANGE},
		{{.program = "x", .pid = PID_LIMIT + 1}, -ERANGE},
	};
	struct capture_config config = good();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		config.probes = &rows[i].probe;
		assert_int_equal(check(&config), rows[i].err);
	}
}

static void fallbacks_come_after_what_they_replace(void **state)
{
	struct probe probes[] = {{.program = "x"}, {.program = "y", .fallback_of = "x"}};
	struct capture_config config = good();

	(void)state;
	config.probes = probes;
	config.probe_count = 2;
	assert_int_equal(check(&config), 0);
	probes[1].fallback_of = "y";
	assert_int_equal(check(&config), -EINVAL);
	probes[1].fallback_of = NULL;
	probes[0].fallback_of = "y";
	assert_int_equal(check(&config), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_good_and_measure_nothing),
		cmocka_unit_test(sizes_are_checked),
		cmocka_unit_test(filters_and_scope_go_together),
		cmocka_unit_test(filters_are_checked),
		cmocka_unit_test(live_knobs_are_checked),
		cmocka_unit_test(probes_are_checked),
		cmocka_unit_test(fallbacks_come_after_what_they_replace),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
