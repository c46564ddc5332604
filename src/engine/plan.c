// SPDX-License-Identifier: Apache-2.0
#include "plan.h"

#include <errno.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/log.h"
#include "../model/signal.h"

void plan_facts_read(struct plan_facts *ret_facts)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	*ret_facts = (struct plan_facts){
		.has_task_storage = capture_has_task_storage(),
		.cpus = cpus > 0 ? (u32)cpus : 1,
	};
}

static int choose_tier(const struct engine_options *options, const struct plan_facts *facts,
		       struct plan *plan)
{
	const char *demanding = probes_demanding(options);

	plan->tier = options->tier;
	if (options->tier == TIER_DEFAULT)
		plan->tier = options->command || demanding ? TIER_B : TIER_A;
	if (options->tier == TIER_A && demanding) {
		log_error("-s %s is measured by Tier B's hooks: leave out --tier A, or the signal",
			  demanding);
		return -EOPNOTSUPP;
	}
	if (plan->tier == TIER_A || facts->has_task_storage)
		return 0;
	if (options->tier == TIER_B || demanding) {
		log_error("cannot measure with %s%s: this kernel has no task storage for BPF, "
			  "which came with 5.12 → %s, or use a newer kernel",
			  demanding ? "-s " : "--tier B", demanding ? demanding : "",
			  demanding ? "leave out the signal" : "use --tier A");
		return -EOPNOTSUPP;
	}
	plan->tier = TIER_A;
	plan->tier_why = "this kernel has no task storage for BPF, which Tier B needs";
	return 0;
}

static void choose_stacks(const struct stack_options *stacks, struct capture_config *config)
{
	config->seed = stacks->seed;
	config->unwind_rows = stacks->unwind_rows;
	config->sample_period_ns = stacks->freq ? (u32)probe_clock_period_ns(stacks->freq) : 0;
	config->live.min_block_ns = stacks->min_block_ns;
	if (stacks->is_off || stacks->no_blocks)
		config->live.block_stacks = 0;
}

static void choose_signals(const struct engine_options *options, struct capture_config *config)
{
	const struct signal_options *signals = &options->signals;

	config->signals = signals->chosen;
	config->pair_limit_ns = signals->pair_limit_ns;
	config->live.slow_ns = signals->slow_ns;
	config->live.server_model = signals->server_model;
	config->live.stack_one_in = signals->stack_one_in;
	config->live.alloc_interval = options->alloc.interval;
	config->live.alloc_kernel_bytes = options->alloc.kernel_bytes;
	config->live.alloc_live = options->alloc.live;
	probes_share(signals->chosen, config->series_limits);
}

/* What trace attaches it thins itself: trace_price.c. */
static void choose_limits(const struct engine_options *options, struct plan *plan)
{
	bool is_trace = options->extra.probe_count != 0;

	plan->overhead_limit = options->overhead_limit;
	plan->has_stacks = !options->stacks.is_off && !is_trace;
	plan->has_rates = plan->has_stacks || (options->signals.chosen && !is_trace);
	plan->freq = plan->has_stacks ? options->stacks.freq : 0;
}

static void choose_deferred(const struct engine_options *options, const struct plan_facts *facts,
			    struct plan *plan)
{
	size_t count = 0;

	for (int id = 1; id < SIGNAL_LIMIT && count < PLAN_DEFERRED_MAX; id++) {
		const struct deferred_kind *kind =
			options->signals.chosen >> id & 1 ? signal_rows[id].signal->deferred : NULL;

		if (!kind)
			continue;
		plan->deferred[count++] = (struct plan_deferred){
			id, options->overhead_limit > 0
				    ? options->overhead_limit * (double)facts->cpus
				    : kind->limit};
	}
	plan->is_for_all = options->selection.all;
	plan->is_forced = options->alloc.force;
	plan->tracks_lives = options->alloc.live;
}

/* The one place where options become what the kernel side is told. */
int plan_make(const struct engine_options *options, const struct plan_facts *facts,
	      struct plan *ret_plan)
{
	struct plan *plan = ret_plan;
	int err;

	*plan = (struct plan){.selection = options->selection};
	err = choose_tier(options, facts, plan);
	if (err)
		return err;
	probes_choose(&plan->probes, options, plan->tier);
	plan->config = (struct capture_config){
		.probes = plan->probes.items,
		.probe_count = plan->probes.count,
		.ring_bytes = RING_BYTES_DEFAULT,
		.split = plan->tier == TIER_B,
		.verdict_dir = "/run/dwell",
	};
	capture_live_defaults(&plan->config.live);
	choose_stacks(&options->stacks, &plan->config);
	choose_signals(options, &plan->config);
	if (options->extra.one_in)
		plan->config.live.sample_one_in = options->extra.one_in;
	choose_limits(options, plan);
	choose_deferred(options, facts, plan);
	select_apply(&plan->selection, &plan->config);
	return 0;
}

void plan_follow(struct plan *plan, pid_t pid)
{
	struct selection *tasks = &plan->selection;

	tasks->filters[tasks->count++] = (struct filter_key){FILTER_BY_TREE, {(u64)pid}};
	select_apply(tasks, &plan->config);
}
