// SPDX-License-Identifier: Apache-2.0
/*
 * Samples by the clock of a program that does something each hundredth of a second: whether they
 * meet it as often as it runs, wherever in time the first of them falls.
 */
#include "unit.h"

#include <math.h>

#include "../../src/model/probe.h"

#define EVERY_NS   10000000ULL
#define LENGTH_NS  180000ULL
#define SECOND_NS  1000000000ULL
#define BEGIN_STEP 250013ULL

/* The largest error of its share of the samples, over 40 moments at which sampling begins. */
static double worst_error(u64 period_ns, u64 seconds)
{
	u64 samples = seconds * SECOND_NS / period_ns;
	double truth = (double)samples * LENGTH_NS / EVERY_NS, worst = 0;

	for (u64 begin = 0; begin < 40; begin++) {
		u64 hits = 0;

		for (u64 i = 0; i < samples; i++)
			hits += (begin * BEGIN_STEP + i * period_ns) % EVERY_NS < LENGTH_NS;
		worst = fmax(worst, fabs((double)hits / truth - 1));
	}
	return worst;
}

static void a_periodic_program_is_met_as_often_as_it_runs(void **state)
{
	(void)state;
	assert_true(worst_error(probe_clock_period_ns(49), 20) < 0.10);
	assert_true(worst_error(probe_clock_period_ns(99), 20) < 0.07);
	assert_true(worst_error(probe_clock_period_ns(499), 20) < 0.05);
	/* What this is for: with a whole number of samples a second */
	assert_true(worst_error(SECOND_NS / 49, 20) > 0.99);
	assert_true(worst_error(SECOND_NS / 499, 20) > 0.10);
}

static void the_rate_is_the_one_that_was_asked_for(void **state)
{
	(void)state;
	for (u32 freq = 1; freq <= 10000; freq++) {
		double rate = (double)SECOND_NS / (double)probe_clock_period_ns(freq);

		assert_true(rate < freq + 1 && rate > freq * 0.989);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_periodic_program_is_met_as_often_as_it_runs),
		cmocka_unit_test(the_rate_is_the_one_that_was_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
