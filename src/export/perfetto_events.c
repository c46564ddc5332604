// SPDX-License-Identifier: Apache-2.0
/*
 * What has a begin and an end of its own in a session: slow events and TCP connections, with their
 * true times. Both can overlap, which slices of one track may not unless one contains the other: so
 * each has lanes, and takes the first that is free. The two ends of a connection within this host
 * are joined by a flow. Wake-ups are not: a session has who woke whom, but not when.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/log.h"
#include "../base/utf8.h"
#include "../store/query.h"
#include "perfetto.h"

#define EVENT_NAME_BYTES 96
#define ADDRESS_BYTES	 128

/* A thread of a process by its number; the last that had it. */
struct task {
	u64 pid, start_ns, tid; /* the key */
	u64 thread;		/* index */
};

struct slow {
	struct trace_lanes lanes;
	struct trace_stacks *stacks;
	struct hash tasks;
};

static int index_tasks(struct slow *slow, const struct timeline *timeline)
{
	for (u64 i = 0; i < timeline->threads.count; i++) {
		const struct timeline_thread *thread = hash_item(&timeline->threads, i);
		struct task *task;

		if (thread->is_sum)
			continue;
		task = hash_add(&slow->tasks,
				&(u64[]){thread->pid, thread->process_start_ns, thread->tid});
		if (!task)
			return -ENOMEM;
		task->thread = i;
	}
	return 0;
}

static u64 slow_parent(struct slow *slow, const struct slow_row *row)
{
	const struct task *task =
		hash_find(&slow->tasks, &(u64[]){row->pid, row->start_ns, row->tid});

	return task ? trace_thread(slow->lanes.trace, (u32)task->thread)
		    : trace_process_of(slow->lanes.trace, row->pid, row->start_ns);
}

static int put_slow(const struct slow_row *row, void *context)
{
	struct slow *slow = context;
	struct trace *trace = slow->lanes.trace;
	const struct {
		enum trace_note note;
		u64 ns;
	} parts[] = {{NOTE_PART_CPU, row->cpu_ns},   {NOTE_PART_RUNQ, row->runq_ns},
		     {NOTE_PART_LOCK, row->lock_ns}, {NOTE_PART_DISK, row->disk_ns},
		     {NOTE_PART_NET, row->net_ns},   {NOTE_PART_OTHER, row->other_ns}};
	struct trace_event event;
	char name[EVENT_NAME_BYTES], shown[4 * EVENT_NAME_BYTES];
	u64 track, stack;

	if (!trace_lanes_are_of(&slow->lanes, row->pid, row->start_ns, row->tid))
		slow->lanes.parent = slow_parent(slow, row);
	track = trace_lanes_take(&slow->lanes, row->begin_ns, row->end_ns);
	if (!track)
		return 0;
	snprintf(name, sizeof(name), "%s %s", row->signal, row->kind);
	utf8_escape(shown, sizeof(shown), name);
	stack = trace_stack(slow->stacks, row->stack, STOP_COUNT);
	trace_event(trace, &event, track, shown);
	if (stack)
		WIRE_SET(&event.event, callstack_iid, stack);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].ns)
			trace_note(&event, parts[i].note, parts[i].ns);
	trace_slice(trace, &event, row->begin_ns, row->end_ns);
	return trace->err;
}

int trace_slow(struct trace *trace, struct trace_stacks *stacks)
{
	struct slow slow = {.lanes = {.trace = trace,
				      .name = "slow events",
				      .about = "Events that took longer than --slow, with their "
					       "true times."},
			    .stacks = stacks};
	int err;

	hash_init(&slow.tasks, sizeof(struct task), 3 * sizeof(u64), TIMELINE_TASKS_MAX);
	err = index_tasks(&slow, trace->timeline);
	if (!err)
		err = timeline_slow(trace->timeline, put_slow, &slow);
	hash_free(&slow.tasks);
	trace_lanes_print_left_out(&slow.lanes);
	return err;
}

/* The same for both ends, which have the addresses the other way round: FNV-1a. */
static u64 flow_of(const char *local, const char *peer)
{
	const char *texts[] = {local, peer};
	u64 hash = 0xcbf29ce484222325ULL;

	if (strcmp(local, peer) > 0) {
		texts[0] = peer;
		texts[1] = local;
	}
	for (size_t i = 0; i < 2; i++)
		for (const char *at = texts[i];; at++) {
			hash = (hash ^ (u8)*at) * 0x100000001b3ULL;
			if (!*at)
				break;
		}
	return hash ? hash : 1;
}

/* Foreign: addresses are short, and what is not one is cut. */
static void shown_text(sqlite3_stmt *row, int column, char *to, size_t size)
{
	char text[ADDRESS_BYTES];

	query_text(row, column, text, sizeof(text));
	utf8_escape(to, size, text);
}

static int put_connection(sqlite3_stmt *row, void *context)
{
	struct trace_lanes *lanes = context;
	struct trace *trace = lanes->trace;
	u64 pid = query_count(row, 0), start_ns = query_count(row, 1);
	u64 begin_ns = query_count(row, 5), end_ns = query_count(row, 6), track;
	char direction[8], local[ADDRESS_BYTES], peer[ADDRESS_BYTES], name[2 * ADDRESS_BYTES];
	struct trace_event event;
	uint64_t flow;

	if (!timeline_wants(trace->timeline, pid, start_ns, pid) || !begin_ns ||
	    begin_ns > trace->timeline->end_ns || end_ns < trace->timeline->begin_ns)
		return 0;
	if (end_ns < begin_ns)
		end_ns = begin_ns;
	if (!trace_lanes_are_of(lanes, pid, start_ns, 0))
		lanes->parent = trace_process_of(trace, pid, start_ns);
	track = trace_lanes_take(lanes, begin_ns, end_ns);
	if (!track)
		return 0;
	shown_text(row, 2, direction, sizeof(direction));
	shown_text(row, 3, local, sizeof(local));
	shown_text(row, 4, peer, sizeof(peer));
	snprintf(name, sizeof(name), "tcp %s %s", direction,
		 !strcmp(direction, "in") ? local : peer);
	flow = flow_of(local, peer);
	trace_event(trace, &event, track, name);
	trace_note_text(&event, NOTE_LOCAL, local);
	trace_note_text(&event, NOTE_PEER, peer);
	trace_note(&event, NOTE_SENT, query_count(row, 7));
	trace_note(&event, NOTE_RECEIVED, query_count(row, 8));
	if (!strcmp(direction, "in")) {
		event.event.terminating_flow_ids = &flow;
		event.event.n_terminating_flow_ids = 1;
	} else {
		event.event.flow_ids = &flow;
		event.event.n_flow_ids = 1;
	}
	trace_slice(trace, &event, begin_ns, end_ns);
	return trace->err;
}

int trace_connections(struct trace *trace)
{
	struct trace_lanes lanes = {
		.trace = trace,
		.name = "connections",
		.about = "TCP connections with their true times. A flow joins the two "
			 "ends of one within this host."};
	int err =
		query_table(trace->timeline->db, "connections",
			    "pid, start_ns, direction, local, peer, begin_ns, end_ns, sent_bytes, "
			    "received_bytes",
			    "pid, start_ns, begin_ns", put_connection, &lanes);

	trace_lanes_print_left_out(&lanes);
	return err;
}
