// SPDX-License-Identifier: Apache-2.0
/* Endpoints and the slowest requests, for programs. */
#include "json.h"

#define SLOWEST 20

static json_t *counts_to_json(const u64 *counts, const char *const *names, size_t count)
{
	json_t *all = json_object();

	for (size_t i = 0; i < count; i++)
		json_object_set_new(all, names[i], json_number(counts[i]));
	return all;
}

static void add_part(json_t *list, u32 part, u64 ns)
{
	json_array_append_new(list, json_pack("{s:s, s:o}", "part", request_part_names[part], "ns",
					      json_number(ns)));
}

/* The queue first; what took no time is left out. */
static json_t *budget_to_json(const struct request_budget *budget)
{
	u32 parts[BUDGET_COUNT];
	size_t count = request_parts(budget->ns, budget->ns[BUDGET_QUEUE], parts);
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		add_part(list, parts[i], budget->ns[parts[i]]);
	return list;
}

/* Of its window alone, which they sum to. */
static json_t *parts_to_json(const struct request *request)
{
	u32 parts[BUDGET_COUNT];
	size_t count = request_parts(request->part_ns, 0, parts);
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		add_part(list, parts[i], request->part_ns[parts[i]]);
	return list;
}

static json_t *pids_to_json(const struct requests *requests,
			    const struct request_endpoint *endpoint)
{
	json_t *pids = json_array();

	for (size_t i = 0; i < endpoint->process_count; i++) {
		const struct request_process *process =
			hash_item(&requests->processes, endpoint->first_process + i);

		json_array_append_new(pids, json_number(process->pid));
	}
	return pids;
}

static void add_names(const struct requests *requests, const struct request_endpoint *endpoint,
		      json_t *row)
{
	const struct request_service *service = request_service(requests, endpoint);

	json_object_set_new(row, "service", json_text_or_null(service->service));
	json_object_set_new(row, "process", json_text_or_null(service->comm));
	json_object_set_new(row, "port", json_number(service->port));
	json_object_set_new(row, "protocol", json_text_or_null(endpoint->protocol));
	json_object_set_new(row, "endpoint", json_text_or_null(endpoint->name));
}

static void add_latency(const struct request_endpoint *endpoint, json_t *row)
{
	static const struct {
		const char *name;
		double share;
	} percentiles[] = {{"p50_ns", 0.5}, {"p95_ns", 0.95}, {"p99_ns", 0.99}};
	const struct hist *latency = endpoint->latency;
	bool is_known = latency && latency->count;

	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
		json_object_set_new(
			row, percentiles[i].name,
			is_known ? json_number(hist_percentile(latency, percentiles[i].share))
				 : json_null());
	json_object_set_new(row, "max_ns", is_known ? json_number(endpoint->max_ns) : json_null());
}

static void add_bytes(const struct request_counts *counts, json_t *row)
{
	json_object_set_new(row, "bytes_in_turns", json_number(request_bytes_in(counts)));
	json_object_set_new(row, "bytes_outside_turns", json_number(request_bytes_outside(counts)));
	json_object_set_new(
		row, "bytes_outside",
		counts_to_json(counts->outside_bytes, request_bytes_names, REQUEST_BYTES_COUNT));
	json_object_set_new(row, "kernel_bytes", json_number(counts->kernel_bytes));
}

static json_t *endpoint_to_json(const struct requests *requests,
				const struct request_endpoint *endpoint)
{
	const struct request_counts *counts = &endpoint->counts;
	json_t *row = json_object();

	if (!row)
		return NULL;
	add_names(requests, endpoint, row);
	json_object_set_new(row, "kind", json_string(request_kind_names[endpoint->kind]));
	json_object_set_new(row, "pids", pids_to_json(requests, endpoint));
	json_object_set_new(row, "count", json_number(counts->requests));
	json_object_set_new(row, "errors", json_number(counts->errors));
	json_object_set_new(row, "rate_per_s", json_real(endpoint->rate));
	json_object_set_new(row, "latency_ns", json_number(counts->latency_ns));
	json_object_set_new(row, "queue_ns", json_number(counts->queue_ns));
	add_latency(endpoint, row);
	json_object_set_new(
		row, "outcomes",
		counts_to_json(counts->outcomes, request_outcome_names, REQUEST_OUTCOME_COUNT));
	json_object_set_new(
		row, "models",
		counts_to_json(counts->models, request_model_names, REQUEST_MODEL_COUNT));
	json_object_set_new(row, "budget", budget_to_json(&endpoint->typical));
	json_object_set_new(row, "slow_budget", budget_to_json(&endpoint->slow));
	json_object_set_new(row, "slow_from_ns",
			    endpoint->answered_kept ? json_number(endpoint->slow.from_ns)
						    : json_null());
	json_object_set_new(row, "grown_part",
			    endpoint->has_growth ? json_string(request_part_names[endpoint->grown])
						 : json_null());
	json_object_set_new(row, "kept", json_number(endpoint->kept));
	json_object_set_new(row, "records", json_number(counts->records));
	json_object_set_new(row, "sampled", json_boolean(counts->records < counts->requests));
	json_object_set_new(row, "several", json_number(counts->several));
	add_bytes(counts, row);
	return row;
}

static json_t *request_to_json(const struct digest *digest, const struct request *request)
{
	const struct requests *requests = &digest->requests;
	u64 begin_ns =
		request->begin_ns > digest->start_ns ? request->begin_ns - digest->start_ns : 0;
	json_t *row = json_object();

	if (!row)
		return NULL;
	add_names(requests, request_endpoint(requests, request), row);
	json_object_set_new(row, "pid", json_number(request->pid));
	json_object_set_new(row, "tid", json_number(request->tid));
	json_object_set_new(row, "begin_ns", json_number(begin_ns));
	json_object_set_new(row, "queue_ns", json_number(request->queue_ns));
	json_object_set_new(row, "window_ns", json_number(request->window_ns));
	json_object_set_new(row, "status", json_text_or_null(request->status));
	json_object_set_new(row, "outcome", json_string(request_outcome_names[request->outcome]));
	json_object_set_new(row, "model", json_string(request_model_names[request->model]));
	json_object_set_new(row, "parts", parts_to_json(request));
	return row;
}

static json_t *slowest_to_json(const struct digest *digest)
{
	const struct requests *requests = &digest->requests;
	u32 most = digest->options->slowest ? digest->options->slowest : SLOWEST, count = 0;
	json_t *list = json_array();

	for (size_t i = 0; i < requests->kept_count && count < most; i++) {
		const struct request *request = &requests->kept[i];

		if (request_endpoint(requests, request)->kind != ENDPOINT_REQUEST)
			continue;
		json_array_append_new(list, request_to_json(digest, request));
		count++;
	}
	return list;
}

void json_write_requests(struct json_writer *writer, const struct digest *digest)
{
	const struct requests *requests = &digest->requests;
	size_t count = requests->request_count + requests->other_count;

	if (!requests->has_tables)
		return;
	json_begin(writer, "requests", '{');
	json_begin(writer, "endpoints", '[');
	for (size_t i = 0; !writer->err && i < count; i++)
		json_write(writer, NULL, endpoint_to_json(requests, requests->by_time[i]),
			   JSON_COMPACT);
	json_end(writer, ']');
	json_write(writer, "slowest", slowest_to_json(digest), JSON_INDENT(1));
	json_write(writer, "left_out",
		   json_pack("{s:o, s:o, s:o, s:o}", "endpoints",
			     json_number(requests->endpoints_left_out), "stride",
			     json_number(requests->stride), "unclosed",
			     json_number(requests->unclosed), "damaged",
			     json_number(requests->damaged)),
		   0);
	json_end(writer, '}');
}
