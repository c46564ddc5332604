// SPDX-License-Identifier: Apache-2.0
/*
 * Requests in a trace, with their true times: slices on tracks of their process, from data ready to
 * the last send, with the calls that they made inside of them. Calls of one request that overlap,
 * or go on after it, are on tracks of their own. A flow goes from a call to the request that
 * answers it, where that was kept too. Each slice of a call says how it is known which request made
 * it.
 */
#include "perfetto.h"
#include "requests.h"

struct requests {
	struct trace *trace;
	struct trace_lanes requests, calls;
};

static void note_text(struct trace_event *event, enum trace_note note, const char *text)
{
	if (*text)
		trace_note_text(event, note, text);
}

static void note_side(struct trace_event *event, const struct request_side *side)
{
	note_text(event, NOTE_STATUS, side->status);
	note_text(event, NOTE_OUTCOME, side->outcome);
	note_text(event, NOTE_PROTOCOL, side->protocol);
	trace_note(event, NOTE_SENT, side->sent);
	trace_note(event, NOTE_RECEIVED, side->received);
	trace_note(event, NOTE_TID, side->tid);
}

static void note_request(struct trace_event *event, const struct request_span *request)
{
	note_side(event, &request->side);
	note_text(event, NOTE_SERVER, request->side.server);
	note_text(event, NOTE_KIND, request->kind);
	note_text(event, NOTE_MODEL, request->model);
	trace_note(event, NOTE_WEIGHT, request->weight);
	trace_note(event, NOTE_QUEUE_NS, request->queue_ns);
	for (int i = 0; i < REQUEST_PART_COUNT; i++)
		if (request->part_ns[i])
			trace_note(event, NOTE_PART_CPU + (enum trace_note)i, request->part_ns[i]);
	if (request->parent)
		note_text(event, NOTE_LINK, request->grade);
}

static void put_call(struct requests *requests, const struct request_call *call, u64 track)
{
	struct trace_event event;
	uint64_t flow = call->side.id;

	trace_event(requests->trace, &event, track, call->side.name);
	note_side(&event, &call->side);
	note_text(&event, NOTE_PEER, call->side.server);
	trace_note(&event, NOTE_WAIT_NS, call->wait_ns);
	note_text(&event, NOTE_LINK, call->grade);
	event.event.flow_ids = &flow;
	event.event.n_flow_ids = 1;
	trace_slice(requests->trace, &event, call->side.begin_ns, call->side.end_ns);
}

/* Inside of its request, and behind the calls that are there already? */
static bool fits(const struct request_span *request, const struct request_call *call, u64 last_ns)
{
	return call->side.begin_ns >= last_ns && call->side.begin_ns >= request->side.begin_ns &&
	       call->side.end_ns <= request->side.end_ns;
}

/* Calls beside their request are joined with it by their flow. */
static size_t choose_inner(const struct request_span *request, bool is_inner[REQUEST_CALLS_MAX],
			   uint64_t flows[REQUEST_CALLS_MAX])
{
	size_t beside = 0;
	u64 last_ns = 0;

	for (size_t i = 0; i < request->call_count; i++) {
		const struct request_call *call = &request->calls[i];

		is_inner[i] = fits(request, call, last_ns);
		if (is_inner[i])
			last_ns = call->side.end_ns;
		else
			flows[beside++] = call->side.id;
	}
	return beside;
}

static void put_beside(struct requests *requests, const struct request_call *call)
{
	const struct request_side *side = &call->side;
	u64 track;

	if (!trace_lanes_are_of(&requests->calls, side->pid, side->start_ns, 0))
		requests->calls.parent =
			trace_process_of(requests->trace, side->pid, side->start_ns);
	track = trace_lanes_take(&requests->calls, side->begin_ns, side->end_ns);
	if (track)
		put_call(requests, call, track);
}

static int put_request(const struct request_span *request, void *context)
{
	struct requests *requests = context;
	struct trace *trace = requests->trace;
	const struct request_side *side = &request->side;
	bool is_inner[REQUEST_CALLS_MAX];
	uint64_t flows[REQUEST_CALLS_MAX], parent = request->parent;
	struct trace_event event;
	u64 track;

	if (!trace_lanes_are_of(&requests->requests, side->pid, side->start_ns, 0))
		requests->requests.parent = trace_process_of(trace, side->pid, side->start_ns);
	track = trace_lanes_take(&requests->requests, side->begin_ns, side->end_ns);
	if (!track)
		return 0;
	trace_event(trace, &event, track, side->name);
	note_request(&event, request);
	event.event.flow_ids = flows;
	event.event.n_flow_ids = choose_inner(request, is_inner, flows);
	event.event.terminating_flow_ids = &parent;
	event.event.n_terminating_flow_ids = parent ? 1 : 0;
	trace_slice_begin(trace, &event, side->begin_ns);
	for (size_t i = 0; i < request->call_count; i++)
		if (is_inner[i])
			put_call(requests, &request->calls[i], track);
	trace_slice_end(trace, track, side->end_ns);
	for (size_t i = 0; i < request->call_count; i++)
		if (!is_inner[i])
			put_beside(requests, &request->calls[i]);
	return trace->err;
}

int trace_requests(struct trace *trace)
{
	struct requests requests = {
		.trace = trace,
		.requests = {.trace = trace,
			     .name = "requests",
			     .about = "Requests that were kept whole, with their true times: from "
				      "data ready to the last send. queue_ns and the parts sum to "
				      "that."},
		.calls = {.trace = trace,
			  .name = "calls beside their request",
			  .about = "Calls that a request made at the same time as another one, or "
				   "that went on after it. A flow joins them with it."},
	};
	int err = requests_each(trace->timeline, put_request, &requests);

	trace_lanes_print_left_out(&requests.requests);
	trace_lanes_print_left_out(&requests.calls);
	return err;
}
