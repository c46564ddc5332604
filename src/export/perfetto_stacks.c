// SPDX-License-Identifier: Apache-2.0
/*
 * Samples of a trace: a StackSample for each row of the session's table, which has those of a
 * window that have the same thread, state and stack. Their time is the begin of the window, as the
 * session has none that is finer. Functions, frames and stacks are told when they first occur.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/log.h"
#include "../base/utf8.h"
#include "../model/resolver.h"
#include "perfetto.h"

#define STACKS_MAX	(2 * PROFILE_SAMPLES_MAX)
#define STEPS_MAX	(PROFILE_FRAMES_MAX + PROFILE_INLINES_MAX)
#define BUILD_ID_BYTES	64
#define MODES		2
#define SAMPLES_COUNTER (SAMPLE_KIND_COUNT + 1) /* after those of the kinds' times */

struct known_stack {
	u64 stack, stop; /* the key; its place is its number */
};

struct known_step {
	u32 function, frame, file, line; /* the key */
};

struct known_task {
	u64 pid, tid; /* the key */
};

struct trace_stacks {
	struct trace *trace;
	struct hash stacks, steps, tasks;
	bool *has_function, *has_module, *has_file; /* told */
	u64 no_room; /* stacks, frames and tasks that are left out, each time that they come */
};

struct trace_stacks *trace_stacks_new(struct trace *trace)
{
	const struct profile *profile = trace->profile;
	struct trace_stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->trace = trace;
	hash_init(&stacks->stacks, sizeof(struct known_stack), sizeof(struct known_stack),
		  STACKS_MAX);
	hash_init(&stacks->steps, sizeof(struct known_step), sizeof(struct known_step), STEPS_MAX);
	hash_init(&stacks->tasks, sizeof(struct known_task), sizeof(struct known_task),
		  TIMELINE_TASKS_MAX);
	stacks->has_function = calloc(profile->functions.count + 1, sizeof(bool));
	stacks->has_module = calloc(profile->modules.count + 1, sizeof(bool));
	stacks->has_file = calloc(profile->strings.count + 1, sizeof(bool));
	if (stacks->has_function && stacks->has_module && stacks->has_file)
		return stacks;
	trace_stacks_free(stacks);
	return NULL;
}

void trace_stacks_free(struct trace_stacks *stacks)
{
	if (!stacks)
		return;
	if (stacks->no_room)
		log_info("perfetto: there are more stacks, frames or threads than fit: %" PRIu64
			 " times one is left out; take fewer with --pid",
			 (uint64_t)stacks->no_room);
	hash_free(&stacks->stacks);
	hash_free(&stacks->steps);
	hash_free(&stacks->tasks);
	free(stacks->has_function);
	free(stacks->has_module);
	free(stacks->has_file);
	free(stacks);
}

/* An item of a table, and whether it is new. Its number is its place, from 1 on; 0: no room. */
static u64 number_of(struct trace_stacks *stacks, struct hash *hash, const void *key, bool *ret_new)
{
	size_t before = hash->count;
	char *item = hash_add(hash, key);

	*ret_new = hash->count > before;
	if (!item && !hash_is_full(hash))
		stacks->trace->err = -ENOMEM;
	stacks->no_room += !item;
	return item ? (u64)(item - hash->items) / hash->item_size + 1 : 0;
}

static Perfetto__InternedString interned(u64 iid, const void *bytes, size_t size)
{
	Perfetto__InternedString string = PERFETTO__INTERNED_STRING__INIT;

	WIRE_SET(&string, iid, iid);
	string.has_str = true;
	string.str = (ProtobufCBinaryData){size, (u8 *)bytes};
	return string;
}

/* Foreign, and shown by a browser; control characters go all the same. */
static Perfetto__InternedString interned_text(struct trace_stacks *stacks, u64 iid, u32 text,
					      char buf[4 * PROFILE_NAME_BYTES])
{
	utf8_escape(buf, 4 * PROFILE_NAME_BYTES, profile_text(stacks->trace->profile, text));
	return interned(iid, buf, strlen(buf));
}

/* The format has the bytes, the session has them in hexadecimal. */
static size_t build_id_bytes(const char *text, u8 bytes[BUILD_ID_BYTES])
{
	size_t size = 0;
	unsigned byte;

	while (size < BUILD_ID_BYTES && text[0] && text[1] && sscanf(text, "%2x", &byte) == 1) {
		bytes[size++] = (u8)byte;
		text += 2;
	}
	return size;
}

static void tell_module(struct trace_stacks *stacks, u32 index)
{
	const struct profile *profile = stacks->trace->profile;
	const struct profile_module *module = hash_item(&profile->modules, index);
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__Mapping mapping = PERFETTO__MAPPING__INIT;
	Perfetto__InternedString path, build_id, *build_id_place = &build_id;
	char text[4 * PROFILE_NAME_BYTES];
	u8 bytes[BUILD_ID_BYTES];
	size_t size = build_id_bytes(profile_text(profile, module->build_id), bytes);
	uint64_t iid = (u64)index + 1;

	if (stacks->has_module[index])
		return;
	stacks->has_module[index] = true;
	path = interned_text(stacks, iid, module->path, text);
	data.mapping_paths = (Perfetto__InternedString *[]){&path};
	data.n_mapping_paths = 1;
	WIRE_SET(&mapping, iid, iid);
	mapping.path_string_ids = &iid;
	mapping.n_path_string_ids = 1;
	if (size) {
		build_id = interned(iid, bytes, size);
		data.build_ids = &build_id_place;
		data.n_build_ids = 1;
		WIRE_SET(&mapping, build_id, iid);
	}
	data.mappings = (Perfetto__Mapping *[]){&mapping};
	data.n_mappings = 1;
	trace_intern(stacks->trace, &data);
}

static void tell_function(struct trace_stacks *stacks, u32 index)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__InternedString name;
	char text[4 * PROFILE_NAME_BYTES];

	if (stacks->has_function[index])
		return;
	stacks->has_function[index] = true;
	name = interned_text(stacks, (u64)index + 1,
			     profile_function(stacks->trace->profile, index)->name, text);
	data.function_names = (Perfetto__InternedString *[]){&name};
	data.n_function_names = 1;
	trace_intern(stacks->trace, &data);
}

static void tell_file(struct trace_stacks *stacks, u32 file)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__InternedString name;
	char text[4 * PROFILE_NAME_BYTES];

	if (stacks->has_file[file])
		return;
	stacks->has_file[file] = true;
	name = interned_text(stacks, file, file, text);
	data.source_paths = (Perfetto__InternedString *[]){&name};
	data.n_source_paths = 1;
	trace_intern(stacks->trace, &data);
}

/* What was inlined is a frame of its own, with the address of the one that it is in. */
static u64 step_number(struct trace_stacks *stacks, const struct profile_step *step)
{
	const struct profile *profile = stacks->trace->profile;
	const struct profile_frame *frame = hash_item(&profile->frames, step->frame);
	const struct known_step key = {step->function, step->frame, step->file, step->line};
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__Frame message = PERFETTO__FRAME__INIT;
	bool is_new;
	u64 number = number_of(stacks, &stacks->steps, &key, &is_new);

	if (!is_new)
		return number;
	tell_function(stacks, step->function);
	WIRE_SET(&message, iid, number);
	WIRE_SET(&message, function_name_id, (u64)step->function + 1);
	WIRE_SET(&message, rel_pc, frame->address);
	if (frame->module != PROFILE_NONE) {
		tell_module(stacks, frame->module);
		WIRE_SET(&message, mapping_id, (u64)frame->module + 1);
	}
	if (step->file) {
		tell_file(stacks, step->file);
		WIRE_SET(&message, source_path_iid, step->file);
		WIRE_SET(&message, line_number, step->line);
	}
	data.frames = (Perfetto__Frame *[]){&message};
	data.n_frames = 1;
	trace_intern(stacks->trace, &data);
	return number;
}

u64 trace_stack(struct trace_stacks *stacks, u64 stack, u32 stop)
{
	const struct known_stack key = {stack, stop};
	struct profile_step steps[PROFILE_STEPS_MAX];
	uint64_t frames[PROFILE_STEPS_MAX];
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__Callstack message = PERFETTO__CALLSTACK__INIT;
	size_t count;
	u64 number;
	bool is_new;

	if (!stack)
		return 0;
	number = number_of(stacks, &stacks->stacks, &key, &is_new);
	if (!is_new)
		return number;
	count = profile_steps(stacks->trace->profile, stack, stop, steps);
	while (count--) { /* the outermost first; marks are no functions */
		u64 frame =
			steps[count].frame == PROFILE_NONE ? 0 : step_number(stacks, &steps[count]);

		if (frame)
			frames[message.n_frame_ids++] = frame;
	}
	WIRE_SET(&message, iid, number);
	message.frame_ids = frames;
	data.callstacks = (Perfetto__Callstack *[]){&message};
	data.n_callstacks = 1;
	trace_intern(stacks->trace, &data);
	return number;
}

static u64 task_number(struct trace_stacks *stacks, u64 pid, u64 tid)
{
	const struct known_task key = {pid, tid};
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__StackSample__TaskContext task = PERFETTO__STACK_SAMPLE__TASK_CONTEXT__INIT;
	bool is_new;
	u64 number = number_of(stacks, &stacks->tasks, &key, &is_new);

	if (!is_new)
		return number;
	WIRE_SET(&task, iid, number);
	WIRE_SET(&task, pid, (u32)pid);
	WIRE_SET(&task, tid, (u32)tid);
	data.stack_sample_task_contexts = (Perfetto__StackSample__TaskContext *[]){&task};
	data.n_stack_sample_task_contexts = 1;
	trace_intern(stacks->trace, &data);
	return number;
}

/* What samples are weighed by, and the modes that a CPU can be in. */
static void tell_counters(struct trace_stacks *stacks)
{
	static const char *const abouts[] = {
		"time on a CPU that the samples stand for",
		"time off the CPU that the samples stand for, without the run queue"};
	Perfetto__StackSample__CounterDescriptor counters[SAMPLES_COUNTER],
		*places[SAMPLES_COUNTER];
	Perfetto__StackSample__ExecutionContext modes[MODES], *mode_places[MODES];
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	for (u64 i = 0; i < SAMPLES_COUNTER; i++) {
		bool is_time = i < SAMPLE_KIND_COUNT;

		perfetto__stack_sample__counter_descriptor__init(&counters[i]);
		WIRE_SET(&counters[i], iid, i + 1);
		counters[i].name = (char *)(is_time ? profile_kind_name((u32)i) : "samples");
		counters[i].description =
			(char *)(is_time ? abouts[i != SAMPLE_CPU] : "how many there were");
		WIRE_SET(&counters[i], unit,
			 is_time ? PERFETTO__STACK_SAMPLE__UNIT__UNIT_NANOSECONDS
				 : PERFETTO__STACK_SAMPLE__UNIT__UNIT_COUNT);
		places[i] = &counters[i];
	}
	for (u64 i = 0; i < MODES; i++) {
		perfetto__stack_sample__execution_context__init(&modes[i]);
		WIRE_SET(&modes[i], iid, i + 1);
		WIRE_SET(&modes[i], mode,
			 i == MODE_KERNEL ? PERFETTO__STACK_SAMPLE__MODE__MODE_KERNEL
					  : PERFETTO__STACK_SAMPLE__MODE__MODE_USER);
		mode_places[i] = &modes[i];
	}
	data.stack_sample_counter_descriptors = places;
	data.n_stack_sample_counter_descriptors = SAMPLES_COUNTER;
	data.stack_sample_execution_contexts = mode_places;
	data.n_stack_sample_execution_contexts = MODES;
	trace_intern(stacks->trace, &data);
}

static int put_sample(const struct sample_row *row, void *context)
{
	struct trace_stacks *stacks = context;
	const struct profile *profile = stacks->trace->profile;
	u32 stop = row->stop < PROFILE_STOPS ? row->stop : PROFILE_STOPS - 1;
	u32 kind = row->kind < SAMPLE_KIND_COUNT ? row->kind : SAMPLE_KIND_COUNT - 1;
	u64 stack = trace_stack(stacks, row->stack, stop);
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__StackSample sample = PERFETTO__STACK_SAMPLE__INIT;
	uint64_t count = row->count, counter = SAMPLES_COUNTER;

	WIRE_SET(&sample, task_context_iid, task_number(stacks, row->pid, row->tid));
	if (kind == SAMPLE_CPU)
		WIRE_SET(&sample, execution_context_iid, 1 + (row->mode == MODE_KERNEL));
	if (stack)
		WIRE_SET(&sample, callstack_iid, stack);
	if (!row->stack || !profile_stop_is_complete(stop))
		sample.unwind_error = (char *)profile->stop_names[stop];
	WIRE_SET(&sample, primary_descriptor_iid, kind + 1);
	WIRE_SET(&sample, primary_weight, row->weight_ns);
	sample.follower_descriptor_iids = &counter;
	sample.n_follower_descriptor_iids = 1;
	sample.follower_weights = &count;
	sample.n_follower_weights = 1;
	WIRE_SET(&packet, timestamp, row->window->begin_ns);
	packet.stack_sample = &sample;
	trace_packet(stacks->trace, &packet);
	return stacks->trace->err;
}

int trace_samples(struct trace_stacks *stacks)
{
	tell_counters(stacks);
	return timeline_samples(stacks->trace->timeline, put_sample, stacks);
}
