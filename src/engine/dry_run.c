// SPDX-License-Identifier: Apache-2.0
/* --dry-run: the plan is made as for a measurement, and printed. */
#include <stdlib.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/exit_status.h"
#include "../base/log.h"
#include "engine_state.h"

static int show(const struct engine_options *options, struct plan *plan,
		struct plan_outlook *outlook)
{
	struct plan_facts facts;
	int err;

	plan_facts_read(&facts);
	err = plan_make(options, &facts, plan);
	if (err)
		return err;
	if (options->command)
		plan_follow(plan, getpid()); /* it has no process yet */
	err = plan_foresee(plan, outlook);
	if (!err)
		plan_print(plan, outlook, options, stdout);
	return err;
}

int engine_dry_run(const struct engine_options *options)
{
	_cleanup_free_ struct plan *plan = malloc(sizeof(*plan));
	_cleanup_free_ struct plan_outlook *outlook = malloc(sizeof(*outlook));
	int err;

	if (!plan || !outlook) {
		log_error("cannot make a plan: there is not enough memory; free some");
		return EXIT_FAILED;
	}
	err = show(options, plan, outlook);
	return err ? engine_attach_status(err) : EXIT_OK;
}
