// SPDX-License-Identifier: Apache-2.0
#include "helpers.h"

#include <errno.h>

static int make_roles(struct helpers *helpers, struct queue *queue)
{
	struct spawner_role *roles = helpers->roles;
	int err = worker_make_role(WORKER_INGEST, queue, &roles[HELPER_INGEST]);

	if (!err)
		err = worker_make_role(WORKER_SYMBOLIZER, NULL, &roles[HELPER_SYMBOLIZER]);
	if (!err)
		err = opener_make_role(&roles[HELPER_OPENER]);
	return err;
}

static int spawn_worker(struct helpers *helpers, enum helper_place place,
			struct worker **ret_worker)
{
	return worker_spawn(helpers->spawner, place, &helpers->roles[place], ret_worker);
}

int helpers_start(struct helpers *helpers, struct queue *queue)
{
	int err = make_roles(helpers, queue);

	if (!err)
		err = spawner_start(helpers->roles, HELPER_COUNT, queue_wake_fd(queue),
				    &helpers->spawner);
	if (!err)
		err = opener_start(helpers->spawner, HELPER_OPENER, &helpers->roles[HELPER_OPENER],
				   &helpers->opener);
	if (!err)
		err = spawn_worker(helpers, HELPER_INGEST, &helpers->ingest);
	if (!err)
		err = spawn_worker(helpers, HELPER_SYMBOLIZER, &helpers->symbolizer);
	if (!err)
		err = worker_unwinding_connect(helpers->symbolizer, helpers->ingest);
	return err;
}

void helpers_stop(struct helpers *helpers)
{
	worker_stop(helpers->symbolizer);
	worker_stop(helpers->ingest);
	opener_stop(helpers->opener);
	spawner_stop(helpers->spawner);
	opener_free_role(&helpers->roles[HELPER_OPENER]);
	worker_free_role(&helpers->roles[HELPER_INGEST]);
	worker_free_role(&helpers->roles[HELPER_SYMBOLIZER]);
	*helpers = (struct helpers){0};
}

static void add_worker(const struct worker *worker, struct helper_time *time, struct cost *cost)
{
	struct cost now = {0};

	if (time->pid != worker_pid(worker)) {
		time->ended_ns += time->last_ns;
		time->last_ns = 0;
	}
	time->pid = worker_pid(worker);
	if (time->pid)
		cost_add_process(time->pid, &now);
	if (now.user_cpu_ns > time->last_ns)
		time->last_ns = now.user_cpu_ns;
	cost->rss_bytes += now.rss_bytes;
	cost->user_cpu_ns += time->ended_ns + time->last_ns;
}

void helpers_add_cost(struct helpers *helpers, struct cost *cost)
{
	add_worker(helpers->ingest, &helpers->ingest_time, cost);
	add_worker(helpers->symbolizer, &helpers->symbolizer_time, cost);
	opener_add_cost(helpers->opener, cost);
	cost_add_process(spawner_pid(helpers->spawner), cost);
}

void helpers_watch(struct helpers *helpers, const struct worker_meanwhile *meanwhile)
{
	struct worker_meanwhile of_ingest = *meanwhile;

	of_ingest.due = NULL;
	worker_watch(helpers->symbolizer, meanwhile);
	worker_watch(helpers->ingest, &of_ingest);
}
