// SPDX-License-Identifier: Apache-2.0
/*
 * dwell's own cost from bursts, on a made-up clock: whether what they say is what was spent in the
 * whole time, of programs that are busy in a part of each second only.
 */
#include "unit.h"

#include <fcntl.h>
#include <stdbool.h>

#include "../../src/base/clock.h"

#define clock_now_ns	fake_now_ns
#define cost_begin	fake_cost_begin
#define cost_read_probe fake_read_probe

static u64 now_ns, spent_ns, iterated_ns;
static bool is_on; /* the kernel's clock */

static u64 fake_now_ns(void)
{
	return now_ns;
}

#include "../../src/engine/bursts.c"

#define WINDOWS	       400
#define READ_OUT_NS    (60 * NS_PER_MS)
#define BUSY_NS	       (100 * NS_PER_MS) /* of each second, right after the read-out */
#define STEP_NS	       NS_PER_MS
#define BUSY_SHARE     5  /* one nanosecond in so many */
#define READ_OUT_SHARE 10 /* likewise, at hooks */
#define CALM_SHARE     100
#define ITERATOR       1 /* its place among the probes */

int fake_cost_begin(void)
{
	is_on = true;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void fake_read_probe(const struct capture *capture, size_t i, struct probe_cost *ret_cost)
{
	(void)capture;
	*ret_cost = (struct probe_cost){.ns = i == ITERATOR ? iterated_ns : spent_ns};
}

static void pass(const struct bursts *bursts, u64 ns, u64 share)
{
	now_ns += ns;
	if (bursts->stats_fd >= 0)
		spent_ns += ns / share;
}

/* One window: the read-out at its end takes time, in which programs and iterators run. */
static u64 run_window(struct bursts *bursts, u64 begin_ns, u64 *ret_true_ns)
{
	while (now_ns < begin_ns + NS_PER_S) {
		u64 share = now_ns < begin_ns + READ_OUT_NS + BUSY_NS ? BUSY_SHARE : CALM_SHARE;

		pass(bursts, STEP_NS, share);
		*ret_true_ns += STEP_NS / share;
		bursts_look(bursts);
	}
	bursts_read_out_begin(bursts);
	pass(bursts, READ_OUT_NS, READ_OUT_SHARE);
	if (bursts->stats_fd >= 0)
		iterated_ns += READ_OUT_NS / 2;
	bursts_read_out_end(bursts);
	*ret_true_ns += READ_OUT_NS / READ_OUT_SHARE;
	return bursts_hooks_ns(bursts, NS_PER_S);
}

static void bursts_say_what_was_spent(void **state)
{
	/* One program at two places is one; iterators are not of the hooks. */
	static const struct probe probes[] = {
		{.program = "x"},
		{.program = "rows", .kind = PROBE_ITER},
		{.program = "x"},
	};
	static struct bursts bursts;
	u64 begin_ns = 1000 * NS_PER_S, true_ns = 0;
	u64 measured = 0;
	double said_ns = 0;

	(void)state;
	now_ns = begin_ns;
	bursts = (struct bursts){.is_limited = true};
	bursts_open(&bursts, NULL, probes, sizeof(probes) / sizeof(probes[0]));
	bursts.random = 88172645463325252ULL;
	for (u64 window = 0; window < WINDOWS; window++) {
		u64 said = run_window(&bursts, begin_ns, &true_ns);

		said_ns += bursts.window_ns ? (double)said : 0;
		assert_int_equal(bursts.stats_fd, -1);
		measured += bursts.window_ns != 0;
		bursts_next_window(&bursts, NS_PER_S);
		begin_ns += NS_PER_S;
		bursts_plan(&bursts, window, begin_ns + NS_PER_S, false);
	}
	assert_true(is_on);
	assert_true(measured > WINDOWS / 10 * 9);
	said_ns *= (double)WINDOWS / (double)measured;
	assert_in_range((u64)said_ns, true_ns / 100 * 90, true_ns / 100 * 110);
}

/* Before a window that is judged the read-out is measured, and the time of others is not. */
static void some_windows_are_judged(void **state)
{
	static const struct probe probe = {.program = "x"};
	static struct bursts bursts;

	(void)state;
	bursts = (struct bursts){.is_limited = true};
	bursts_open(&bursts, NULL, &probe, 1);
	assert_true(bursts.is_judged);
	for (u64 window = 0; window < 16; window++) {
		bursts_plan(&bursts, window, now_ns + NS_PER_S, window == 5);
		assert_int_equal(bursts.is_judged, window == 5 || (window + 1) % 4 == 0);
	}
	bursts_end(&bursts);
}

/* A window that is over before it began has no bursts. */
static void a_late_window_has_no_bursts(void **state)
{
	static const struct probe probe = {.program = "x"};
	static struct bursts bursts;

	(void)state;
	bursts = (struct bursts){0};
	bursts_open(&bursts, NULL, &probe, 1);
	bursts_end(&bursts);
	bursts_plan(&bursts, 0, now_ns - NS_PER_S, false);
	bursts_look(&bursts);
	bursts_look(&bursts);
	assert_int_equal(bursts.stats_fd, -1);
	assert_true(bursts_due(&bursts) == ~0ULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bursts_say_what_was_spent),
		cmocka_unit_test(some_windows_are_judged),
		cmocka_unit_test(a_late_window_has_no_bursts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
