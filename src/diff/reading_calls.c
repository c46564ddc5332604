// SPDX-License-Identifier: Apache-2.0
/* System calls as Tier B counts them, by process name: how often, and for how long. */
#include <errno.h>
#include <string.h>

#include "../model/syscall.h"
#include "../store/query.h"
#include "reading.h"

#define CALLS_MAX 4096

/* How `calls` names a thread. */
struct identity {
	u64 tid, start_ns; /* the key */
	u64 process;	   /* 1 + index */
};

struct call_name {
	u64 call; /* the key */
	u32 name;
};

struct calls_reader {
	struct reading *reading;
	struct hash identities, names;
	bool is_work; /* calls of one name are what the sides are divided by */
	u32 work_name;
};

static int on_thread(sqlite3_stmt *row, void *context)
{
	struct calls_reader *reader = context;
	const struct reading *reading = reader->reading;
	const struct reading_process *process =
		reading_process(reading, query_count(row, 2), query_count(row, 3));
	struct identity *identity =
		hash_add(&reader->identities, &(u64[]){query_count(row, 0), query_count(row, 1)});

	if (!identity)
		return hash_is_full(&reader->identities) ? 0 : -ENOMEM;
	if (process)
		identity->process =
			1 + (u64)(process - (struct reading_process *)reading->processes.items);
	return 0;
}

static int on_name(sqlite3_stmt *row, void *context)
{
	struct calls_reader *reader = context;
	u64 call = query_u64(row, 0);
	struct call_name *name = hash_add(&reader->names, &call);

	if (!name)
		return hash_is_full(&reader->names) ? 0 : -ENOMEM;
	name->name = reading_column(reader->reading, row, 1);
	return 0;
}

static u32 name_of(struct calls_reader *reader, u64 call)
{
	const struct call_name *name = hash_find(&reader->names, &call);

	if (name && name->name)
		return name->name;
	return reading_text(reader->reading, call ? syscall_name((u32)call) : "(not known)");
}

static int add(struct reading *reading, struct diff_key *key, enum diff_measure measure, int bin,
	       u64 value)
{
	struct diff_line *line;
	int err = 0;

	key->measure = measure;
	line = reading_line(reading, key, (double)value, &err);
	if (line)
		line->values[bin] += (double)value;
	return err;
}

static int on_call(sqlite3_stmt *row, void *context)
{
	struct calls_reader *reader = context;
	struct reading *reading = reader->reading;
	int bin = reading_bin(reading, sqlite3_column_int64(row, 0)), err;
	const struct identity *identity =
		hash_find(&reader->identities, &(u64[]){query_count(row, 1), query_count(row, 2)});
	const struct reading_process *process;
	struct diff_key key = {.table = DIFF_CALL};

	if (bin < 0 || !identity || !identity->process)
		return 0;
	process = hash_item(&reading->processes, identity->process - 1);
	if (process->is_left_out)
		return 0;
	key.service = process->service;
	key.process = process->comm;
	key.name = name_of(reader, query_u64(row, 3));
	if (reader->is_work && key.name == reader->work_name)
		reading->diff->bins[bin].count += (double)query_count(row, 4);
	err = add(reading, &key, DIFF_TIMES, bin, query_count(row, 4));
	return err ? err : add(reading, &key, DIFF_TIME, bin, query_count(row, 5));
}

int reading_calls(struct reading *reading)
{
	const struct diff_per *per = &reading->diff->options.per;
	struct calls_reader reader = {.reading = reading};
	int err;

	reader.is_work = per->kind == DIFF_PER_COUNT && !strcmp(per->signal, "syscalls");
	reader.work_name = reading_text(reading, per->what);
	hash_init(&reader.identities, sizeof(struct identity), 2 * sizeof(u64), READING_TASKS_MAX);
	hash_init(&reader.names, sizeof(struct call_name), sizeof(u64), CALLS_MAX);
	err = query_table(reading->db, "threads", "tid, start_ns, pid, process_start_ns", NULL,
			  on_thread, &reader);
	if (!err)
		err = query_table(reading->db, "syscalls", "call, name", NULL, on_name, &reader);
	if (!err)
		err = reading_rows(reading, "calls", "calls",
				   "thread_tid, thread_start_ns, call, count, total_ns", on_call,
				   &reader);
	hash_free(&reader.identities);
	hash_free(&reader.names);
	return err;
}
