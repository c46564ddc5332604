// SPDX-License-Identifier: Apache-2.0
/*
 * The tables of requests in a session, and the rows of a window.
 */
#include "requests.h"

#include <stdlib.h>
#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"

#define BUCKETS_BYTES  16384
#define COUNTS_BEFORE  4
#define COUNTS_AFTER   7
#define REQUEST_BEFORE 16

enum { TABLE_ENDPOINTS, TABLE_COUNTS, TABLE_LATENCY, TABLE_REQUESTS };

#define COLUMN(NAME, name, ...)	      ", " #name " INTEGER"
#define COLUMN_BYTES(NAME, name, ...) ", " #name "_bytes INTEGER"
#define COLUMN_NS(NAME, name, ...)    ", " #name "_ns INTEGER"

const struct table request_tables[REQUEST_TABLES] = {
	[TABLE_ENDPOINTS] = {.name = "endpoints",
			     .about = "endpoint of a process that serves requests (-s requests)",
			     .columns = "id INTEGER PRIMARY KEY, pid INTEGER, start_ns INTEGER, "
					"object INTEGER, port INTEGER, protocol TEXT, name TEXT, "
					"kind TEXT",
			     .width = 8,
			     .object_columns = 1U << 3},
	[TABLE_COUNTS] =
		{.name = "request_counts",
		 .about = "window and endpoint: sums",
		 .columns =
			 "window INTEGER, endpoint INTEGER, requests INTEGER, errors "
			 "INTEGER" REQUEST_OUTCOMES(COLUMN) REQUEST_MODELS(
				 COLUMN) ", records INTEGER, several INTEGER, latency_ns INTEGER, "
					 "queue_ns INTEGER, received_bytes INTEGER, sent_bytes "
					 "INTEGER" REQUEST_BYTES(
						 COLUMN_BYTES) ", kernel_bytes INTEGER",
		 .width = COUNTS_BEFORE + REQUEST_OUTCOME_COUNT + REQUEST_MODEL_COUNT +
			  REQUEST_BYTES_COUNT + COUNTS_AFTER},
	[TABLE_LATENCY] = {.name = "request_latency",
			   .about = "window and endpoint: latency of answered requests",
			   .columns = "window INTEGER, endpoint INTEGER, buckets TEXT",
			   .width = 3},
	[TABLE_REQUESTS] = {.name = "requests",
			    .about = "request that was kept whole: the slowest, and a sample "
				     "of the others",
			    .columns = "id INTEGER PRIMARY KEY, window INTEGER, endpoint INTEGER, "
				       "pid INTEGER, start_ns INTEGER, tid INTEGER, connection "
				       "INTEGER, begin_ns INTEGER, queue_ns INTEGER, window_ns "
				       "INTEGER, weight INTEGER, status TEXT, outcome TEXT, model "
				       "TEXT, received_bytes INTEGER, sent_bytes "
				       "INTEGER" REQUEST_PARTS(COLUMN_NS),
			    .width = REQUEST_BEFORE + REQUEST_PART_COUNT},
};

static const char *const outcome_names[] = {
#define OUTCOME(NAME, name, ...) #name,
	REQUEST_OUTCOMES(OUTCOME)
#undef OUTCOME
};

static const char *const model_names[] = {
#define MODEL(NAME, name, ...) #name,
	REQUEST_MODELS(MODEL)
#undef MODEL
};

static const char *const kind_names[] = {"request", "setup", "message"};

static struct cell name_cell(const char *name)
{
	return cell_text(name, strlen(name));
}

static void write_endpoint(const struct endpoint *endpoint, struct sink *sink)
{
	const struct protocol *protocol = protocol_by_id(endpoint->protocol);
	const struct cell cells[] = {
		cell_number(endpoint->id),	 cell_number(endpoint->tgid),
		cell_number(endpoint->start_ns), cell_number(endpoint->object),
		cell_number(endpoint->port),	 name_cell(protocol ? protocol->name : ""),
		name_cell(endpoint->name),	 name_cell(kind_names[endpoint->kind]),
	};

	sink->add(sink, &request_tables[TABLE_ENDPOINTS], cells);
}

static void write_counts(const struct endpoint *endpoint, u64 window, struct sink *sink)
{
	struct cell cells[COUNTS_BEFORE + REQUEST_OUTCOME_COUNT + REQUEST_MODEL_COUNT +
			  REQUEST_BYTES_COUNT + COUNTS_AFTER];
	size_t at = 0;

	cells[at++] = cell_number(window);
	cells[at++] = cell_number(endpoint->id);
	cells[at++] = cell_number(endpoint->requests);
	cells[at++] = cell_number(endpoint->errors);
	for (size_t i = 0; i < REQUEST_OUTCOME_COUNT; i++)
		cells[at++] = cell_number(endpoint->outcomes[i]);
	for (size_t i = 0; i < REQUEST_MODEL_COUNT; i++)
		cells[at++] = cell_number(endpoint->models[i]);
	cells[at++] = cell_number(endpoint->records);
	cells[at++] = cell_number(endpoint->several);
	cells[at++] = cell_number(endpoint->latency_ns);
	cells[at++] = cell_number(endpoint->queue_ns);
	cells[at++] = cell_number(endpoint->received);
	cells[at++] = cell_number(endpoint->sent);
	for (size_t i = 0; i < REQUEST_BYTES_COUNT; i++)
		cells[at++] = cell_number(endpoint->outside[i]);
	cells[at++] = cell_number(endpoint->kernel);
	sink->add(sink, &request_tables[TABLE_COUNTS], cells);
}

static void write_latency(const struct endpoint *endpoint, u64 window, struct sink *sink)
{
	char text[BUCKETS_BYTES];
	size_t length;

	if (!endpoint->latency || !endpoint->latency->count)
		return;
	length = hist_print(endpoint->latency, text, sizeof(text));
	const struct cell cells[] = {
		cell_number(window),
		cell_number(endpoint->id),
		cell_text(text, length),
	};

	sink->add(sink, &request_tables[TABLE_LATENCY], cells);
}

static void write_request(const struct endpoint *endpoint, const struct request *request,
			  u64 weight, u64 id, u64 window, struct sink *sink)
{
	struct cell cells[REQUEST_BEFORE + REQUEST_PART_COUNT] = {
		cell_number(id),
		cell_number(window),
		cell_number(endpoint->id),
		cell_number(request->tgid),
		cell_number(request->start_ns),
		cell_number(request->tid),
		cell_number(request->connection),
		cell_number(request->ready_ns),
		cell_number(request->queue_ns),
		cell_number(request->window_ns),
		cell_number(weight),
		cell_text(request->status, sizeof(request->status)),
		name_cell(outcome_names[request->outcome]),
		name_cell(model_names[request->model]),
		cell_number(request->received),
		cell_number(request->sent),
	};

	for (size_t i = 0; i < REQUEST_PART_COUNT; i++)
		cells[REQUEST_BEFORE + i] = cell_number(request->part[i]);
	sink->add(sink, &request_tables[TABLE_REQUESTS], cells);
}

/* The slowest stand for themselves; the sample stands for all others that were answered. */
static void write_kept(struct request_book *book, const struct endpoint *endpoint, u64 window,
		       struct sink *sink)
{
	u64 left = endpoint->outcomes[REQUEST_ANSWERED];

	for (u32 i = 0; i < endpoint->slow_count; i++) {
		u32 place = endpoint->slow[i];
		u64 weight = book->kept[place].weight;

		if (weight > left || (i + 1 == endpoint->slow_count && !endpoint->sample_count))
			weight = left;
		left -= weight;
		write_request(endpoint, &book->kept[place], weight, window << 20 | place, window,
			      sink);
	}
	for (u32 i = 0; i < endpoint->sample_count; i++) {
		u64 weight = left / (endpoint->sample_count - i);
		u32 place = endpoint->sample[i];

		left -= weight;
		write_request(endpoint, &book->kept[place], weight, window << 20 | place, window,
			      sink);
	}
}

/* The key stays, and its histogram's memory. */
static void clear(struct endpoint *endpoint, u64 window)
{
	struct hist *latency = endpoint->latency;

	memset((char *)endpoint + ENDPOINT_KEY_BYTES, 0, sizeof(*endpoint) - ENDPOINT_KEY_BYTES);
	endpoint->last_window = window;
	endpoint->latency = latency;
	if (latency)
		memset(latency, 0, sizeof(*latency));
}

static bool is_recent_server(const void *item, const void *context)
{
	return ((const struct server *)item)->last_window + IDLE_WINDOWS > *(const u64 *)context;
}

static bool is_recent(const void *item, const void *context)
{
	const struct endpoint *endpoint = item;
	const u64 *window = context;

	if (endpoint->last_window + IDLE_WINDOWS > *window)
		return true;
	free(endpoint->latency);
	return false;
}

void request_book_write(struct request_book *book, u64 window, struct sink *sink)
{
	for (size_t i = 0; i < book->endpoints.count; i++) {
		struct endpoint *endpoint = hash_item(&book->endpoints, i);

		if (!endpoint->records)
			continue;
		write_endpoint(endpoint, sink);
		write_counts(endpoint, window, sink);
		write_latency(endpoint, window, sink);
		write_kept(book, endpoint, window, sink);
		clear(endpoint, window);
	}
	hash_retain(&book->endpoints, is_recent, &window);
	hash_retain(&book->servers, is_recent_server, &window);
	book->kept_count = 0;
	book->free_place = NO_KEPT_PLACE;
	book->window = window;
}
