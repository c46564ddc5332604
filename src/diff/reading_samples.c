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

#define STACKS_MAX	 4000 /* lines of whole stacks */
#define STACK_STEPS	 24   /* of these the innermost functions are the name */
#define STACK_LENGTH	 480
#define LINE_NUMBERS_MAX (64u << 20) /* of all stacks that have samples */

/* Lines of a function: numbers; 0: not looked up yet. */
struct function_lines {
	u32 self[SAMPLE_KIND_COUNT], total[SAMPLE_KIND_COUNT];
	u32 seen; /* in the stack of this number: a recursive function counts once */
};

/* A stack of one kind: its line. */
struct stack_line {
	u64 stack, kind; /* the key */
	u32 line;	 /* number */
};

/* What samples of one kind, with one stack that ended so, add to: lines[first] and on. */
struct sample_lines {
	u64 stack;
	u32 kind, stop; /* the key to here */
	u32 first, count;
	bool is_known;
	bool self_no_room, stack_no_room;
};

/* What a line got in the bin that is read. */
struct now {
	double weight, squares;
};

struct samples_reader {
	struct reading *reading;
	struct profile profile;
	struct function_lines *functions;
	struct hash stacks; /* struct stack_line */
	u32 stack_number;
	size_t stack_lines;
	struct hash samples; /* struct sample_lines */
	u32 *recent;	     /* by stack and kind: 1 + index of the last one of samples; 0: none */
	u32 *lines;
	size_t line_count, line_room;
	struct now *now; /* by line */
	u32 *touched;	 /* lines of now that have something */
	size_t touched_count;
	int bin; /* of now; -1: none yet */
};

/* One more line that the stack adds to, unless there is no room for it. */
static int append_line(struct samples_reader *reader, struct sample_lines *of, u32 number,
		       bool has_no_name)
{
	struct diff_line *line;

	if (number == READING_NO_ROOM)
		return 0;
	line = hash_item(&reader->reading->diff->lines, number - 1);
	line->needs_both |= has_no_name;
	if (reader->line_count == reader->line_room) {
		size_t room = reader->line_room ? 2 * reader->line_room : 4096;
		u32 *lines = room > LINE_NUMBERS_MAX
				     ? NULL
				     : realloc(reader->lines, room * sizeof(*lines));

		if (!lines)
			return -ENOMEM;
		reader->lines = lines;
		reader->line_room = room;
	}
	reader->lines[reader->line_count++] = number - 1;
	of->count++;
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

static int find_stack_line(struct samples_reader *reader, struct sample_lines *of,
			   const struct profile_step *steps, size_t count)
{
	struct stack_line *found = hash_add(&reader->stacks, &(u64[]){of->stack, of->kind});
	struct diff_key key = {.table = DIFF_STACK, .measure = DIFF_SELF, .kind = of->kind};
	int err = 0;

	if (!found)
		return hash_is_full(&reader->stacks) ? 0 : -ENOMEM;
	if (!found->line) {
		if (reader->stack_lines++ >= STACKS_MAX)
			return 0;
		key.name = stack_name(reader, steps, count);
		found->line = reading_line_number(reader->reading, &key, 0, &err);
	}
	of->stack_no_room = found->line == READING_NO_ROOM;
	return err ? err : append_line(reader, of, found->line, true);
}

static int find_function_line(struct samples_reader *reader, struct sample_lines *of, u32 function,
			      enum diff_measure measure)
{
	struct function_lines *lines = &reader->functions[function];
	u32 *number = measure == DIFF_SELF ? &lines->self[of->kind] : &lines->total[of->kind];
	int err = 0;

	if (!*number) {
		struct diff_key key = function_key(reader, function, of->kind, measure);

		*number = reading_line_number(reader->reading, &key, 0, &err);
	}
	if (measure == DIFF_SELF)
		of->self_no_room = *number == READING_NO_ROOM;
	return err ? err : append_line(reader, of, *number, is_unnamed(&reader->profile, function));
}

/* The lines of a stack, once for all of its samples. */
static int find_lines(struct samples_reader *reader, struct sample_lines *of)
{
	struct profile_step steps[PROFILE_STEPS_MAX];
	const struct profile *profile = &reader->profile;
	size_t count = profile_steps(profile, of->stack, of->stop, steps), own;
	int err;

	of->is_known = true;
	of->first = (u32)reader->line_count;
	if (!count || is_mark(profile, steps[0].function))
		return 0;
	own = own_step(profile, steps, count, of->kind);
	err = find_function_line(reader, of, steps[own].function, DIFF_SELF);
	reader->stack_number++;
	for (size_t i = own; !err && i < count; i++) {
		struct function_lines *lines = &reader->functions[steps[i].function];

		if (lines->seen == reader->stack_number || is_mark(profile, steps[i].function))
			continue;
		lines->seen = reader->stack_number;
		err = find_function_line(reader, of, steps[i].function, DIFF_TOTAL);
	}
	if (err || reader->reading->is_survey) /* texts of all stacks would be too many */
		return err;
	return find_stack_line(reader, of, steps + own, count - own);
}

/* Rows come by window: what a bin has is added to its lines once. */
static void finish_bin(struct samples_reader *reader)
{
	struct diff *diff = reader->reading->diff;
	int side = reader->reading->run->side;

	for (size_t i = 0; i < reader->touched_count; i++) {
		struct now *now = &reader->now[reader->touched[i]];
		struct diff_line *line = hash_item(&diff->lines, reader->touched[i]);

		line->values[reader->bin] += now->weight;
		line->weights[side] += now->weight;
		line->squares[side] += now->squares;
		*now = (struct now){0};
	}
	reader->touched_count = 0;
}

/* Ids of stacks mostly count up from 1: then no hash is needed. NULL: no memory, or no room. */
static struct sample_lines *lines_of(struct samples_reader *reader, const struct sample_lines *key)
{
	size_t at = key->stack * SAMPLE_KIND_COUNT + key->kind;
	bool is_small = key->stack <= reader->profile.stacks.count;
	struct sample_lines *of;

	if (is_small && reader->recent[at]) {
		of = hash_item(&reader->samples, reader->recent[at] - 1);
		if (of->stop == key->stop)
			return of;
	}
	of = hash_add(&reader->samples, key);
	if (of && is_small)
		reader->recent[at] = 1 + (u32)(of - (struct sample_lines *)reader->samples.items);
	return of;
}

static int add_sample(struct samples_reader *reader, struct sample_lines *key, int bin,
		      double weight, double squares)
{
	struct diff *diff = reader->reading->diff;
	struct sample_lines *of = lines_of(reader, key);
	int err = of && !of->is_known ? find_lines(reader, of) : 0;

	if (!of)
		return hash_is_full(&reader->samples) ? 0 : -ENOMEM;
	if (err)
		return err;
	if (bin != reader->bin)
		finish_bin(reader);
	reader->bin = bin;
	for (u32 i = 0; i < of->count; i++) {
		u32 line = reader->lines[of->first + i];
		struct now *now = &reader->now[line];

		if (now->weight == 0 && weight > 0)
			reader->touched[reader->touched_count++] = line;
		now->weight += weight;
		now->squares += squares;
	}
	diff->no_room[DIFF_FUNCTION] += of->self_no_room ? weight : 0;
	diff->no_room[DIFF_STACK] += of->stack_no_room ? weight : 0;
	return 0;
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
	struct sample_lines key = {.stack = query_u64(row, 4), .kind = (u32)kind};

	if (bin < 0 || kind >= SAMPLE_KIND_COUNT || !count || reading_leaves_out(reading, process))
		return 0;
	key.stop = stop < PROFILE_STOPS ? (u32)stop : PROFILE_STOPS - 1;
	reading->run->samples += count;
	if (!key.stack || !profile_stop_is_complete(key.stop))
		reading->run->incomplete += count;
	return weight > 0 ? add_sample(reader, &key, bin, weight, weight * weight / (double)count)
			  : 0;
}

static int read_rows(struct samples_reader *reader)
{
	size_t most = reader->reading->diff->lines.max;
	int err;

	reader->functions = calloc(reader->profile.functions.count + 1, sizeof(*reader->functions));
	reader->now = calloc(most, sizeof(*reader->now));
	reader->touched = calloc(most, sizeof(*reader->touched));
	reader->recent = calloc((reader->profile.stacks.count + 1) * SAMPLE_KIND_COUNT,
				sizeof(*reader->recent));
	if (!reader->functions || !reader->now || !reader->touched || !reader->recent)
		return -ENOMEM;
	err = reading_rows(reader->reading, "samples", "stack",
			   reader->reading->is_survey
				   ? "0, 0, kind, stack, 0, count, weight_ns"
				   : "pid, process_start_ns, kind, stack, stop, count, weight_ns",
			   on_sample, reader);
	if (!err)
		finish_bin(reader);
	return err;
}

int reading_samples(struct reading *reading)
{
	struct samples_reader reader = {.reading = reading, .bin = -1};
	const struct profile_filter filter = {.only_stacks = true};
	int err = profile_read(reading->db, &filter, &reader.profile);

	if (err)
		return err;
	hash_init(&reader.stacks, sizeof(struct stack_line), 2 * sizeof(u64), PROFILE_STACKS_MAX);
	hash_init(&reader.samples, sizeof(struct sample_lines), 2 * sizeof(u64),
		  PROFILE_STACKS_MAX);
	err = read_rows(&reader);
	free(reader.functions);
	free(reader.now);
	free(reader.touched);
	free(reader.recent);
	free(reader.lines);
	hash_free(&reader.stacks);
	hash_free(&reader.samples);
	profile_free(&reader.profile);
	return err;
}
