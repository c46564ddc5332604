/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that a session kept whole, and the calls that they made, one by one as exporters write
 * them: with names, and with the links between them. In memory are 24 bytes for each call, and what
 * SQLite needs to sort the requests. Owns what it reads until it has passed it on. Called by
 * exporters of whole sessions.
 */
#ifndef DWELL_EXPORT_REQUESTS_H
#define DWELL_EXPORT_REQUESTS_H

#include "../../signals/requests/kinds.h"
#include "../store/timeline.h"

#define REQUEST_CALLS_MAX     64 /* of one request; more are left out, and counted */
#define REQUEST_ALL_CALLS_MAX (4u << 20)
#define REQUEST_ROOT_DEPTH    32 /* a call's request, its call's request, ...: followed so far */
#define REQUEST_WORD_BYTES    64
#define REQUEST_NAME_BYTES    512
#define REQUEST_ADDRESS_BYTES 512

/* What both sides of a conversation have. Texts are escaped. */
struct request_side {
	u64 id;
	u64 pid, start_ns, tid;
	u64 begin_ns, end_ns;
	u64 sent, received;
	u64 port, client_port; /* port 0: a Unix socket */
	bool is_error;	       /* by its status, or as it ended without an answer */
	bool is_answered;
	char name[REQUEST_NAME_BYTES]; /* "GET /cart/:id"; not empty */
	char protocol[REQUEST_WORD_BYTES];
	char status[REQUEST_WORD_BYTES], outcome[REQUEST_WORD_BYTES];
	char server[REQUEST_ADDRESS_BYTES]; /* the listener; of a call, the peer */
};

struct request_call {
	struct request_side side;
	char grade[REQUEST_WORD_BYTES]; /* why it is believed to be of its request */
	u64 wait_ns;			/* to the first receive */
};

struct request_span {
	struct request_side side;
	u64 root; /* the request that all began with: itself, if it answers no call of another */
	char trace[REQUEST_WORD_BYTES]; /* the trace of that, as its application says; "": not known
					 */
	u64 parent;			/* the call that it answers; 0: none that the session has */
	char grade[REQUEST_WORD_BYTES]; /* of that call */
	char kind[REQUEST_WORD_BYTES], model[REQUEST_WORD_BYTES];
	u64 queue_ns, window_ns, weight;
	u64 part_ns[REQUEST_PART_COUNT]; /* they sum to window_ns */
	size_t call_count;
	struct request_call calls[REQUEST_CALLS_MAX]; /* by begin */
};

/* Gets a request with its calls, and returns 0 or -errno. */
typedef int request_fn(const struct request_span *request, void *context);

/* Those of the part that was asked for, by process, then begin: 0 or -errno, told. */
int requests_each(const struct timeline *timeline, request_fn *on_request, void *context);

/* "http" of "http+tls": what is in TLS has the names and states of the protocol in it. */
void request_protocol(const struct request_side *side, char buf[REQUEST_WORD_BYTES]);

/* 0 of "grpc 0"; -1: its status is not one of gRPC's. */
s64 request_grpc_status(const struct request_side *side);

/* A row that begins with the columns of a side, in their order; and a text, escaped. */
#define REQUEST_SIDE_COLUMNS 14
void request_read_side(sqlite3_stmt *row, struct request_side *side);
void request_read_text(sqlite3_stmt *row, int column, char *to, size_t size);

#endif
