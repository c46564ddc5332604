/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session has of requests (-s requests): endpoints, their latency, and of the requests that
 * were kept whole, what the slow ones spent more time on than the typical ones, which calls they
 * made to other servers, and which requests answered these. Part of the digest, which owns it.
 * Bounded, whatever the file says: what does not fit is counted. Only requests_read() fills it; the
 * parts of the report show it and compute nothing.
 */
#ifndef DWELL_REPORT_REQUESTS_H
#define DWELL_REPORT_REQUESTS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "../../signals/requests/kinds.h"
#include "../base/hash.h"
#include "../model/hist.h"
#include "../store/query.h"

struct digest;
struct report_options;

#define REQUESTS_ENDPOINTS_MAX 10000
#define REQUESTS_KEPT_MAX      100000
#define REQUESTS_SLOWEST_MAX   1000   /* of those kept: each is read, however many there are */
#define REQUESTS_ANSWERS_MAX   100000 /* kept because they answer a call */
#define REQUESTS_CALLS_MAX     100000
#define REQUESTS_CULPRITS_MAX  10000 /* the slowest requests are looked at */
#define REQUEST_CALLS_MAX      64    /* of one request */
#define REQUEST_DEPTH_MAX      8 /* requests that answer a call of one that answers a call ... */
#define REQUEST_NAME_BYTES     128
#define REQUEST_PEER_BYTES     128
#define REQUESTS_BUDGET_LEAST  8 /* fewer kept ones have no middle half and no slow ones */

/* The time of a request: its parts, and before them the queue. */
#define BUDGET_QUEUE REQUEST_PART_COUNT
#define BUDGET_COUNT (REQUEST_PART_COUNT + 1)

#define REQUEST_NONE (~0U) /* no index */

/* Of which of an endpoint's kept requests an average is. */
enum request_group { REQUESTS_ALL, REQUESTS_TYPICAL, REQUESTS_SLOW, REQUEST_GROUPS };

enum endpoint_kind { ENDPOINT_REQUEST, ENDPOINT_SETUP, ENDPOINT_MESSAGE, ENDPOINT_KINDS };

/* Sums of request_counts, in the order of its columns as they are read: only numbers. */
struct request_counts {
	u64 requests, errors, records, several, latency_ns, queue_ns;
	u64 received_bytes, sent_bytes, kernel_bytes;
	u64 outcomes[REQUEST_OUTCOME_COUNT], models[REQUEST_MODEL_COUNT];
	u64 outside_bytes[REQUEST_BYTES_COUNT];
};

/* Processes of one name in one service that listen on one port; opens with its key. */
struct request_service {
	char service[256];
	char comm[64];
	u32 port;
	u32 unused;
	/* the key ends here */
	struct request_counts counts; /* of requests */
	struct request_counts all;    /* of set-up and messages, too */
};

/* An average request of some that were kept, by their weights. */
struct request_budget {
	u64 kept;	    /* how many these are */
	u64 from_ns, to_ns; /* their latency */
	u64 ns[BUDGET_COUNT];
	u64 sum_ns;
};

/* An endpoint of all processes of a service; opens with its key. */
struct request_endpoint {
	u32 service; /* index */
	u32 kind;    /* enum endpoint_kind */
	char protocol[32];
	char name[REQUEST_NAME_BYTES];
	/* the key ends here */
	struct request_counts counts;
	struct hist *latency; /* of answered requests; NULL: of none */
	u64 max_ns;
	double rate;	/* a second */
	u64 service_ns; /* latency_ns of its service */
	u64 kept;	/* of all outcomes */
	u64 kept_rows;	/* of the file: one in stride was read, beside the slowest of all */
	u64 stride;
	size_t first_process, process_count;
	size_t first_kept, answered_kept; /* in by_endpoint, fastest first */
	struct request_budget typical, slow;
	bool has_growth; /* slow ones spend more in some part than typical ones */
	u32 grown;	 /* in which most, below BUDGET_COUNT */
	u64 grown_ns;
	/* Of kept ones that were answered, and whose calls are all there: their average latency,
	 * and how many calls these are; of those, how many only one witness has linked. */
	u64 average_ns[REQUEST_GROUPS];
	u64 linked_calls, unconfirmed_calls;
	/* Of the part in which slow ones spend most more: whom the average slow one waited for at
	 * least so long. */
	u64 culprit, culprit_ns; /* as in struct request_culprit; 0: not known */
	u64 wait_stack, wait_ns; /* one wait of it is there, at least so long; 0: not known */
	size_t first_called, called_count; /* in called, most time first */
};

/* A row of the table endpoints. */
struct request_process {
	u64 id; /* the key */
	u32 endpoint, pid;
	u32 is_wanted; /* 0: one may answer a call of those that are */
	u32 unused;
};

/* A request that was kept whole. */
struct request {
	u64 id, parent;	   /* of itself, and of the call that it answers; 0: not known */
	u32 call;	   /* index of that call; REQUEST_NONE: it has no row */
	u32 call_count;	   /* that it made itself, by begin ... */
	size_t first_call; /* ... in calls */
	u32 endpoint, pid, tid;
	u32 outcome, model; /* their counts: not known */
	bool is_slowest;    /* one of REQUESTS_SLOWEST_MAX */
	bool lacks_calls;   /* that it made, and that are beyond a limit */
	u64 begin_ns, queue_ns, window_ns;
	double weight; /* how many it stands for; 0: it is here because it answers a call */
	u64 part_ns[REQUEST_PART_COUNT]; /* they sum to window_ns */
	/* The longest wait of its thread, of those whose stack was taken. */
	u64 wait_ns, wait_stack; /* stack 0: not known */
	u32 wait_part, wait_stop;
	char status[32];
};

/* What calls ask for: a name of a peer. Opens with its key. */
struct request_target {
	char peer[REQUEST_PEER_BYTES]; /* "postgres :5432" on this host, else the peer's address */
	char protocol[32];
	char name[REQUEST_NAME_BYTES];
	/* the key ends here */
};

/* The same by the peer's object, until it is known who that is. Opens with its key. */
struct request_asked {
	u64 object;
	u32 port;
	char protocol[32];
	char name[REQUEST_NAME_BYTES];
	/* the key ends here */
	u32 service; /* index, where an answer was seen; REQUEST_NONE */
	u32 target;
};

/* A call that a kept request made. Opens with its key. */
struct request_call {
	u64 id;
	/* the key ends here */
	u64 caller;  /* id of the request */
	u32 request; /* index in kept of that */
	u32 answer;  /* of the request at the server; REQUEST_NONE: not on this host, or not kept */
	u32 target;
	u32 grade;   /* enum request_grade; its count: not known */
	u32 outcome; /* enum request_outcome; its count: not known */
	u32 pid, tid;
	u32 port; /* of the server; 0: a Unix socket */
	u64 begin_ns;
	u64 wait_ns;   /* from there to the first receive */
	u64 window_ns; /* and to the last one */
	u64 sent_bytes, received_bytes;
	char status[32];
};

/* An endpoint's calls of one target: of an average request. Opens with its key. */
struct request_called {
	u32 endpoint, target;
	/* the key ends here */
	double calls[REQUEST_GROUPS];
	double ns[REQUEST_GROUPS]; /* in which one of them was under way */
};

/* Whom a request waited for, at least so long. Opens with its key. */
struct request_culprit {
	u64 request; /* index in kept */
	/* the key ends here */
	u32 part; /* of its time: lock, signalled or disk */
	u32 unused;
	u64 who; /* tid; of the part disk an object */
	u64 least_ns;
};

/* How the calls of processes of one name in one service were linked. Opens with its key. */
struct request_links {
	char service[256];
	char comm[64];
	/* the key ends here */
	u64 confirmed, backward, conflict, forward; /* by what their witnesses say ... */
	u64 unlinked;				    /* ... and those without any witness */
	u64 published;				    /* by what their application says */
	u64 checked, wrong; /* of these, linked by the witnesses, too; and to another request */
	u64 refused; /* of the first four: not linked, as the witnesses of the process disagree */
};

struct requests {
	bool has_tables;
	struct hash services;  /* struct request_service */
	struct hash endpoints; /* struct request_endpoint */
	struct hash processes; /* struct request_process; by endpoint and pid when all is read */
	struct request *kept;  /* slowest first */
	size_t kept_count;
	u32 *by_endpoint; /* answered ones in kept, of each endpoint the fastest first */

	/* Requests, then what is of another kind; most time first. */
	struct request_endpoint **by_time;
	size_t request_count, other_count; /* endpoints of either */
	/* The first of these again: by service, that with most time first. */
	struct request_endpoint **by_service;

	struct hash calls;    /* struct request_call; by request and begin when all is read */
	struct hash asked;    /* struct request_asked: only while it is read */
	struct hash targets;  /* struct request_target */
	struct hash called;   /* struct request_called, by endpoint, most time first */
	struct hash culprits; /* struct request_culprit */
	struct hash links;    /* struct request_links, most calls first */

	u64 endpoints_left_out; /* rows beyond REQUESTS_ENDPOINTS_MAX */
	u64 calls_left_out;	/* beyond REQUESTS_CALLS_MAX, or REQUEST_CALLS_MAX of a request */
	u64 answers_left_out;	/* beyond REQUESTS_ANSWERS_MAX */
	u64 stride;		/* the largest of an endpoint */
	u64 unclosed;		/* kept ones whose parts were not their window */
	u64 damaged;		/* rows whose buckets are none */
};

int requests_read(sqlite3 *db, struct digest *digest);
void requests_free(struct requests *requests);

/* Which process and endpoint a row is of, if it is wanted: column 0 its window, 1 its endpoint. */
const struct request_process *requests_process_of(const struct digest *digest, sqlite3_stmt *row);
int requests_read_kept(sqlite3 *db, struct digest *digest);

/* Kept requests, each a row of these columns: what an older session lacks is 0 in it. */
int requests_each_row(sqlite3 *db, query_row_fn *on_row, void *context);
enum { REQUEST_COLUMN_WINDOW, REQUEST_COLUMN_ENDPOINT, REQUEST_COLUMN_ID, REQUEST_COLUMN_PARENT };
/* False: its parts were not its window; now they are. */
bool requests_read_row(sqlite3_stmt *row, struct request *request);

/* Calls of those that were kept, and the requests that answer them, and their calls ... */
int requests_read_calls(sqlite3 *db, struct digest *digest);
int requests_read_links(sqlite3 *db, struct digest *digest);

/* Once kept is in order: which call is of which request, and which request answers it. */
int requests_connect(struct digest *digest);
int requests_add_up_calls(struct requests *requests);

int requests_find_culprits(sqlite3 *db, struct digest *digest);

/*
 * The slowest, as indices of kept, slowest first: without those that answer, however far down, a
 * call of one that is in the list, since it is shown below that one.
 */
size_t requests_slowest(const struct requests *requests, u32 *ret_list, size_t most);

/*
 * Innermost function first, from the first one on that tells something: "a < b < c". "": nothing in
 * it does, or the stack is not in what was read. Not escaped.
 */
#define REQUEST_WAIT_TEXT 1024
void request_wait_text(const struct digest *digest, u32 part, u64 stack, char *buf, size_t size);

/* The second part of it: orders and budgets of what was read. */
int requests_compute(sqlite3 *db, struct digest *digest);

/*
 * System calls of a service's processes, most calls first: struct call, with `thread` 0. None,
 * where they cannot be divided by its requests. The caller frees them.
 */
void requests_service_calls(const struct digest *digest, const struct request_service *service,
			    struct hash *ret_calls);

/* The parts of a request or a budget that took time: the queue, then the longest first. */
size_t request_parts(const u64 part_ns[REQUEST_PART_COUNT], u64 queue_ns,
		     u32 ret_parts[BUDGET_COUNT]);

static inline u64 request_latency(const struct request *request)
{
	return request->queue_ns + request->window_ns;
}

static inline const struct request_endpoint *request_endpoint(const struct requests *requests,
							      const struct request *request)
{
	return hash_item(&requests->endpoints, request->endpoint);
}

static inline const struct request_service *request_service(const struct requests *requests,
							    const struct request_endpoint *endpoint)
{
	return hash_item(&requests->services, endpoint->service);
}

static inline const struct request_call *request_call(const struct requests *requests,
						      const struct request *request, size_t at)
{
	return hash_item(&requests->calls, request->first_call + at);
}

/* NULL: nobody is to be named. */
static inline const struct request_culprit *request_culprit(const struct requests *requests,
							    const struct request *request)
{
	u64 index = (u64)(request - requests->kept);

	return hash_find(&requests->culprits, &index);
}

static inline const struct request_target *request_target(const struct requests *requests,
							  const struct request_call *call)
{
	return hash_item(&requests->targets, call->target);
}

/* NULL: its server is on another host, or its request there was not kept. */
static inline const struct request *request_answer(const struct requests *requests,
						   const struct request_call *call)
{
	return call->answer == REQUEST_NONE ? NULL : &requests->kept[call->answer];
}

/* The request that made the call which this one answers, or NULL. */
static inline const struct request *request_caller(const struct requests *requests,
						   const struct request *request)
{
	const struct request_call *call;

	if (request->call == REQUEST_NONE)
		return NULL;
	call = hash_item(&requests->calls, request->call);
	return &requests->kept[call->request];
}

/*
 * The way there and back, and the wait until the server read it: what the client waited and the
 * server did not work. 0: the server's side is not known, or took longer than the call.
 */
static inline u64 request_transit_ns(const struct requests *requests,
				     const struct request_call *call)
{
	const struct request *answer = request_answer(requests, call);

	return answer && call->window_ns > answer->window_ns ? call->window_ns - answer->window_ns
							     : 0;
}

/* Names as the tables have them. */
extern const char *const request_grade_names[REQUEST_GRADE_COUNT + 1];
extern const char *const request_grade_meanings[REQUEST_GRADE_COUNT + 1];
extern const char *const request_part_names[BUDGET_COUNT];
extern const char *const request_part_meanings[BUDGET_COUNT];
extern const char *const request_outcome_names[REQUEST_OUTCOME_COUNT + 1];
extern const char *const request_model_names[REQUEST_MODEL_COUNT + 1];
extern const char *const request_bytes_names[REQUEST_BYTES_COUNT];
extern const char *const request_kind_names[ENDPOINT_KINDS];

/* All calls of it. */
u64 request_links_sum(const struct request_links *links);

/* Bytes in turns, and those outside of them. */
u64 request_bytes_in(const struct request_counts *counts);
u64 request_bytes_outside(const struct request_counts *counts);

/* "nginx :80". Not escaped. */
void request_service_text(const struct request_service *service, char *buf, size_t size);

/* What a person reads where no protocol was recognised. */
const char *request_name(const struct request_endpoint *endpoint);
const char *request_target_name(const struct request_target *target);

#endif
