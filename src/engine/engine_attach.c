// SPDX-License-Identifier: Apache-2.0
/* A measurement attaches what its plan says. */
#include <errno.h>
#include <malloc.h>

#include "../base/exit_status.h"
#include "../base/log.h"
#include "engine_state.h"

static void open_throttle(struct engine *engine)
{
	const struct plan *plan = &engine->plan;

	engine->throttle = (struct throttle){
		.governor.limit = plan->overhead_limit,
		.capture = engine->capture,
		.probes = plan->probes.items,
		.probe_count = plan->probes.count,
		.live = &engine->live,
		.freq = plan->freq,
		.pair_limit_ns = plan->config.pair_limit_ns,
		.signals = plan->config.signals,
	};
	throttle_open(&engine->throttle, plan->has_stacks, plan->tier == TIER_B, plan->has_rates);
}

/* What only the measurement itself can add to its plan. */
static void complete_plan(struct engine *engine)
{
	struct capture_config *config = &engine->plan.config;

	config->spawner_pid = spawner_pid(engine->helpers.spawner);
	config->queue = engine->queue;
	config->on_row = throttle_row;
	config->row_context = &engine->throttle;
	if (engine->options->command)
		plan_follow(&engine->plan, engine->target.pid);
}

static int make_plan(struct engine *engine)
{
	struct plan_facts facts;
	int err;

	plan_facts_read(&facts);
	err = plan_make(engine->options, &facts, &engine->plan);
	if (err)
		return err;
	if (engine->plan.tier_why)
		log_info("Tier A, scheduler hooks only: %s", engine->plan.tier_why);
	complete_plan(engine);
	return 0;
}

int engine_attach(struct engine *engine)
{
	const struct engine_extra *extra = &engine->options->extra;
	const struct plan *plan = &engine->plan;
	int err = make_plan(engine), refused;

	if (err)
		return err;
	engine->live = plan->config.live;
	if (plan->config.split)
		log_verbose("Tier B costs 0.3 to 0.4 us per system call of a target thread and 0.2 "
			    "us per page fault; --tier A avoids it, --max-overhead limits it");
	err = capture_open(&plan->config, &engine->capture);
	if (err)
		return err;
	open_throttle(engine);
	err = capture_load(engine->capture);
	if (!err && extra->on_loaded)
		err = extra->on_loaded(extra->context, engine->capture);
	if (!err)
		err = capture_attach(engine->capture);
	malloc_trim(0); /* loading took several MB that nobody needs any more */
	refused = probes_check(&plan->probes, engine->capture);
	return refused ? refused : err;
}

/*
 * What may pass is no property of the host, nor is a helper process that has died; a limit of open
 * files is, until somebody raises it.
 */
int engine_attach_status(int err)
{
	bool is_limit = err == -EMFILE || err == -ENFILE;
	bool is_helper = err == -EPIPE || err == -ECONNRESET;

	return err == -ESRCH || is_helper || (failure_may_pass(-err) && !is_limit)
		       ? EXIT_FAILED
		       : EXIT_UNSUPPORTED;
}
