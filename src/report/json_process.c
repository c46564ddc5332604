// SPDX-License-Identifier: Apache-2.0
#include "calls.h"
#include "format.h"
#include "json.h"
#include "why.h"

static json_t *cause_to_json(const struct digest *digest, const struct cause *cause)
{
	char text[CAUSE_BYTES], object[DIGEST_TEXT + 32], buf[64];
	json_t *row;

	format_cause(digest, cause, text, sizeof(text));
	row = json_pack("{s:s, s:s, s:o, s:o}", "state", digest->state_names[cause->state], "cause",
			text, "ns", json_number(cause->ns), "count", json_number(cause->count));
	if (cause->call)
		json_object_set_new(
			row, "call",
			json_string(digest_call_name(digest, cause->call, buf, sizeof(buf))));
	format_object(digest, cause->object, object, sizeof(object));
	if (*object)
		json_object_set_new(row, "object", json_string(object));
	if (cause->holder)
		json_object_set_new(row, "holder", json_number(cause->holder));
	if (cause->waker)
		json_object_set_new(row, "waker", json_number(cause->waker));
	if (*context_name(cause->waker_kind))
		json_object_set_new(row, "waker_kind",
				    json_string(context_name(cause->waker_kind)));
	return row;
}

/* Printed even when it is zero, here too. */
static void add_unattributed(const struct digest *digest, json_t *ledger, u64 ns)
{
	if (!ns)
		json_array_append_new(
			ledger,
			cause_to_json(digest, &(struct cause){.state = STATE_UNATTRIBUTED}));
}

static json_t *ledger_of_thread(const struct digest *digest, const struct thread *thread)
{
	json_t *ledger = json_array();
	u64 unattributed_ns = 0;

	for (size_t i = 0; i < thread->cause_count; i++) {
		const struct cause *cause = hash_item(&digest->causes, thread->first_cause + i);

		if (!cause->ns && !cause->count)
			continue;
		unattributed_ns |= cause->state == STATE_UNATTRIBUTED;
		json_array_append_new(ledger, cause_to_json(digest, cause));
	}
	add_unattributed(digest, ledger, unattributed_ns);
	return ledger;
}

static json_t *ledger_of_process(const struct digest *digest, const struct process *process)
{
	json_t *ledger = json_array();
	u64 unattributed_ns = 0;
	struct hash whys;

	if (why_of_process(digest, process, &whys)) {
		json_decref(ledger);
		ledger = NULL;
	}
	for (size_t i = 0; ledger && i < whys.count; i++) {
		const struct cause *cause = &((struct why *)hash_item(&whys, i))->cause;

		if (!cause->ns && !cause->count)
			continue;
		unattributed_ns |= cause->state == STATE_UNATTRIBUTED;
		json_array_append_new(ledger, cause_to_json(digest, cause));
	}
	if (ledger)
		add_unattributed(digest, ledger, unattributed_ns);
	hash_free(&whys);
	return ledger;
}

static json_t *thread_to_json(const struct digest *digest, const struct thread *thread)
{
	return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "tid",
			 json_number(thread->tid), "comm", thread->comm, "wall_ns",
			 json_number(thread_wall_ns(digest, thread)), "begin_ns",
			 json_number(thread->begin_ns), "ledger", ledger_of_thread(digest, thread),
			 "voluntary", json_number(thread->voluntary), "involuntary",
			 json_number(thread->involuntary), "kernel_voluntary",
			 json_number(thread->kernel_voluntary), "kernel_involuntary",
			 json_number(thread->kernel_involuntary), "kernel_exec_ns",
			 json_number(thread->kernel_exec_ns), "kernel_delay_ns",
			 json_number(thread->kernel_delay_ns), "is_dead", thread->is_dead,
			 "threads", json_number(thread->threads));
}

static json_t *calls_to_json(const struct digest *digest, const struct process *process)
{
	json_t *rows = json_array();
	struct hash calls;

	if (calls_of_process(digest, process, &calls)) {
		json_decref(rows);
		rows = NULL;
	}
	for (size_t i = 0; rows && i < calls.count; i++) {
		const struct call *call = hash_item(&calls, i);
		char buf[64];

		json_array_append_new(
			rows,
			json_pack("{s:s, s:o, s:o, s:o, s:o}", "call",
				  digest_call_name(digest, call->call, buf, sizeof(buf)), "count",
				  json_number(call->count), "failed", json_number(call->failed),
				  "cpu_ns", json_number(call->cpu_ns), "total_ns",
				  json_number(call->total_ns)));
	}
	hash_free(&calls);
	return rows;
}

json_t *json_process(const struct digest *digest, const struct process *process)
{
	struct faults faults = {0};
	json_t *threads = json_array();
	u64 threads_wall_ns = 0;

	for (size_t i = 0; i < process->thread_count; i++) {
		const struct thread *thread = &digest->threads[process->first_thread + i];

		if (!digest_shows(digest, thread))
			continue;
		threads_wall_ns += thread_wall_ns(digest, thread);
		faults.begun += thread->faults.begun;
		faults.ended += thread->faults.ended;
		faults.failed += thread->faults.failed;
		json_array_append_new(threads, thread_to_json(digest, thread));
	}
	return json_pack(
		"{s:o, s:o, s:o, s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o, "
		"s:o}}",
		"pid", json_number(process->pid), "start_ns", json_number(process->start_ns),
		"parent", json_number(process->parent), "comm", process->comm, "exe", process->exe,
		"service", process->service, "is_kernel", process->is_kernel, "exit_code",
		process->has_ended ? json_integer(process->exit_code) : json_null(), "wall_ns",
		json_number(process->end_ns > process->begin_ns
				    ? process->end_ns - process->begin_ns
				    : 0),
		"threads_wall_ns", json_number(threads_wall_ns), "ledger",
		ledger_of_process(digest, process), "threads", threads, "calls",
		calls_to_json(digest, process), "faults", "begun", json_number(faults.begun),
		"ended", json_number(faults.ended), "failed", json_number(faults.failed));
}
