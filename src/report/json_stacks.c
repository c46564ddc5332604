// SPDX-License-Identifier: Apache-2.0
/* Stacks for programs: the heaviest, with the names of their functions, and what those are. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "../base/cleanup.h"
#include "format.h"
#include "json.h"
#include "stacks.h"

#define STACKS_WRITTEN 1000 /* the rest is a sum */
#define WAKERS_WRITTEN 3

json_t *json_stacks_quality(const struct digest *digest)
{
	const struct profile *profile = &digest->profile;
	json_t *by_reason = json_object();

	for (u32 i = 0; i < PROFILE_STOPS; i++)
		if (profile->by_stop[i] || (i < STOP_COUNT && !profile_stop_is_complete(i)))
			json_object_set_new(by_reason, profile->stop_names[i],
					    json_number(profile->by_stop[i]));
	json_object_set_new(by_reason, "no stack", json_number(profile->no_stack));
	json_object_set_new(by_reason, "damaged", json_number(profile->damaged));
	return json_pack(
		"{s:o, s:o, s:f, s:o, s:o, s:o, s:o, s:o}", "samples",
		json_number(profile->all.count), "weight_ns", json_number(profile->all.weight_ns),
		"effective", profile_effective(&profile->all), "complete",
		json_number(profile->complete), "by_reason", by_reason, "mismatches",
		json_number(profile->mismatches), "kernel_threads",
		json_number(profile->kernel.count), "no_room", json_number(profile->no_room.count));
}

/* Names, leaf first, and beside each the frame that it is of; marks those that are in it. */
static void add_frames(const struct profile *profile, json_t *object, u64 stack, u32 stop,
		       bool *is_used)
{
	struct profile_step steps[PROFILE_STEPS_MAX];
	size_t count = profile_steps(profile, stack, stop, steps);
	json_t *names = json_array(), *ids = json_array();

	for (size_t i = 0; i < count; i++) {
		const struct profile_frame *frame =
			steps[i].frame == PROFILE_NONE
				? NULL
				: hash_item(&profile->frames, steps[i].frame);

		json_array_append_new(
			names, json_string(profile_function_name(profile, steps[i].function)));
		json_array_append_new(ids, frame ? json_id(frame->id) : json_null());
		if (frame)
			is_used[steps[i].frame] = true;
	}
	json_object_set_new(object, "frames", names);
	json_object_set_new(object, "frame_ids", ids);
}

static json_t *wakers_to_json(const struct profile *profile, const struct hot_stack *stack,
			      bool *is_used)
{
	json_t *rows = json_array();
	struct hash wakers;
	int err = stacks_wakers(profile, stack, &wakers);

	if (err)
		json_lacks_memory();
	for (size_t i = 0; !err && i < wakers.count && i < WAKERS_WRITTEN; i++) {
		const struct hot_waker *waker = hash_item(&wakers, i);
		json_t *row = json_pack("{s:o, s:s, s:o, s:o}", "waker", json_number(waker->tid),
					"waker_kind", context_name(waker->kind), "weight_ns",
					json_number(waker->sum.weight_ns), "count",
					json_number(waker->sum.count));

		if (waker->stack) {
			json_object_set_new(row, "stack_id", json_id(waker->stack));
			add_frames(profile, row, waker->stack, STOP_END, is_used);
		}
		json_array_append_new(rows, row);
	}
	hash_free(&wakers);
	return rows;
}

static json_t *stack_to_json(const struct digest *digest, const struct hot_stack *stack,
			     bool *is_used)
{
	const struct profile *profile = &digest->profile;
	const struct profile_process *process = hash_item(&profile->processes, stack->process);
	json_t *row = json_pack(
		"{s:s, s:o, s:s, s:s, s:s, s:b, s:o, s:o, s:f, s:o}", "process",
		profile_text(profile, process->comm), "pid", json_number(process->pid), "state",
		digest->state_names[stack->state], "kind", profile_kind_name(stack->kind), "stop",
		profile->stop_names[stack->stop], "is_complete",
		stack->stack && profile_stop_is_complete(stack->stop), "weight_ns",
		json_number(stack->sum.weight_ns), "count", json_number(stack->sum.count),
		"effective", profile_effective(&stack->sum), "stack_id",
		stack->stack ? json_id(stack->stack) : json_null());

	if (!row)
		return NULL;
	add_frames(profile, row, stack->stack, stack->stop, is_used);
	if (stack->kind == SAMPLE_BLOCKED)
		json_object_set_new(row, "wakers", wakers_to_json(profile, stack, is_used));
	return row;
}

static json_t *text_or_null(const struct profile *profile, u32 text)
{
	return text ? json_string(profile_text(profile, text)) : json_null();
}

static json_t *frame_to_json(const struct profile *profile, const struct profile_frame *frame)
{
	const struct profile_module *module = frame->module < profile->modules.count
						      ? hash_item(&profile->modules, frame->module)
						      : NULL;
	json_t *inlined = json_array();
	char address[24];

	for (u32 i = 0; i < frame->inline_count; i++) {
		const struct profile_inline *row = &profile->inlines[frame->first_inline + i];

		json_array_append_new(inlined, json_pack("{s:o, s:o, s:o}", "name",
							 text_or_null(profile, row->name), "file",
							 text_or_null(profile, row->file), "line",
							 json_number(row->line)));
	}
	snprintf(address, sizeof(address), "0x%" PRIx64, (uint64_t)frame->address);
	return json_pack("{s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "name",
			 text_or_null(profile, frame->name), "module",
			 module ? text_or_null(profile, module->path) : json_null(), "build_id",
			 module ? text_or_null(profile, module->build_id) : json_null(), "address",
			 address, "source", text_or_null(profile, frame->source), "file",
			 text_or_null(profile, frame->file), "line", json_number(frame->line),
			 "inlined", inlined);
}

static void write_frames(struct json_writer *writer, const struct profile *profile,
			 const bool *is_used)
{
	json_begin(writer, "frames", '{');
	for (size_t i = 0; i < profile->frames.count; i++) {
		const struct profile_frame *frame = hash_item(&profile->frames, i);
		char id[20];

		snprintf(id, sizeof(id), "%016" PRIx64, (uint64_t)frame->id);
		if (is_used[i])
			json_write(writer, id, frame_to_json(profile, frame), JSON_COMPACT);
	}
	json_end(writer, '}');
}

void json_write_stacks(struct json_writer *writer, const struct digest *digest)
{
	const struct profile *profile = &digest->profile;
	_cleanup_free_ bool *is_used = calloc(profile->frames.count + 1, sizeof(*is_used));
	struct profile_sum left = {0};
	struct hash stacks;
	int err = stacks_find(profile, &stacks);

	if (err || !is_used)
		writer->err = -ENOMEM;
	json_begin(writer, "stacks", '[');
	for (size_t i = 0; !writer->err && i < stacks.count; i++) {
		const struct hot_stack *stack = hash_item(&stacks, i);

		if (i < STACKS_WRITTEN) {
			json_write(writer, NULL, stack_to_json(digest, stack, is_used),
				   JSON_COMPACT);
			continue;
		}
		left.count += stack->sum.count;
		left.weight_ns += stack->sum.weight_ns;
	}
	json_end(writer, ']');
	if (writer->err) {
		hash_free(&stacks);
		return;
	}
	json_write(
		writer, "stacks_left_out",
		json_pack("{s:o, s:o, s:o}", "stacks",
			  json_number(stacks.count > STACKS_WRITTEN ? stacks.count - STACKS_WRITTEN
								    : 0),
			  "count", json_number(left.count), "weight_ns",
			  json_number(left.weight_ns)),
		JSON_COMPACT);
	write_frames(writer, profile, is_used);
	hash_free(&stacks);
}
