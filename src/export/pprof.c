// SPDX-License-Identifier: Apache-2.0
/*
 * The format of pprof: a gzipped message whose parts refer to each other by number. Modules are its
 * mappings, frames its locations, and what was inlined at one are lines of it. Process, thread,
 * state and stack_id are labels of each sample.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/utf8.h"
#include "../model/resolver.h"
#include "export.h"
#include "proto/pprof.pb-c.h"
#include "wire.h"

#define VALUES_MAX 3 /* samples, on a CPU, off it */
#define LABELS_MAX 6 /* process, thread, pid, tid, state, stack_id */

struct encoder {
	const struct profile *profile;
	struct wire wire;
	struct strings strings; /* the file's own: its first is "" */
	bool *has_frame;	/* which are in a sample */
	bool *has_function;
	u32 *files; /* of functions: texts of the profile */
	u64 *module_ends;
	bool has_kind[2]; /* on a CPU, off it */
	int err;
};

static bool is_on_cpu(u32 kind)
{
	return kind == SAMPLE_CPU;
}

/* Escaped: pprof prints to terminals what it reads. */
static s64 text(struct encoder *encoder, const char *value)
{
	char escaped[4 * PROFILE_NAME_BYTES];
	u32 number;

	utf8_escape(escaped, sizeof(escaped), value);
	number = strings_add(&encoder->strings, escaped);

	if (number == STRINGS_NONE)
		encoder->err = -ENOMEM;
	return number == STRINGS_NONE ? 0 : number;
}

static s64 text_of(struct encoder *encoder, u32 value)
{
	return text(encoder, profile_text(encoder->profile, value));
}

/* A part of the file: a message with one field or two. */
static void put(struct encoder *encoder, const Pprof__Profile *part)
{
	wire_put(&encoder->wire, &part->base);
}

static Pprof__ValueType type_of(struct encoder *encoder, const char *type, const char *unit)
{
	Pprof__ValueType message = PPROF__VALUE_TYPE__INIT;

	WIRE_SET(&message, type, text(encoder, type));
	WIRE_SET(&message, unit, text(encoder, unit));
	return message;
}

static void put_type(struct encoder *encoder, const char *type, const char *unit)
{
	Pprof__ValueType message = type_of(encoder, type, unit);
	Pprof__Profile part = PPROF__PROFILE__INIT;

	part.n_sample_type = 1;
	part.sample_type = (Pprof__ValueType *[]){&message};
	put(encoder, &part);
}

static void put_types(struct encoder *encoder, bool by_count)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;

	put_type(encoder, "samples", "count");
	if (encoder->has_kind[0])
		put_type(encoder, "cpu", "nanoseconds");
	if (encoder->has_kind[1])
		put_type(encoder, "off_cpu", "nanoseconds");
	WIRE_SET(&part, default_sample_type,
		 text(encoder, by_count		      ? "samples"
			       : encoder->has_kind[0] ? "cpu"
						      : "off_cpu"));
	put(encoder, &part);
}

/* Labels of a sample, and the array of pointers that protobuf-c wants. */
struct labels {
	Pprof__Label items[LABELS_MAX];
	Pprof__Label *places[LABELS_MAX];
	size_t count;
};

static void add_label(struct encoder *encoder, struct labels *labels, const char *key,
		      const char *value, u64 number)
{
	Pprof__Label *label = &labels->items[labels->count];

	pprof__label__init(label);
	WIRE_SET(label, key, text(encoder, key));
	if (value)
		WIRE_SET(label, str, text(encoder, value));
	else
		WIRE_SET(label, num, (s64)number);
	labels->places[labels->count++] = label;
}

static void add_labels(struct encoder *encoder, const struct profile_sample *sample,
		       struct labels *labels)
{
	const struct profile *profile = encoder->profile;
	const struct profile_thread *thread =
		hash_find(&profile->threads, &(u64[]){sample->tid, sample->thread_start_ns});
	char id[20];

	add_label(encoder, labels, "process",
		  profile_text(profile, profile_process(profile, sample)->comm), 0);
	if (thread)
		add_label(encoder, labels, "thread", profile_text(profile, thread->comm), 0);
	add_label(encoder, labels, "pid", NULL, sample->pid);
	add_label(encoder, labels, "tid", NULL, sample->tid);
	add_label(encoder, labels, "state", profile->state_names[sample->state], 0);
	snprintf(id, sizeof(id), "%016" PRIx64, (uint64_t)sample->stack);
	if (sample->stack)
		add_label(encoder, labels, "stack_id", id, 0);
}

/* A frame is its index + 1; marks come after all frames. */
static u64 location_of(struct encoder *encoder, const struct profile_step *step)
{
	encoder->has_function[step->function] = true;
	if (step->file && !encoder->files[step->function])
		encoder->files[step->function] = step->file;
	if (step->frame == PROFILE_NONE)
		return encoder->profile->frames.count + step->function + 1;
	encoder->has_frame[step->frame] = true;
	return (u64)step->frame + 1;
}

static void put_sample(struct encoder *encoder, const struct profile_sample *sample)
{
	struct profile_step steps[PROFILE_STEPS_MAX];
	size_t count = profile_steps(encoder->profile, sample->stack, sample->stop, steps);
	uint64_t locations[PROFILE_STEPS_MAX];
	int64_t values[VALUES_MAX] = {(s64)sample->count};
	Pprof__Sample message = PPROF__SAMPLE__INIT;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	struct labels labels = {.count = 0};

	message.location_id = locations;
	for (size_t i = 0; i < count; i++) {
		u64 location = location_of(encoder, &steps[i]);

		/* What was inlined is a line of its frame's location. */
		if (!i || steps[i].frame == PROFILE_NONE || !steps[i - 1].is_inlined)
			locations[message.n_location_id++] = location;
	}
	message.value = values;
	message.n_value = 1;
	if (encoder->has_kind[0])
		values[message.n_value++] = is_on_cpu(sample->kind) ? (s64)sample->weight_ns : 0;
	if (encoder->has_kind[1])
		values[message.n_value++] = is_on_cpu(sample->kind) ? 0 : (s64)sample->weight_ns;
	add_labels(encoder, sample, &labels);
	message.label = labels.places;
	message.n_label = labels.count;
	part.n_sample = 1;
	part.sample = (Pprof__Sample *[]){&message};
	put(encoder, &part);
}

static void put_whole_location(struct encoder *encoder, Pprof__Location *location)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;

	part.n_location = 1;
	part.location = &location;
	put(encoder, &part);
}

static void set_line(Pprof__Line *message, u32 function, u32 line)
{
	pprof__line__init(message);
	WIRE_SET(message, function_id, (u64)function + 1);
	WIRE_SET(message, line, line);
}

static void put_location(struct encoder *encoder, u32 index)
{
	const struct profile *profile = encoder->profile;
	const struct profile_frame *frame = hash_item(&profile->frames, index);
	Pprof__Line lines[PROFILE_INLINED_MAX + 1], *places[PROFILE_INLINED_MAX + 1];
	Pprof__Location location = PPROF__LOCATION__INIT;
	u32 line = frame->line, count = frame->inline_count;

	count = count < PROFILE_INLINED_MAX ? count : PROFILE_INLINED_MAX;
	WIRE_SET(&location, id, (u64)index + 1);
	if (frame->module != PROFILE_NONE)
		WIRE_SET(&location, mapping_id, (u64)frame->module + 1);
	WIRE_SET(&location, address, frame->address);
	for (u32 i = 0; i < count; i++) {
		const struct profile_inline *inlined = &profile->inlines[frame->first_inline + i];

		encoder->has_function[inlined->function] = true;
		set_line(&lines[i], inlined->function, line);
		line = inlined->line; /* where the next one called it */
	}
	encoder->has_function[frame->function] = true;
	set_line(&lines[count], frame->function, line);
	for (u32 i = 0; i <= count; i++)
		places[i] = &lines[i];
	location.n_line = count + 1;
	location.line = places;
	put_whole_location(encoder, &location);
}

/* Of what is no function, but says where a stack ended: it is its only line. */
static void put_mark(struct encoder *encoder, u32 function)
{
	Pprof__Location location = PPROF__LOCATION__INIT;
	Pprof__Line line;

	set_line(&line, function, 0);
	WIRE_SET(&location, id, encoder->profile->frames.count + function + 1);
	location.n_line = 1;
	location.line = (Pprof__Line *[]){&line};
	put_whole_location(encoder, &location);
}

static void put_locations(struct encoder *encoder)
{
	const struct profile *profile = encoder->profile;

	for (u32 i = 0; i < profile->frames.count; i++) {
		const struct profile_frame *frame = hash_item(&profile->frames, i);

		if (!encoder->has_frame[i])
			continue;
		put_location(encoder, i);
		if (frame->module != PROFILE_NONE &&
		    frame->address >= encoder->module_ends[frame->module])
			encoder->module_ends[frame->module] =
				frame->address + (frame->address != ~0ULL);
	}
	for (u32 i = 0; i < profile->functions.count; i++)
		if (encoder->has_function[i] && profile_function(profile, i)->look == FUNCTION_MARK)
			put_mark(encoder, i);
}

static void put_functions(struct encoder *encoder)
{
	for (u32 i = 0; i < encoder->profile->functions.count; i++) {
		Pprof__Function function = PPROF__FUNCTION__INIT;
		Pprof__Profile part = PPROF__PROFILE__INIT;

		if (!encoder->has_function[i])
			continue;
		WIRE_SET(&function, id, (u64)i + 1);
		WIRE_SET(&function, name,
			 text(encoder, profile_function_name(encoder->profile, i)));
		/* No system_name: pprof would take the name for one to be demangled. */
		WIRE_SET(&function, filename, text_of(encoder, encoder->files[i]));
		part.n_function = 1;
		part.function = (Pprof__Function *[]){&function};
		put(encoder, &part);
	}
}

static void put_mapping(struct encoder *encoder, u32 index)
{
	const struct profile_module *module = hash_item(&encoder->profile->modules, index);
	Pprof__Mapping mapping = PPROF__MAPPING__INIT;
	Pprof__Profile part = PPROF__PROFILE__INIT;

	WIRE_SET(&mapping, id, (u64)index + 1);
	WIRE_SET(&mapping, memory_limit, encoder->module_ends[index]);
	WIRE_SET(&mapping, filename, text_of(encoder, module->path));
	WIRE_SET(&mapping, build_id, text_of(encoder, module->build_id));
	/* Names are as good as they will get: nothing is to be looked up again. */
	WIRE_SET(&mapping, has_functions, true);
	WIRE_SET(&mapping, has_filenames, true);
	WIRE_SET(&mapping, has_line_numbers, true);
	WIRE_SET(&mapping, has_inline_frames, true);
	part.n_mapping = 1;
	part.mapping = (Pprof__Mapping *[]){&mapping};
	put(encoder, &part);
}

/* The name of the process whose samples weigh most. */
static const char *busiest_comm(struct encoder *encoder)
{
	const struct profile *profile = encoder->profile;
	_cleanup_free_ u64 *weights = calloc(profile->processes.count + 1, sizeof(*weights));
	u32 busiest = PROFILE_NONE;

	if (!weights)
		encoder->err = -ENOMEM;
	for (size_t i = 0; weights && i < profile->samples.count; i++) {
		const struct profile_sample *sample = hash_item(&profile->samples, i);

		weights[sample->process] += sample->weight_ns;
		if (busiest == PROFILE_NONE || weights[sample->process] > weights[busiest])
			busiest = sample->process;
	}
	if (busiest == PROFILE_NONE)
		return "";
	return profile_text(
		profile, ((struct profile_process *)hash_item(&profile->processes, busiest))->comm);
}

/* The format wants the main binary first: the file that is called as the busiest process is. */
static u32 main_module(struct encoder *encoder)
{
	const struct profile *profile = encoder->profile;
	const char *comm = busiest_comm(encoder);
	u32 any = PROFILE_NONE;

	for (u32 i = 0; i < profile->modules.count; i++) {
		const struct profile_module *module = hash_item(&profile->modules, i);

		if (!encoder->module_ends[i] || module->kind != MODULE_FILE)
			continue;
		if (*comm && !strncmp(profile_module_name(profile, i), comm, strlen(comm)))
			return i;
		any = any == PROFILE_NONE ? i : any;
	}
	return any;
}

static void put_mappings(struct encoder *encoder)
{
	u32 first = main_module(encoder);

	if (first != PROFILE_NONE)
		put_mapping(encoder, first);
	for (u32 i = 0; i < encoder->profile->modules.count; i++)
		if (i != first && encoder->module_ends[i])
			put_mapping(encoder, i);
}

static void put_facts(struct encoder *encoder, const struct export_options *options)
{
	const struct profile *profile = encoder->profile;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__ValueType period;
	struct profile_sum cpu = {0};
	int64_t comments[2];
	char comment[128];

	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct profile_sample *sample = hash_item(&profile->samples, i);

		if (is_on_cpu(sample->kind))
			profile_sum_add(&cpu, sample);
	}
	WIRE_SET(&part, time_nanos, (s64)profile->started_real_ns);
	WIRE_SET(&part, duration_nanos, (s64)profile->duration_ns);
	if (cpu.count) {
		period = type_of(encoder, "cpu", "nanoseconds");
		part.period_type = &period;
		WIRE_SET(&part, period, (s64)(cpu.weight_ns / cpu.count));
	}
	snprintf(comment, sizeof(comment),
		 "dwell: %" PRIu64 " samples, %" PRIu64 " of them with complete stacks",
		 (uint64_t)profile->all.count, (uint64_t)profile->complete);
	comments[part.n_comment++] = text(encoder, comment);
	if (options->title)
		comments[part.n_comment++] = text(encoder, options->title);
	part.comment = comments;
	put(encoder, &part);
}

static void put_strings(struct encoder *encoder)
{
	for (u32 i = 0; i < encoder->strings.count; i++) {
		Pprof__Profile part = PPROF__PROFILE__INIT;

		part.n_string_table = 1;
		part.string_table = (char *[]){(char *)strings_get(&encoder->strings, i)};
		put(encoder, &part);
	}
}

static int write_all(struct encoder *encoder, const struct export_options *options)
{
	const struct profile *profile = encoder->profile;

	text(encoder, "");
	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct profile_sample *sample = hash_item(&profile->samples, i);

		encoder->has_kind[!is_on_cpu(sample->kind)] = true;
	}
	if (!encoder->has_kind[1])
		encoder->has_kind[0] = true; /* a file without samples has this type too */
	put_types(encoder, options->weight == WEIGHT_COUNT);
	for (size_t i = 0; !encoder->err && i < profile->samples.count; i++)
		put_sample(encoder, hash_item(&profile->samples, i));
	put_locations(encoder);
	put_mappings(encoder);
	put_functions(encoder);
	put_facts(encoder, options);
	put_strings(encoder); /* last: all that came before adds to them */
	return encoder->err;
}

int export_pprof(const struct export_source *source, const struct export_options *options,
		 FILE *out)
{
	const struct profile *profile = source->profile;
	_cleanup_free_ bool *has_frame = calloc(profile->frames.count + 1, sizeof(bool));
	_cleanup_free_ bool *has_function = calloc(profile->functions.count + 1, sizeof(bool));
	_cleanup_free_ u32 *files = calloc(profile->functions.count + 1, sizeof(u32));
	_cleanup_free_ u64 *module_ends = calloc(profile->modules.count + 1, sizeof(u64));
	struct encoder encoder = {.profile = profile,
				  .has_frame = has_frame,
				  .has_function = has_function,
				  .files = files,
				  .module_ends = module_ends};
	int err;

	if (!has_frame || !has_function || !files || !module_ends)
		return -ENOMEM;
	err = wire_begin(&encoder.wire, out, true);
	if (err)
		return err;
	strings_init(&encoder.strings, PROFILE_TEXT_MAX);
	err = write_all(&encoder, options);
	wire_end(&encoder.wire);
	strings_free(&encoder.strings);
	return err;
}
