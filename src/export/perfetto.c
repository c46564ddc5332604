// SPDX-License-Identifier: Apache-2.0
/*
 * A trace for Perfetto. Threads are tracks with slices of the ledger's states. A session has sums
 * by window and no single intervals, so a window of a thread is one slice per state, in the order
 * of abi/states.def: the durations are exact, the order is not measured, and each slice says so.
 * What has a time of its own, slow events, connections, steps of the governor, has it here too.
 * Packets go out one by one; in memory are the stacks (src/model/profile.h has their bounds),
 * names, and 8 bytes for each thread.
 */
#include <errno.h>
#include <stdlib.h>

#include "../base/cleanup.h"
#include "perfetto.h"

static const char ledger_name[] = "ledger: order within a window is not measured";
static const char ledger_about[] =
	"What the thread did, by state: for each window a slice per state, whose duration is the "
	"exact sum of that window. The order of the slices within a window is not measured.";
static const char sum_name[] = "ledger of ended threads, summed up";
static const char sum_about[] =
	"Sums of threads that ended and have no record of their own: durations are exact, the "
	"times are not theirs.";

struct ledger {
	struct trace *trace;
	u64 *ends_ns; /* by thread: where its last slice ended; 0: none was */
};

/* The parts of a thread's time follow each other without a gap, from its begin to its end. */
static u64 place(const struct ledger *ledger, const struct ledger_row *row, u32 index)
{
	u64 end_ns = ledger->ends_ns[index];

	if (row->thread->is_sum)
		return end_ns > row->window->begin_ns ? end_ns : row->window->begin_ns;
	return end_ns ? end_ns : row->thread->begin_ns;
}

static void tell_track(struct trace *trace, const struct timeline_thread *thread, u32 index)
{
	u64 parent = trace_thread(trace, index);

	trace_track(trace, trace_uuid(TRACK_LEDGER, index), parent,
		    thread->is_sum ? sum_name : ledger_name,
		    thread->is_sum ? sum_about : ledger_about, NULL);
}

static int put_state(const struct ledger_row *row, void *context)
{
	struct ledger *ledger = context;
	struct trace *trace = ledger->trace;
	const struct timeline_thread *threads = (const void *)trace->timeline->threads.items;
	u32 index = (u32)(row->thread - threads);
	u64 begin_ns = place(ledger, row, index);
	struct trace_event event;

	ledger->ends_ns[index] = begin_ns + row->ns;
	if (!row->is_wanted)
		return 0;
	if (!trace->has_ledger[index])
		tell_track(trace, row->thread, index);
	trace->has_ledger[index] = true;
	trace_event(trace, &event, trace_uuid(TRACK_LEDGER, index),
		    timeline_state(trace->timeline, row->state));
	trace_note(&event, NOTE_COUNT, row->count);
	trace_note_order(&event);
	trace_slice(trace, &event, begin_ns, begin_ns + row->ns);
	return trace->err;
}

static int put_ledger(struct trace *trace)
{
	_cleanup_free_ u64 *ends_ns = calloc(trace->timeline->threads.count + 1, sizeof(u64));
	struct ledger ledger = {trace, ends_ns};

	return ends_ns ? timeline_ledger(trace->timeline, put_state, &ledger) : -ENOMEM;
}

int export_perfetto(const struct export_source *source, const struct export_options *options,
		    FILE *out)
{
	struct trace trace;
	struct trace_stacks *stacks = NULL;
	int err = trace_begin(&trace, source, out);

	(void)options;
	if (!err) {
		stacks = trace_stacks_new(&trace);
		err = stacks ? 0 : -ENOMEM;
	}
	if (!err)
		err = put_ledger(&trace);
	if (!err)
		err = trace_samples(stacks);
	if (!err)
		err = trace_slow(&trace, stacks);
	if (!err)
		err = trace_connections(&trace);
	if (!err)
		err = trace_requests(&trace);
	if (!err)
		err = trace_host(&trace);
	trace_stacks_free(stacks);
	trace_end(&trace);
	return err ? err : trace.err;
}
