// SPDX-License-Identifier: Apache-2.0
/*
 * Requests that servers answered, by endpoint: how often, how many of them with an error, and how
 * long they took. An endpoint is one of all processes of a name in a service. Set-up and messages
 * are no requests.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../store/query.h"
#include "reading.h"

#define ENDPOINTS_MAX 200000
#define BUCKETS_BYTES (64 << 10)

struct endpoint {
	u64 id; /* the key */
	u32 service, process;
	u32 name, error_name; /* texts */
	bool is_work;	      /* what the sides are divided by */
};

struct requests_reader {
	struct reading *reading;
	struct hash endpoints;
	struct hist *hist; /* of one row */
};

/* All, or those of one server or endpoint: --per requests:nginx. */
static bool is_work(const struct reading *reading, const struct endpoint *endpoint,
		    const char *name)
{
	const struct diff *diff = reading->diff;
	const char *what = diff->options.per.what;

	return diff->options.per.is_requests &&
	       (!*what || !strcmp(what, name) ||
		!strcmp(what, diff_text(diff, endpoint->process)) ||
		!strcmp(what, diff_text(diff, endpoint->service)));
}

static void name_endpoint(struct reading *reading, sqlite3_stmt *row, struct endpoint *endpoint)
{
	char name[DIFF_TEXT_BYTES - 64], protocol[64], line[DIFF_TEXT_BYTES];
	u64 port = query_count(row, 3);

	query_text(row, 4, protocol, sizeof(protocol));
	query_text(row, 5, name, sizeof(name));
	if (!*name)
		snprintf(name, sizeof(name), "%s", *protocol ? protocol : "(not recognised)");
	endpoint->is_work = is_work(reading, endpoint, name);
	if (port)
		snprintf(line, sizeof(line), ":%" PRIu64 " %s", (uint64_t)port, name);
	else
		snprintf(line, sizeof(line), "%s", name);
	endpoint->name = reading_text(reading, line);
	snprintf(line + strlen(line), sizeof(line) - strlen(line), DIFF_ERRORS_SUFFIX);
	endpoint->error_name = reading_text(reading, line);
}

static int on_endpoint(sqlite3_stmt *row, void *context)
{
	struct requests_reader *reader = context;
	struct reading *reading = reader->reading;
	const struct reading_process *process =
		reading_process(reading, query_count(row, 1), query_count(row, 2));
	u64 id = query_u64(row, 0);
	struct endpoint *endpoint;
	char kind[32];

	query_text(row, 6, kind, sizeof(kind));
	if (strcmp(kind, "request") != 0 || reading_leaves_out(reading, process))
		return 0;
	endpoint = hash_add(&reader->endpoints, &id);
	if (!endpoint)
		return hash_is_full(&reader->endpoints) ? 0 : -ENOMEM;
	endpoint->service = process ? process->service : 0;
	endpoint->process = process ? process->comm : 0;
	name_endpoint(reading, row, endpoint);
	return 0;
}

static struct diff_key key_of(const struct endpoint *endpoint, enum diff_measure measure)
{
	return (struct diff_key){
		.table = DIFF_REQUEST,
		.measure = measure,
		.service = endpoint->service,
		.process = endpoint->process,
		.name = endpoint->name,
	};
}

static int add_count(struct reading *reading, const struct diff_key *key, int bin, u64 count)
{
	struct diff_line *line;
	int err = 0;

	if (!count)
		return 0;
	line = reading_line(reading, key, (double)count, &err);
	if (line)
		line->values[bin] += (double)count;
	return err;
}

static int on_counts(sqlite3_stmt *row, void *context)
{
	struct requests_reader *reader = context;
	struct reading *reading = reader->reading;
	int bin = reading_bin(reading, sqlite3_column_int64(row, 0)), err;
	u64 id = query_u64(row, 1);
	const struct endpoint *endpoint = hash_find(&reader->endpoints, &id);
	struct diff_key key;

	if (bin < 0 || !endpoint)
		return 0;
	if (endpoint->is_work)
		reading->diff->bins[bin].count += (double)query_count(row, 4);
	key = key_of(endpoint, DIFF_TIMES);
	err = add_count(reading, &key, bin, query_count(row, 2));
	if (err)
		return err;
	key.name = endpoint->error_name;
	key.kind = DIFF_REQUEST_ERRORS;
	err = add_count(reading, &key, bin, query_count(row, 3));
	if (err)
		return err;
	key = key_of(endpoint, DIFF_MEAN);
	*reader->hist = (struct hist){0};
	return reading_add_mean(reading, &key, reader->hist, bin, 0, query_count(row, 5));
}

/* How many were timed is known here: some of those that were answered have no time. */
static int on_latency(sqlite3_stmt *row, void *context)
{
	struct requests_reader *reader = context;
	struct reading *reading = reader->reading;
	int bin = reading_bin(reading, sqlite3_column_int64(row, 0));
	u64 id = query_u64(row, 1), count = 0;
	const struct endpoint *endpoint = hash_find(&reader->endpoints, &id);
	const char *buckets = (const char *)sqlite3_column_text(row, 2);
	struct diff_key key;

	if (bin < 0 || !endpoint || !buckets || strlen(buckets) >= BUCKETS_BYTES)
		return 0;
	*reader->hist = (struct hist){0};
	if (hist_parse(reader->hist, buckets))
		return 0; /* damaged */
	for (size_t i = 0; i < HIST_BUCKETS; i++)
		count += reader->hist->buckets[i];
	key = key_of(endpoint, DIFF_MEAN);
	return reading_add_mean(reading, &key, reader->hist, bin, count, 0);
}

int reading_requests(struct reading *reading)
{
	struct requests_reader reader = {.reading = reading,
					 .hist = calloc(1, sizeof(struct hist))};
	int err = reader.hist ? 0 : -ENOMEM;

	hash_init(&reader.endpoints, sizeof(struct endpoint), sizeof(u64), ENDPOINTS_MAX);
	if (!err)
		err = query_table(reading->db, "endpoints",
				  "id, pid, start_ns, port, protocol, name, kind", NULL,
				  on_endpoint, &reader);
	if (!err)
		err = query_table(reading->db, "request_counts",
				  "window, endpoint, requests, errors, answered, latency_ns", NULL,
				  on_counts, &reader);
	if (!err)
		err = query_table(reading->db, "request_latency", "window, endpoint, buckets", NULL,
				  on_latency, &reader);
	hash_free(&reader.endpoints);
	free(reader.hist);
	return err;
}
