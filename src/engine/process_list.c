// SPDX-License-Identifier: Apache-2.0
#include "process_list.h"

#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/clock.h"

#define CALM_NS		 (1 * NS_PER_S) /* without a scan, and the next one is at once again */
#define GAP_NS		 (NS_PER_MS / 8)
#define GAP_DOUBLED_MAX	 10 /* 128 ms at most between two scans of a process */
#define GAP_DOUBLED_DEAR 7  /* from here on, and so many times what the last one cost */

int process_list_init(struct process_list *list)
{
	return number_map_init(&list->all, PROCESS_LIST_MAX);
}

static void free_process(struct process *process)
{
	target_map_close(&process->perf_map);
	free(process);
}

void process_list_free(struct process_list *list)
{
	for (u32 i = 0; i < list->all.count; i++)
		free_process(list->all.items[i].thing);
	number_map_free(&list->all);
	list->waiting_count = 0;
}

struct process *process_list_find(const struct process_list *list, u32 tgid)
{
	return number_map_find(&list->all, tgid);
}

struct process *process_list_get(struct process_list *list, u32 tgid)
{
	struct process *process = process_list_find(list, tgid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process || number_map_set(&list->all, tgid, process)) {
		list->refused++;
		free(process);
		return NULL;
	}
	process->tgid = tgid;
	process->perf_map.fd = -1;
	return process;
}

void process_list_want_at(struct process_list *list, struct process *process, u64 due_ns)
{
	if (process->is_waiting) {
		if (due_ns < process->due_ns)
			process->due_ns = due_ns;
		return;
	}
	/* While all are looked at, each has its old place, too: see process_list_look(). */
	if (list->waiting_count == ARRAY_SIZE(list->waiting)) {
		list->refused++;
		return;
	}
	process->is_waiting = true;
	process->due_ns = due_ns;
	list->waiting[list->waiting_count++] = process;
}

/* A program that begins maps one file after the other: so what a scan costs counts later. */
static u64 gap_of(const struct process *process)
{
	u32 doubled = process->scans < GAP_DOUBLED_MAX ? process->scans : GAP_DOUBLED_MAX;

	return (GAP_NS << doubled) + (doubled >= GAP_DOUBLED_DEAR ? doubled * process->cost_ns : 0);
}

void process_list_want(struct process_list *list, struct process *process, u64 now_ns)
{
	u64 due_ns = process->last_ns ? process->last_ns + gap_of(process) : 0;

	process_list_want_at(list, process, due_ns < now_ns ? now_ns : due_ns);
}

void process_list_done(struct process *process, u64 begin_ns, u64 end_ns)
{
	u64 calm_ns = process->last_ns + gap_of(process) + CALM_NS;

	process->scans = calm_ns < begin_ns ? 0 : process->scans + 1;
	process->last_ns = end_ns;
	process->cost_ns = end_ns - begin_ns;
}

void process_list_remove(struct process_list *list, struct process *process)
{
	number_map_remove(&list->all, process->tgid);
	free_process(process);
}

/* Whoever comes while it runs stands at the end, and has its turn, too. */
void process_list_look(struct process_list *list, u64 until_ns,
		       bool (*look)(void *context, struct process *process, u64 until_ns),
		       void *context)
{
	u32 kept = 0, i = 0;

	for (; i < list->waiting_count; i++) {
		struct process *process = list->waiting[i];
		u64 now_ns = clock_now_ns();

		if (i && now_ns >= until_ns)
			break;
		if (process->due_ns <= now_ns) {
			process->is_waiting = false;
			/* One that somebody wanted meanwhile is at the end already. */
			if (look(context, process, until_ns) || process->is_waiting)
				continue;
			process->is_waiting = true;
		}
		list->waiting[kept++] = process;
	}
	memmove(&list->waiting[kept], &list->waiting[i],
		(list->waiting_count - i) * sizeof(list->waiting[0]));
	list->waiting_count -= i - kept;
}

u64 process_list_due(const struct process_list *list, u64 latest_ns)
{
	for (u32 i = 0; i < list->waiting_count; i++)
		if (list->waiting[i]->due_ns < latest_ns)
			latest_ns = list->waiting[i]->due_ns;
	return latest_ns;
}
