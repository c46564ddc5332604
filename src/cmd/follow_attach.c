// SPDX-License-Identifier: Apache-2.0
/* What a measurement attaches: by its options, and by what this kernel can. */
#include <errno.h>

#include "../base/clock.h"
#include "../base/log.h"
#include "following.h"

/* 0 or -EOPNOTSUPP, told: what was asked for is not replaced by less. */
static int choose_tier(struct follow *follow)
{
	const struct follow_options *options = follow->options;
	const char *demanding = probes_demanding(options);

	follow->tier = options->tier;
	if (options->tier == TIER_DEFAULT)
		follow->tier = options->command || demanding ? TIER_B : TIER_A;
	if (options->tier == TIER_A && demanding) {
		log_error("-s %s is measured by Tier B's hooks: leave out --tier A, or the signal",
			  demanding);
		return -EOPNOTSUPP;
	}
	if (follow->tier == TIER_A || capture_has_task_storage())
		return 0;
	if (options->tier == TIER_B || demanding) {
		log_error("cannot measure with %s%s: this kernel has no task storage for BPF, "
			  "which came with 5.12 → %s, or use a newer kernel",
			  demanding ? "-s " : "--tier B", demanding ? demanding : "",
			  demanding ? "leave out the signal" : "use --tier A");
		return -EOPNOTSUPP;
	}
	follow->tier = TIER_A;
	follow->tier_why = "this kernel has no task storage for BPF, which Tier B needs";
	log_info("Tier A, scheduler hooks only: %s", follow->tier_why);
	return 0;
}

static void choose_stacks(const struct follow *follow, struct capture_config *config)
{
	const struct stack_options *stacks = &follow->options->stacks;

	config->seed = stacks->seed;
	config->unwind_rows = stacks->unwind_rows;
	config->sample_period_ns = stacks->freq ? (u32)(NS_PER_S / stacks->freq) : 0;
	config->live.min_block_ns = stacks->min_block_ns;
	if (stacks->is_off || stacks->no_blocks)
		config->live.block_stacks = 0;
}

static void choose_signals(const struct follow *follow, struct capture_config *config)
{
	const struct signal_options *signals = &follow->options->signals;

	config->signals = signals->chosen;
	config->pair_limit_ns = signals->pair_limit_ns;
	config->live.slow_ns = signals->slow_ns;
	config->live.stack_one_in = signals->stack_one_in;
	config->live.alloc_interval = follow->options->alloc.interval;
	config->live.alloc_kernel_bytes = follow->options->alloc.kernel_bytes;
	config->live.alloc_live = follow->options->alloc.live;
	probes_share(signals->chosen, config->series_limits);
}

/* The one place where the tasks that a person chose become the capture's filter. */
static void choose_tasks(struct follow *follow, struct capture_config *config)
{
	struct selection *tasks = &follow->selection;

	*tasks = follow->options->selection;
	if (follow->options->command)
		tasks->filters[tasks->count++] =
			(struct filter_key){FILTER_BY_TREE, {(u64)follow->target.pid}};
	select_apply(tasks, config);
}

/* What trace attaches it thins itself: trace_price.c. */
static void open_brake(struct follow *follow)
{
	const struct follow_options *options = follow->options;
	bool is_trace = options->extra.probe_count != 0;
	bool has_stacks = !options->stacks.is_off && !is_trace;

	follow->brake = (struct brake){
		.governor.limit = options->overhead_limit,
		.capture = follow->capture,
		.probes = follow->probes.items,
		.probe_count = follow->probes.count,
		.live = &follow->live,
		.freq = has_stacks ? options->stacks.freq : 0,
		.pair_limit_ns = options->signals.pair_limit_ns,
		.signals = options->signals.chosen,
	};
	brake_open(&follow->brake, has_stacks, follow->tier == TIER_B,
		   has_stacks || (options->signals.chosen && !is_trace));
}

int follow_attach(struct follow *follow)
{
	struct capture_config config = {
		.probes = follow->probes.items,
		.ring_bytes = RING_BYTES_DEFAULT,
		.worker_pid = worker_pid(follow->worker),
		.queue = follow->queue,
		.verdict_dir = "/run/dwell",
		.on_row = brake_row,
		.row_context = &follow->brake,
	};
	int err = choose_tier(follow), refused;

	if (err)
		return err;
	config.split = follow->tier == TIER_B;
	probes_choose(&follow->probes, follow->options, follow->tier);
	config.probe_count = follow->probes.count;
	capture_live_defaults(&config.live);
	choose_stacks(follow, &config);
	choose_signals(follow, &config);
	if (follow->options->extra.one_in)
		config.live.sample_one_in = follow->options->extra.one_in;
	choose_tasks(follow, &config);
	follow->live = config.live;
	if (config.split)
		log_verbose("Tier B costs 0.3 to 0.4 us per system call of a target thread and 0.2 "
			    "us per page fault; --tier A avoids it, --max-overhead limits it");
	err = capture_open(&config, &follow->capture);
	if (err)
		return err;
	open_brake(follow);
	err = capture_load(follow->capture);
	if (!err && follow->options->extra.on_loaded)
		err = follow->options->extra.on_loaded(follow->options->extra.context,
						       follow->capture);
	if (!err)
		err = capture_attach(follow->capture);
	refused = probes_check(&follow->probes, follow->capture);
	return refused ? refused : err;
}
