// SPDX-License-Identifier: Apache-2.0
/*
 * The third witness: a call is of the request of its process that had the same trace context while
 * the call began, as the application itself publishes it. Requests come here with their trace.
 */
#include "links.h"

#include <string.h>

#include "requests.h"

/* So many requests of a trace in one process are told apart. */
#define TRACE_REQUESTS 4

struct traced {
	u64 id;
	u64 begin_ns, end_ns;
	u64 span;
};

/* The requests of a process that are of one trace. Opens with its key. */
struct trace {
	u64 tgid, start_ns;
	u64 id[2];
	/* the key ends here */
	u64 window;
	u64 forgotten_ns; /* the last end of those that made room for others; 0: none did */
	u64 count;
	struct traced requests[TRACE_REQUESTS];
};
#define TRACE_KEY_BYTES offsetof(struct trace, window)

void links_open_traces(struct link_book *book)
{
	hash_init(&book->traces, sizeof(struct trace), TRACE_KEY_BYTES, WAITING_TRACES_MAX);
}

bool links_has_trace(const struct request_trace *trace)
{
	return trace->id[0] | trace->id[1];
}

static void begin_key(struct trace *key, u64 tgid, u64 start_ns, const struct request_trace *trace)
{
	memset(key, 0, sizeof(*key));
	key->tgid = tgid;
	key->start_ns = start_ns;
	key->id[0] = trace->id[0];
	key->id[1] = trace->id[1];
}

/* A mask that was in force lately may have left out requests of what is judged now. */
static void note_mask(struct link_book *book, u32 mask, u64 window)
{
	if (mask < book->trace_mask && book->mask_window + CALL_WINDOWS > window)
		return;
	book->trace_mask = mask;
	book->mask_window = window;
}

/* Its place: that of the same one, a free one, or that of the one that ended first. */
static struct traced *place_of(struct trace *trace, u64 id)
{
	struct traced *first = &trace->requests[0];

	for (u64 i = 0; i < trace->count; i++) {
		struct traced *at = &trace->requests[i];

		if (at->id == id)
			return at;
		if (at->end_ns < first->end_ns)
			first = at;
	}
	if (trace->count < TRACE_REQUESTS)
		return &trace->requests[trace->count++];
	if (first->end_ns > trace->forgotten_ns)
		trace->forgotten_ns = first->end_ns;
	return first;
}

void link_book_add_trace(struct link_book *book, const struct rec_requests *record, u64 window)
{
	struct trace key, *trace;

	if (!links_has_trace(&record->trace))
		return;
	note_mask(book, record->trace_mask, window);
	if (record->flags & REQUEST_IS_CALL)
		return;
	begin_key(&key, record->hdr.tgid, record->hdr.start_ns, &record->trace);
	trace = hash_add(&book->traces, &key);
	if (!trace) {
		book->lost++;
		return;
	}
	trace->window = window;
	*place_of(trace, request_id(record->connection, record->turn)) = (struct traced){
		.id = request_id(record->connection, record->turn),
		.begin_ns = record->begin_ns,
		.end_ns = record->end_ns ? record->end_ns : ~0ULL, /* it is not known yet */
		.span = record->trace.span,
	};
}

static bool is_within(const struct call *call, const struct traced *request)
{
	return request->begin_ns <= call->begin_ns && call->begin_ns <= request->end_ns;
}

/* Requests that may be missing are no reason to name another one. */
static bool are_all_known(const struct link_book *book, const struct trace *trace,
			  const struct call *call)
{
	return !(REQUEST_TRACE_HASH(&call->trace) & book->trace_mask) &&
	       (!trace->forgotten_ns || call->begin_ns > trace->forgotten_ns);
}

/*
 * One span is one request, whatever else its trace has in this process. A call may have one of its
 * own: then it is of the only request that it can be of.
 */
enum link_published links_published(struct link_book *book, const struct call *call, u64 *ret_owner)
{
	u32 count = 0, spans = 0, named = 0;
	u64 by_trace = 0, by_span = 0;
	struct trace key, *trace;

	if (!links_has_trace(&call->trace))
		return PUBLISHED_NOTHING;
	begin_key(&key, call->tgid, call->start_ns, &call->trace);
	trace = hash_find(&book->traces, &key);
	for (u64 i = 0; trace && i < trace->count; i++) {
		const struct traced *request = &trace->requests[i];

		if (!is_within(call, request))
			continue;
		count++;
		by_trace = request->id;
		named += request->id == call->owner;
		if (request->span && request->span == call->trace.span) {
			spans++;
			by_span = request->id;
		}
	}
	*ret_owner = spans == 1 ? by_span : by_trace;
	if (spans == 1 || (count == 1 && are_all_known(book, trace, call)))
		return PUBLISHED_ONE;
	return count < 2 ? PUBLISHED_NOTHING : named ? PUBLISHED_SEVERAL : PUBLISHED_OTHERS;
}

static bool is_recent_trace(const void *item, const void *context)
{
	const u64 *window = context;

	return ((const struct trace *)item)->window + CALL_WINDOWS > *window;
}

void links_forget_traces(struct link_book *book, u64 window)
{
	hash_retain(&book->traces, is_recent_trace, &window);
}
