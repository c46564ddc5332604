/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes whose mappings somebody asked for, and when each is to be looked at next: soon, but the
 * less so the more often it changes. Owns them. Called by mappings.c only.
 */
#ifndef DWELL_ENGINE_PROCESS_LIST_H
#define DWELL_ENGINE_PROCESS_LIST_H

#include "../../abi/unwind.h"
#include "../base/number_map.h"
#include "target_files.h"

#define PROCESS_LIST_MAX (2 * UNWIND_PROCESSES_MAX) /* the dead are not known as such at once */

struct process {
	u32 tgid;
	u32 scans;	   /* one shortly after the other */
	u64 last_ns;	   /* scan; 0: none yet */
	u64 cost_ns;	   /* of it: who has many mappings is looked at less often */
	u64 due_ns;	   /* next scan, if is_waiting */
	bool is_waiting;   /* in the list of those to be looked at */
	bool is_published; /* the kernel side has it */
	bool has_jit;
	struct target_map perf_map;
	u64 perf_map_ns; /* when it was read, or looked for */
};

struct process_list {
	struct number_map all;
	struct process *waiting[2 * PROCESS_LIST_MAX];
	u32 waiting_count;
	u64 refused; /* for which there was no room */
};

int process_list_init(struct process_list *list);
void process_list_free(struct process_list *list);

struct process *process_list_find(const struct process_list *list, u32 tgid); /* or NULL */
struct process *process_list_get(struct process_list *list, u32 tgid);	      /* NULL: too many */

/* To be looked at as soon as its turn comes, or then. */
void process_list_want(struct process_list *list, struct process *process, u64 now_ns);
void process_list_want_at(struct process_list *list, struct process *process, u64 due_ns);

/* It was looked at. */
void process_list_done(struct process *process, u64 begin_ns, u64 end_ns);

/* Must not be waiting. */
void process_list_remove(struct process_list *list, struct process *process);

/*
 * Those that are due, one after the other: look() is false if it is not done, and stays due. After
 * until_ns no further one.
 */
void process_list_look(struct process_list *list, u64 until_ns,
		       bool (*look)(void *context, struct process *process, u64 until_ns),
		       void *context);

/* When the next one is due; at the latest then. */
u64 process_list_due(const struct process_list *list, u64 latest_ns);

#endif
