// SPDX-License-Identifier: Apache-2.0
/* The tables of requests in a session. Their rows are written by rows.c and links.c. */
#include "../../src/model/signal.h"
#include "requests.h"

#define COLUMN(NAME, name, ...)	      ", " #name " INTEGER"
#define COLUMN_BYTES(NAME, name, ...) ", " #name "_bytes INTEGER"
#define COLUMN_NS(NAME, name, ...)    ", " #name "_ns INTEGER"

const struct table request_tables[REQUEST_TABLES] = {
	[REQUEST_TABLE_ENDPOINTS] =
		{.name = "endpoints",
		 .about = "endpoint of a process that serves requests (-s requests)",
		 .columns = "id INTEGER PRIMARY KEY, pid INTEGER, start_ns INTEGER, "
			    "object INTEGER, port INTEGER, protocol TEXT, name TEXT, "
			    "kind TEXT",
		 .width = 8,
		 .object_columns = 1U << 3},
	[REQUEST_TABLE_COUNTS] =
		{.name = "request_counts",
		 .about = "window and endpoint: sums",
		 .columns =
			 "window INTEGER, endpoint INTEGER, requests INTEGER, errors "
			 "INTEGER" REQUEST_OUTCOMES(COLUMN) REQUEST_MODELS(
				 COLUMN) ", records INTEGER, several INTEGER, latency_ns INTEGER, "
					 "queue_ns INTEGER, received_bytes INTEGER, sent_bytes "
					 "INTEGER" REQUEST_BYTES(
						 COLUMN_BYTES) ", kernel_bytes INTEGER",
		 .width = REQUEST_COUNTS_WIDTH},
	[REQUEST_TABLE_LATENCY] = {.name = "request_latency",
				   .about = "window and endpoint: latency of answered requests",
				   .columns = "window INTEGER, endpoint INTEGER, buckets TEXT",
				   .width = 3},
	[REQUEST_TABLE_KEPT] =
		{.name = "requests",
		 .about = "request that was kept whole: the slowest, and a sample "
			  "of the others",
		 .columns = "id INTEGER PRIMARY KEY, window INTEGER, endpoint INTEGER, "
			    "pid INTEGER, start_ns INTEGER, tid INTEGER, connection "
			    "INTEGER, turn INTEGER, client_port INTEGER, parent "
			    "INTEGER, begin_ns INTEGER, queue_ns INTEGER, window_ns "
			    "INTEGER, weight INTEGER, status TEXT, outcome TEXT, model "
			    "TEXT, received_bytes INTEGER, sent_bytes "
			    "INTEGER" REQUEST_PARTS(COLUMN_NS) ", trace_id TEXT, "
							       "wait_part TEXT, wait_ns "
							       "INTEGER, wait_stack "
							       "INTEGER, wait_stop INTEGER",
		 .width = REQUEST_KEPT_BEFORE + REQUEST_PART_COUNT + REQUEST_KEPT_BEHIND},
	[REQUEST_TABLE_CALLS] =
		{.name = "request_calls",
		 .about = "call that a kept request made to a server",
		 .columns = "id INTEGER PRIMARY KEY, window INTEGER, request INTEGER, "
			    "grade TEXT, pid INTEGER, start_ns INTEGER, tid INTEGER, "
			    "object INTEGER, port INTEGER, client_port INTEGER, protocol "
			    "TEXT, name TEXT, status TEXT, outcome TEXT, begin_ns INTEGER, "
			    "wait_ns INTEGER, window_ns INTEGER, sent_bytes INTEGER, "
			    "received_bytes INTEGER, trace_id TEXT",
		 .width = 20,
		 .object_columns = 1U << 7},
	[REQUEST_TABLE_LINKS] =
		{.name = "request_links",
		 .about = "window and process that makes calls: how they were linked",
		 .columns = "window INTEGER, pid INTEGER, start_ns INTEGER, confirmed "
			    "INTEGER, backward INTEGER, conflict INTEGER, forward INTEGER, "
			    "refused INTEGER, unlinked INTEGER, published INTEGER, checked "
			    "INTEGER, wrong INTEGER",
		 .width = 12},
};

static const char *const outcome_names[] = {
#define OUTCOME(NAME, name, ...) #name,
	REQUEST_OUTCOMES(OUTCOME)
#undef OUTCOME
};

const char *request_outcome_name(u32 outcome)
{
	return outcome_names[outcome];
}
