// SPDX-License-Identifier: Apache-2.0
#include "profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/utf8.h"
#include "resolver.h"

static const bool stops_complete[] = {
#define STOP(NAME, name, is_complete, meaning) [STOP_##NAME] = is_complete,
#include "../../abi/stops.def"
#undef STOP
};

static const char *const stop_names[] = {
#define STOP(NAME, name, is_complete, meaning) [STOP_##NAME] = name,
#include "../../abi/stops.def"
#undef STOP
};

static const char *const kind_names[] = {
#define SAMPLE(NAME, name, meaning) [SAMPLE_##NAME] = name,
#include "../../abi/samples.def"
#undef SAMPLE
};

void profile_init(struct profile *profile)
{
	*profile = (struct profile){0};
	strings_init(&profile->strings, PROFILE_TEXT_MAX);
	hash_init(&profile->modules, sizeof(struct profile_module), sizeof(u64),
		  PROFILE_MODULES_MAX);
	hash_init(&profile->frames, sizeof(struct profile_frame), sizeof(u64), PROFILE_FRAMES_MAX);
	hash_init(&profile->stacks, sizeof(struct profile_stack), sizeof(u64), PROFILE_STACKS_MAX);
	hash_init(&profile->functions, sizeof(struct profile_function),
		  sizeof(struct profile_function), 2 * PROFILE_INLINES_MAX);
	hash_init(&profile->processes, sizeof(struct profile_process), 2 * sizeof(u64),
		  PROFILE_TASKS_MAX);
	hash_init(&profile->threads, sizeof(struct profile_thread), 2 * sizeof(u64),
		  PROFILE_TASKS_MAX);
	hash_init(&profile->samples, sizeof(struct profile_sample), PROFILE_SAMPLE_KEY,
		  PROFILE_SAMPLES_MAX);
	for (u32 i = 0; i < PROFILE_STOPS; i++)
		if (i < STOP_COUNT)
			snprintf(profile->stop_names[i], sizeof(profile->stop_names[i]), "%s",
				 stop_names[i]);
		else
			snprintf(profile->stop_names[i], sizeof(profile->stop_names[i]), "stop %u",
				 i);
}

void profile_free(struct profile *profile)
{
	struct hash *hashes[] = {&profile->modules,   &profile->frames,	   &profile->stacks,
				 &profile->functions, &profile->processes, &profile->threads,
				 &profile->samples};

	for (size_t i = 0; i < ARRAY_SIZE(hashes); i++)
		hash_free(hashes[i]);
	strings_free(&profile->strings);
	free(profile->inlines);
	profile->inlines = NULL;
}

bool profile_stop_is_complete(u32 stop)
{
	return stop < STOP_COUNT && stops_complete[stop];
}

const char *profile_kind_name(u32 kind)
{
	return kind < SAMPLE_KIND_COUNT ? kind_names[kind] : "other";
}

bool profile_state_fits(const char *wanted, const char *state)
{
	size_t length = strlen(wanted);

	return !strncmp(wanted, state, length) && (!state[length] || state[length] == '.');
}

bool profile_state_is_of_kind(const char *state, u32 kind)
{
	return profile_state_fits("cpu", state) == (kind == SAMPLE_CPU);
}

double profile_effective(const struct profile_sum *sum)
{
	double weight = (double)sum->weight_ns;

	return sum->squares > 0 ? weight * weight / sum->squares : 0;
}

bool profile_is_even(const struct profile_sum *sum)
{
	double effective = profile_effective(sum), count = (double)sum->count;

	return effective >= 0.99 * count || (count >= 10 && effective >= count - 0.5);
}

void profile_sum_add(struct profile_sum *sum, const struct profile_sample *sample)
{
	sum->count = profile_add(sum->count, sample->count);
	sum->weight_ns = profile_add(sum->weight_ns, sample->weight_ns);
	sum->squares += sample->squares;
}

const char *profile_module_name(const struct profile *profile, u32 module)
{
	const struct profile_module *found;
	const char *path, *slash;

	if (module >= profile->modules.count)
		return "";
	found = hash_item(&profile->modules, module);
	path = profile_text(profile, found->path);
	slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

void profile_frame_label(const struct profile *profile, const struct profile_frame *frame,
			 char *buf, size_t size)
{
	const char *module = profile_module_name(profile, frame->module);

	if (frame->name)
		snprintf(buf, size, "%s", profile_text(profile, frame->name));
	else
		snprintf(buf, size, "%s+0x%" PRIx64, *module ? module : "[unknown]",
			 (uint64_t)frame->address);
}

/* PROFILE_NONE: no memory */
static u32 function_of(struct profile *profile, u32 name, u32 module, enum function_look look)
{
	struct profile_function key = {name, module, look};
	const struct profile_function *function = hash_add(&profile->functions, &key);

	return function ? (u32)(function - (struct profile_function *)profile->functions.items)
			: PROFILE_NONE;
}

static u32 function_called(struct profile *profile, const char *name, u32 module,
			   enum function_look look)
{
	u32 text = strings_add(&profile->strings, name);

	return text == STRINGS_NONE ? PROFILE_NONE : function_of(profile, text, module, look);
}

static enum function_look look_of(const struct profile *profile, const struct profile_frame *frame)
{
	const struct profile_module *module = frame->module < profile->modules.count
						      ? hash_item(&profile->modules, frame->module)
						      : NULL;

	if (module && (module->kind == MODULE_KERNEL || module->kind == MODULE_KERNEL_OTHER))
		return FUNCTION_KERNEL; /* also without a name: whose it is, says more */
	if (!frame->name)
		return FUNCTION_UNNAMED;
	return module && module->kind == MODULE_JIT ? FUNCTION_JIT : FUNCTION_USER;
}

static int finish_frame(struct profile *profile, struct profile_frame *frame)
{
	const struct profile_module *module = hash_find(&profile->modules, &frame->module_id);
	char label[PROFILE_NAME_BYTES + 32];
	enum function_look look;

	frame->module = module ? (u32)(module - (struct profile_module *)profile->modules.items)
			       : PROFILE_NONE;
	look = look_of(profile, frame);
	profile_frame_label(profile, frame, label, sizeof(label));
	frame->function = function_called(profile, label, frame->module, look);
	if (frame->function == PROFILE_NONE)
		return -ENOMEM;
	for (u32 i = 0; i < frame->inline_count; i++) {
		struct profile_inline *inlined = &profile->inlines[frame->first_inline + i];

		inlined->function = function_of(profile, inlined->name, frame->module,
						look == FUNCTION_UNNAMED ? FUNCTION_USER : look);
		if (inlined->function == PROFILE_NONE)
			return -ENOMEM;
	}
	return 0;
}

static int by_frame(const void *a, const void *b)
{
	const struct profile_inline *x = a, *y = b;

	if (x->frame != y->frame)
		return x->frame < y->frame ? -1 : 1;
	return x->depth < y->depth ? -1 : x->depth > y->depth;
}

/* Each frame has its inlines in one place; more than a stack could show are left out. */
static void place_inlines(struct profile *profile)
{
	if (profile->inline_count)
		qsort(profile->inlines, profile->inline_count, sizeof(*profile->inlines), by_frame);
	for (size_t i = 0; i < profile->inline_count; i++) {
		struct profile_frame *frame =
			hash_find(&profile->frames, &profile->inlines[i].frame);

		if (!frame)
			continue;
		if (!frame->inline_count)
			frame->first_inline = (u32)i;
		if (frame->inline_count < PROFILE_INLINED_MAX)
			frame->inline_count++;
	}
}

static void place_stacks(struct profile *profile)
{
	const struct profile_stack *stacks = (void *)profile->stacks.items;
	const struct profile_frame *frames = (void *)profile->frames.items;

	for (size_t i = 0; i < profile->stacks.count; i++) {
		struct profile_stack *stack = hash_item(&profile->stacks, i);
		const struct profile_stack *parent = hash_find(&profile->stacks, &stack->parent_id);
		const struct profile_frame *frame = hash_find(&profile->frames, &stack->frame_id);

		stack->parent = parent && stack->parent_id ? (u32)(parent - stacks) : PROFILE_NONE;
		stack->frame = frame ? (u32)(frame - frames) : PROFILE_NONE;
		stack->first_sample = PROFILE_NONE;
	}
	for (size_t i = profile->samples.count; i--;) {
		struct profile_sample *sample = hash_item(&profile->samples, i);
		struct profile_stack *stack = hash_find(&profile->stacks, &sample->stack);

		sample->next = stack ? stack->first_sample : PROFILE_NONE;
		if (stack)
			stack->first_sample = (u32)i;
	}
}

static int name_processes(struct profile *profile)
{
	for (size_t i = 0; i < profile->processes.count; i++) {
		struct profile_process *process = hash_item(&profile->processes, i);
		const char *comm = profile_text(profile, process->comm);
		char name[100], label[128];

		utf8_copy(name, sizeof(name), *comm ? comm : "?", strlen(*comm ? comm : "?"));
		snprintf(label, sizeof(label), "%s (%" PRIu64 ")", name, (uint64_t)process->pid);
		process->function = function_called(profile, label, PROFILE_NONE, FUNCTION_PROCESS);
		if (process->function == PROFILE_NONE)
			return -ENOMEM;
	}
	return 0;
}

static int make_marks(struct profile *profile)
{
	char label[64];

	for (u32 i = 0; i < PROFILE_STOPS; i++) {
		snprintf(label, sizeof(label), "[incomplete: %s]", profile->stop_names[i]);
		profile->stop_marks[i] =
			function_called(profile, label, PROFILE_NONE, FUNCTION_MARK);
		if (profile->stop_marks[i] == PROFILE_NONE)
			return -ENOMEM;
	}
	profile->stop_marks[STOP_NONE] =
		function_called(profile, "[no stack]", PROFILE_NONE, FUNCTION_MARK);
	profile->damaged_mark =
		function_called(profile, "[damaged stack]", PROFILE_NONE, FUNCTION_MARK);
	return profile->stop_marks[STOP_NONE] == PROFILE_NONE ||
			       profile->damaged_mark == PROFILE_NONE
		       ? -ENOMEM
		       : 0;
}

static void count_quality(struct profile *profile)
{
	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct profile_sample *sample = hash_item(&profile->samples, i);
		struct profile_step steps[PROFILE_STEPS_MAX];
		size_t count = profile_steps(profile, sample->stack, sample->stop, steps);
		bool is_complete = profile_stop_is_complete(sample->stop);

		profile_sum_add(&profile->all, sample);
		profile->mismatches += sample->mismatches;
		if (count && steps[count - 1].function == profile->damaged_mark)
			profile->damaged += sample->count;
		else if (is_complete && sample->stack)
			profile->complete += sample->count;
		else if (is_complete)
			profile->no_stack += sample->count;
		else
			profile->by_stop[sample->stop % PROFILE_STOPS] += sample->count;
	}
}

int profile_finish(struct profile *profile)
{
	int err = make_marks(profile);

	place_inlines(profile);
	for (size_t i = 0; !err && i < profile->frames.count; i++)
		err = finish_frame(profile, hash_item(&profile->frames, i));
	place_stacks(profile);
	if (!err)
		err = name_processes(profile);
	if (!err)
		count_quality(profile);
	return err;
}

size_t profile_frame_steps(const struct profile *profile, u32 index, struct profile_step *steps,
			   size_t room)
{
	const struct profile_frame *frame = hash_item(&profile->frames, index);
	u32 file = frame->file, line = frame->line;
	size_t count = 0;

	for (u32 i = 0; i < frame->inline_count && count < room; i++) {
		const struct profile_inline *inlined = &profile->inlines[frame->first_inline + i];

		steps[count++] = (struct profile_step){.function = inlined->function,
						       .frame = index,
						       .file = file,
						       .line = line,
						       .is_inlined = true};
		file = inlined->file; /* where the next one called it */
		line = inlined->line;
	}
	if (count < room)
		steps[count++] = (struct profile_step){
			.function = frame->function, .frame = index, .file = file, .line = line};
	return count;
}

static size_t add_mark(u32 mark, struct profile_step *steps, size_t count)
{
	steps[count] = (struct profile_step){.function = mark, .frame = PROFILE_NONE};
	return count + 1;
}

size_t profile_steps(const struct profile *profile, u64 stack_id, u32 stop,
		     struct profile_step steps[PROFILE_STEPS_MAX])
{
	const size_t room = PROFILE_STEPS_MAX - 1; /* and a mark */
	const struct profile_stack *stack = hash_find(&profile->stacks, &stack_id);
	size_t count = 0;

	stop %= PROFILE_STOPS;
	if (!stack_id)
		return add_mark(
			profile->stop_marks[profile_stop_is_complete(stop) ? STOP_NONE : stop],
			steps, 0);
	for (int depth = 0; stack && depth < PROFILE_DEPTH_MAX; depth++) {
		if (stack->frame == PROFILE_NONE)
			break;
		count += profile_frame_steps(profile, stack->frame, steps + count, room - count);
		if (!stack->parent_id)
			return profile_stop_is_complete(stop)
				       ? count
				       : add_mark(profile->stop_marks[stop], steps, count);
		stack = stack->parent == PROFILE_NONE ? NULL
						      : hash_item(&profile->stacks, stack->parent);
	}
	return add_mark(profile->damaged_mark, steps, count);
}
