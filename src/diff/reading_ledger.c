// SPDX-License-Identifier: Apache-2.0
/*
 * The ledger by window: states of the host, of services, of processes; and of thread names, how
 * much more they wait than they run.
 */
#include <errno.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../model/state.h"
#include "../store/query.h"
#include "reading.h"

#define NS_MOST 1e18 /* of one row */

/* Lines of processes of one name and service, by state: numbers; 0: not looked up yet. */
struct group {
	u32 service, comm; /* the key */
	u32 services[STATE_LIMIT], processes[STATE_LIMIT];
};

struct ledger_reader {
	struct reading *reading;
	u32 states[STATE_LIMIT]; /* texts */
	u32 host[STATE_LIMIT];	 /* lines: numbers */
	struct hash groups;
};

/* --- processes and threads --- */

/* A user has a number only. */
static u32 service_of(struct reading *reading, sqlite3_stmt *row, int column)
{
	char text[DIFF_TEXT_BYTES], user[DIFF_TEXT_BYTES];

	query_text(row, column, text, sizeof(text));
	if (reading->diff->options.group_by != PROCESS_KEY_USER || !*text)
		return reading_text(reading, text);
	snprintf(user, sizeof(user), "uid %.20s", text);
	return reading_text(reading, user);
}

static struct reading_process *add_process(struct reading *reading, u64 pid, u64 start_ns)
{
	struct reading_process *process = hash_add(&reading->processes, &(u64[]){pid, start_ns});

	if (process)
		process->is_left_out |= !session_part_has_process(&reading->part, pid, start_ns);
	return process;
}

static int on_process(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	struct reading_process *process =
		add_process(reading, query_count(row, 0), query_count(row, 1));

	if (!process)
		return hash_is_full(&reading->processes) ? 0 : -ENOMEM;
	process->comm = reading_column(reading, row, 2);
	process->is_left_out |= query_u64(row, 3) != 0;
	process->service = service_of(reading, row, 4);
	return 0;
}

/* A process is called as its leader is, last of all after an exec: as in the report. */
static int on_thread(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	u64 id = query_u64(row, 0), pid = query_count(row, 1), tid = query_count(row, 3);
	struct reading_process *process = add_process(reading, pid, query_count(row, 2));
	struct reading_thread *thread = process ? hash_add(&reading->threads, &id) : NULL;

	if (!thread) {
		bool is_full = hash_is_full(process ? &reading->threads : &reading->processes);

		reading->run->processes_no_room += is_full;
		return is_full ? 0 : -ENOMEM;
	}
	thread->begin_ns = query_count(row, 4);
	thread->comm = reading_column(reading, row, 5);
	thread->is_left_out = query_u64(row, 6) != 0 || process->is_left_out;
	thread->process = (u32)(process - (struct reading_process *)reading->processes.items);
	if ((pid == tid && thread->comm) || !process->comm)
		process->comm = thread->comm;
	process->is_left_out |= thread->is_left_out;
	return 0;
}

int reading_tasks(struct reading *reading)
{
	const char *column = process_keys[reading->diff->options.group_by].column;
	char columns[128];
	int err;

	snprintf(columns, sizeof(columns), "pid, start_ns, comm, is_kernel, %s",
		 query_has_column(reading->db, "processes", column) ? column : "''");
	err = query_table(reading->db, "processes", columns, NULL, on_process, reading);
	if (err)
		return err;
	return query_table(reading->db, "threads",
			   "id, pid, process_start_ns, tid, begin_ns, comm, is_kernel", NULL,
			   on_thread, reading);
}

/* --- the ledger --- */

static bool is_on_cpu(u32 state)
{
	return state >= STATE_CPU && state <= STATE_CPU_SOFTIRQ;
}

/* Waiting for work is no cost; nor is what nobody knows. */
static bool is_wait(u32 state)
{
	return !is_on_cpu(state) && state != STATE_BLOCKED_IDLE && state != STATE_UNATTRIBUTED;
}

static s64 window_at(const struct reading *reading, u64 ns)
{
	size_t low = 0, high = reading->start_count;

	while (low + 1 < high) {
		size_t middle = (low + high) / 2;

		if (reading->starts[middle] <= ns)
			low = middle;
		else
			high = middle;
	}
	return reading->first_id + (s64)low;
}

/*
 * A thread that does not move has no rows; then its silence is one row, in the last silent window,
 * and covers all windows since its last row evenly.
 */
static void find_span(const struct reading *reading, struct reading_thread *thread, s64 window)
{
	if (thread->has_row && window <= thread->last_window)
		return; /* one more of the same window */
	thread->span_first =
		thread->has_row ? thread->last_window + 1 : window_at(reading, thread->begin_ns);
	if (thread->span_first > window)
		thread->span_first = window;
	thread->last_window = window;
	thread->has_row = true;
}

/* What a row adds: to the windows first to last, evenly. */
struct addend {
	u32 state;
	s64 first, last;
	int bin; /* of the last one; -1: it is not in the part */
	double ns;
};

/* Adds to the bins of a span's windows; of those outside of the part, nothing: what it added. */
static double spread(const struct reading *reading, double *values, const struct addend *add,
		     double ns)
{
	const struct diff_run *run = reading->run;
	s64 first = add->first, last = add->last;
	double each, added = 0;

	if (first == last) { /* nearly all rows */
		if (add->bin < 0)
			return 0;
		values[add->bin] += ns;
		return ns;
	}
	each = ns / (double)(last - first + 1);
	first = first < run->first_window ? run->first_window : first;
	last = last > run->last_window ? run->last_window : last;
	for (s64 window = first; window <= last; window++) {
		values[reading_bin(reading, window)] += each;
		added += each;
	}
	return added;
}

/* The line of this number, looked up by its key the first time; NULL: no more room, or *err. */
static struct diff_line *line_of(struct reading *reading, u32 *number, const struct diff_key *key,
				 double ns, int *err)
{
	bool is_first = !*number;

	if (is_first)
		*number = reading_line_number(reading, key, ns, err);
	if (!*number)
		return NULL;
	if (*number != READING_NO_ROOM)
		return hash_item(&reading->diff->lines, *number - 1);
	reading->diff->no_room[key->table] += is_first ? 0 : ns;
	return NULL;
}

static int add_line(struct reading *reading, u32 *number, const struct diff_key *key,
		    const struct addend *add)
{
	int err = 0;
	struct diff_line *line = line_of(reading, number, key, add->ns, &err);

	if (line)
		spread(reading, line->values, add, add->ns);
	return err;
}

static int add_thread(struct reading *reading, struct reading_thread *thread,
		      const struct diff_key *process, const struct addend *add)
{
	struct diff_key key = *process;
	bool counts = is_on_cpu(add->state) || is_wait(add->state);
	struct diff_line *line;
	int err = 0, side = reading->run->side;

	key.table = DIFF_THREAD;
	key.name = thread->comm;
	line = line_of(reading, &thread->line, &key, counts ? add->ns : 0, &err);
	if (!line || !counts)
		return err;
	if (is_on_cpu(add->state))
		line->cpu[side] -= spread(reading, line->values, add, -add->ns);
	else
		line->wait[side] += spread(reading, line->values, add, add->ns);
	return err;
}

/* Ids mostly count up by one, in the order of the rows: then no hash is needed. */
static struct reading_thread *thread_of(const struct reading *reading, u64 id)
{
	struct reading_thread *threads = (struct reading_thread *)reading->threads.items;
	u64 guess;

	if (!reading->threads.count)
		return NULL;
	guess = id - threads[0].id;
	if (guess < reading->threads.count && threads[guess].id == id)
		return &threads[guess];
	return hash_find(&reading->threads, &id);
}

/* There is always room: there are no more of them than processes. */
static struct group *group_of(struct ledger_reader *reader, struct reading_process *process)
{
	struct group *group;

	if (process->group)
		return hash_item(&reader->groups, process->group - 1);
	group = hash_add(&reader->groups, &(u32[]){process->service, process->comm});
	if (group)
		process->group = 1 + (u32)(group - (struct group *)reader->groups.items);
	return group;
}

static int add_row(struct ledger_reader *reader, struct reading_thread *thread,
		   const struct addend *add)
{
	struct reading *reading = reader->reading;
	struct reading_process *process = hash_item(&reading->processes, thread->process);
	struct group *group = group_of(reader, process);
	struct diff_key key = {.table = DIFF_LEDGER, .name = reader->states[add->state]};
	int err;

	if (!group)
		return -ENOMEM;
	err = add_line(reading, &reader->host[add->state], &key, add);
	key.table = DIFF_SERVICE;
	key.service = process->service;
	if (!err)
		err = add_line(reading, &group->services[add->state], &key, add);
	key.table = DIFF_PROCESS;
	key.process = process->comm;
	if (!err)
		err = add_line(reading, &group->processes[add->state], &key, add);
	return err ? err : add_thread(reading, thread, &key, add);
}

static int on_ledger(sqlite3_stmt *row, void *context)
{
	struct ledger_reader *reader = context;
	struct reading *reading = reader->reading;
	s64 window = sqlite3_column_int64(row, 0);
	u64 number = query_u64(row, 2);
	u32 state = number < STATE_LIMIT ? (u32)number : STATE_UNATTRIBUTED;
	double ns = (double)sqlite3_column_int64(row, 3);
	struct reading_thread *thread = thread_of(reading, query_u64(row, 1));
	int bin;

	if (!thread || thread->is_left_out || ns > NS_MOST || ns < -NS_MOST ||
	    window < reading->first_id ||
	    (u64)window - (u64)reading->first_id >= reading->start_count)
		return 0;
	find_span(reading, thread, window);
	if (window < reading->run->first_window || thread->span_first > reading->run->last_window)
		return 0;
	bin = reading_bin(reading, window);
	if (is_on_cpu(state) && bin >= 0)
		reading->diff->bins[bin].cpu_s += ns / 1e9;
	return add_row(reader, thread,
		       &(struct addend){state, thread->span_first, window, bin, ns});
}

/* The file's own names are for states that came after this build. */
static int on_state(sqlite3_stmt *row, void *context)
{
	struct ledger_reader *reader = context;
	u64 id = query_u64(row, 0);

	if (id >= STATE_COUNT && id < STATE_LIMIT)
		reader->states[id] = reading_column(reader->reading, row, 1);
	return 0;
}

/* What was not measured, but had the CPUs. */
static int on_cpu(sqlite3_stmt *row, void *context)
{
	struct reading *reading = ((struct ledger_reader *)context)->reading;
	double ns = (double)query_count(row, 2);

	reading->run->busy_ns += query_u64(row, 1) == CPU_USE_IDLE ? 0 : ns;
	if (reading_bin(reading, sqlite3_column_int64(row, 0)) < 0)
		return 0;
	reading->run->cpus_ns += ns;
	reading->run->other_ns += query_u64(row, 1) == CPU_USE_OTHER ? ns : 0;
	return 0;
}

static int on_speed(sqlite3_stmt *row, void *context)
{
	struct reading *reading = ((struct ledger_reader *)context)->reading;
	u64 loop_ns = query_count(row, 1);
	int bin = reading_bin(reading, sqlite3_column_int64(row, 0));

	if (!loop_ns || bin < 0)
		return 0;
	reading->diff->bins[bin].loop_ns += (double)loop_ns;
	reading->diff->bins[bin].loops++;
	return 0;
}

int reading_ledger(struct reading *reading)
{
	struct ledger_reader reader = {.reading = reading};
	int err;

	hash_init(&reader.groups, sizeof(struct group), 2 * sizeof(u32), READING_TASKS_MAX);
	for (u32 i = 0; i < STATE_COUNT; i++)
		reader.states[i] = reading_text(reading, state_names[i]);
	err = query_table(reading->db, "states", "id, name", NULL, on_state, &reader);
	if (!err)
		err = query_table(reading->db, "cpus", "window, use, ns", NULL, on_cpu, &reader);
	if (!err)
		err = query_table(reading->db, "speed", "window, loop_ns", NULL, on_speed, &reader);
	if (!err)
		err = reading_rows(reading, "ledger", "ledger", "thread, state, ns", on_ledger,
				   &reader);
	hash_free(&reader.groups);
	return err;
}
