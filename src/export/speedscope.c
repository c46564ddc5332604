// SPDX-License-Identifier: Apache-2.0
/*
 * The JSON of speedscope: functions once, and a profile of samples for each process and kind, each
 * sample its functions' numbers from the outermost inwards, with a weight beside it. Written as it
 * goes, since it can be large.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/version.h"
#include "export.h"

#define SCHEMA                                                                                     \
	"https://www.speedscope.app/file-format-schema.json" /* a name; nothing is fetched         \
							      */

/* In ASCII: what is in a name must not turn a line round. */
static int write_text(const char *text, FILE *out)
{
	json_t *value = json_string(text);
	int failed = json_dumpf(value, out, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);

	json_decref(value);
	return failed && !ferror(out) ? -ENOMEM : 0;
}

static int write_field(const char *key, const char *text, FILE *out)
{
	fprintf(out, "\"%s\":", key);
	return write_text(text, out);
}

struct writer {
	const struct profile *profile;
	FILE *out;
	u32 *numbers; /* of functions: 1 + place in the file's list; 0: not in it */
	u32 *files;   /* of functions: texts */
	u32 count;
	bool by_count;
};

/* Which functions there are, in the order of samples. */
static void number_functions(struct writer *writer)
{
	for (size_t i = 0; i < writer->profile->samples.count; i++) {
		const struct profile_sample *sample = hash_item(&writer->profile->samples, i);
		struct profile_step steps[PROFILE_STEPS_MAX];
		size_t left = profile_steps(writer->profile, sample->stack, sample->stop, steps);

		while (left--) {
			u32 function = steps[left].function;

			if (!writer->numbers[function])
				writer->numbers[function] = ++writer->count;
			if (!writer->files[function])
				writer->files[function] = steps[left].file;
		}
	}
}

/* The source file, or where it is not known the module. */
static int write_function(const struct writer *writer, u32 function)
{
	const struct profile *profile = writer->profile;
	u32 module = profile_function(profile, function)->module;
	const char *file = profile_text(profile, writer->files[function]);
	int err;

	if (!*file && module != PROFILE_NONE)
		file = profile_text(
			profile,
			((struct profile_module *)hash_item(&profile->modules, module))->path);
	fputc('{', writer->out);
	err = write_field("name", profile_function_name(profile, function), writer->out);
	if (!err && *file) {
		fputc(',', writer->out);
		err = write_field("file", file, writer->out);
	}
	fputc('}', writer->out);
	return err;
}

static int write_functions(const struct writer *writer)
{
	_cleanup_free_ u32 *functions = calloc(writer->count + 1, sizeof(*functions));
	int err = functions ? 0 : -ENOMEM;

	for (u32 i = 0; !err && i < writer->profile->functions.count; i++)
		if (writer->numbers[i])
			functions[writer->numbers[i] - 1] = i;
	fputs("\"shared\":{\"frames\":[", writer->out);
	for (u32 i = 0; !err && i < writer->count; i++) {
		fputs(i ? ",\n" : "\n", writer->out);
		err = write_function(writer, functions[i]);
	}
	fputs("\n]}", writer->out);
	return err;
}

static void write_stack(const struct writer *writer, const struct profile_sample *sample)
{
	struct profile_step steps[PROFILE_STEPS_MAX];
	size_t count = profile_steps(writer->profile, sample->stack, sample->stop, steps);

	fputc('[', writer->out);
	for (size_t left = count; left--;)
		fprintf(writer->out, "%s%u", left + 1 < count ? "," : "",
			writer->numbers[steps[left].function] - 1);
	fputc(']', writer->out);
}

/* Samples of one process and kind; they stand one after the other in the order. */
static int write_profile(const struct writer *writer, const u32 *order, size_t count)
{
	const struct profile *profile = writer->profile;
	const struct profile_sample *first = hash_item(&profile->samples, order[0]);
	char name[PROFILE_NAME_BYTES + 64];
	u64 sum = 0;
	int err;

	snprintf(name, sizeof(name), "%s, %s",
		 profile_function_name(profile, profile_process(profile, first)->function),
		 profile_kind_name(first->kind));
	fputs("{\"type\":\"sampled\",", writer->out);
	err = write_field("name", name, writer->out);
	fprintf(writer->out, ",\"unit\":\"%s\",\"samples\":[",
		writer->by_count ? "none" : "nanoseconds");
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ",\n" : "\n", writer->out);
		write_stack(writer, hash_item(&profile->samples, order[i]));
	}
	fputs("],\n\"weights\":[", writer->out);
	for (size_t i = 0; i < count; i++) {
		const struct profile_sample *sample = hash_item(&profile->samples, order[i]);
		u64 value = writer->by_count ? sample->count : sample->weight_ns;

		sum += value;
		fprintf(writer->out, "%s%" PRIu64, i ? "," : "", (uint64_t)value);
	}
	fprintf(writer->out, "],\"startValue\":0,\"endValue\":%" PRIu64 "}", (uint64_t)sum);
	return err;
}

static int by_process(const void *a, const void *b, void *profile)
{
	const struct hash *samples = &((const struct profile *)profile)->samples;
	const struct profile_sample *x = hash_item(samples, *(const u32 *)a);
	const struct profile_sample *y = hash_item(samples, *(const u32 *)b);

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return *(const u32 *)a < *(const u32 *)b ? -1 : 1;
}

static bool is_alike(const struct profile *profile, u32 a, u32 b)
{
	const struct profile_sample *x = hash_item(&profile->samples, a);
	const struct profile_sample *y = hash_item(&profile->samples, b);

	return x->kind == y->kind && x->process == y->process;
}

static int write_profiles(const struct writer *writer)
{
	size_t count = writer->profile->samples.count;
	_cleanup_free_ u32 *order = calloc(count + 1, sizeof(*order));
	int err = order ? 0 : -ENOMEM;

	fputs("\"profiles\":[", writer->out);
	for (size_t i = 0; !err && i < count; i++)
		order[i] = (u32)i;
	if (!err)
		qsort_r(order, count, sizeof(*order), by_process, (void *)writer->profile);
	for (size_t at = 0, end; !err && at < count; at = end) {
		for (end = at + 1; end < count && is_alike(writer->profile, order[at], order[end]);
		     end++)
			;
		fputs(at ? ",\n" : "\n", writer->out);
		err = write_profile(writer, order + at, end - at);
	}
	fputs("\n]", writer->out);
	return err;
}

int export_speedscope(const struct export_source *source, const struct export_options *options,
		      FILE *out)
{
	const struct profile *profile = source->profile;
	_cleanup_free_ u32 *numbers = calloc(profile->functions.count + 1, sizeof(u32));
	_cleanup_free_ u32 *files = calloc(profile->functions.count + 1, sizeof(u32));
	struct writer writer = {.profile = profile,
				.out = out,
				.numbers = numbers,
				.files = files,
				.by_count = options->weight == WEIGHT_COUNT};
	int err;

	if (!numbers || !files)
		return -ENOMEM;
	number_functions(&writer);
	fputs("{\"$schema\":\"" SCHEMA "\",\n\"exporter\":\"dwell " DWELL_VERSION "\",\n", out);
	err = write_field("name", options->title ? options->title : "dwell", out);
	fputs(",\n", out);
	if (!err)
		err = write_functions(&writer);
	fputs(",\n", out);
	if (!err)
		err = write_profiles(&writer);
	fputs("\n}\n", out);
	return err;
}
