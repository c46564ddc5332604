// SPDX-License-Identifier: Apache-2.0
/*
 * A session as lines of JSON, an object each, with what it is in "kind": meta, window, thread,
 * ledger, series, slow, sample. Ids are texts, since numbers of JSON have 53 bits for many readers.
 * Lines go out as they are read; only names and stacks are in memory.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>

#include "../model/resolver.h"
#include "../store/query.h"
#include "../store/timeline_rows.h"
#include "export.h"

struct writer {
	const struct timeline *timeline;
	const struct profile *profile;
	FILE *out;
};

#define ID_BYTES 20
typedef char id_text[ID_BYTES];

static const char *id_of(u64 id, id_text buf)
{
	snprintf(buf, ID_BYTES, "%016" PRIx64, (uint64_t)id);
	return buf;
}

/* Ends the object: 0 or -errno. In ASCII: what is in a name must not turn or end a line. */
static int put(struct writer *writer, json_t *object)
{
	int err = object ? json_dumpf(object, writer->out, JSON_COMPACT | JSON_ENSURE_ASCII) : -1;

	json_decref(object);
	if (!object)
		return -ENOMEM;
	fputc('\n', writer->out);
	return err && !ferror(writer->out) ? -ENOMEM : 0;
}

static json_int_t number(u64 value)
{
	return value > INT64_MAX ? INT64_MAX : (json_int_t)value;
}

static int put_meta(sqlite3_stmt *row, void *context)
{
	char key[128], value[1024];

	query_text(row, 0, key, sizeof(key));
	query_text(row, 1, value, sizeof(value));
	return put(context,
		   json_pack("{s:s, s:s, s:s}", "kind", "meta", "key", key, "value", value));
}

static int put_windows(struct writer *writer)
{
	int err = 0;

	for (size_t i = 0; !err && i < writer->timeline->windows.count; i++) {
		const struct timeline_window *window = hash_item(&writer->timeline->windows, i);

		if (window->is_wanted)
			err = put(writer, json_pack("{s:s, s:I, s:I, s:I}", "kind", "window", "id",
						    (json_int_t)window->id, "begin_ns",
						    number(window->begin_ns), "end_ns",
						    number(window->end_ns)));
	}
	return err;
}

static int put_threads(struct writer *writer)
{
	const struct timeline *timeline = writer->timeline;
	int err = 0;

	for (size_t i = 0; !err && i < timeline->threads.count; i++) {
		const struct timeline_thread *thread = hash_item(&timeline->threads, i);
		const struct timeline_process *process =
			hash_item(&timeline->processes, thread->process);

		if (!thread->is_wanted)
			continue;
		err = put(writer,
			  json_pack("{s:s, s:I, s:I, s:I, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:b}",
				    "kind", "thread", "id", number(thread->id), "pid",
				    number(thread->pid), "tid", number(thread->tid), "process",
				    timeline_text(timeline, process->comm), "thread",
				    timeline_text(timeline, thread->comm), "exe",
				    timeline_text(timeline, process->exe), "service",
				    timeline_service(timeline, process), "begin_ns",
				    number(thread->begin_ns), "end_ns", number(thread->end_ns),
				    "threads", number(thread->threads), "is_kernel",
				    thread->is_kernel));
	}
	return err;
}

static int put_ledger(const struct ledger_row *row, void *context)
{
	struct writer *writer = context;

	if (!row->is_wanted)
		return 0;
	return put(writer, json_pack("{s:s, s:I, s:I, s:s, s:I, s:I}", "kind", "ledger", "window",
				     (json_int_t)row->window->id, "thread", number(row->thread->id),
				     "state", timeline_state(writer->timeline, row->state), "ns",
				     number(row->ns), "count", number(row->count)));
}

static int put_series(const struct series_values_row *row, void *context)
{
	static const char *const units[] = {
		[UNIT_NS] = "ns", [UNIT_BYTES] = "bytes", [UNIT_COUNT] = "count"};
	struct writer *writer = context;
	const struct series_kind *kind = &row->view->kinds[row->kind];
	id_text object;

	return put(writer,
		   json_pack("{s:s, s:I, s:s, s:s, s:s, s:I, s:s, s:I, s:s, s:I, s:I, s:I, s:s}",
			     "kind", "series", "window", (json_int_t)row->window->id, "signal",
			     signal_rows[row->signal].name, "measure", kind->name, "unit",
			     units[kind->unit], "pid", number(row->pid), "service",
			     timeline_service_of(writer->timeline, row->pid, row->start_ns),
			     "detail", number(row->detail), "object", id_of(row->object, object),
			     "count", number(row->count), "sum", number(row->sum), "max",
			     number(row->max), "buckets", row->buckets));
}

static int put_slow(const struct slow_row *row, void *context)
{
	struct writer *writer = context;
	id_text stack;

	return put(writer, json_pack("{s:s, s:I, s:s, s:s, s:I, s:I, s:s, s:I, s:I, s:s}", "kind",
				     "slow", "window", (json_int_t)row->window->id, "signal",
				     row->signal, "measure", row->kind, "pid", number(row->pid),
				     "tid", number(row->tid), "service",
				     timeline_service_of(writer->timeline, row->pid, row->start_ns),
				     "begin_ns", number(row->begin_ns), "ns",
				     number(row->end_ns - row->begin_ns), "stack",
				     id_of(row->stack, stack)));
}

/* The functions of a stack, the innermost first; what ends it too early is one of them. NULL: no
 * memory. */
static json_t *functions_of(const struct profile *profile, u64 stack, u32 stop)
{
	struct profile_step steps[PROFILE_STEPS_MAX];
	size_t count = profile_steps(profile, stack, stop, steps);
	json_t *functions = json_array();

	for (size_t i = 0; functions && i < count; i++) {
		const char *name = profile_function_name(profile, steps[i].function);

		if (!json_array_append_new(functions, json_string(name)))
			continue;
		json_decref(functions);
		return NULL;
	}
	return functions;
}

static int put_sample(const struct sample_row *row, void *context)
{
	struct writer *writer = context;
	u32 stop = row->stop < PROFILE_STOPS ? row->stop : PROFILE_STOPS - 1;
	id_text stack;

	return put(writer,
		   json_pack("{s:s, s:I, s:s, s:s, s:s, s:I, s:I, s:s, s:s, s:I, s:I, s:o}", "kind",
			     "sample", "window", (json_int_t)row->window->id, "of",
			     profile_kind_name(row->kind), "state",
			     timeline_state(writer->timeline, row->state), "mode",
			     row->mode == MODE_KERNEL ? "kernel" : "user", "pid", number(row->pid),
			     "tid", number(row->tid), "stack", id_of(row->stack, stack), "stop",
			     writer->profile->stop_names[stop], "count", number(row->count),
			     "weight_ns", number(row->weight_ns), "functions",
			     functions_of(writer->profile, row->stack, stop)));
}

int export_jsonl(const struct export_source *source, const struct export_options *options,
		 FILE *out)
{
	const struct timeline *timeline = source->timeline;
	struct writer writer = {timeline, source->profile, out};
	int err = query_table(timeline->db, "meta", "key, value", "key", put_meta, &writer);

	(void)options;
	if (!err)
		err = put_windows(&writer);
	if (!err)
		err = put_threads(&writer);
	if (!err)
		err = timeline_ledger(timeline, put_ledger, &writer);
	if (!err)
		err = timeline_series(timeline, put_series, &writer);
	if (!err)
		err = timeline_slow(timeline, put_slow, &writer);
	if (!err)
		err = timeline_samples(timeline, put_sample, &writer);
	return err;
}
