// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int model_init(struct model *model)
{
	*model = (struct model){.host.pressure = {-1, -1, -1}};
	hash_init(&model->threads, sizeof(struct model_thread), sizeof(u64), MODEL_THREADS_MAX);
	hash_init(&model->processes, sizeof(struct model_process), 2 * sizeof(u64),
		  MODEL_PROCESSES_MAX);
	model->causes = calloc(MODEL_CAUSES_MAX, sizeof(*model->causes));
	return model->causes ? 0 : -ENOMEM;
}

void model_free(struct model *model)
{
	hash_free(&model->threads);
	hash_free(&model->processes);
	free(model->causes);
	model->causes = NULL;
}

struct model_thread *model_thread(const struct model *model, u64 id)
{
	return hash_find(&model->threads, &id);
}

const struct model_process *model_process(const struct model *model, u64 pid, u64 start_ns)
{
	const u64 key[] = {pid, start_ns};

	return hash_find(&model->processes, key);
}

const char *model_service(const struct model_process *process)
{
	if (process->is_kernel)
		return MODEL_KERNEL;
	return process->service[0] ? process->service : process->comm;
}

const struct model_thread *model_by_tid(const struct model *model, u32 tid)
{
	for (size_t i = 0; tid && i < model->threads.count; i++) {
		const struct model_thread *thread = hash_item(&model->threads, i);

		if (thread->tid == tid && !thread->is_sum)
			return thread;
	}
	return NULL;
}

/* A sum is of threads that have ended: it is told again if there are more. */
static bool lives(const void *item, const void *context)
{
	const struct model_thread *thread = item;

	(void)context;
	return !thread->is_dead && !thread->is_sum;
}

/* Processes whose threads are all forgotten. */
static bool has_threads(const void *item, const void *context)
{
	const struct model_process *process = item;

	return hash_find(context, &process->pid) != NULL;
}

static void forget_processes(struct model *model)
{
	struct hash pids;

	hash_init(&pids, sizeof(u64), sizeof(u64), MODEL_THREADS_MAX);
	for (size_t i = 0; i < model->threads.count; i++) {
		const struct model_thread *thread = hash_item(&model->threads, i);
		const u64 pid = thread->pid;

		hash_add(&pids, &pid);
	}
	hash_retain(&model->processes, has_threads, &pids);
	hash_free(&pids);
}

void model_begin_window(struct model *model, u64 window, u64 begin_ns, u64 end_ns)
{
	bool is_any_gone = false;

	for (size_t i = 0; i < model->threads.count && !is_any_gone; i++)
		is_any_gone = !lives(hash_item(&model->threads, i), NULL);
	if (is_any_gone) {
		hash_retain(&model->threads, lives, NULL);
		/* Else it would grow with each process that ever was. */
		if (model->processes.count > 2 * model->threads.count + 64)
			forget_processes(model);
	}
	if (!model->begin_ns)
		model->begin_ns = begin_ns;
	model->window = window + 1;
	model->window_ns = end_ns > begin_ns ? end_ns - begin_ns : 1;
	model->end_ns = end_ns;
	model->cause_count = 0;
}

static void keep_cause(struct model *model, const struct model_cause *cause)
{
	if (model->cause_count < MODEL_CAUSES_MAX)
		model->causes[model->cause_count++] = *cause;
	else
		model->not_kept++;
}

void model_add(struct model *model, const struct model_cause *cause, bool is_end)
{
	struct model_thread *thread = hash_add(&model->threads, &cause->thread);

	if (!thread || cause->state >= STATE_LIMIT) {
		model->not_kept++;
		return;
	}
	if (thread->window != model->window) {
		thread->window = model->window;
		thread->is_open = false;
		memset(thread->ns, 0, sizeof(thread->ns));
	}
	thread->ns[cause->state] += cause->ns;
	if (is_end) {
		thread->is_open = true;
		thread->open = *cause;
	}
	keep_cause(model, cause);
}

void model_add_missed(struct model *model, const struct model_cause *cause, u64 window)
{
	struct model_thread *thread = hash_add(&model->threads, &cause->thread);

	if (!thread || cause->state >= STATE_LIMIT) {
		model->not_kept++;
		return;
	}
	thread->window = window + 1;
	thread->is_open = true;
	thread->open = *cause;
}

/* It has not moved: the window is that of the wait that lasted, or is not known. */
static void fill_silence(struct model *model, struct model_thread *thread)
{
	struct model_cause wait = thread->open;

	memset(thread->ns, 0, sizeof(thread->ns));
	if (thread->is_dead || thread->is_sum)
		return;
	if (!thread->is_open)
		wait = (struct model_cause){.state = STATE_UNATTRIBUTED};
	wait.thread = thread->id;
	wait.ns = (s64)model->window_ns;
	wait.count = 0;
	thread->ns[wait.state] = wait.ns;
	keep_cause(model, &wait);
}

/* Its last record was lost, perhaps. */
static bool is_gone(const struct model *model, const struct model_thread *thread)
{
	const struct model_process *process =
		model_process(model, thread->pid, thread->process_start_ns);

	return process && process->has_ended;
}

void model_end_window(struct model *model, u64 first_window)
{
	for (size_t i = 0; i < model->threads.count; i++) {
		struct model_thread *thread = hash_item(&model->threads, i);

		if (thread->window != model->window) {
			thread->is_dead |= thread->window <= first_window || is_gone(model, thread);
			fill_silence(model, thread);
		}
		/* What a correction takes back of another window is nothing here. */
		for (int s = 0; s < STATE_LIMIT; s++)
			if (thread->ns[s] < 0)
				thread->ns[s] = 0;
	}
}
