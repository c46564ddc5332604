// SPDX-License-Identifier: Apache-2.0
#include "requests.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/log.h"
#include "../store/query.h"

/*
 * Rows are looked up by rowid, which is their id: in a file that is not so, nothing is found, and
 * nothing takes long.
 */
static const char order_sql[] =
	"SELECT rowid FROM requests ORDER BY pid, start_ns, begin_ns, rowid";

/*
 * An older session has no calls, and no columns for them: its requests are read with 0 for these,
 * and without those tables.
 */
#define NS_OF(NAME, name, ...) ", " #name "_ns"
static const char kept_columns[] =
	"pid, start_ns, tid, begin_ns, sent_bytes, received_bytes, endpoint, client_port, parent, "
	"status, outcome, window, queue_ns, window_ns, weight, model" REQUEST_PARTS(NS_OF);
static const char no_calls_sql[] = "(SELECT 0 AS rowid, 0 AS request, '' AS grade WHERE 0)";

#define NS_COLUMN(NAME, name, ...) ", r." #name "_ns"
static const char request_sql[] =
	"SELECT r.rowid, r.pid, r.start_ns, r.tid, r.begin_ns, r.sent_bytes, r.received_bytes, "
	"e.port, r.client_port, e.name, e.protocol, r.status, r.outcome, o.name, r.window, "
	"r.queue_ns, r.window_ns, r.weight, e.kind, r.model, p.grade, "
	"CASE WHEN q.rowid THEN p.rowid ELSE 0 END" REQUEST_PARTS(
		NS_COLUMN) " FROM (SELECT rowid AS rowid, %s FROM requests) AS r "
			   "LEFT JOIN endpoints AS e ON e.rowid = r.endpoint "
			   "LEFT JOIN objects AS o ON o.rowid = e.object "
			   "LEFT JOIN %s AS p ON p.rowid = r.parent "
			   "LEFT JOIN requests AS q ON q.rowid = p.request WHERE r.rowid = ?";

static const char call_sql[] =
	"SELECT c.rowid, c.pid, c.start_ns, c.tid, c.begin_ns, c.sent_bytes, c.received_bytes, "
	"c.port, c.client_port, c.name, c.protocol, c.status, c.outcome, o.name, c.wait_ns, "
	"c.window_ns, c.grade "
	"FROM request_calls AS c LEFT JOIN objects AS o ON o.rowid = c.object WHERE c.rowid = ?";

/* Who made the call, and which call that one answers. */
static const char caller_sql[] =
	"SELECT r.rowid, r.parent FROM request_calls AS c JOIN requests AS r "
	"ON r.rowid = c.request WHERE c.rowid = ?";

/* After the columns that both sides begin with. */
enum { CALL_WAIT = REQUEST_SIDE_COLUMNS, CALL_WINDOW, CALL_GRADE };
enum {
	SPAN_WINDOW_ID = REQUEST_SIDE_COLUMNS,
	SPAN_QUEUE,
	SPAN_WINDOW,
	SPAN_WEIGHT,
	SPAN_KIND,
	SPAN_MODEL,
	SPAN_GRADE,
	SPAN_PARENT,
	SPAN_PARTS
};

struct call_place {
	s64 request, call;
	u64 arrived_ns; /* at its server, where that request is known; 0: it is not */
};

struct reading {
	const struct timeline *timeline;
	sqlite3_stmt *order, *request, *call, *caller, *trace; /* trace NULL: older than that */
	struct call_place *calls;			       /* by request */
	size_t call_count;
	struct request_span *span;   /* the one that is passed on */
	u64 damaged, calls_left_out; /* beyond those of one request */
	u64 calls_beyond;	     /* the limit of all */
};

static int prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret_statement)
{
	return sqlite3_prepare_v2(db, sql, -1, ret_statement, NULL) == SQLITE_OK
		       ? 0
		       : query_refuse(db, "requests");
}

/* The row of this id: 1, 0 there is none, -errno. It stays until sqlite3_reset(). */
static int find_row(struct reading *reading, sqlite3_stmt *statement, s64 id)
{
	int step;

	sqlite3_bind_int64(statement, 1, id);
	step = sqlite3_step(statement);
	if (step == SQLITE_ROW)
		return 1;
	sqlite3_reset(statement);
	return step == SQLITE_DONE ? 0 : query_refuse(reading->timeline->db, "requests");
}

/* --- calls --- */

static int on_call_place(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	struct call_place *place;

	if (reading->call_count == REQUEST_ALL_CALLS_MAX) {
		reading->calls_beyond++;
		return 0;
	}
	place = query_append(&reading->calls, &reading->call_count, sizeof(*place),
			     REQUEST_ALL_CALLS_MAX);
	if (!place)
		return -ENOMEM;
	place->request = sqlite3_column_int64(row, 0);
	place->call = sqlite3_column_int64(row, 1);
	return 0;
}

static int by_call(const void *a, const void *b)
{
	const struct call_place *one = a, *other = b;

	return one->call < other->call ? -1 : one->call > other->call;
}

static int by_request(const void *a, const void *b)
{
	const struct call_place *one = a, *other = b;

	if (one->request != other->request)
		return one->request < other->request ? -1 : 1;
	return by_call(a, b);
}

static int on_answer(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	const struct call_place key = {.call = sqlite3_column_int64(row, 0)};
	struct call_place *place =
		key.call ? bsearch(&key, reading->calls, reading->call_count, sizeof(key), by_call)
			 : NULL;

	if (place)
		place->arrived_ns = query_count(row, 1);
	return 0;
}

static int read_call_places(struct reading *reading)
{
	sqlite3 *db = reading->timeline->db;
	int err = query_table(db, "request_calls", "request, rowid", NULL, on_call_place, reading);

	if (err || !reading->call_count)
		return err;
	qsort(reading->calls, reading->call_count, sizeof(reading->calls[0]), by_call);
	err = query_table(db, "requests", "parent, begin_ns", NULL, on_answer, reading);
	qsort(reading->calls, reading->call_count, sizeof(reading->calls[0]), by_request);
	return err;
}

/* The first call of a request, or where it would be. */
static size_t first_call(const struct reading *reading, s64 request)
{
	size_t low = 0, high = reading->call_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (reading->calls[middle].request < request)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * A call is recorded when its bytes are sent, and on this host its server can have them before:
 * then it began just before that.
 */
static int read_call(struct reading *reading, const struct call_place *place,
		     struct request_call *call)
{
	sqlite3_stmt *row = reading->call;
	int found = find_row(reading, row, place->call);

	if (found <= 0)
		return found;
	request_read_side(row, &call->side);
	call->wait_ns = query_count(row, CALL_WAIT);
	call->side.end_ns = call->side.begin_ns + query_count(row, CALL_WINDOW);
	if (place->arrived_ns && place->arrived_ns <= call->side.begin_ns)
		call->side.begin_ns = place->arrived_ns - 1;
	request_read_text(row, CALL_GRADE, call->grade, sizeof(call->grade));
	sqlite3_reset(row);
	return found;
}

static int by_begin(const void *a, const void *b)
{
	const struct request_side *one = &((const struct request_call *)a)->side;
	const struct request_side *other = &((const struct request_call *)b)->side;

	if (one->begin_ns != other->begin_ns)
		return one->begin_ns < other->begin_ns ? -1 : 1;
	if (one->end_ns != other->end_ns)
		return one->end_ns < other->end_ns ? -1 : 1;
	return one->id < other->id ? -1 : one->id > other->id;
}

static int read_calls(struct reading *reading, struct request_span *span)
{
	s64 id = (s64)span->side.id;
	int found = 0;

	span->call_count = 0;
	for (size_t i = first_call(reading, id);
	     found >= 0 && i < reading->call_count && reading->calls[i].request == id; i++) {
		if (span->call_count == REQUEST_CALLS_MAX) {
			reading->calls_left_out++;
			continue;
		}
		found = read_call(reading, &reading->calls[i], &span->calls[span->call_count]);
		span->call_count += found > 0;
	}
	qsort(span->calls, span->call_count, sizeof(span->calls[0]), by_begin);
	return found < 0 ? found : 0;
}

/* --- requests --- */

/* From call to caller, up to the first request. A file can go round in circles: not for long. */
static int find_root(struct reading *reading, struct request_span *span)
{
	s64 call = (s64)span->parent;

	span->root = span->side.id;
	for (int depth = 0; call && depth < REQUEST_ROOT_DEPTH; depth++) {
		int found = find_row(reading, reading->caller, call);

		if (found <= 0)
			return found;
		span->root = query_u64(reading->caller, 0);
		call = sqlite3_column_int64(reading->caller, 1);
		sqlite3_reset(reading->caller);
	}
	return 0;
}

/* Of the request that all began with, so that a trace stays whole. */
static int read_trace(struct reading *reading, struct request_span *span)
{
	int found = reading->trace ? find_row(reading, reading->trace, (s64)span->root) : 0;

	*span->trace = '\0';
	if (found > 0) {
		request_read_text(reading->trace, 0, span->trace, sizeof(span->trace));
		sqlite3_reset(reading->trace);
	}
	return found < 0 ? found : 0;
}

/* Parts that are not the whole window are not to be believed, but for the time that is missing. */
static void close_parts(struct request_span *span)
{
	u64 left = span->window_ns;

	for (int i = 0; i < REQUEST_PART_COUNT; i++) {
		if (span->part_ns[i] > left) {
			memset(span->part_ns, 0, sizeof(span->part_ns));
			left = span->window_ns;
			break;
		}
		left -= span->part_ns[i];
	}
	span->part_ns[REQUEST_PART_UNATTRIBUTED] += left;
}

static void read_span(sqlite3_stmt *row, struct request_span *span)
{
	request_read_side(row, &span->side);
	span->queue_ns = query_count(row, SPAN_QUEUE);
	span->window_ns = query_count(row, SPAN_WINDOW);
	span->weight = query_count(row, SPAN_WEIGHT);
	span->side.end_ns = span->side.begin_ns + span->queue_ns + span->window_ns;
	request_read_text(row, SPAN_KIND, span->kind, sizeof(span->kind));
	request_read_text(row, SPAN_MODEL, span->model, sizeof(span->model));
	request_read_text(row, SPAN_GRADE, span->grade, sizeof(span->grade));
	span->parent = query_u64(row, SPAN_PARENT);
	for (int i = 0; i < REQUEST_PART_COUNT; i++)
		span->part_ns[i] = query_count(row, SPAN_PARTS + i);
	close_parts(span);
}

/* 1 it is wanted, 0 not, -errno. */
static int read_request(struct reading *reading, s64 id)
{
	struct request_span *span = reading->span;
	const struct timeline_window *window;
	int found = find_row(reading, reading->request, id), err;

	if (found <= 0)
		return found;
	window = timeline_window(reading->timeline,
				 sqlite3_column_int64(reading->request, SPAN_WINDOW_ID));
	read_span(reading->request, span);
	sqlite3_reset(reading->request);
	reading->damaged += !window;
	if (!window || !window->is_wanted ||
	    !timeline_wants(reading->timeline, span->side.pid, span->side.start_ns, span->side.tid))
		return 0;
	err = find_root(reading, span);
	if (!err)
		err = read_trace(reading, span);
	if (!err)
		err = read_calls(reading, span);
	return err ? err : 1;
}

static int read_all(struct reading *reading, request_fn *on_request, void *context)
{
	int err = 0, step = SQLITE_DONE;

	while (!err && (step = sqlite3_step(reading->order)) == SQLITE_ROW) {
		err = read_request(reading, sqlite3_column_int64(reading->order, 0));
		if (err > 0)
			err = on_request(reading->span, context);
	}
	return err || step == SQLITE_DONE ? err : query_refuse(reading->timeline->db, "requests");
}

/* 1 all that requests need is there, 0 not all, -errno. */
static int find_tables(sqlite3 *db)
{
	static const char *const tables[] = {"requests", "endpoints", "objects"};
	int found = 1;

	for (size_t i = 0; found > 0 && i < sizeof(tables) / sizeof(tables[0]); i++)
		found = query_find_table(db, tables[i]);
	return found;
}

static int prepare_request(struct reading *reading, bool has_calls)
{
	sqlite3 *db = reading->timeline->db;
	char columns[2 * sizeof(kept_columns)], sql[sizeof(request_sql) + sizeof(columns) + 128];

	query_columns(db, "requests", kept_columns, columns, sizeof(columns));
	snprintf(sql, sizeof(sql), request_sql, columns,
		 has_calls ? "request_calls" : no_calls_sql);
	return prepare(db, sql, &reading->request);
}

static int open_reading(struct reading *reading)
{
	sqlite3 *db = reading->timeline->db;
	int has_calls = query_find_table(db, "request_calls");
	int err = has_calls < 0 ? has_calls : prepare(db, order_sql, &reading->order);

	if (!err)
		err = prepare_request(reading, has_calls);
	if (err || !has_calls)
		return err;
	err = prepare(db, call_sql, &reading->call);
	if (!err)
		err = prepare(db, caller_sql, &reading->caller);
	if (!err && query_has_column(db, "requests", "trace_id"))
		err = prepare(db, "SELECT trace_id FROM requests WHERE id = ?", &reading->trace);
	return err ? err : read_call_places(reading);
}

static void close_reading(struct reading *reading)
{
	sqlite3_finalize(reading->order);
	sqlite3_finalize(reading->request);
	sqlite3_finalize(reading->call);
	sqlite3_finalize(reading->caller);
	sqlite3_finalize(reading->trace);
	free(reading->calls);
	free(reading->span);
}

static void print_left_out(const struct reading *reading)
{
	if (reading->damaged)
		log_info("%" PRIu64 " requests of the session are left out: they are of no window",
			 (uint64_t)reading->damaged);
	if (reading->calls_left_out)
		log_info("%" PRIu64 " calls are left out: of one request %d are exported",
			 (uint64_t)reading->calls_left_out, REQUEST_CALLS_MAX);
	if (reading->calls_beyond)
		log_info("%" PRIu64 " calls are left out: of one session %u are exported",
			 (uint64_t)reading->calls_beyond, REQUEST_ALL_CALLS_MAX);
}

int requests_each(const struct timeline *timeline, request_fn *on_request, void *context)
{
	struct reading reading = {.timeline = timeline};
	int err = find_tables(timeline->db);

	if (err <= 0)
		return err;
	reading.span = calloc(1, sizeof(*reading.span));
	err = reading.span ? open_reading(&reading) : -ENOMEM;
	if (!err)
		err = read_all(&reading, on_request, context);
	if (!err)
		print_left_out(&reading);
	close_reading(&reading);
	return err;
}
