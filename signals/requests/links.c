// SPDX-License-Identifier: Apache-2.0
/*
 * Calls and the requests that answer them wait for their request to be kept; then they have rows.
 */
#include "links.h"

#include <string.h>

#include "../../src/base/cleanup.h"
#include "requests.h"

/* A request that answers a call. Opens with its key. */
struct answer {
	u64 id;
	/* the key ends here */
	u64 endpoint;
	u64 window;
	struct request request;
};
#define ANSWER_KEY_BYTES offsetof(struct answer, endpoint)

struct kept_id {
	u64 id;
	/* the key ends here */
	u64 window;
	u64 count; /* of its calls */
};
#define KEPT_KEY_BYTES offsetof(struct kept_id, window)

void link_book_open(struct link_book *book)
{
	hash_init(&book->calls, sizeof(struct call), CALL_KEY_BYTES, WAITING_CALLS_MAX);
	hash_init(&book->answers, sizeof(struct answer), ANSWER_KEY_BYTES, WAITING_CALLS_MAX);
	hash_init(&book->callers, sizeof(struct caller), CALLER_KEY_BYTES, REQUEST_CALLERS_MAX);
	hash_init(&book->kept, sizeof(struct kept_id), KEPT_KEY_BYTES, KEPT_IDS_MAX);
	hash_init(&book->asked, sizeof(struct kept_id), KEPT_KEY_BYTES, KEPT_IDS_MAX);
	links_open_traces(book);
}

void link_book_free(struct link_book *book)
{
	hash_free(&book->calls);
	hash_free(&book->answers);
	hash_free(&book->callers);
	hash_free(&book->kept);
	hash_free(&book->asked);
	hash_free(&book->traces);
}

/* --- what comes in --- */

static u64 id_of_ref(const struct request_ref *ref)
{
	return ref->connection ? request_id(ref->connection, ref->turn) : 0;
}

void link_book_add_call(struct link_book *book, const struct rec_requests *record, u64 window,
			u32 protocol, const char *name, const char *status)
{
	u64 turn_id = request_id(record->connection, record->turn);
	struct call *call = hash_add(&book->calls, &turn_id);

	if (!call) {
		book->lost++;
		return;
	}
	if (call->is_judged &&
	    call->outcome == REQUEST_OPEN) { /* at the end of a file, too early */
		call->is_judged = call->is_refused = call->is_done = 0;
		call->owner = 0;
	}
	call->id = record->wire ? request_call_id(record->wire) : turn_id;
	call->forward = id_of_ref(&record->forward);
	call->backward = id_of_ref(&record->backward);
	call->previous = id_of_ref(&record->previous);
	call->trace = record->trace;
	call->window = window;
	call->start_ns = record->hdr.start_ns;
	call->object = record->object;
	call->begin_ns = record->begin_ns;
	call->first_ns = record->ready_ns;
	call->end_ns = record->end_ns;
	call->sent = record->sent;
	call->received = record->received;
	call->tgid = record->hdr.tgid;
	call->tid = record->hdr.tid;
	call->port = record->port;
	call->client_port = record->client_port;
	call->outcome = request_outcome(record);
	call->protocol = (u8)protocol;
	call->is_loop = (record->flags & REQUEST_IS_LOOP) != 0;
	call->is_doubtful_forward = (record->flags & REQUEST_FORWARD_IS_DOUBTFUL) != 0;
	call->is_doubtful_backward = (record->flags & REQUEST_BACKWARD_IS_DOUBTFUL) != 0;
	call->is_further = (record->flags & REQUEST_IS_FURTHER) != 0;
	memcpy(call->name, name, sizeof(call->name));
	memcpy(call->status, status, sizeof(call->status));
}

void link_book_add_witness(struct link_book *book, const struct rec_requests *record)
{
	u64 turn_id = request_id(record->connection, record->turn);
	struct call *call = hash_find(&book->calls, &turn_id);

	if (!call || call->is_judged || call->backward)
		return;
	call->backward = id_of_ref(&record->backward);
	call->is_doubtful_backward = (record->flags & REQUEST_BACKWARD_IS_DOUBTFUL) != 0;
}

void link_book_add_answer(struct link_book *book, const struct request *request, u64 endpoint_id,
			  u64 window)
{
	struct answer *answer = hash_add(&book->answers, &request->id);

	if (!answer) {
		book->lost++;
		return;
	}
	answer->endpoint = endpoint_id;
	answer->window = window;
	answer->request = *request;
}

static struct kept_id *keep_id(struct link_book *book, struct hash *ids, u64 id, u64 window)
{
	struct kept_id *kept = hash_add(ids, &id);

	if (kept)
		kept->window = window;
	else
		book->lost++;
	return kept;
}

void link_book_keep(struct link_book *book, u64 request_id, u64 window)
{
	keep_id(book, &book->kept, request_id, window);
}

/* --- what is written --- */

static const char *const grade_names[] = {
#define GRADE(NAME, name, ...) #name,
	REQUEST_GRADES(GRADE)
#undef GRADE
};

static struct cell text_cell(const char *text, size_t size)
{
	return cell_text(text, strnlen(text, size));
}

static void write_call(const struct call *call, u64 window, struct sink *sink)
{
	const struct protocol *protocol = protocol_by_id(call->protocol);
	const char *grade = grade_names[call->grade],
		   *outcome = request_outcome_name(call->outcome);
	const char *name = protocol ? protocol->name : "";
	char trace[TRACE_TEXT_BYTES];
	const struct cell cells[] = {
		cell_number(call->id),
		cell_number(window),
		cell_number(call->owner),
		cell_text(grade, strlen(grade)),
		cell_number(call->tgid),
		cell_number(call->start_ns),
		cell_number(call->tid),
		cell_number(call->object),
		cell_number(call->port),
		cell_number(call->client_port),
		cell_text(name, strlen(name)),
		text_cell(call->name, sizeof(call->name)),
		text_cell(call->status, sizeof(call->status)),
		cell_text(outcome, strlen(outcome)),
		cell_number(call->begin_ns),
		cell_number(call->first_ns > call->begin_ns ? call->first_ns - call->begin_ns : 0),
		cell_number(call->end_ns > call->begin_ns ? call->end_ns - call->begin_ns : 0),
		cell_number(call->sent),
		cell_number(call->received),
		cell_text(trace, request_trace_text(&call->trace, trace)),
	};

	sink->add(sink, &request_tables[REQUEST_TABLE_CALLS], cells);
}

/* Calls of requests that have a row. True: there was one. */
static bool write_calls(struct link_book *book, u64 window, struct sink *sink)
{
	bool is_any = false;

	for (size_t i = 0; i < book->calls.count; i++) {
		struct call *call = hash_item(&book->calls, i);
		struct kept_id *owner;

		if (!call->is_judged || call->is_done || call->is_refused || !call->owner)
			continue;
		owner = hash_find(&book->kept, &call->owner);
		if (!owner)
			continue;
		call->is_done = 1;
		if (owner->count++ >= CALLS_OF_REQUEST) {
			book->lost++;
			continue;
		}
		write_call(call, window, sink);
		keep_id(book, &book->asked, call->id, window);
		is_any = true;
	}
	return is_any;
}

/* Requests that answer calls which have a row. */
static bool write_answers(struct link_book *book, u64 window, request_write_fn *write,
			  struct sink *sink)
{
	bool is_any = false;

	for (size_t i = 0; i < book->answers.count; i++) {
		const struct answer *answer = hash_item(&book->answers, i);

		if (hash_find(&book->kept, &answer->id) ||
		    !hash_find(&book->asked, &answer->request.parent))
			continue;
		if (!keep_id(book, &book->kept, answer->id, window))
			continue; /* it would be written again and again */
		write(answer->endpoint, &answer->request, 0, window, sink);
		is_any = true;
	}
	return is_any;
}

static bool has_calls(const struct caller *caller)
{
	u64 any = 0;

	for (size_t i = 0; i < ARRAY_SIZE(caller->window); i++)
		any |= caller->window[i];
	return any;
}

/* Each row has what came since the one before. */
static void write_callers(struct link_book *book, u64 window, struct sink *sink)
{
	for (size_t i = 0; i < book->callers.count; i++) {
		struct caller *caller = hash_item(&book->callers, i);
		const struct cell cells[] = {
			cell_number(window),
			cell_number(caller->tgid),
			cell_number(caller->start_ns),
			cell_number(caller->window[LINK_CONFIRMED]),
			cell_number(caller->window[LINK_BACKWARD]),
			cell_number(caller->window[LINK_CONFLICT]),
			cell_number(caller->window[LINK_FORWARD]),
			cell_number(caller->window[LINK_REFUSED]),
			cell_number(caller->window[LINK_NONE]),
			cell_number(caller->window[LINK_PUBLISHED]),
			cell_number(caller->window[LINK_CHECKED]),
			cell_number(caller->window[LINK_WRONG]),
		};

		if (!has_calls(caller))
			continue;
		sink->add(sink, &request_tables[REQUEST_TABLE_LINKS], cells);
		memset(caller->window, 0, sizeof(caller->window));
	}
}

/* --- what nobody asks for any more --- */

struct age {
	u64 window, most;
};

static bool is_recent_call(const void *item, const void *context)
{
	const struct age *age = context;

	return ((const struct call *)item)->window + age->most > age->window;
}

static bool is_recent_answer(const void *item, const void *context)
{
	const struct age *age = context;

	return ((const struct answer *)item)->window + age->most > age->window;
}

static bool is_recent_id(const void *item, const void *context)
{
	const struct age *age = context;

	return ((const struct kept_id *)item)->window + age->most > age->window;
}

/* Most calls are of requests that were not kept: where there are many, they leave room early. */
static void retain(struct hash *hash, bool (*is_recent)(const void *, const void *), u64 window)
{
	struct age age = {window, CALL_WINDOWS};

	if (hash->count > WAITING_CALLS_MAX / 2)
		age.most = CALL_WINDOWS_FULL;
	else if (hash->count > WAITING_CALLS_MAX / 4)
		age.most = CALL_WINDOWS_BUSY;
	hash_retain(hash, is_recent, &age);
}

static bool is_recent_caller(const void *item, const void *context)
{
	return ((const struct caller *)item)->last_window + IDLE_WINDOWS > *(const u64 *)context;
}

void link_book_write(struct link_book *book, u64 window, bool is_last, request_write_fn *write,
		     struct sink *sink)
{
	bool goes_on = true;

	links_judge(book, window, is_last);
	for (u32 depth = 0; goes_on && depth < CALL_DEPTH; depth++) {
		goes_on = write_calls(book, window, sink);
		goes_on |= write_answers(book, window, write, sink);
	}
	write_callers(book, window, sink);
	retain(&book->calls, is_recent_call, window);
	retain(&book->answers, is_recent_answer, window);
	retain(&book->kept, is_recent_id, window);
	retain(&book->asked, is_recent_id, window);
	links_forget_traces(book, window);
	hash_retain(&book->callers, is_recent_caller, &window);
}
