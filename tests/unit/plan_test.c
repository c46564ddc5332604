// SPDX-License-Identifier: Apache-2.0
/* Options become a plan: what is chosen, what a kernel cannot do, and how --dry-run prints it. */
#include <errno.h>

#include "../../src/engine/plan.h"
#include "../../src/model/signal.h"
#include "golden.h"

static const struct plan_facts new_kernel = {.has_task_storage = true, .cpus = 4};
static const struct plan_facts old_kernel = {.has_task_storage = false, .cpus = 4};
static char *command[] = {"make", NULL};
static struct plan plan; /* large */

static struct engine_options options_of(enum tier tier)
{
	return (struct engine_options){
		.tier = tier,
		.stacks = {.freq = 49, .min_block_ns = 1000000, .seed = 1},
		.alloc = {.interval = 1 << 19},
	};
}

static const struct probe *find(const char *program)
{
	for (size_t i = 0; i < plan.probes.count; i++)
		if (!strcmp(plan.probes.items[i].program, program))
			return &plan.probes.items[i];
	return NULL;
}

static void a_command_has_tier_b_and_no_past(void **state)
{
	struct engine_options options = options_of(TIER_DEFAULT);

	(void)state;
	options.command = command;
	assert_int_equal(plan_make(&options, &new_kernel, &plan), 0);
	assert_int_equal(plan.tier, TIER_B);
	assert_true(plan.config.split);
	assert_non_null(find("calls_enter"));
	assert_non_null(find("ledger_rows"));
	assert_null(find("ledger_seed")); /* it is not there before its exec */
	assert_null(find("sample_ask"));
	plan_follow(&plan, 4711);
	assert_int_equal(plan.config.filter_count, 1);
	assert_int_equal(plan.config.filters[0].kind, FILTER_BY_TREE);
	assert_int_equal(plan.config.filters[0].value[0], 4711);
}

static void the_host_has_tier_a_and_its_past(void **state)
{
	struct engine_options options = options_of(TIER_DEFAULT);

	(void)state;
	options.selection.all = true;
	options.overhead_limit = 0.05;
	assert_int_equal(plan_make(&options, &new_kernel, &plan), 0);
	assert_int_equal(plan.tier, TIER_A);
	assert_int_equal(plan.config.live.scope, SCOPE_ALL);
	assert_null(find("calls_enter"));
	assert_non_null(find("ledger_seed"));
	assert_int_equal(find("ledger_seed")->owner, SIG_LEDGER);
	assert_true(plan.overhead_limit > 0.04);
	assert_int_equal(plan.deferred[0].signal, 0);
}

static void a_kernel_without_task_storage_has_tier_a(void **state)
{
	struct engine_options options = options_of(TIER_DEFAULT);

	(void)state;
	options.command = command;
	assert_int_equal(plan_make(&options, &old_kernel, &plan), 0);
	assert_int_equal(plan.tier, TIER_A);
	assert_non_null(plan.tier_why);
	options.tier = TIER_B;
	assert_int_equal(plan_make(&options, &old_kernel, &plan), -EOPNOTSUPP);
	options.tier = TIER_DEFAULT;
	options.signals.chosen = 1ULL << SIG_SYSCALLS;
	assert_int_equal(plan_make(&options, &old_kernel, &plan), -EOPNOTSUPP);
}

static void what_is_not_asked_for_is_left_out(void **state)
{
	struct engine_options options = options_of(TIER_A);

	(void)state;
	options.selection.all = true;
	options.signals.chosen = 1ULL << SIG_ALLOC;
	assert_int_equal(plan_make(&options, &new_kernel, &plan), 0);
	assert_null(find("alloc_pages")); /* --kernel */
	assert_null(find("alloc_free"));  /* --live */
	assert_int_equal(plan.deferred[0].signal, SIG_ALLOC);
	assert_true(plan.is_for_all && !plan.is_forced);
	options.alloc.kernel_bytes = 1 << 16;
	options.alloc.live = options.alloc.force = true;
	options.overhead_limit = 0.01;
	assert_int_equal(plan_make(&options, &new_kernel, &plan), 0);
	assert_non_null(find("alloc_pages"));
	assert_non_null(find("alloc_free"));
	assert_true(plan.is_forced && plan.deferred[0].limit > 0.039); /* of one of 4 CPUs */
	options.stacks.is_off = true;
	assert_int_equal(plan_make(&options, &new_kernel, &plan), 0);
	assert_null(find("sample_fork"));
	assert_false(plan.has_stacks);
}

static void it_is_printed(void **state)
{
	static struct plan_outlook outlook = {
		.hooks =
			{
				{"ledger_switch", SIG_LEDGER, PLAN_ATTACHED, NULL,
				 "tp_btf/sched_switch", ""},
				{"ledger_switch_inlined", SIG_LEDGER, PLAN_NOT_NEEDED,
				 "ledger_switch", "", ""},
				{"ledger_data_ready", SIG_LEDGER, PLAN_REFUSED, NULL, "",
				 "this kernel has no such hook: no tracepoint sk_data_ready"},
				{"ledger_data_ready_kprobe", SIG_LEDGER, PLAN_IN_PLACE,
				 "ledger_data_ready", "kprobe/sock_def_readable", ""},
				{"ledger_rows", SIG_LEDGER, PLAN_ATTACHED, NULL,
				 "iterator, at the end of each window", ""},
				{"tcp_send", SIG_TCP, PLAN_ATTACHED, NULL, "fentry/tcp_sendmsg",
				 ""},
				{"tcp_send_kprobe", SIG_TCP, PLAN_IF_REFUSED, "tcp_send",
				 "kprobe/tcp_sendmsg", ""},
			},
		.hook_count = 7,
		.maps = {{"records", 8 << 20}, {"unwind_rows", 16 << 20}, {"pairs", 1000}},
		.map_count = 3,
		.thread_bytes = 10752,
	};
	struct engine_options options = options_of(TIER_DEFAULT);
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	options.command = command;
	options.signals.chosen = 1ULL << SIG_TCP;
	options.overhead_limit = 0.025;
	assert_int_equal(plan_make(&options, &old_kernel, &plan), 0);
	plan_print(&plan, &outlook, &options, out);
	fclose(out);
	reads_as_file("tests/golden/plan.txt", text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_has_tier_b_and_no_past),
		cmocka_unit_test(the_host_has_tier_a_and_its_past),
		cmocka_unit_test(a_kernel_without_task_storage_has_tier_a),
		cmocka_unit_test(what_is_not_asked_for_is_left_out),
		cmocka_unit_test(it_is_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
