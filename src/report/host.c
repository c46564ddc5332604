// SPDX-License-Identifier: Apache-2.0
#include "host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/text.h"
#include "format.h"

/* What CPUs did that no row of a process has. */
static const struct {
	const char *name;
	int use;
} uses[] = {
	{"(kernel threads)", CPU_USE_KERNEL},	{"(dwell)", CPU_USE_DWELL},
	{"(not measured)", CPU_USE_OTHER},	{"(interrupts)", CPU_USE_IRQ},
	{"(soft interrupts)", CPU_USE_SOFTIRQ},
};

static u64 sum_cpus(const struct digest *digest, struct host_use *use, u64 by_use[CPU_USE_COUNT])
{
	u64 longest = 0;

	for (size_t i = 0; i < digest->cpus.count; i++) {
		const struct cpu_row *cpu = hash_item(&digest->cpus, i);
		u64 wall = 0;

		for (int u = 0; u < CPU_USE_COUNT; u++) {
			wall += cpu->ns[u];
			by_use[u] += cpu->ns[u];
		}
		use->wall_ns += wall;
		use->busy_ns += wall - cpu->ns[CPU_USE_IDLE];
		use->queue_ns += cpu->queue_ns;
		longest = wall > longest ? wall : longest;
	}
	use->cpus = digest->cpus.count;
	return longest;
}

static int by_ns(const void *a, const void *b)
{
	const struct host_row *x = a, *y = b;

	return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : strcmp(x->name, y->name);
}

static void add_row(struct host_use *use, const struct group *group, const char *name, u64 ns)
{
	struct host_row *row;

	if (!ns)
		return;
	row = &use->rows[use->row_count++];
	row->group = group;
	row->ns = ns;
	row->share = percent(ns, use->wall_ns);
	text_copy(row->name, sizeof(row->name), name);
}

int host_use_find(const struct digest *digest, struct host_use *ret_use)
{
	u64 by_use[CPU_USE_COUNT] = {0}, longest;

	*ret_use = (struct host_use){0};
	longest = sum_cpus(digest, ret_use, by_use);
	ret_use->busy = percent(ret_use->busy_ns, ret_use->wall_ns);
	ret_use->waiting = longest ? (double)ret_use->queue_ns / (double)longest : 0;
	ret_use->rows = calloc(digest->groups.count + ARRAY_SIZE(uses), sizeof(*ret_use->rows));
	if (!ret_use->rows)
		return -ENOMEM;
	for (size_t i = 0; i < digest->groups.count; i++) {
		const struct group *group = hash_item(&digest->groups, i);

		/* Time that interrupts took has rows of its own. */
		add_row(ret_use, group, group->comm,
			account_cpu(&group->account) - group->account.ns[STATE_CPU_IRQ] -
				group->account.ns[STATE_CPU_SOFTIRQ]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(uses); i++)
		if (uses[i].use != CPU_USE_KERNEL || !digest->options->part.kernel)
			add_row(ret_use, NULL, uses[i].name, by_use[uses[i].use]);
	qsort(ret_use->rows, ret_use->row_count, sizeof(*ret_use->rows), by_ns);
	return 0;
}

void host_use_free(struct host_use *use)
{
	free(use->rows);
	use->rows = NULL;
}
