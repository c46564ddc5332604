// SPDX-License-Identifier: Apache-2.0
/* The rows of a window: endpoints with their sums, and the requests that are kept whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"
#include "requests.h"

#define BUCKETS_BYTES 16384

static const char *const model_names[] = {
#define MODEL(NAME, name, ...) #name,
	REQUEST_MODELS(MODEL)
#undef MODEL
};

static const char *const part_names[] = {
#define PART(NAME, name, ...) #name,
	REQUEST_PARTS(PART)
#undef PART
};

static const char *const kind_names[] = {"request", "setup", "message"};

static struct cell name_cell(const char *name)
{
	return cell_text(name, strlen(name));
}

static void write_endpoint(const struct endpoint *endpoint, struct sink *sink)
{
	const struct protocol *protocol = protocol_by_id(endpoint->protocol);
	char name[32]; /* "http+tls"; "tls" where it is not recognised what is in that */

	snprintf(name, sizeof(name), "%s%s%s", protocol ? protocol->name : "",
		 protocol && endpoint->is_tls ? "+" : "", endpoint->is_tls ? "tls" : "");
	const struct cell cells[] = {
		cell_number(endpoint->id),	 cell_number(endpoint->tgid),
		cell_number(endpoint->start_ns), cell_number(endpoint->object),
		cell_number(endpoint->port),	 name_cell(name),
		name_cell(endpoint->name),	 name_cell(kind_names[endpoint->kind]),
	};

	sink->add(sink, &request_tables[REQUEST_TABLE_ENDPOINTS], cells);
}

static void write_counts(const struct endpoint *endpoint, u64 window, struct sink *sink)
{
	struct cell cells[REQUEST_COUNTS_WIDTH];
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
	sink->add(sink, &request_tables[REQUEST_TABLE_COUNTS], cells);
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

	sink->add(sink, &request_tables[REQUEST_TABLE_LATENCY], cells);
}

static void write_request(u64 endpoint_id, const struct request *request, u64 weight, u64 window,
			  struct sink *sink)
{
	const char *wait_part =
		request->wait.ns ? part_names[request_part_of_state(request->wait.state)] : "";
	char trace[TRACE_TEXT_BYTES];
	struct cell cells[REQUEST_KEPT_BEFORE + REQUEST_PART_COUNT + REQUEST_KEPT_BEHIND] = {
		cell_number(request->id),
		cell_number(window),
		cell_number(endpoint_id),
		cell_number(request->tgid),
		cell_number(request->start_ns),
		cell_number(request->tid),
		cell_number(request->connection),
		cell_number((u32)request->turn), /* turn.bpf.h: first_turn() */
		cell_number(request->client_port),
		cell_number(request->parent),
		cell_number(request->ready_ns),
		cell_number(request->queue_ns),
		cell_number(request->window_ns),
		cell_number(weight),
		cell_text(request->status, sizeof(request->status)),
		name_cell(request_outcome_name(request->outcome)),
		name_cell(model_names[request->model]),
		cell_number(request->received),
		cell_number(request->sent),
	};
	struct cell *behind = cells + REQUEST_KEPT_BEFORE + REQUEST_PART_COUNT;

	for (size_t i = 0; i < REQUEST_PART_COUNT; i++)
		cells[REQUEST_KEPT_BEFORE + i] = cell_number(request->part[i]);
	behind[0] = cell_text(trace, request_trace_text(&request->trace, trace));
	behind[1] = name_cell(wait_part);
	behind[2] = cell_number(request->wait.ns);
	behind[3] = cell_number(request->wait.stack);
	behind[4] = cell_number(request->wait.stop);
	sink->add(sink, &request_tables[REQUEST_TABLE_KEPT], cells);
}

static void write_one(struct request_book *book, const struct endpoint *endpoint, u32 place,
		      u64 weight, u64 window, struct sink *sink)
{
	const struct request *request = &book->kept[place];

	write_request(endpoint->id, request, weight, window, sink);
	link_book_keep(&book->links, request->id, window);
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
		write_one(book, endpoint, place, weight, window, sink);
	}
	for (u32 i = 0; i < endpoint->sample_count; i++) {
		u64 weight = left / (endpoint->sample_count - i);
		u32 place = endpoint->sample[i];

		left -= weight;
		write_one(book, endpoint, place, weight, window, sink);
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
	link_book_write(&book->links, window, false, write_request, sink);
	hash_retain(&book->endpoints, is_recent, &window);
	hash_retain(&book->servers, is_recent_server, &window);
	hash_retain(&book->peers, is_recent_server, &window);
	h2_book_sweep(&book->h2, window);
	book->kept_count = 0;
	book->free_place = NO_KEPT_PLACE;
	book->window = window;
}

void request_book_end(struct request_book *book, struct sink *sink)
{
	link_book_write(&book->links, book->window, true, write_request, sink);
}
