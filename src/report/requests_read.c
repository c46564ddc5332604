// SPDX-License-Identifier: Apache-2.0
/* The tables of requests into memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/text.h"
#include "../store/query.h"
#include "digest.h"

#define SERVICE_KEY_BYTES  __builtin_offsetof(struct request_service, counts)
#define ENDPOINT_KEY_BYTES __builtin_offsetof(struct request_endpoint, counts)
#define ASKED_KEY_BYTES	   __builtin_offsetof(struct request_asked, service)
#define TARGET_KEY_BYTES   sizeof(struct request_target)
#define CALLED_KEY_BYTES   __builtin_offsetof(struct request_called, calls)
#define LINKS_KEY_BYTES	   __builtin_offsetof(struct request_links, confirmed)
#define COUNTS		   (sizeof(struct request_counts) / sizeof(u64))

#define NAME_COLUMN(NAME, name, ...)  ", " #name
#define BYTES_COLUMN(NAME, name, ...) ", " #name "_bytes"

static const char counts_columns[] =
	"window, endpoint, requests, errors, records, several, latency_ns, queue_ns, "
	"received_bytes, sent_bytes, kernel_bytes" REQUEST_OUTCOMES(NAME_COLUMN)
		REQUEST_MODELS(NAME_COLUMN) REQUEST_BYTES(BYTES_COLUMN);

static u32 kind_of(const char *name)
{
	for (u32 i = 0; i < ENDPOINT_KINDS; i++)
		if (!strcmp(name, request_kind_names[i]))
			return i;
	return ENDPOINT_REQUEST;
}

static u32 index_of(const struct hash *hash, const void *item)
{
	return (u32)((size_t)((const char *)item - hash->items) / hash->item_size);
}

static struct request_service *add_service(struct digest *digest, sqlite3_stmt *row)
{
	u64 pid = query_count(row, 1), start_ns = query_count(row, 2);
	const struct process *process = digest_process(digest, pid, start_ns);
	struct request_service key = {.port = (u32)query_count(row, 3)};

	text_copy(key.comm, sizeof(key.comm), series_comm(digest, pid, start_ns));
	if (process)
		text_copy(key.service, sizeof(key.service), process->service);
	return hash_add(&digest->requests.services, &key);
}

struct endpoints_reading {
	struct digest *digest;
	bool is_wanted; /* these rows are read, or the others */
};

/* Rows of processes that are alike are of one endpoint. */
static int on_endpoint(sqlite3_stmt *row, void *context)
{
	const struct endpoints_reading *reading = context;
	struct digest *digest = reading->digest;
	struct requests *requests = &digest->requests;
	struct request_endpoint key = {0}, *endpoint;
	struct request_service *service;
	struct request_process *process;
	u64 id = query_u64(row, 0);
	char kind[16];
	bool is_kernel;

	if (signals_want(digest, query_count(row, 1), query_count(row, 2), &is_kernel) !=
	    reading->is_wanted)
		return 0;
	if (hash_is_full(&requests->processes)) {
		requests->endpoints_left_out += reading->is_wanted;
		return 0;
	}
	service = add_service(digest, row);
	if (!service)
		return -ENOMEM;
	query_text(row, 4, key.protocol, sizeof(key.protocol));
	query_text(row, 5, key.name, sizeof(key.name));
	query_text(row, 6, kind, sizeof(kind));
	key.kind = kind_of(kind);
	key.service = index_of(&requests->services, service);
	endpoint = hash_add(&requests->endpoints, &key);
	process = endpoint ? hash_add(&requests->processes, &id) : NULL;
	if (!process)
		return -ENOMEM;
	process->endpoint = index_of(&requests->endpoints, endpoint);
	process->pid = (u32)query_count(row, 1);
	process->is_wanted = reading->is_wanted;
	return 0;
}

/* Those of processes that are not wanted, too: their requests may answer calls of those that are.
 */
static int read_endpoints(sqlite3 *db, struct digest *digest)
{
	struct endpoints_reading reading = {.digest = digest, .is_wanted = true};
	int err = 0;

	for (int i = 0; !err && i < 2; i++, reading.is_wanted = false)
		err = query_table(db, "endpoints", "id, pid, start_ns, port, protocol, name, kind",
				  "id", on_endpoint, &reading);
	return err;
}

static struct request_endpoint *endpoint_of(const struct digest *digest, sqlite3_stmt *row)
{
	const struct request_process *process = requests_process_of(digest, row);

	return process ? hash_item(&digest->requests.endpoints, process->endpoint) : NULL;
}

static void add_counts(struct request_counts *to, const u64 by[COUNTS])
{
	u64 sums[COUNTS];

	memcpy(sums, to, sizeof(sums));
	for (size_t i = 0; i < COUNTS; i++)
		sums[i] = profile_add(sums[i], by[i]);
	memcpy(to, sums, sizeof(sums));
}

static int on_counts(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	struct requests *requests = &digest->requests;
	struct request_endpoint *endpoint = endpoint_of(digest, row);
	struct request_service *service;
	u64 counts[COUNTS];

	if (!endpoint)
		return 0;
	for (size_t i = 0; i < COUNTS; i++)
		counts[i] = query_count(row, 2 + (int)i);
	service = hash_item(&requests->services, endpoint->service);
	add_counts(&endpoint->counts, counts);
	add_counts(&service->all, counts);
	if (endpoint->kind == ENDPOINT_REQUEST)
		add_counts(&service->counts, counts);
	return 0;
}

static int on_latency(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	struct request_endpoint *endpoint = endpoint_of(digest, row);
	const char *text = (const char *)sqlite3_column_text(row, 2);

	if (!endpoint || !text)
		return 0;
	if (!endpoint->latency)
		endpoint->latency = calloc(1, sizeof(*endpoint->latency));
	if (!endpoint->latency)
		return -ENOMEM;
	if (hist_parse(endpoint->latency, text))
		digest->requests.damaged++;
	return 0;
}

/* Other ways to show a session have nothing of requests. */
static bool is_wanted(const struct report_options *options)
{
	return options->json || options->requests ||
	       !(options->stacks || options->why || options->cpus || options->execs ||
		 options->signals);
}

int requests_read(sqlite3 *db, struct digest *digest)
{
	struct requests *requests = &digest->requests;
	int err;

	hash_init(&requests->services, sizeof(struct request_service), SERVICE_KEY_BYTES,
		  REQUESTS_ENDPOINTS_MAX);
	hash_init(&requests->endpoints, sizeof(struct request_endpoint), ENDPOINT_KEY_BYTES,
		  REQUESTS_ENDPOINTS_MAX);
	hash_init(&requests->processes, sizeof(struct request_process), sizeof(u64),
		  REQUESTS_ENDPOINTS_MAX);
	hash_init(&requests->calls, sizeof(struct request_call), sizeof(u64), REQUESTS_CALLS_MAX);
	hash_init(&requests->asked, sizeof(struct request_asked), ASKED_KEY_BYTES,
		  REQUESTS_CALLS_MAX);
	hash_init(&requests->targets, sizeof(struct request_target), TARGET_KEY_BYTES,
		  REQUESTS_CALLS_MAX);
	hash_init(&requests->called, sizeof(struct request_called), CALLED_KEY_BYTES,
		  REQUESTS_CALLS_MAX);
	hash_init(&requests->culprits, sizeof(struct request_culprit), sizeof(u64),
		  REQUESTS_CULPRITS_MAX);
	hash_init(&requests->links, sizeof(struct request_links), LINKS_KEY_BYTES,
		  REQUESTS_ENDPOINTS_MAX);
	requests->has_tables = query_has_column(db, "endpoints", "id");
	if (!is_wanted(digest->options))
		return 0;
	err = read_endpoints(db, digest);
	if (!err)
		err = query_table(db, "request_counts", counts_columns, NULL, on_counts, digest);
	if (!err)
		err = query_table(db, "request_latency", "window, endpoint, buckets", NULL,
				  on_latency, digest);
	if (!err)
		err = requests_read_kept(db, digest);
	if (!err)
		err = requests_read_calls(db, digest);
	if (!err)
		err = requests_read_links(db, digest);
	return err ? err : requests_compute(db, digest);
}

void requests_free(struct requests *requests)
{
	for (size_t i = 0; i < requests->endpoints.count; i++)
		free(((struct request_endpoint *)hash_item(&requests->endpoints, i))->latency);
	hash_free(&requests->services);
	hash_free(&requests->endpoints);
	hash_free(&requests->processes);
	hash_free(&requests->calls);
	hash_free(&requests->asked);
	hash_free(&requests->targets);
	hash_free(&requests->called);
	hash_free(&requests->culprits);
	hash_free(&requests->links);
	free(requests->kept);
	free(requests->by_endpoint);
	free(requests->by_time);
	free(requests->by_service);
}
