/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session has of requests (-s requests): endpoints, their latency, and of the requests that
 * were kept whole, what the slow ones spent more time on than the typical ones. Part of the digest,
 * which owns it. Bounded, whatever the file says: what does not fit is counted. Only
 * requests_read() fills it; the parts of the report show it and compute nothing.
 */
#ifndef DWELL_REPORT_REQUESTS_H
#define DWELL_REPORT_REQUESTS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "../../signals/requests/kinds.h"
#include "../base/hash.h"
#include "../model/hist.h"

struct digest;
struct report_options;

#define REQUESTS_ENDPOINTS_MAX 10000
#define REQUESTS_KEPT_MAX      100000
#define REQUESTS_SLOWEST_MAX   1000 /* of those kept: each is read, however many there are */
#define REQUEST_NAME_BYTES     128
#define REQUESTS_BUDGET_LEAST  8 /* fewer kept ones have no middle half and no slow ones */

/* The time of a request: its parts, and before them the queue. */
#define BUDGET_QUEUE REQUEST_PART_COUNT
#define BUDGET_COUNT (REQUEST_PART_COUNT + 1)

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
};

/* A row of the table endpoints. */
struct request_process {
	u64 id; /* the key */
	u32 endpoint, pid;
};

/* A request that was kept whole. */
struct request {
	u32 endpoint, pid, tid;
	u32 outcome, model; /* their counts: not known */
	u64 begin_ns, queue_ns, window_ns;
	double weight;
	u64 part_ns[REQUEST_PART_COUNT]; /* they sum to window_ns */
	char status[32];
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

	u64 endpoints_left_out; /* rows beyond REQUESTS_ENDPOINTS_MAX */
	u64 stride;		/* the largest of an endpoint */
	u64 unclosed;		/* kept ones whose parts were not their window */
	u64 damaged;		/* rows whose buckets are none */
};

int requests_read(sqlite3 *db, struct digest *digest);
void requests_free(struct requests *requests);

/* Which process and endpoint a row is of, if it is wanted: column 0 its window, 1 its endpoint. */
const struct request_process *requests_process_of(const struct digest *digest, sqlite3_stmt *row);
int requests_read_kept(sqlite3 *db, struct digest *digest);

/* The second part of it: orders and budgets of what was read. */
int requests_compute(struct digest *digest);

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

/* Names as the tables have them. */
extern const char *const request_part_names[BUDGET_COUNT];
extern const char *const request_part_meanings[BUDGET_COUNT];
extern const char *const request_outcome_names[REQUEST_OUTCOME_COUNT + 1];
extern const char *const request_model_names[REQUEST_MODEL_COUNT + 1];
extern const char *const request_bytes_names[REQUEST_BYTES_COUNT];
extern const char *const request_kind_names[ENDPOINT_KINDS];

/* Bytes in turns, and those outside of them. */
u64 request_bytes_in(const struct request_counts *counts);
u64 request_bytes_outside(const struct request_counts *counts);

/* "nginx :80". Not escaped. */
void request_service_text(const struct request_service *service, char *buf, size_t size);

/* What a person reads where no protocol was recognised. */
const char *request_name(const struct request_endpoint *endpoint);

#endif
