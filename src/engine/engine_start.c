// SPDX-License-Identifier: Apache-2.0
/* What there is before anything is measured: processes, and the tables of who runs already. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/descriptors.h"
#include "../base/log.h"
#include "../worker/privileges.h"
#include "engine_state.h"

#define PREPARE_NS (2 * NS_PER_S) /* for the tables of who is there at the start */

/* Without them, functions of the kernel have no names; stacks are whole all the same. */
void engine_give_kallsyms(struct engine *engine, bool at_once)
{
	_cleanup_close_ int fd = -1;
	int err;

	if (capture_map_fd(engine->capture, "stack_scratches") < 0)
		return; /* nobody takes stacks: only probes wait for files */
	fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	err = fd < 0 ? -errno : worker_unwinding_kallsyms(engine->helpers.ingest, fd, at_once);

	if (err)
		log_info("kernel functions cannot be symbolized: cannot read /proc/kallsyms: %s%s",
			 strerror(-err),
			 failure_may_pass(-err) ? "" : "; see kernel.kptr_restrict");
}

int engine_start(struct engine *engine)
{
	const struct engine_options *options = engine->options;
	int err = stop_signals_hold(&engine->stop_signals);

	if (!err)
		err = queue_create(PLAN_QUEUE_BYTES, &engine->queue);
	if (!err)
		err = helpers_start(&engine->helpers, engine->queue);
	if (!err)
		err = queue_keep_from_children(engine->queue);
	if (!err && options->command)
		err = target_hold(&engine->target, options->command,
				  &engine->stop_signals.inherited);
	if (err == -EPIPE || err == -ECONNRESET)
		log_error("cannot start: a helper process has ended; a line above or dmesg may say "
			  "why");
	else if (err)
		log_error("cannot start: %s; %s", strerror(-err), descriptors_advice(-err));
	return err;
}

/* From here on less is needed than for the start. */
int engine_limit_privileges(struct engine *engine)
{
	int err = sandbox_notes_make(&engine->notes);

	if (!err)
		err = privileges_limit(engine->options->output, engine->notes);
	if (err)
		log_error("cannot measure: dropping the privileges that are not needed failed: %s",
			  strerror(-err));
	return err;
}

/*
 * Who is there has its tables before it is followed, or its first samples would lead nowhere. What
 * goes wrong is told; without stacks there is still the ledger.
 */
void engine_start_mappings(struct engine *engine)
{
	const struct stack_options *stacks = &engine->options->stacks;
	u64 until_ns;
	u32 pending;

	if (mappings_open(engine->capture, &engine->helpers, stacks->lines, stacks->inlines,
			  &engine->mappings))
		return;
	/*
	 * A command may end before a stack of the kernel is taken; what is recorded else has some
	 * in its first second. Ingest reads them while processes are looked at here.
	 */
	engine_give_kallsyms(engine, !engine->options->command);
	for (size_t i = 0; i < PLAN_DEFERRED_MAX; i++) {
		deferred_open(&engine->deferred[i], engine->capture, engine->helpers.symbolizer,
			      &engine->plan, i);
		if (engine->deferred[i].is_wanted)
			mappings_listen(engine->mappings, &engine->deferred[i].listener);
	}
	probes_run(&engine->plan.probes, engine->capture, RUN_BEFORE_START);
	/* A command that is held is still us: libraries that most programs have are known then. */
	if (engine->options->command)
		mappings_want(engine->mappings, (u32)engine->target.pid);
	until_ns = clock_now_ns() + PREPARE_NS;
	do
		mappings_attend(engine->mappings, until_ns);
	while (mappings_deadline(engine->mappings) <= clock_now_ns() && clock_now_ns() < until_ns);
	/* What ingest reads belongs to the start: it answers when that is done. */
	worker_unwinding_pending(engine->helpers.ingest, &pending);
}
