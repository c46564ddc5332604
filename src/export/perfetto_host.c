// SPDX-License-Identifier: Apache-2.0
/* The host in a trace: how busy CPUs were, who waited for them, what was lost, the governor. */
#include <stdio.h>

#include "../base/utf8.h"
#include "../store/query.h"
#include "perfetto.h"

#define EVENT_NAME_BYTES 64
#define TEXT_BYTES	 512

struct cpus {
	struct trace *trace;
	bool has_track[CPUS_MAX];
	bool has_queue;
};

static int put_cpu(sqlite3_stmt *row, void *context)
{
	struct cpus *cpus = context;
	struct trace *trace = cpus->trace;
	const struct timeline_window *window =
		timeline_window(trace->timeline, sqlite3_column_int64(row, 0));
	u64 cpu = query_count(row, 1), busy_ns = query_count(row, 2), all_ns = query_count(row, 3);
	char name[EVENT_NAME_BYTES];

	if (!window || !window->is_wanted || cpu >= CPUS_MAX || !all_ns)
		return 0;
	if (!cpus->has_track[cpu]) {
		snprintf(name, sizeof(name), "CPU %u busy", (unsigned)cpu);
		trace_track(
			trace, trace_uuid(TRACK_CPU, cpu), 0, name,
			"Share of a window in which the CPU is known to have been busy: its mean.",
			"%");
	}
	cpus->has_track[cpu] = true;
	trace_count(trace, trace_uuid(TRACK_CPU, cpu), window->begin_ns,
		    100.0 * (double)busy_ns / (double)all_ns);
	return 0;
}

static int put_queue(sqlite3_stmt *row, void *context)
{
	struct cpus *cpus = context;
	struct trace *trace = cpus->trace;
	const struct timeline_window *window =
		timeline_window(trace->timeline, sqlite3_column_int64(row, 0));
	u64 queue_ns = query_count(row, 1);

	if (!window || !window->is_wanted || window->end_ns <= window->begin_ns)
		return 0;
	if (!cpus->has_queue)
		trace_track(
			trace, trace_uuid(TRACK_QUEUE, 0), 0, "runnable threads",
			"Threads that were runnable and waited for a CPU: the mean of a window.",
			"threads");
	cpus->has_queue = true;
	trace_count(trace, trace_uuid(TRACK_QUEUE, 0), window->begin_ns,
		    (double)queue_ns / (double)(window->end_ns - window->begin_ns));
	return 0;
}

struct instants {
	struct trace *trace;
	bool has_track;
};

static int put_loss(sqlite3_stmt *row, void *context)
{
	struct instants *losses = context;
	struct trace *trace = losses->trace;
	const struct timeline_window *window =
		timeline_window(trace->timeline, sqlite3_column_int64(row, 0));
	char cause[EVENT_NAME_BYTES], shown[4 * EVENT_NAME_BYTES];
	struct trace_event event;

	if (!window || !window->is_wanted)
		return 0;
	if (!losses->has_track)
		trace_track(trace, trace_uuid(TRACK_LOSSES, 0), 0, "losses",
			    "What a window lost, at its end; when in it is not known.", NULL);
	losses->has_track = true;
	query_text(row, 1, cause, sizeof(cause));
	utf8_escape(shown, sizeof(shown), cause);
	trace_event(trace, &event, trace_uuid(TRACK_LOSSES, 0), shown);
	trace_note(&event, NOTE_COUNT, query_count(row, 2));
	trace_instant(trace, &event, window->end_ns);
	return 0;
}

static int put_step(sqlite3_stmt *row, void *context)
{
	struct instants *steps = context;
	struct trace *trace = steps->trace;
	u64 ts_ns = query_count(row, 0);
	char text[TEXT_BYTES], what[4 * TEXT_BYTES], why[4 * TEXT_BYTES];
	struct trace_event event;

	if (ts_ns < trace->timeline->begin_ns || ts_ns > trace->timeline->end_ns)
		return 0;
	if (!steps->has_track)
		trace_track(trace, trace_uuid(TRACK_STEPS, 0), 0, "overhead governor",
			    "What was switched off to hold --max-overhead, and on again.", NULL);
	steps->has_track = true;
	query_text(row, 1, text, sizeof(text));
	utf8_escape(what, sizeof(what), text);
	query_text(row, 2, text, sizeof(text));
	utf8_escape(why, sizeof(why), text);
	trace_event(trace, &event, trace_uuid(TRACK_STEPS, 0), what);
	trace_note_text(&event, NOTE_WHY, why);
	trace_instant(trace, &event, ts_ns);
	return 0;
}

int trace_host(struct trace *trace)
{
	struct cpus cpus = {.trace = trace};
	struct instants losses = {.trace = trace}, steps = losses;
	sqlite3 *db = trace->timeline->db;
	char columns[160];
	int err;

	snprintf(columns, sizeof(columns),
		 "window, cpu, sum(CASE WHEN use IN (%d, %d) THEN 0 ELSE ns END), sum(ns)",
		 CPU_USE_IDLE, CPU_USE_UNATTRIBUTED);
	err = query_groups(db, "cpus", columns, "window, cpu", "window, cpu", put_cpu, &cpus);
	if (!err)
		err = query_groups(db, "cpu_queues", "window, sum(queue_ns)", "window", "window",
				   put_queue, &cpus);
	if (!err)
		err = query_table(db, "losses", "window, cause, count", "window", put_loss,
				  &losses);
	if (!err)
		err = query_table(db, "steps", "ts_ns, what, why", "ts_ns", put_step, &steps);
	return err;
}
