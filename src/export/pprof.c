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
#include "proto.h"

/* Numbers of fields, as the format has them. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_TIME = 9,
	PROFILE_DURATION,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
	PROFILE_DEFAULT_TYPE
};
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum {
	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_OFFSET,
	MAPPING_FILE,
	MAPPING_BUILD_ID,
	MAPPING_HAS_FUNCTIONS,
	MAPPING_HAS_FILES,
	MAPPING_HAS_LINES,
	MAPPING_HAS_INLINES
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

#define VALUES_MAX 3 /* samples, on a CPU, off it */

struct encoder {
	const struct profile *profile;
	struct gzip gzip;
	struct strings strings; /* the file's own: its first is "" */
	struct proto message;	/* that is being built */
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
static u64 text(struct encoder *encoder, const char *value)
{
	char escaped[4 * PROFILE_NAME_BYTES];
	u32 number;

	utf8_escape(escaped, sizeof(escaped), value);
	number = strings_add(&encoder->strings, escaped);

	if (number == STRINGS_NONE)
		encoder->err = -ENOMEM;
	return number == STRINGS_NONE ? 0 : number;
}

static u64 text_of(struct encoder *encoder, u32 value)
{
	return text(encoder, profile_text(encoder->profile, value));
}

static void put_whole(struct encoder *encoder, struct proto *whole)
{
	if (whole->has_failed)
		encoder->err = -ENOMEM;
	else
		gzip_write(&encoder->gzip, whole);
	proto_free(whole);
}

/* The message that was built, as a field of the file. */
static void put(struct encoder *encoder, u32 field)
{
	struct proto whole = {0};

	proto_message(&whole, field, &encoder->message);
	encoder->message.size = 0;
	put_whole(encoder, &whole);
}

static void put_number(struct encoder *encoder, u32 field, u64 value)
{
	struct proto whole = {0};

	proto_number(&whole, field, value);
	put_whole(encoder, &whole);
}

static void put_type(struct encoder *encoder, u32 field, const char *type, const char *unit)
{
	proto_number(&encoder->message, TYPE_TYPE, text(encoder, type));
	proto_number(&encoder->message, TYPE_UNIT, text(encoder, unit));
	put(encoder, field);
}

static void put_types(struct encoder *encoder, bool by_count)
{
	put_type(encoder, PROFILE_SAMPLE_TYPE, "samples", "count");
	if (encoder->has_kind[0])
		put_type(encoder, PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
	if (encoder->has_kind[1])
		put_type(encoder, PROFILE_SAMPLE_TYPE, "off_cpu", "nanoseconds");
	put_number(encoder, PROFILE_DEFAULT_TYPE,
		   text(encoder, by_count		? "samples"
				 : encoder->has_kind[0] ? "cpu"
							: "off_cpu"));
}

static void add_label(struct encoder *encoder, const char *key, const char *value, u64 number)
{
	struct proto label = {0};

	proto_number(&label, LABEL_KEY, text(encoder, key));
	if (value)
		proto_number(&label, LABEL_TEXT, text(encoder, value));
	else
		proto_number(&label, LABEL_NUMBER, number);
	proto_message(&encoder->message, SAMPLE_LABEL, &label);
	proto_free(&label);
}

static void add_labels(struct encoder *encoder, const struct profile_sample *sample)
{
	const struct profile *profile = encoder->profile;
	const struct profile_thread *thread =
		hash_find(&profile->threads, &(u64[]){sample->tid, sample->thread_start_ns});
	char id[20];

	add_label(encoder, "process", profile_text(profile, profile_process(profile, sample)->comm),
		  0);
	if (thread)
		add_label(encoder, "thread", profile_text(profile, thread->comm), 0);
	add_label(encoder, "pid", NULL, sample->pid);
	add_label(encoder, "tid", NULL, sample->tid);
	add_label(encoder, "state", profile->state_names[sample->state], 0);
	snprintf(id, sizeof(id), "%016" PRIx64, (uint64_t)sample->stack);
	if (sample->stack)
		add_label(encoder, "stack_id", id, 0);
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
	u64 locations[PROFILE_STEPS_MAX], values[VALUES_MAX] = {sample->count};
	size_t location_count = 0, value_count = 1;

	for (size_t i = 0; i < count; i++) {
		u64 location = location_of(encoder, &steps[i]);

		/* What was inlined is a line of its frame's location. */
		if (!i || steps[i].frame == PROFILE_NONE || !steps[i - 1].is_inlined)
			locations[location_count++] = location;
	}
	if (encoder->has_kind[0])
		values[value_count++] = is_on_cpu(sample->kind) ? sample->weight_ns : 0;
	if (encoder->has_kind[1])
		values[value_count++] = is_on_cpu(sample->kind) ? 0 : sample->weight_ns;
	proto_packed(&encoder->message, SAMPLE_LOCATION, locations, location_count);
	proto_packed(&encoder->message, SAMPLE_VALUE, values, value_count);
	add_labels(encoder, sample);
	put(encoder, PROFILE_SAMPLE);
}

static void add_line(struct encoder *encoder, u32 function, u32 line)
{
	struct proto message = {0};

	proto_number(&message, LINE_FUNCTION, (u64)function + 1);
	proto_number(&message, LINE_LINE, line);
	proto_message(&encoder->message, LOCATION_LINE, &message);
	proto_free(&message);
}

static void put_location(struct encoder *encoder, u32 index)
{
	const struct profile *profile = encoder->profile;
	const struct profile_frame *frame = hash_item(&profile->frames, index);
	u32 line = frame->line;

	proto_number(&encoder->message, LOCATION_ID, (u64)index + 1);
	if (frame->module != PROFILE_NONE)
		proto_number(&encoder->message, LOCATION_MAPPING, (u64)frame->module + 1);
	proto_number(&encoder->message, LOCATION_ADDRESS, frame->address);
	for (u32 i = 0; i < frame->inline_count; i++) {
		const struct profile_inline *inlined = &profile->inlines[frame->first_inline + i];

		encoder->has_function[inlined->function] = true;
		add_line(encoder, inlined->function, line);
		line = inlined->line; /* where the next one called it */
	}
	encoder->has_function[frame->function] = true;
	add_line(encoder, frame->function, line);
	put(encoder, PROFILE_LOCATION);
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
	for (u32 i = 0; i < profile->functions.count; i++) {
		if (!encoder->has_function[i] ||
		    profile_function(profile, i)->look != FUNCTION_MARK)
			continue;
		proto_number(&encoder->message, LOCATION_ID, profile->frames.count + i + 1);
		add_line(encoder, i, 0);
		put(encoder, PROFILE_LOCATION);
	}
}

static void put_functions(struct encoder *encoder)
{
	for (u32 i = 0; i < encoder->profile->functions.count; i++) {
		u64 name;

		if (!encoder->has_function[i])
			continue;
		name = text(encoder, profile_function_name(encoder->profile, i));
		proto_number(&encoder->message, FUNCTION_ID, (u64)i + 1);
		proto_number(&encoder->message, FUNCTION_NAME, name);
		/* No FUNCTION_SYSTEM_NAME: pprof would take the name for one to be demangled. */
		proto_number(&encoder->message, FUNCTION_FILE, text_of(encoder, encoder->files[i]));
		put(encoder, PROFILE_FUNCTION);
	}
}

static void put_mapping(struct encoder *encoder, u32 index)
{
	const struct profile_module *module = hash_item(&encoder->profile->modules, index);

	proto_number(&encoder->message, MAPPING_ID, (u64)index + 1);
	proto_number(&encoder->message, MAPPING_LIMIT, encoder->module_ends[index]);
	proto_number(&encoder->message, MAPPING_FILE, text_of(encoder, module->path));
	proto_number(&encoder->message, MAPPING_BUILD_ID, text_of(encoder, module->build_id));
	/* Names are as good as they will get: nothing is to be looked up again. */
	proto_number(&encoder->message, MAPPING_HAS_FUNCTIONS, 1);
	proto_number(&encoder->message, MAPPING_HAS_FILES, 1);
	proto_number(&encoder->message, MAPPING_HAS_LINES, 1);
	proto_number(&encoder->message, MAPPING_HAS_INLINES, 1);
	put(encoder, PROFILE_MAPPING);
}

/* The name of the process whose samples weigh most. */
static const char *busiest_comm(const struct profile *profile)
{
	_cleanup_free_ u64 *weights = calloc(profile->processes.count + 1, sizeof(*weights));
	u32 busiest = PROFILE_NONE;

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
static u32 main_module(const struct encoder *encoder)
{
	const struct profile *profile = encoder->profile;
	const char *comm = busiest_comm(profile);
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
	struct profile_sum cpu = {0};
	char comment[128];

	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct profile_sample *sample = hash_item(&profile->samples, i);

		if (is_on_cpu(sample->kind))
			profile_sum_add(&cpu, sample);
	}
	put_number(encoder, PROFILE_TIME, profile->started_real_ns);
	put_number(encoder, PROFILE_DURATION, profile->duration_ns);
	if (cpu.count) {
		put_type(encoder, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
		put_number(encoder, PROFILE_PERIOD, cpu.weight_ns / cpu.count);
	}
	snprintf(comment, sizeof(comment),
		 "dwell: %" PRIu64 " samples, %" PRIu64 " of them with complete stacks",
		 (uint64_t)profile->all.count, (uint64_t)profile->complete);
	put_number(encoder, PROFILE_COMMENT, text(encoder, comment));
	if (options->title)
		put_number(encoder, PROFILE_COMMENT, text(encoder, options->title));
}

static void put_strings(struct encoder *encoder)
{
	for (u32 i = 0; i < encoder->strings.count; i++) {
		const char *value = strings_get(&encoder->strings, i);
		struct proto whole = {0};

		proto_bytes(&whole, PROFILE_STRING, value, strlen(value));
		put_whole(encoder, &whole);
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

int export_pprof(const struct profile *profile, const struct export_options *options, FILE *out)
{
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
	err = gzip_begin(&encoder.gzip, out);
	if (err)
		return err;
	strings_init(&encoder.strings, PROFILE_TEXT_MAX);
	err = write_all(&encoder, options);
	gzip_end(&encoder.gzip);
	strings_free(&encoder.strings);
	proto_free(&encoder.message);
	return err;
}
