// SPDX-License-Identifier: Apache-2.0
/*
 * Requests that were kept whole, into memory, in two passes: which are the slowest first; then
 * these, and of the others all, or, where they are too many, a random part.
 */
#include <errno.h>
#include <string.h>

#include "../store/query.h"
#include "digest.h"

#define WEIGHT_MAX 1e12
#define KEPT_SPARE (REQUESTS_KEPT_MAX / 50) /* a random part is not of just one size */

#define NS_COLUMN(NAME, name, ...) ", " #name "_ns"

static const char columns[] =
	"window, endpoint, id, parent, tid, begin_ns, queue_ns, window_ns, weight, status, "
	"outcome, model" REQUEST_PARTS(NS_COLUMN) ", wait_part, wait_ns, wait_stack, wait_stop";
enum {
	TID = REQUEST_COLUMN_PARENT + 1,
	BEGIN,
	QUEUE,
	WINDOW,
	WEIGHT,
	STATUS,
	OUTCOME,
	MODEL,
	PART,
	WAIT_PART = PART + REQUEST_PART_COUNT,
	WAIT,
	WAIT_STACK,
	WAIT_STOP
};

int requests_each_row(sqlite3 *db, query_row_fn *on_row, void *context)
{
	char there[2 * sizeof(columns)];

	query_columns(db, "requests", columns, there, sizeof(there));
	return query_table(db, "requests", there, NULL, on_row, context);
}

struct reading {
	struct digest *digest;
	u64 endpoints;			   /* with a request that was kept */
	u64 slowest[REQUESTS_SLOWEST_MAX]; /* latencies; a heap, the least on top */
	size_t slowest_count;
	size_t taken; /* of the slowest */
};

const struct request_process *requests_process_of(const struct digest *digest, sqlite3_stmt *row)
{
	const struct request_process *process;
	u64 id = query_u64(row, 1);

	if (!digest_window_is_in(digest, sqlite3_column_int64(row, 0)))
		return NULL;
	process = hash_find(&digest->requests.processes, &id);
	return process && process->is_wanted ? process : NULL;
}

static void swap(u64 *a, u64 *b)
{
	u64 kept = *a;

	*a = *b;
	*b = kept;
}

static void sift_down(u64 *heap, size_t count)
{
	for (size_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && heap[child + 1] < heap[child])
			child++;
		if (heap[at] <= heap[child])
			return;
		swap(&heap[at], &heap[child]);
	}
}

static void note_latency(struct reading *reading, u64 latency_ns)
{
	u64 *heap = reading->slowest;

	if (reading->slowest_count == REQUESTS_SLOWEST_MAX) {
		if (latency_ns <= heap[0])
			return;
		heap[0] = latency_ns;
		sift_down(heap, reading->slowest_count);
		return;
	}
	heap[reading->slowest_count] = latency_ns;
	for (size_t at = reading->slowest_count++; at && heap[at] < heap[(at - 1) / 2];
	     at = (at - 1) / 2)
		swap(&heap[at], &heap[(at - 1) / 2]);
}

/* It stands for none, not for itself either: it is there for the request that made the call. */
static bool is_answer_alone(sqlite3_stmt *row, int column)
{
	return sqlite3_column_type(row, column) == SQLITE_INTEGER && !query_u64(row, column);
}

static int on_latency(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	const struct request_process *process = requests_process_of(reading->digest, row);
	struct request_endpoint *endpoint;

	if (!process || is_answer_alone(row, 4))
		return 0;
	endpoint = hash_item(&reading->digest->requests.endpoints, process->endpoint);
	reading->endpoints += !endpoint->kept_rows++;
	note_latency(reading, query_count(row, 2) + query_count(row, 3));
	return 0;
}

static u32 find_name(sqlite3_stmt *row, int column, const char *const *names, u32 count)
{
	char name[32];
	u32 i = 0;

	query_text(row, column, name, sizeof(name));
	while (i < count && strcmp(name, names[i]) != 0)
		i++;
	return i;
}

/* Parts that are not the whole window are not to be believed, but for the time that is missing. */
static bool close_parts(struct request *request)
{
	u64 sum = 0;

	for (int i = 0; i < REQUEST_PART_COUNT; i++)
		sum = profile_add(sum, request->part_ns[i]);
	if (sum == request->window_ns)
		return true;
	if (sum > request->window_ns) {
		memset(request->part_ns, 0, sizeof(request->part_ns));
		sum = 0;
	}
	request->part_ns[REQUEST_PART_UNATTRIBUTED] += request->window_ns - sum;
	return false;
}

/* A part of the request: what is longer is not to be believed. */
static void read_wait(sqlite3_stmt *row, struct request *request)
{
	u32 part = find_name(row, WAIT_PART, request_part_names, REQUEST_PART_COUNT);
	u64 ns = query_count(row, WAIT);

	if (part == REQUEST_PART_COUNT || ns > request->part_ns[part])
		return;
	request->wait_part = part;
	request->wait_ns = ns;
	request->wait_stack = query_u64(row, WAIT_STACK);
	request->wait_stop = (u32)query_count(row, WAIT_STOP);
}

bool requests_read_row(sqlite3_stmt *row, struct request *request)
{
	double weight = sqlite3_column_double(row, WEIGHT);
	bool is_closed;

	request->id = query_u64(row, REQUEST_COLUMN_ID);
	request->parent = query_u64(row, REQUEST_COLUMN_PARENT);
	request->call = REQUEST_NONE;
	request->tid = (u32)query_count(row, TID);
	request->begin_ns = query_count(row, BEGIN);
	request->queue_ns = query_count(row, QUEUE);
	request->window_ns = query_count(row, WINDOW);
	request->weight = weight >= 1 ? (weight < WEIGHT_MAX ? weight : WEIGHT_MAX) : 1;
	query_text(row, STATUS, request->status, sizeof(request->status));
	request->outcome = find_name(row, OUTCOME, request_outcome_names, REQUEST_OUTCOME_COUNT);
	request->model = find_name(row, MODEL, request_model_names, REQUEST_MODEL_COUNT);
	for (int i = 0; i < REQUEST_PART_COUNT; i++)
		request->part_ns[i] = query_count(row, PART + i);
	is_closed = close_parts(request);
	read_wait(row, request);
	return is_closed;
}

/* One in stride, by id: rows of a window are in an order that every so-many-th would follow. */
static bool is_chosen(u64 id, u64 stride)
{
	return stride == 1 || (id * 0x9e3779b97f4a7c15ULL >> 32) % stride == 0;
}

static int on_kept(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	struct requests *requests = &reading->digest->requests;
	const struct request_process *process = requests_process_of(reading->digest, row);
	const struct request_endpoint *endpoint;
	u64 latency_ns = query_count(row, QUEUE) + query_count(row, WINDOW);
	bool is_slowest =
		latency_ns >= reading->slowest[0] && reading->taken < REQUESTS_SLOWEST_MAX;
	struct request *request;

	if (!process || is_answer_alone(row, WEIGHT))
		return 0;
	endpoint = hash_item(&requests->endpoints, process->endpoint);
	if (!is_slowest && !is_chosen(query_u64(row, REQUEST_COLUMN_ID), endpoint->stride))
		return 0;
	reading->taken += is_slowest;
	if (!is_slowest && requests->kept_count - reading->taken >= REQUESTS_KEPT_MAX + KEPT_SPARE)
		return 0;
	request = query_append(&requests->kept, &requests->kept_count, sizeof(*request),
			       REQUESTS_KEPT_MAX + KEPT_SPARE + REQUESTS_SLOWEST_MAX);
	if (!request)
		return -ENOMEM;
	*request = (struct request){.endpoint = process->endpoint, .pid = process->pid};
	requests->unclosed += !requests_read_row(row, request);
	request->is_slowest = is_slowest;
	if (!is_slowest)
		request->weight *= (double)endpoint->stride;
	return 0;
}

/* Each endpoint has an equal share of the limit: one with many leaves the others theirs. */
static void find_strides(struct requests *requests, u64 endpoints)
{
	u64 most = REQUESTS_KEPT_MAX / (endpoints ? endpoints : 1);

	requests->stride = 1;
	for (size_t i = 0; i < requests->endpoints.count; i++) {
		struct request_endpoint *endpoint = hash_item(&requests->endpoints, i);

		endpoint->stride = 1 + (endpoint->kept_rows ? (endpoint->kept_rows - 1) / most : 0);
		if (endpoint->stride > requests->stride)
			requests->stride = endpoint->stride;
	}
}

int requests_read_kept(sqlite3 *db, struct digest *digest)
{
	struct reading reading = {.digest = digest};
	struct requests *requests = &digest->requests;
	u64 all = 0;
	int err = query_table(db, "requests", "window, endpoint, queue_ns, window_ns, weight", NULL,
			      on_latency, &reading);

	for (size_t i = 0; i < requests->endpoints.count; i++)
		all += ((struct request_endpoint *)hash_item(&requests->endpoints, i))->kept_rows;
	find_strides(requests, all > REQUESTS_KEPT_MAX ? reading.endpoints : 0);
	return err ? err : requests_each_row(db, on_kept, &reading);
}
