// SPDX-License-Identifier: Apache-2.0
/*
 * Functions by window, from samples: what they took themselves, and with all that they called.
 * Samples on a CPU and blocked ones are lines apart. Of a wait, the innermost function of the
 * program itself is what waits: how the kernel does it is not what is asked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../store/profile_reader.h"
#include "../store/query.h"
#include "reading.h"

#define STACKS_MAX   4000 /* lines of whole stacks */
#define STACK_STEPS  24	  /* of these the innermost functions are the name */
#define STACK_LENGTH 480

/* Lines of a function, as 1 + their index; 0: not looked up yet. */
struct function_lines {
	u32 self[SAMPLE_KIND_COUNT], total[SAMPLE_KIND_COUNT];
	u32 seen; /* in the stack of this number: a recursive function counts once */
};

/* A stack of one kind: its line. */
struct stack_line {
	u64 stack, kind; /* the key */
	u32 line;	 /* 1 + index */
};

struct samples_reader {
	struct reading *reading;
	struct profile profile;
	struct function_lines *functions;
	struct hash stacks;
	u32 stack_number;
	size_t stack_lines;
};

static int add_to(struct samples_reader *reader, u32 *index, const struct diff_key *key,
		  bool has_no_name, int bin, double weight, double squares)
{
	struct diff *diff = reader->reading->diff;
	int side = reader->reading->run->side, err = 0;
	struct diff_line *line;

	if (!*index) {
		line = reading_line(reader->reading, key, &err);
		if (!line)
			return err;
		line->needs_both |= has_no_name;
		*index = 1 + (u32)(line - (struct diff_line *)diff->lines.items);
	}
	line = hash_item(&diff->lines, *index - 1);
	line->values[bin] += weight;
	line->weights[side] += weight;
	line->squares[side] += squares;
	return 0;
}

static struct diff_key function_key(struct samples_reader *reader, u32 function, u32 kind,
				    enum diff_measure measure)
{
	const struct profile *profile = &reader->profile;
	const struct profile_function *of = profile_function(profile, function);

	return (struct diff_key){
		.table = DIFF_FUNCTION,
		.measure = measure,
		.kind = kind,
		.name = reading_text(reader->reading, profile_text(profile, of->name)),
		.module = reading_text(reader->reading, profile_module_name(profile, of->module)),
	};
}

static bool is_mark(const struct profile *profile, u32 function)
{
	return profile_function(profile, function)->look == FUNCTION_MARK;
}

/* An address is one of this run, or of this build, alone. */
static bool is_unnamed(const struct profile *profile, u32 function)
{
	return profile_function(profile, function)->look == FUNCTION_UNNAMED;
}

/* Whose own time it is: on a CPU the innermost; of a wait the innermost of the program itself. */
static size_t own_step(const struct profile *profile, const struct profile_step *steps,
		       size_t count, u32 kind)
{
	for (size_t i = 0; kind != SAMPLE_CPU && i < count; i++) {
		u32 look = profile_function(profile, steps[i].function)->look;

		if (look != FUNCTION_KERNEL && look != FUNCTION_MARK)
			return i;
	}
	return 0;
}

/* "innermost < its caller < ...": the same in every session. */
static u32 stack_name(struct samples_reader *reader, const struct profile_step *steps, size_t count)
{
	char name[STACK_LENGTH] = "";
	size_t length = 0;

	for (size_t i = 0; i < count && i < STACK_STEPS && length < sizeof(name) - 1; i++) {
		int got = snprintf(name + length, sizeof(name) - length, "%s%s", i ? " < " : "",
				   profile_function_name(&reader->profile, steps[i].function));

		length += got > 0 ? (size_t)got : 0;
	}
	return reading_text(reader->reading, name);
}

static int add_stack(struct samples_reader *reader, const struct profile_step *steps, size_t count,
		     u64 stack, u32 kind, int bin, double weight, double squares)
{
	struct stack_line *found = hash_add(&reader->stacks, &(u64[]){stack, kind});
	struct diff_key key = {.table = DIFF_STACK, .measure = DIFF_SELF, .kind = kind};
	u32 index;
	int err;

	if (!found)
		return hash_is_full(&reader->stacks) ? 0 : -ENOMEM;
	if (!found->line) {
		if (reader->stack_lines++ >= STACKS_MAX)
			return 0;
		key.name = stack_name(reader, steps, count);
	}
	index = found->line;
	err = add_to(reader, &index, &key, true, bin, weight, squares);
	found->line = index;
	return err;
}

static int add_sample(struct samples_reader *reader, u64 stack, u32 stop, u32 kind, int bin,
		      double weight, double squares)
{
	struct profile_step steps[PROFILE_STEPS_MAX];
	const struct profile *profile = &reader->profile;
	size_t count = profile_steps(profile, stack, stop, steps), own;
	struct diff_key key;
	int err = 0;

	if (!count || is_mark(profile, steps[0].function))
		return 0;
	own = own_step(profile, steps, count, kind);
	key = function_key(reader, steps[own].function, kind, DIFF_SELF);
	err = add_to(reader, &reader->functions[steps[own].function].self[kind], &key,
		     is_unnamed(profile, steps[own].function), bin, weight, squares);
	reader->stack_number++;
	for (size_t i = own; !err && i < count; i++) {
		struct function_lines *lines = &reader->functions[steps[i].function];

		if (lines->seen == reader->stack_number || is_mark(profile, steps[i].function))
			continue;
		lines->seen = reader->stack_number;
		if (!lines->total[kind])
			key = function_key(reader, steps[i].function, kind, DIFF_TOTAL);
		err = add_to(reader, &lines->total[kind], &key,
			     is_unnamed(profile, steps[i].function), bin, weight, squares);
	}
	if (!err)
		err = add_stack(reader, steps + own, count - own, stack, kind, bin, weight,
				squares);
	return err;
}

static int on_sample(sqlite3_stmt *row, void *context)
{
	struct samples_reader *reader = context;
	struct reading *reading = reader->reading;
	int bin = reading_bin(reading, sqlite3_column_int64(row, 0));
	const struct reading_process *process =
		reading_process(reading, query_count(row, 1), query_count(row, 2));
	u64 kind = query_u64(row, 3), stop = query_u64(row, 5), count = query_count(row, 6);
	double weight = (double)query_count(row, 7);

	if (bin < 0 || kind >= SAMPLE_KIND_COUNT || !count || (process && process->is_kernel))
		return 0;
	stop = stop < PROFILE_STOPS ? stop : PROFILE_STOPS - 1;
	reading->run->samples += count;
	if (!query_u64(row, 4) || !profile_stop_is_complete((u32)stop))
		reading->run->incomplete += count;
	return add_sample(reader, query_u64(row, 4), (u32)stop, (u32)kind, bin, weight,
			  weight * weight / (double)count);
}

int reading_samples(struct reading *reading)
{
	struct samples_reader reader = {.reading = reading};
	const struct profile_filter filter = {0};
	int err = profile_read(reading->db, &filter, &reader.profile);

	if (err)
		return err;
	reading->run->has_stacks = reader.profile.samples.count > 0;
	hash_init(&reader.stacks, sizeof(struct stack_line), 2 * sizeof(u64), PROFILE_STACKS_MAX);
	reader.functions = calloc(reader.profile.functions.count + 1, sizeof(*reader.functions));
	if (!reader.functions)
		err = -ENOMEM;
	if (!err)
		err = query_table(reading->db, "samples",
				  "window, pid, process_start_ns, kind, stack, stop, count, "
				  "weight_ns",
				  NULL, on_sample, &reader);
	free(reader.functions);
	hash_free(&reader.stacks);
	profile_free(&reader.profile);
	return err;
}
