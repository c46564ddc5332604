// SPDX-License-Identifier: Apache-2.0
/*
 * Calls of kept requests, and the requests that answer them, which may stand in other windows, be
 * of other processes than those that are wanted, or be kept for their caller alone: in passes, one
 * for each step down from the requests that were kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/text.h"
#include "../store/query.h"
#include "digest.h"

/* A request that was read: its calls are wanted. Opens with its key. */
struct known {
	u64 id;
	/* the key ends here */
	u64 calls;
	bool is_slowest;  /* or answers a call of one of the slowest */
	bool lacks_calls; /* more than fit */
};

struct reading {
	struct digest *digest;
	struct hash known; /* struct known */
	u64 calls_left_out;
	bool is_slowest_only;
	size_t answers; /* that were read for their callers */
	bool is_full;	/* more than fits would be counted again by another pass */
};

enum {
	ID,
	REQUEST,
	GRADE,
	PID,
	TID,
	OBJECT,
	PORT,
	PROTOCOL,
	NAME,
	STATUS,
	OUTCOME,
	BEGIN,
	WAIT,
	WINDOW,
	SENT,
	RECEIVED
};

static const char calls_columns[] =
	"id, request, grade, pid, tid, object, port, protocol, name, status, outcome, begin_ns, "
	"wait_ns, window_ns, sent_bytes, received_bytes";

static u32 find_name(sqlite3_stmt *row, int column, const char *const *names, u32 count)
{
	char name[32];
	u32 i = 0;

	query_text(row, column, name, sizeof(name));
	while (i < count && strcmp(name, names[i]) != 0)
		i++;
	return i;
}

/* Its index; REQUEST_NONE: no memory, since there are no more than calls. */
static u32 add_asked(struct requests *requests, sqlite3_stmt *row)
{
	struct request_asked key, *asked;

	memset(&key, 0, sizeof(key));
	key.object = query_u64(row, OBJECT);
	key.port = (u16)query_count(row, PORT);
	query_text(row, PROTOCOL, key.protocol, sizeof(key.protocol));
	query_text(row, NAME, key.name, sizeof(key.name));
	asked = hash_add(&requests->asked, &key);
	if (!asked)
		return REQUEST_NONE;
	asked->service = REQUEST_NONE;
	return (u32)(asked - (struct request_asked *)(void *)requests->asked.items);
}

static int add_call(struct requests *requests, sqlite3_stmt *row)
{
	u64 id = query_u64(row, ID);
	struct request_call *call = hash_add(&requests->calls, &id);

	if (!call)
		return -ENOMEM;
	call->caller = query_u64(row, REQUEST);
	call->answer = REQUEST_NONE;
	call->grade = find_name(row, GRADE, request_grade_names, REQUEST_GRADE_COUNT);
	call->outcome = find_name(row, OUTCOME, request_outcome_names, REQUEST_OUTCOME_COUNT);
	call->pid = (u32)query_count(row, PID);
	call->tid = (u32)query_count(row, TID);
	call->port = (u16)query_count(row, PORT);
	call->begin_ns = query_count(row, BEGIN);
	call->wait_ns = query_count(row, WAIT);
	call->window_ns = query_count(row, WINDOW);
	call->sent_bytes = query_count(row, SENT);
	call->received_bytes = query_count(row, RECEIVED);
	query_text(row, STATUS, call->status, sizeof(call->status));
	call->target = add_asked(requests, row);
	return call->target == REQUEST_NONE ? -ENOMEM : 0;
}

static int on_call(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	struct requests *requests = &reading->digest->requests;
	u64 id = query_u64(row, ID), request = query_u64(row, REQUEST);
	struct known *known = hash_find(&reading->known, &request);

	if (!known || (reading->is_slowest_only && !known->is_slowest) ||
	    hash_find(&requests->calls, &id))
		return 0;
	if (known->calls >= REQUEST_CALLS_MAX || hash_is_full(&requests->calls)) {
		known->lacks_calls = true;
		reading->calls_left_out++;
		return 0;
	}
	known->calls++;
	return add_call(requests, row);
}

/* Of any window and any process: who called it is wanted. */
static int on_answer(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	struct requests *requests = &reading->digest->requests;
	u64 id = query_u64(row, REQUEST_COLUMN_ID), parent = query_u64(row, REQUEST_COLUMN_PARENT);
	u64 endpoint = query_u64(row, REQUEST_COLUMN_ENDPOINT);
	const struct request_process *process;
	struct request *request;
	struct known *known;

	if (!parent || !hash_find(&requests->calls, &parent) || hash_find(&reading->known, &id))
		return 0;
	process = hash_find(&requests->processes, &endpoint);
	if (!process)
		return 0; /* counted */
	if (reading->answers >= REQUESTS_ANSWERS_MAX) {
		requests->answers_left_out++;
		reading->is_full = true;
		return 0;
	}
	request = query_append(&requests->kept, &requests->kept_count, sizeof(*request), ~0U);
	known = hash_add(&reading->known, &id);
	if (!request || !known)
		return -ENOMEM;
	known->is_slowest = reading->is_slowest_only;
	*request = (struct request){.endpoint = process->endpoint, .pid = process->pid};
	requests->unclosed += !requests_read_row(row, request);
	request->weight = 0;
	reading->answers++;
	return 0;
}

static int read_steps(sqlite3 *db, struct reading *reading)
{
	struct requests *requests = &reading->digest->requests;
	size_t before;
	int err = 0;

	for (int depth = 0; !err && depth < REQUEST_DEPTH_MAX; depth++) {
		before = requests->calls.count;
		reading->calls_left_out = 0; /* each pass meets all of them again */
		err = query_table(db, "request_calls", calls_columns, NULL, on_call, reading);
		if (err || requests->calls.count == before)
			break;
		before = requests->kept_count;
		err = requests_each_row(db, on_answer, reading);
		if (requests->kept_count == before || reading->is_full)
			break;
	}
	requests->calls_left_out = reading->calls_left_out;
	return err;
}

static int on_count(sqlite3_stmt *row, void *context)
{
	*(u64 *)context = query_count(row, 0);
	return 0;
}

/* Where not all calls fit, those of the slowest come first. */
static int read_all(sqlite3 *db, struct reading *reading)
{
	u64 count = 0;
	int err = query_table(db, "request_calls", "count(*)", NULL, on_count, &count);

	reading->is_slowest_only = count > REQUESTS_CALLS_MAX;
	if (!err && reading->is_slowest_only)
		err = read_steps(db, reading);
	reading->is_slowest_only = false;
	return err ? err : read_steps(db, reading);
}

int requests_read_calls(sqlite3 *db, struct digest *digest)
{
	struct reading reading = {.digest = digest};
	struct requests *requests = &digest->requests;
	int err = 0;

	if (!query_has_column(db, "request_calls", "id"))
		return 0;
	hash_init(&reading.known, sizeof(struct known), sizeof(u64),
		  requests->kept_count + REQUESTS_ANSWERS_MAX);
	for (size_t i = 0; !err && i < requests->kept_count; i++) {
		struct known *known = hash_add(&reading.known, &requests->kept[i].id);

		err = known ? 0 : -ENOMEM;
		if (known)
			known->is_slowest = requests->kept[i].is_slowest;
	}
	if (!err)
		err = read_all(db, &reading);
	for (size_t i = 0; i < requests->kept_count; i++) {
		const struct known *known = hash_find(&reading.known, &requests->kept[i].id);

		/* The recorder writes no more of a request than this, either. */
		requests->kept[i].lacks_calls =
			known && (known->lacks_calls || known->calls == REQUEST_CALLS_MAX);
	}
	hash_free(&reading.known);
	return err;
}

static int on_links(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	u64 pid = query_count(row, 1), start_ns = query_count(row, 2);
	const struct process *process = digest_process(digest, pid, start_ns);
	struct request_links key, *links;
	bool is_kernel;

	if (!digest_window_is_in(digest, sqlite3_column_int64(row, 0)) ||
	    !signals_want(digest, pid, start_ns, &is_kernel))
		return 0;
	memset(&key, 0, sizeof(key));
	text_copy(key.comm, sizeof(key.comm), series_comm(digest, pid, start_ns));
	if (process)
		text_copy(key.service, sizeof(key.service), process->service);
	links = hash_add(&digest->requests.links, &key);
	if (!links)
		return hash_is_full(&digest->requests.links) ? QUERY_ENOUGH : -ENOMEM;
	links->confirmed = profile_add(links->confirmed, query_count(row, 3));
	links->backward = profile_add(links->backward, query_count(row, 4));
	links->conflict = profile_add(links->conflict, query_count(row, 5));
	links->forward = profile_add(links->forward, query_count(row, 6));
	links->refused = profile_add(links->refused, query_count(row, 7));
	links->unlinked = profile_add(links->unlinked, query_count(row, 8));
	links->published = profile_add(links->published, query_count(row, 9));
	links->checked = profile_add(links->checked, query_count(row, 10));
	links->wrong = profile_add(links->wrong, query_count(row, 11));
	return 0;
}

static int by_calls(const void *a, const void *b)
{
	const struct request_links *x = a, *y = b;
	u64 calls[2] = {request_links_sum(x), request_links_sum(y)};

	if (calls[0] != calls[1])
		return calls[0] > calls[1] ? -1 : 1;
	return memcmp(x, y, sizeof(x->service) + sizeof(x->comm));
}

int requests_read_links(sqlite3 *db, struct digest *digest)
{
	struct hash *links = &digest->requests.links;
	const char *columns = query_has_column(db, "request_links", "published")
				      ? "window, pid, start_ns, confirmed, backward, conflict, "
					"forward, refused, unlinked, published, checked, wrong"
				      : "window, pid, start_ns, confirmed, backward, conflict, "
					"forward, refused, unlinked, 0, 0, 0";
	int err = query_table(db, "request_links", columns, NULL, on_links, digest);

	if (!err && links->count)
		qsort(links->items, links->count, links->item_size, by_calls);
	return err;
}
