// SPDX-License-Identifier: Apache-2.0
#include "profile_reader.h"

#include <errno.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../model/state.h"
#include "query.h"

struct reader {
	const struct profile_filter *filter;
	struct profile *profile;
	bool wants_state[STATE_LIMIT];
	u64 ended_ns, started_ns;
};

/* A text of the row: its number, 0 if it is NULL, empty, or there is no more room. */
static u32 text_of(struct reader *reader, sqlite3_stmt *row, int column)
{
	char text[PROFILE_NAME_BYTES];
	u32 number;

	query_text(row, column, text, sizeof(text));
	number = strings_add(&reader->profile->strings, text);
	return number == STRINGS_NONE ? 0 : number;
}

static u32 small(sqlite3_stmt *row, int column)
{
	u64 value = query_count(row, column);

	return value > 0x7fffffff ? 0x7fffffff : (u32)value;
}

static int on_meta(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	const struct {
		const char *key;
		u64 *to;
	} keys[] = {{"started_real_ns", &reader->profile->started_real_ns},
		    {"started_ns", &reader->started_ns},
		    {"ended_ns", &reader->ended_ns}};
	char key[64], value[32];

	query_text(row, 0, key, sizeof(key));
	query_text(row, 1, value, sizeof(value));
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(key, keys[i].key))
			(void)text_parse_u64(value, 0, 1ULL << 62, keys[i].to);
	return 0;
}

/* The file's own names are for states and stops that came after this build. */
static int on_state(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	u64 id = query_u64(row, 0);

	if (id >= STATE_COUNT && id < STATE_LIMIT)
		query_text(row, 1, reader->profile->state_names[id],
			   sizeof(reader->profile->state_names[id]));
	return 0;
}

static int on_stop(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	u64 id = query_u64(row, 0);

	if (id >= STOP_COUNT && id < PROFILE_STOPS)
		query_text(row, 1, reader->profile->stop_names[id],
			   sizeof(reader->profile->stop_names[id]));
	return 0;
}

static struct profile_process *process_of(struct reader *reader, u64 pid, u64 start_ns)
{
	return hash_add(&reader->profile->processes, &(u64[]){pid, start_ns});
}

static int on_process(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	struct profile_process *process =
		process_of(reader, query_count(row, 0), query_count(row, 1));

	if (!process)
		return -ENOMEM;
	process->comm = text_of(reader, row, 2);
	process->is_kernel |= query_u64(row, 3) != 0;
	return 0;
}

/* A process is called as its leader is, last of all after an exec: as in the report. */
static int on_thread(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	u64 pid = query_count(row, 0), tid = query_count(row, 2);
	struct profile_process *process = process_of(reader, pid, query_count(row, 1));
	struct profile_thread *thread =
		hash_add(&reader->profile->threads, &(u64[]){tid, query_count(row, 3)});
	u32 comm = text_of(reader, row, 4);

	if (!process || !thread)
		return -ENOMEM;
	thread->comm = comm;
	if ((pid == tid && comm) || !process->comm)
		process->comm = comm;
	process->is_kernel |= query_u64(row, 5) != 0;
	return 0;
}

/* What is beyond a limit is counted and left out; without memory there is no profile. */
static int leave_out(const struct hash *full, u64 *left_out)
{
	if (!hash_is_full(full))
		return -ENOMEM;
	*left_out += 1;
	return 0;
}

static int on_module(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	u64 id = query_u64(row, 0);
	struct profile_module *module = hash_add(&reader->profile->modules, &id);

	if (!module)
		return leave_out(&reader->profile->modules, &(u64){0}); /* its frames are in none */
	module->kind = small(row, 1);
	module->path = text_of(reader, row, 2);
	module->build_id = text_of(reader, row, 3);
	return 0;
}

static int on_frame(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	u64 id = query_u64(row, 0);
	struct profile_frame *frame = hash_add(&reader->profile->frames, &id);

	if (!frame)
		return leave_out(&reader->profile->frames, &reader->profile->frames_no_room);
	frame->module_id = query_u64(row, 1);
	frame->address = query_u64(row, 2);
	frame->name = text_of(reader, row, 3);
	frame->source = text_of(reader, row, 4);
	frame->file = text_of(reader, row, 5);
	frame->line = small(row, 6);
	return 0;
}

static int on_inline(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	struct profile *profile = reader->profile;
	struct profile_inline *inlined = query_append(&profile->inlines, &profile->inline_count,
						      sizeof(*inlined), PROFILE_INLINES_MAX);

	if (!inlined && profile->inline_count < PROFILE_INLINES_MAX)
		return -ENOMEM;
	if (!inlined) {
		profile->frames_no_room++;
		return 0;
	}
	inlined->frame = query_u64(row, 0);
	inlined->depth = small(row, 1);
	inlined->name = text_of(reader, row, 2);
	inlined->file = text_of(reader, row, 3);
	inlined->line = small(row, 4);
	return 0;
}

static int on_stack(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	u64 id = query_u64(row, 0);
	struct profile_stack *stack = hash_add(&reader->profile->stacks, &id);

	if (!stack)
		return leave_out(&reader->profile->stacks, &reader->profile->stacks_no_room);
	stack->parent_id = query_u64(row, 1);
	stack->frame_id = query_u64(row, 2);
	return 0;
}

static bool is_wanted(const struct reader *reader, s64 window, const struct profile_sample *sample)
{
	const struct profile_filter *filter = reader->filter;
	const struct windows *windows = filter->windows;

	if (windows && windows->is_slice &&
	    (!windows->count || window < windows->first || window > windows->last))
		return false;
	if (filter->one_kind && sample->kind != filter->kind)
		return false;
	return reader->wants_state[sample->state] &&
	       session_part_lists(filter->pids, filter->pid_count, sample->pid) &&
	       (!filter->chosen ||
		hash_find(filter->chosen,
			  &(struct process_id){sample->pid, sample->process_start_ns})) &&
	       session_part_lists(filter->tids, filter->tid_count, sample->tid);
}

/* What a row says, as the key of its sample. */
static void read_key(sqlite3_stmt *row, struct profile_sample *ret_key)
{
	u64 state = query_u64(row, 6), stop = query_u64(row, 9), kind = query_u64(row, 5);

	*ret_key = (struct profile_sample){
		.pid = (u32)query_count(row, 1),
		.process_start_ns = query_count(row, 2),
		.tid = (u32)query_count(row, 3),
		.thread_start_ns = query_count(row, 4),
		.kind = kind < PROFILE_KINDS ? (u8)kind : PROFILE_KINDS - 1,
		.state = state < STATE_LIMIT ? (u8)state : STATE_UNATTRIBUTED,
		.mode = query_u64(row, 7) == MODE_KERNEL,
		.stack = query_u64(row, 8),
		.stop = stop < PROFILE_STOPS ? (u8)stop : PROFILE_STOPS - 1,
		.waker = (u32)query_count(row, 10),
		.waker_kind = (u8)query_u64(row, 11),
		.waker_stack = query_u64(row, 12),
	};
}

static int on_sample(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	struct profile *profile = reader->profile;
	const struct profile_process *process;
	struct profile_sample key, *sample,
		values = {
			.count = query_count(row, 13),
			.weight_ns = query_count(row, 14),
			.mismatches = query_count(row, 15),
		};
	double weight = (double)values.weight_ns;

	if (query_is_null(row, 16)) /* of one row, not of a sum of several */
		values.squares = weight * weight / (double)(values.count ? values.count : 1);
	else
		values.squares = sqlite3_column_double(row, 16);
	read_key(row, &key);
	if (!is_wanted(reader, sqlite3_column_int64(row, 0), &key))
		return 0;
	process = process_of(reader, key.pid, key.process_start_ns);
	if (process && process->is_kernel && !reader->filter->kernel) {
		profile_sum_add(&profile->kernel, &values);
		return 0;
	}
	sample = process ? hash_add(&profile->samples, &key) : NULL;
	if (!sample && !hash_is_full(process ? &profile->samples : &profile->processes))
		return -ENOMEM;
	if (!sample) {
		profile_sum_add(&profile->no_room, &values);
		return 0;
	}
	sample->process = (u32)(process - (struct profile_process *)profile->processes.items);
	sample->count = profile_add(sample->count, values.count);
	sample->weight_ns = profile_add(sample->weight_ns, values.weight_ns);
	sample->squares += values.squares;
	sample->mismatches += values.mismatches;
	return 0;
}

static int choose_states(struct reader *reader)
{
	const char *wanted = reader->filter->state;
	bool any = false;

	for (int i = 0; i < STATE_LIMIT; i++) {
		const char *name = reader->profile->state_names[i];

		reader->wants_state[i] = !wanted || (*name && profile_state_fits(wanted, name));
		any |= reader->wants_state[i];
	}
	if (any)
		return 0;
	log_error("this session's ledger has no state '%s': another version of dwell wrote it",
		  wanted);
	return -EINVAL;
}

struct source {
	const char *table, *columns;
	query_row_fn *on_row;
};

static const struct source tables[] = {
	{"meta", "key, value", on_meta},
	{"states", "id, name", on_state},
	{"stops", "id, name", on_stop},
	{"processes", "pid, start_ns, comm, is_kernel", on_process},
	{"threads", "pid, process_start_ns, tid, start_ns, comm, is_kernel", on_thread},
	{"modules", "id, kind, path, build_id", on_module},
	{"frames", "id, module, address, name, source, file, line", on_frame},
	{"inlines", "frame, depth, name, file, line", on_inline},
	{"stacks", "id, parent, frame", on_stack},
};

#define SAMPLE_COLUMNS                                                                             \
	"pid, process_start_ns, tid, thread_start_ns, kind, state, mode, stack, stop, waker, "     \
	"waker_kind, waker_stack, count, weight_ns, mismatches"

static int read_samples(sqlite3 *db, struct reader *reader)
{
	const struct windows *windows = reader->filter->windows;
	bool is_part = windows && windows->is_slice;

	return query_sums(db, "samples", "window, " SAMPLE_COLUMNS ", NULL",
			  is_part ? NULL : "0, " SAMPLE_COLUMNS ", squares", on_sample, reader);
}

static int read_source(sqlite3 *db, const struct source *source, struct reader *reader)
{
	return query_table(db, source->table, source->columns, NULL, source->on_row, reader);
}

struct profile_filter profile_filter_of(const struct session_part *part)
{
	return (struct profile_filter){
		.pids = part->pids,
		.pid_count = part->pid_count,
		.tids = part->tids,
		.tid_count = part->tid_count,
		.chosen = part->chosen,
		.kernel = part->kernel,
		.one_kind = part->one_kind,
		.kind = part->kind,
		.state = part->state,
	};
}

int profile_read(sqlite3 *db, const struct profile_filter *filter, struct profile *ret_profile)
{
	struct reader reader = {.filter = filter, .profile = ret_profile};
	int err = 0;

	profile_init(ret_profile);
	for (int i = 0; i < STATE_COUNT; i++)
		text_copy(ret_profile->state_names[i], sizeof(ret_profile->state_names[i]),
			  state_names[i]);
	for (size_t i = 0; !err && i < ARRAY_SIZE(tables); i++)
		err = read_source(db, &tables[i], &reader);
	if (!err)
		err = choose_states(&reader);
	if (!err && !filter->only_stacks)
		err = read_samples(db, &reader);
	if (!err && filter->name_frames)
		err = filter->name_frames(ret_profile, filter->name_request);
	if (!err)
		err = profile_finish(ret_profile);
	if (!err && ret_profile->strings.was_short)
		err = -ENOMEM;
	if (reader.ended_ns > reader.started_ns)
		ret_profile->duration_ns = reader.ended_ns - reader.started_ns;
	if (err == -ENOMEM)
		log_error("not enough memory for the session's stacks: take a part of it, as "
			  "FILE@10s-20s, or --pid");
	if (err)
		profile_free(ret_profile);
	return err;
}
