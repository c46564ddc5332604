// SPDX-License-Identifier: Apache-2.0
#include "timeline.h"

#include <errno.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../base/utf8.h"
#include "../model/profile.h"
#include "../model/signal.h"
#include "../model/state.h"
#include "query.h"

struct reader {
	struct timeline *timeline;
	const struct windows *part;
	bool has_no_room; /* for a name */
};

static u32 keep_text(struct reader *reader, const char *text)
{
	u32 number = strings_add(&reader->timeline->strings, text);

	if (number != STRINGS_NONE)
		return number;
	reader->has_no_room = true;
	return 0;
}

static u32 text_of(struct reader *reader, sqlite3_stmt *row, int column)
{
	char text[TIMELINE_NAME_BYTES];

	query_text(row, column, text, sizeof(text));
	return keep_text(reader, text);
}

static int on_meta(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	struct timeline_facts *facts = &reader->timeline->facts;
	const struct {
		const char *key;
		u64 *number;
		u32 *text;
	} keys[] = {
		{"started_ns", &facts->started_ns, NULL},
		{"started_real_ns", &facts->started_real_ns, NULL},
		{"ended_ns", &facts->ended_ns, NULL},
		{"host", NULL, &facts->host},
		{"kernel", NULL, &facts->kernel},
		{"dwell_version", NULL, &facts->version},
		{"machine", NULL, &facts->machine},
	};
	char key[64], value[256];

	query_text(row, 0, key, sizeof(key));
	query_text(row, 1, value, sizeof(value));
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(key, keys[i].key) != 0)
			continue;
		if (keys[i].number)
			(void)text_parse_u64(value, 0, 1ULL << 62, keys[i].number);
		else
			*keys[i].text = keep_text(reader, value);
	}
	return 0;
}

/*
 * The file's own names are for states that came after this build. Escaped here, once: nobody
 * expects the end of a line in one.
 */
static int on_state(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	u64 id = query_u64(row, 0);
	char name[sizeof(reader->timeline->state_names[0])];

	query_text(row, 1, name, sizeof(name));
	if (id >= STATE_COUNT && id < STATE_LIMIT)
		utf8_escape(reader->timeline->state_names[id], sizeof(name), name);
	return 0;
}

static int on_window(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	struct timeline *timeline = reader->timeline;
	s64 id = sqlite3_column_int64(row, 0);
	struct timeline_window *window = hash_add(&timeline->windows, &id);

	if (!window)
		return -ENOMEM;
	window->begin_ns = query_count(row, 1);
	window->end_ns = query_count(row, 2);
	window->is_wanted =
		!reader->part->is_slice || (id >= reader->part->first && id <= reader->part->last);
	if (!window->is_wanted)
		return 0;
	if (!timeline->end_ns)
		timeline->begin_ns = window->begin_ns;
	timeline->end_ns = window->end_ns;
	return 0;
}

static struct timeline_process *process_of(struct reader *reader, u64 pid, u64 start_ns)
{
	return hash_add(&reader->timeline->processes, &(u64[]){pid, start_ns});
}

static int on_process(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	struct timeline_process *process =
		process_of(reader, query_count(row, 0), query_count(row, 1));

	if (!process)
		return -ENOMEM;
	process->comm = text_of(reader, row, 2);
	process->exe = text_of(reader, row, 3);
	process->service = text_of(reader, row, 4);
	process->container = text_of(reader, row, 5);
	process->pod = text_of(reader, row, 6);
	process->is_kernel = query_u64(row, 7) != 0;
	return 0;
}

/* A process is called as its leader is, last of all after an exec: as in the report. */
static void name_process(struct reader *reader, struct timeline_thread *thread)
{
	struct hash *processes = &reader->timeline->processes;
	struct timeline_process *process = hash_item(processes, thread->process);

	if ((thread->pid == thread->tid && thread->comm) || !process->comm)
		process->comm = thread->comm;
	process->is_kernel |= thread->is_kernel;
	thread->is_kernel = process->is_kernel;
}

static int on_thread(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	struct hash *processes = &reader->timeline->processes;
	u64 id = query_u64(row, 0);
	struct timeline_thread *thread = hash_add(&reader->timeline->threads, &id);
	struct timeline_process *process =
		process_of(reader, query_count(row, 1), query_count(row, 2));

	if (!thread || !process)
		return -ENOMEM;
	thread->process = (u32)(process - (struct timeline_process *)processes->items);
	thread->pid = query_count(row, 1);
	thread->process_start_ns = query_count(row, 2);
	thread->tid = query_count(row, 3);
	thread->start_ns = query_count(row, 4);
	thread->begin_ns = query_count(row, 5);
	thread->end_ns = query_count(row, 6);
	thread->comm = text_of(reader, row, 7);
	thread->is_kernel = query_u64(row, 8) != 0;
	thread->threads = query_count(row, 9);
	thread->is_sum = thread->threads > 1 || !thread->begin_ns;
	name_process(reader, thread);
	return 0;
}

static int on_label(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	char name[32];
	u64 key[2];
	struct timeline_label *label;

	query_text(row, 0, name, sizeof(name));
	key[0] = (u64)signal_find(name, strlen(name));
	key[1] = query_u64(row, 1);
	label = key[0] ? hash_add(&reader->timeline->labels, key) : NULL;
	if (label)
		label->name = text_of(reader, row, 2);
	return label || !key[0] || hash_is_full(&reader->timeline->labels) ? 0 : -ENOMEM;
}

static const struct {
	const char *table, *columns, *order;
	query_row_fn *on_row;
} tables[] = {
	{"meta", "key, value", NULL, on_meta},
	{"states", "id, name", NULL, on_state},
	{"windows", "id, begin_ns, end_ns", "begin_ns", on_window},
	{"processes", "pid, start_ns, comm, exe, service, container, pod, is_kernel", NULL,
	 on_process},
	{"threads",
	 "id, pid, process_start_ns, tid, start_ns, begin_ns, end_ns, comm, is_kernel, threads",
	 "id", on_thread},
	{"labels", "signal, id, name", NULL, on_label},
};

static void choose_threads(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->threads.count; i++) {
		struct timeline_thread *thread = hash_item(&timeline->threads, i);

		thread->is_wanted = timeline_wants(timeline, thread->pid, thread->process_start_ns,
						   thread->tid);
	}
}

int timeline_read(sqlite3 *db, const struct session_part *part, const struct windows *windows,
		  struct timeline *ret_timeline)
{
	struct reader reader = {.timeline = ret_timeline, .part = windows};
	int err = 0;

	*ret_timeline = (struct timeline){.db = db, .part = part};
	strings_init(&ret_timeline->strings, TIMELINE_TEXT_MAX);
	hash_init(&ret_timeline->windows, sizeof(struct timeline_window), sizeof(s64),
		  TIMELINE_WINDOWS_MAX);
	hash_init(&ret_timeline->processes, sizeof(struct timeline_process), 2 * sizeof(u64),
		  TIMELINE_TASKS_MAX);
	hash_init(&ret_timeline->threads, sizeof(struct timeline_thread), sizeof(u64),
		  TIMELINE_TASKS_MAX);
	hash_init(&ret_timeline->labels, sizeof(struct timeline_label), 2 * sizeof(u64),
		  TIMELINE_LABELS_MAX);
	for (int i = 0; i < STATE_COUNT; i++)
		text_copy(ret_timeline->state_names[i], sizeof(ret_timeline->state_names[i]),
			  state_names[i]);
	for (size_t i = 0; !err && i < ARRAY_SIZE(tables); i++)
		err = query_table(db, tables[i].table, tables[i].columns, tables[i].order,
				  tables[i].on_row, &reader);
	if (!err && reader.has_no_room) {
		log_error("not enough memory for the session's names: take a part of it, as "
			  "FILE@10s-20s, or --pid");
		err = -ENOMEM;
	}
	if (err)
		timeline_free(ret_timeline);
	else
		choose_threads(ret_timeline);
	return err;
}

void timeline_free(struct timeline *timeline)
{
	strings_free(&timeline->strings);
	hash_free(&timeline->windows);
	hash_free(&timeline->processes);
	hash_free(&timeline->threads);
	hash_free(&timeline->labels);
}

u64 timeline_real_ns(const struct timeline *timeline, u64 ns)
{
	const struct timeline_facts *facts = &timeline->facts;

	/* Also before the start, where a wait may have begun. */
	return facts->started_real_ns ? facts->started_real_ns + (ns - facts->started_ns) : 0;
}

const char *timeline_service(const struct timeline *timeline,
			     const struct timeline_process *process)
{
	if (process->is_kernel)
		return "[kernel]";
	return timeline_text(timeline, process->service ? process->service : process->comm);
}

const char *timeline_service_of(const struct timeline *timeline, u64 pid, u64 start_ns)
{
	const struct timeline_process *process =
		pid ? timeline_process(timeline, pid, start_ns) : NULL;
	const char *command = !pid && start_ns & SERIES_COMMAND
				      ? timeline_label(timeline, SIG_SERIES, start_ns)
				      : NULL;

	if (process)
		return timeline_service(timeline, process);
	return command ? command : "";
}

const struct timeline_process *timeline_process(const struct timeline *timeline, u64 pid,
						u64 start_ns)
{
	return hash_find(&timeline->processes, &(u64[]){pid, start_ns});
}

const struct timeline_window *timeline_window(const struct timeline *timeline, s64 id)
{
	return hash_find(&timeline->windows, &id);
}

const char *timeline_label(const struct timeline *timeline, u64 signal, u64 id)
{
	const struct timeline_label *label = hash_find(&timeline->labels, &(u64[]){signal, id});

	return label ? timeline_text(timeline, label->name) : NULL;
}

const char *timeline_state(const struct timeline *timeline, u64 state)
{
	if (state < STATE_LIMIT && *timeline->state_names[state])
		return timeline->state_names[state];
	return "unknown";
}

bool timeline_wants(const struct timeline *timeline, u64 pid, u64 start_ns, u64 tid)
{
	const struct session_part *part = timeline->part;
	const struct timeline_process *process;

	if (!session_part_has_process(part, pid, start_ns) || !session_part_has_tid(part, tid))
		return false;
	if (part->kernel)
		return true;
	process = timeline_process(timeline, pid, start_ns);
	return !process || !process->is_kernel;
}

bool timeline_wants_state(const struct timeline *timeline, u64 state)
{
	return !timeline->part->state ||
	       profile_state_fits(timeline->part->state, timeline_state(timeline, state));
}
