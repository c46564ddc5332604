// SPDX-License-Identifier: Apache-2.0
#include "execs.h"

#include <stdlib.h>

bool exec_is_shown(const struct digest *digest, const struct exec *exec)
{
	return session_part_has_process(&digest->options->part, exec->pid, exec->start_ns) &&
	       (!digest->is_slice ||
		(exec->ts_ns >= digest->begin_ns && exec->ts_ns < digest->end_ns));
}

static int compare(const void *key, const void *item)
{
	const struct exec *exec = key;
	const struct process *process = item;

	if (exec->pid != process->pid)
		return exec->pid < process->pid ? -1 : 1;
	return exec->start_ns < process->start_ns ? -1 : exec->start_ns > process->start_ns;
}

/* Its process runs until its last thread's end, if all of them are dead. */
static void follow_threads(const struct digest *digest, const struct process *process,
			   u64 *ret_end_ns, bool *ret_is_dead)
{
	*ret_end_ns = 0;
	*ret_is_dead = process->thread_count > 0;
	for (size_t i = 0; i < process->thread_count; i++) {
		const struct thread *thread = &digest->threads[process->first_thread + i];

		if (thread->is_sum)
			continue;
		*ret_end_ns = thread->end_ns > *ret_end_ns ? thread->end_ns : *ret_end_ns;
		*ret_is_dead &= thread->is_dead;
	}
}

void exec_fate(const struct digest *digest, const struct exec *exec, struct exec_fate *ret_fate)
{
	const struct process *process;
	u64 end_ns = 0;

	*ret_fate = (struct exec_fate){.is_replaced = exec->next_ns != 0};
	process = digest->process_count ? bsearch(exec, digest->processes, digest->process_count,
						  sizeof(*digest->processes), compare)
					: NULL;
	if (process) {
		follow_threads(digest, process, &end_ns, &ret_fate->is_over);
		ret_fate->has_status = process->has_ended && !ret_fate->is_replaced;
		ret_fate->status = process->exit_code;
	}
	if (ret_fate->is_replaced)
		end_ns = exec->next_ns;
	ret_fate->is_over |= ret_fate->is_replaced || ret_fate->has_status;
	ret_fate->lifetime_ns = end_ns > exec->ts_ns ? end_ns - exec->ts_ns : 0;
}
