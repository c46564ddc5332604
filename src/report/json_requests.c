// SPDX-License-Identifier: Apache-2.0
/* Endpoints and the slowest requests, for programs. */
#include "format.h"
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

static void add_target(const struct request_target *target, json_t *row)
{
	json_object_set_new(row, "peer", json_text_or_null(target->peer));
	json_object_set_new(row, "protocol", json_text_or_null(target->protocol));
	json_object_set_new(row, "name", json_text_or_null(target->name));
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

static json_t *culprit_to_json(const struct digest *digest, u32 part, u64 who, u64 least_ns)
{
	bool is_object = part == REQUEST_PART_DISK;
	const struct thread *thread = is_object ? NULL : digest_by_tid(digest, (u32)who);
	char object[DIGEST_TEXT + 32] = "";

	if (is_object)
		format_object(digest, who, object, sizeof(object));
	return json_pack("{s:s, s:o, s:o, s:o, s:o}", "part", request_part_names[part], "tid",
			 is_object ? json_null() : json_number(who), "comm",
			 json_text_or_null(thread ? thread->comm : ""), "object",
			 json_text_or_null(object), "least_ns", json_number(least_ns));
}

static json_t *slow_culprit_to_json(const struct digest *digest,
				    const struct request_endpoint *endpoint)
{
	if (!endpoint->culprit_ns)
		return json_null();
	return culprit_to_json(digest, endpoint->grown, endpoint->culprit, endpoint->culprit_ns);
}

static json_t *request_culprit_to_json(const struct digest *digest, const struct request *request)
{
	const struct request_culprit *culprit = request_culprit(&digest->requests, request);

	if (!culprit)
		return json_null();
	return culprit_to_json(digest, culprit->part, culprit->who, culprit->least_ns);
}

/* Where in the code it waited, innermost function first; no frames: the stack was lost. */
static json_t *wait_to_json(const struct digest *digest, u32 part, u64 ns, u64 stack, u32 stop)
{
	const struct profile *profile = &digest->profile;
	struct profile_step steps[PROFILE_STEPS_MAX];
	json_t *frames;
	size_t count;

	if (!ns)
		return json_null();
	frames = json_array();
	count = stack ? profile_steps(profile, stack, stop, steps) : 0;
	for (size_t i = 0; i < count; i++)
		json_array_append_new(
			frames, json_string(profile_function_name(profile, steps[i].function)));
	return json_pack("{s:s, s:o, s:o}", "part", request_part_names[part], "ns", json_number(ns),
			 "frames", frames);
}

/* Averages of its kept requests; null: there are none to compare. */
static json_t *called_to_json(const struct requests *requests,
			      const struct request_endpoint *endpoint)
{
	json_t *list = json_array();

	for (size_t i = 0; i < endpoint->called_count; i++) {
		const struct request_called *called =
			hash_item(&requests->called, endpoint->first_called + i);
		json_t *row = json_object();

		add_target(hash_item(&requests->targets, called->target), row);
		json_object_set_new(row, "per_request", json_real(called->calls[REQUESTS_ALL]));
		json_object_set_new(row, "average_ns", json_number((u64)called->ns[REQUESTS_ALL]));
		json_object_set_new(row, "typical_ns",
				    endpoint->average_ns[REQUESTS_TYPICAL]
					    ? json_number((u64)called->ns[REQUESTS_TYPICAL])
					    : json_null());
		json_object_set_new(row, "slow_ns",
				    endpoint->average_ns[REQUESTS_SLOW]
					    ? json_number((u64)called->ns[REQUESTS_SLOW])
					    : json_null());
		json_array_append_new(list, row);
	}
	return list;
}

static json_t *endpoint_to_json(const struct digest *digest,
				const struct request_endpoint *endpoint)
{
	const struct requests *requests = &digest->requests;
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
	json_object_set_new(row, "slow_culprit", slow_culprit_to_json(digest, endpoint));
	json_object_set_new(row, "slow_wait",
			    wait_to_json(digest, endpoint->grown, endpoint->wait_ns,
					 endpoint->wait_stack, STOP_END));
	json_object_set_new(row, "calls", called_to_json(requests, endpoint));
	json_object_set_new(row, "kept", json_number(endpoint->kept));
	json_object_set_new(row, "records", json_number(counts->records));
	json_object_set_new(row, "sampled", json_boolean(counts->records < counts->requests));
	json_object_set_new(row, "several", json_number(counts->several));
	add_bytes(counts, row);
	return row;
}

static u64 since_start(const struct digest *digest, u64 ns)
{
	return ns > digest->start_ns ? ns - digest->start_ns : 0;
}

static json_t *request_to_json(const struct digest *digest, const struct request *request);

/* The request that answered it has the calls that it made itself, and so on: there are no circles.
 */
static json_t *call_to_json(const struct digest *digest, const struct request_call *call)
{
	const struct requests *requests = &digest->requests;
	const struct request *answer = request_answer(requests, call);
	json_t *row = json_object();

	add_target(request_target(requests, call), row);
	json_object_set_new(row, "port", json_number(call->port));
	json_object_set_new(row, "grade", json_string(request_grade_names[call->grade]));
	json_object_set_new(row, "pid", json_number(call->pid));
	json_object_set_new(row, "tid", json_number(call->tid));
	json_object_set_new(row, "begin_ns", json_number(since_start(digest, call->begin_ns)));
	json_object_set_new(row, "wait_ns", json_number(call->wait_ns));
	json_object_set_new(row, "window_ns", json_number(call->window_ns));
	json_object_set_new(row, "transit_and_queue_ns",
			    answer && answer->window_ns <= call->window_ns
				    ? json_number(request_transit_ns(requests, call))
				    : json_null());
	json_object_set_new(row, "status", json_text_or_null(call->status));
	json_object_set_new(row, "outcome", json_string(request_outcome_names[call->outcome]));
	json_object_set_new(row, "sent_bytes", json_number(call->sent_bytes));
	json_object_set_new(row, "received_bytes", json_number(call->received_bytes));
	json_object_set_new(row, "answer", answer ? request_to_json(digest, answer) : json_null());
	return row;
}

static json_t *request_to_json(const struct digest *digest, const struct request *request)
{
	const struct requests *requests = &digest->requests;
	json_t *row = json_object(), *calls = json_array();

	add_names(requests, request_endpoint(requests, request), row);
	json_object_set_new(row, "pid", json_number(request->pid));
	json_object_set_new(row, "tid", json_number(request->tid));
	json_object_set_new(row, "begin_ns", json_number(since_start(digest, request->begin_ns)));
	json_object_set_new(row, "queue_ns", json_number(request->queue_ns));
	json_object_set_new(row, "window_ns", json_number(request->window_ns));
	json_object_set_new(row, "status", json_text_or_null(request->status));
	json_object_set_new(row, "outcome", json_string(request_outcome_names[request->outcome]));
	json_object_set_new(row, "model", json_string(request_model_names[request->model]));
	json_object_set_new(row, "parts", parts_to_json(request));
	json_object_set_new(row, "culprit", request_culprit_to_json(digest, request));
	json_object_set_new(row, "longest_wait",
			    wait_to_json(digest, request->wait_part, request->wait_ns,
					 request->wait_stack, request->wait_stop));
	for (size_t i = 0; i < request->call_count; i++)
		json_array_append_new(calls,
				      call_to_json(digest, request_call(requests, request, i)));
	json_object_set_new(row, "calls", calls);
	return row;
}

static void write_slowest(struct json_writer *writer, const struct digest *digest)
{
	const struct requests *requests = &digest->requests;
	u32 list[REQUESTS_SLOWEST_MAX];
	size_t most = digest->options->slowest ? digest->options->slowest : SLOWEST, count;

	count = requests_slowest(requests, list,
				 most < REQUESTS_SLOWEST_MAX ? most : REQUESTS_SLOWEST_MAX);
	json_begin(writer, "slowest", '[');
	for (size_t i = 0; !writer->err && i < count; i++)
		json_write(writer, NULL, request_to_json(digest, &requests->kept[list[i]]),
			   JSON_COMPACT);
	json_end(writer, ']');
}

static void write_links(struct json_writer *writer, const struct requests *requests)
{
	json_begin(writer, "links", '[');
	for (size_t i = 0; !writer->err && i < requests->links.count; i++) {
		const struct request_links *links = hash_item(&requests->links, i);

		json_write(writer, NULL,
			   json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
				     "service", json_text_or_null(links->service), "process",
				     json_text_or_null(links->comm), "calls",
				     json_number(request_links_sum(links)), "confirmed",
				     json_number(links->confirmed), "backward",
				     json_number(links->backward), "conflict",
				     json_number(links->conflict), "forward",
				     json_number(links->forward), "unlinked",
				     json_number(links->unlinked), "refused",
				     json_number(links->refused), "published",
				     json_number(links->published), "checked",
				     json_number(links->checked), "wrong",
				     json_number(links->wrong)),
			   JSON_COMPACT);
	}
	json_end(writer, ']');
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
		json_write(writer, NULL, endpoint_to_json(digest, requests->by_time[i]),
			   JSON_COMPACT);
	json_end(writer, ']');
	write_slowest(writer, digest);
	write_links(writer, requests);
	json_write(writer, "left_out",
		   json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "endpoints",
			     json_number(requests->endpoints_left_out), "calls",
			     json_number(requests->calls_left_out), "answers",
			     json_number(requests->answers_left_out), "stride",
			     json_number(requests->stride), "unclosed",
			     json_number(requests->unclosed), "damaged",
			     json_number(requests->damaged)),
		   0);
	json_end(writer, '}');
}
