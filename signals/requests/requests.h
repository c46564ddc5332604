/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of the window that is open, by endpoint, until it is written. Owns all that it holds.
 * Filled by book.c, written by tables.c; both are called by the signal alone.
 */
#ifndef DWELL_REQUESTS_H
#define DWELL_REQUESTS_H

#include "../../abi/records.h"
#include "../../src/base/hash.h"
#include "../../src/model/signal.h"
#include "h2_book.h"
#include "kinds.h"
#include "links.h"
#include "protocol.h"

#define ENDPOINTS_MAX 1000 /* at a time; more are "(other)" of their protocol */
#define SERVERS_MAX   1000 /* whose protocol is remembered */
#define KEPT_SLOWEST  8	   /* requests of each endpoint and window that are kept whole ... */
#define KEPT_SAMPLE   24   /* ... and as many of the others, at random */
#define KEPT_MAX      8192 /* of all endpoints, in one window */
#define NO_KEPT_PLACE (~0U)
#define IDLE_WINDOWS  60 /* an endpoint without requests is evicted after these, and a server */

/* One request, with its budget. */
struct request {
	u64 id;	    /* of its turn */
	u64 parent; /* id of the call that it answers, which need not have a row; 0: not known */
	u64 connection;
	u64 turn;
	u64 start_ns; /* of the process */
	u64 ready_ns;
	u64 queue_ns;
	u64 window_ns; /* the sum of part[] */
	u64 weight;
	u64 received, sent;
	struct request_trace trace;
	struct request_wait wait; /* ns 0: none is known */
	u64 part[REQUEST_PART_COUNT];
	u32 tgid, tid;
	u16 client_port;
	u8 outcome; /* enum request_outcome */
	u8 model;   /* enum request_model */
	char status[STATUS_BYTES];
};

/* Opens with its key. */
struct endpoint {
	u64 start_ns;
	u64 object;
	u32 tgid;
	u16 port;
	u8 protocol; /* enum protocol_id */
	u8 kind;     /* enum request_kind */
	char name[ENDPOINT_BYTES];
	u64 is_tls; /* of what was in TLS records */
	/* the key ends here */
	u64 id;
	u64 last_window;
	u64 requests, records, errors, several;
	u64 outcomes[REQUEST_OUTCOME_COUNT];
	u64 models[REQUEST_MODEL_COUNT];
	u64 latency_ns, queue_ns; /* of answered ones */
	u64 received, sent;	  /* in turns */
	u64 outside[REQUEST_BYTES_COUNT];
	u64 kernel;
	struct hist *latency; /* of answered ones; NULL: none yet */
	u64 candidates;	      /* for the sample, so far */
	u32 slow_count, sample_count;
	u32 slow[KEPT_SLOWEST], sample[KEPT_SAMPLE]; /* places in kept[] */
};
#define ENDPOINT_KEY_BYTES offsetof(struct endpoint, id)

/* A listener, or the process behind a Unix socket: what it speaks. */
struct server {
	u64 object, start_ns; /* the key: the one, or the other */
	u64 tgid;
	/* the key ends here */
	u32 protocol; /* on the wire ... */
	u32 inner;    /* ... and in TLS records */
	u64 last_window;
	char last[ENDPOINT_BYTES]; /* what it was asked last, other than for set-up; "": nothing */
};
#define SERVER_KEY_BYTES offsetof(struct server, protocol)

struct request_book {
	struct hash endpoints;
	struct hash servers;
	struct hash peers; /* likewise, of calls: however many are asked, ours keep their slots */
	struct request *kept;
	u32 kept_count;
	u32 free_place; /* of kept[], below kept_count; NO_KEPT_PLACE: none */
	u64 random;
	u64 window;		     /* the last one that was written */
	struct stack_ids *stack_ids; /* NULL: no stack is known */
	struct link_book links;
	struct h2_book h2;
	/* What found no place, ever. */
	u64 endpoints_folded;
	u64 not_kept;
	u64 servers_lost;
	u64 no_memory;
};

/* The same wherever and whenever it is made: files of one recording share it. Never 0. */
u64 request_id(u64 connection, u64 turn);
u64 request_call_id(u64 wire);

/* What a record says of its request: its parts sum to its window, whatever the record says. */
void request_read(const struct rec_requests *record, struct request *ret_request);

void request_book_open(struct request_book *book, struct stack_ids *stack_ids);
void request_book_add(struct request_book *book, const struct rec_requests *record);
void request_book_free(struct request_book *book);

/* As people write the number of a trace, "" if there is none: its length. */
#define TRACE_TEXT_BYTES 33
size_t request_trace_text(const struct request_trace *trace, char text[TRACE_TEXT_BYTES]);

u8 request_part_of_state(u32 state);		       /* below STATE_COUNT: enum request_part */
u8 request_outcome(const struct rec_requests *record); /* enum request_outcome */
const char *request_outcome_name(u32 outcome);

enum request_table {
	REQUEST_TABLE_ENDPOINTS,
	REQUEST_TABLE_COUNTS,
	REQUEST_TABLE_LATENCY,
	REQUEST_TABLE_KEPT,
	REQUEST_TABLE_CALLS,
	REQUEST_TABLE_LINKS,
	REQUEST_TABLES
};
extern const struct table request_tables[REQUEST_TABLES];

#define REQUEST_COUNTS_WIDTH                                                                       \
	(11 + REQUEST_OUTCOME_COUNT + REQUEST_MODEL_COUNT + REQUEST_BYTES_COUNT)
#define REQUEST_KEPT_BEFORE 19 /* columns before the parts ... */
#define REQUEST_KEPT_BEHIND 5  /* ... and behind them */

/* The window's rows; then the book is empty again. */
void request_book_write(struct request_book *book, u64 window, struct sink *sink);

/* After the last window of a file: what waited for later ones. */
void request_book_end(struct request_book *book, struct sink *sink);

#endif
