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

struct ledger_reader {
	struct reading *reading;
	u32 states[STATE_LIMIT]; /* texts */
};

/* --- processes and threads --- */

static int on_process(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	struct reading_process *process =
		hash_add(&reading->processes, &(u64[]){query_count(row, 0), query_count(row, 1)});

	if (!process)
		return hash_is_full(&reading->processes) ? 0 : -ENOMEM;
	process->comm = reading_column(reading, row, 2);
	process->service = reading_column(reading, row, 3);
	process->is_kernel |= query_u64(row, 4) != 0;
	return 0;
}

/* A process is called as its leader is, last of all after an exec: as in the report. */
static int on_thread(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	u64 id = query_u64(row, 0), pid = query_count(row, 1), tid = query_count(row, 3);
	struct reading_process *process =
		hash_add(&reading->processes, &(u64[]){pid, query_count(row, 2)});
	struct reading_thread *thread = process ? hash_add(&reading->threads, &id) : NULL;

	if (!thread) {
		bool is_full = hash_is_full(process ? &reading->threads : &reading->processes);

		reading->run->processes_no_room += is_full;
		return is_full ? 0 : -ENOMEM;
	}
	thread->begin_ns = query_count(row, 4);
	thread->comm = reading_column(reading, row, 5);
	thread->is_kernel = query_u64(row, 6) != 0 || process->is_kernel;
	thread->process = (u32)(process - (struct reading_process *)reading->processes.items);
	if ((pid == tid && thread->comm) || !process->comm)
		process->comm = thread->comm;
	process->is_kernel |= thread->is_kernel;
	return 0;
}

int reading_tasks(struct reading *reading)
{
	int err = query_table(reading->db, "processes", "pid, start_ns, comm, service, is_kernel",
			      NULL, on_process, reading);

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

/* Adds to the bins of a span's windows; of those outside of the part, nothing: what it added. */
static double spread(const struct reading *reading, double *values, s64 first, s64 last, double ns)
{
	const struct diff_run *run = reading->run;
	double each = ns / (double)(last - first + 1), added = 0;

	first = first < run->first_window ? run->first_window : first;
	last = last > run->last_window ? run->last_window : last;
	for (s64 window = first; window <= last; window++) {
		values[reading_bin(reading, window)] += each;
		added += each;
	}
	return added;
}

static int add_line(struct reading *reading, const struct diff_key *key, s64 first, s64 last,
		    double ns)
{
	int err = 0;
	struct diff_line *line = reading_line(reading, key, &err);

	if (line)
		spread(reading, line->values, first, last, ns);
	return err;
}

static int add_thread(struct reading *reading, const struct reading_thread *thread,
		      const struct diff_key *process, u32 state, s64 first, s64 last, double ns)
{
	struct diff_key key = *process;
	struct diff_line *line;
	int err = 0;

	key.table = DIFF_THREAD;
	key.name = thread->comm;
	line = reading_line(reading, &key, &err);
	if (!line || !(is_on_cpu(state) || is_wait(state)))
		return err;
	if (is_on_cpu(state))
		line->cpu[reading->run->side] -= spread(reading, line->values, first, last, -ns);
	else
		line->wait[reading->run->side] += spread(reading, line->values, first, last, ns);
	return err;
}

static int on_ledger(sqlite3_stmt *row, void *context)
{
	struct ledger_reader *reader = context;
	struct reading *reading = reader->reading;
	s64 window = sqlite3_column_int64(row, 0);
	u64 id = query_u64(row, 1), number = query_u64(row, 2);
	u32 state = number < STATE_LIMIT ? (u32)number : STATE_UNATTRIBUTED;
	double ns = (double)sqlite3_column_int64(row, 3);
	struct reading_thread *thread = hash_find(&reading->threads, &id);
	const struct reading_process *process;
	struct diff_key key = {.table = DIFF_LEDGER, .name = reader->states[state]};
	int err;

	if (!thread || thread->is_kernel || ns > NS_MOST || ns < -NS_MOST ||
	    window < reading->first_id ||
	    (u64)window - (u64)reading->first_id >= reading->start_count)
		return 0;
	find_span(reading, thread, window);
	if (window < reading->run->first_window || thread->span_first > reading->run->last_window)
		return 0;
	if (is_on_cpu(state) && reading_bin(reading, window) >= 0)
		reading->diff->bins[reading_bin(reading, window)].cpu_s += ns / 1e9;
	process = hash_item(&reading->processes, thread->process);
	err = add_line(reading, &key, thread->span_first, window, ns);
	key.table = DIFF_SERVICE;
	key.service = process->service;
	if (!err)
		err = add_line(reading, &key, thread->span_first, window, ns);
	key.table = DIFF_PROCESS;
	key.process = process->comm;
	if (!err)
		err = add_line(reading, &key, thread->span_first, window, ns);
	if (!err)
		err = add_thread(reading, thread, &key, state, thread->span_first, window, ns);
	return err;
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

	if (reading_bin(reading, sqlite3_column_int64(row, 0)) < 0)
		return 0;
	reading->run->cpus_ns += ns;
	reading->run->other_ns += query_u64(row, 1) == CPU_USE_OTHER ? ns : 0;
	return 0;
}

int reading_ledger(struct reading *reading)
{
	struct ledger_reader reader = {.reading = reading};
	int err;

	for (u32 i = 0; i < STATE_COUNT; i++)
		reader.states[i] = reading_text(reading, state_names[i]);
	err = query_table(reading->db, "states", "id, name", NULL, on_state, &reader);
	if (!err)
		err = query_table(reading->db, "cpus", "window, use, ns", NULL, on_cpu, &reader);
	if (err)
		return err;
	return query_table(reading->db, "ledger", "window, thread, state, ns", NULL, on_ledger,
			   &reader);
}
