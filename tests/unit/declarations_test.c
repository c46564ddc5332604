// SPDX-License-Identifier: Apache-2.0
/* What signals declare of themselves fits together: the engine relies on it and asks no further. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "../../src/capture/capture.h"
#include "../../src/model/signal.h"

#define EACH_SIGNAL(signal, id)                                                                    \
	for (int id = 1; id < SIGNAL_LIMIT; id++)                                                  \
		for (const struct signal *signal = signal_rows[id].signal; signal; signal = NULL)

#define EACH_PROBE(probe, signal)                                                                  \
	for (const struct probe *probe = (signal)->probes;                                         \
	     probe && probe < (signal)->probes + (signal)->probe_count; probe++)

static void an_iterator_says_when_it_runs(void **state)
{
	size_t seen[RUN_AFTER_SWITCH + 1] = {0};

	(void)state;
	EACH_SIGNAL(signal, id)
	EACH_PROBE(probe, signal)
	{
		assert_int_equal(probe->kind == PROBE_ITER, probe->run != RUN_ON_DEMAND);
		seen[probe->run]++;
		if (probe->run == RUN_AFTER_SWITCH)
			assert_int_equal(signal->role, ROLE_SPLIT);
	}
	for (int run = RUN_BEFORE_START; run <= RUN_AFTER_SWITCH; run++)
		assert_true(seen[run]);
}

static void roles_are_filled(void **state)
{
	int split = signal_with_role(ROLE_SPLIT, 1), stacks = signal_with_role(ROLE_STACKS, 1);

	(void)state;
	assert_true(signal_with_role(ROLE_BASE, 1));
	assert_true(split && !signal_with_role(ROLE_SPLIT, split + 1));
	assert_true(stacks && !signal_with_role(ROLE_STACKS, stacks + 1));
	EACH_SIGNAL(signal, id)
	EACH_PROBE(probe, signal)
	if (probe->yields_first)
		assert_int_equal(signal->role, ROLE_STACKS);
}

/* The canary is the doctor's, and no part of a measurement. */
static void what_is_measured_has_a_price(void **state)
{
	(void)state;
	EACH_SIGNAL(signal, id)
	if (signal->probe_count && id != SIG_CANARY) {
		const char *price = signal->view ? signal->view->price : signal->price;

		assert_non_null(price);
		assert_true(price[0]);
	}
}

/* What does not fit into the list is left out: nothing of what can be chosen may be. */
static void all_probes_fit_into_a_measurement(void **state)
{
	size_t count = 0;

	(void)state;
	EACH_SIGNAL(signal, id)
	count += signal->probe_count;
	if (count > CAPTURE_PROBES_MAX)
		fail_msg("%zu probes, and place for %d", count, CAPTURE_PROBES_MAX);
}

static void rates_are_live_knobs(void **state)
{
	size_t count = 0;

	(void)state;
	EACH_SIGNAL(signal, id)
	for (size_t i = 0; i < signal->rate_count; i++, count++) {
		assert_true(signal->rates[i].knob < sizeof(struct live_config));
		assert_int_equal(signal->rates[i].knob % sizeof(u64), 0);
	}
	assert_true(count > 4);
}

static void deferred_probes_have_one_owner(void **state)
{
	size_t owners = 0;

	(void)state;
	EACH_SIGNAL(signal, id)
	{
		owners += signal->deferred != NULL;
		EACH_PROBE(probe, signal)
		{
			if (!probe->is_deferred)
				continue;
			assert_non_null(signal->deferred);
			assert_true(probe->cookie < DEFERRED_FUNCTIONS_MAX);
			/* A return probe crashes a Go program. */
			assert_true(!probe->is_go || probe->kind == PROBE_UPROBE);
			assert_true(!probe->at_returns || probe->kind == PROBE_UPROBE);
		}
	}
	assert_int_equal(owners, 2); /* PLAN_DEFERRED_MAX */
}

static void a_map_fits_one_form_of_storage(void **state)
{
	(void)state;
	assert_true(signal_map_fits_storage("ledger_tasks", true));
	assert_false(signal_map_fits_storage("ledger_tasks", false));
	assert_false(signal_map_fits_storage("ledger_pids", true));
	assert_true(signal_map_fits_storage("ledger_pids", false));
	assert_true(signal_map_fits_storage("records", true));
	assert_true(signal_map_fits_storage("records", false));
}

static void an_allocator_says_who_calls_malloc(void **state)
{
	const struct deferred_kind *kind = signal_alloc.deferred;
	int musl = 0, jemalloc = 0;

	(void)state;
	while (strcmp(kind->libraries[musl], "ld-musl-") != 0)
		musl++;
	while (strcmp(kind->libraries[jemalloc], "libjemalloc") != 0)
		jemalloc++;
	/* In an executable as in the C library; a linked-in allocator has names of its own. */
	assert_true(kind->cookie(-1, "calloc", 1) == 1);
	assert_true(kind->cookie(-1, "je_calloc", 1) == (1 | 0x100));
	assert_true(kind->cookie(jemalloc, "calloc", 1) == (1 | 0x100));
	/* There calloc calls malloc: it would be counted twice. */
	assert_true(kind->cookie(musl, "malloc", kind->main_cookie) == kind->main_cookie);
	assert_true(kind->cookie(musl, "calloc", 1) == DEFERRED_NO_PROBE);
}

/* What has the same names is probed; what is probed costs something. */
static void a_tls_library_is_one_by_its_name(void **state)
{
	const struct deferred_kind *kind = signal_requests.deferred;
	bool has_openssl = false;

	(void)state;
	for (size_t i = 0; kind->libraries[i]; i++)
		has_openssl |= !strcmp(kind->libraries[i], "libssl.so");
	assert_true(has_openssl && kind->is_part);
	assert_true(kind->cookie(0, "SSL_read", kind->main_cookie) == kind->main_cookie);
	assert_true(kind->cookie(-1, "SSL_write_ex", 4) == 4); /* linked into a program */
	assert_true(kind->program_ns > 0 && kind->limit > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_iterator_says_when_it_runs),
		cmocka_unit_test(roles_are_filled),
		cmocka_unit_test(what_is_measured_has_a_price),
		cmocka_unit_test(all_probes_fit_into_a_measurement),
		cmocka_unit_test(rates_are_live_knobs),
		cmocka_unit_test(deferred_probes_have_one_owner),
		cmocka_unit_test(a_map_fits_one_form_of_storage),
		cmocka_unit_test(an_allocator_says_who_calls_malloc),
		cmocka_unit_test(a_tls_library_is_one_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
