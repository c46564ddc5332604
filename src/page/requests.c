// SPDX-License-Identifier: Apache-2.0
/* The part `requests`: endpoints with their budgets, then requests that were kept. */
#include <errno.h>
#include <stdlib.h>

#include "../base/cleanup.h"
#include "../store/query.h"
#include "request_rows.h"

#define CALLED_MAX ((size_t)8) /* of an endpoint: those that take most of its time */

struct endpoint_row {
	u32 name, protocol, service, comm, port;
	u32 kind; /* enum endpoint_kind */
	u64 requests, errors, latency_ns;
	u64 typical_kept, typical_from_ns, typical_to_ns;
	u64 slow_kept, slow_from_ns, slow_to_ns;
	s32 grown; /* a part, or PAGE_NONE */
	u64 grown_ns;
	s32 blamed; /* of what has grown: at least blamed_ns of a slow one; 0: nobody */
	u32 blamed_name;
	u64 blamed_ns;
};

/* What an average request called, and for how long. */
struct called_row {
	u32 endpoint, peer, protocol, name;
	u64 typical_ns, slow_ns;
	u64 calls_milli; /* a request, times 1000 */
};

struct process_row {
	u32 endpoint;
	s32 process;
};

struct budget_row {
	u32 endpoint, slow, part;
	u64 ns;
};

struct writer {
	struct page_data *data;
	const struct requests *requests;
	s32 *endpoint_at; /* places in the page by the digest's indices; PAGE_NONE: not in it */
	struct endpoint_row *endpoints;
	struct process_row *processes;
	struct budget_row *budgets;
	struct called_row *called;
	size_t endpoint_count, process_count, budget_count, called_count;
	u64 left_out;
};

static int add_processes(struct writer *writer, const struct request_endpoint *endpoint, u32 at)
{
	for (size_t i = 0; i < endpoint->process_count; i++) {
		const struct request_process *process =
			hash_item(&writer->requests->processes, endpoint->first_process + i);
		struct process_row *row = query_append(&writer->processes, &writer->process_count,
						       sizeof(*row), REQUESTS_ENDPOINTS_MAX);

		if (!row)
			return -ENOMEM;
		*row = (struct process_row){at, page_last_pid_at(writer->data, process->pid)};
	}
	return 0;
}

static int add_budget(struct writer *writer, const struct request_budget *budget, u32 at,
		      u32 is_slow)
{
	for (u32 part = 0; part < BUDGET_COUNT; part++) {
		struct budget_row *row;

		if (!budget->ns[part])
			continue;
		row = query_append(&writer->budgets, &writer->budget_count, sizeof(*row),
				   2 * BUDGET_COUNT * PAGE_ENDPOINTS_MAX);
		if (!row)
			return -ENOMEM;
		*row = (struct budget_row){at, is_slow, part, budget->ns[part]};
	}
	return 0;
}

static struct endpoint_row *append_endpoint(struct writer *writer,
					    const struct request_endpoint *endpoint)
{
	const struct request_service *service = request_service(writer->requests, endpoint);
	struct page_data *data = writer->data;
	struct endpoint_row *row = query_append(&writer->endpoints, &writer->endpoint_count,
						sizeof(*row), PAGE_ENDPOINTS_MAX);

	if (!row)
		return NULL;
	*row = (struct endpoint_row){
		.name = page_name(data, request_name(endpoint)),
		.protocol = page_name(data, endpoint->protocol),
		.service = page_name(data, service->service),
		.comm = page_name(data, service->comm),
		.port = service->port,
		.kind = endpoint->kind,
		.requests = endpoint->counts.requests,
		.errors = endpoint->counts.errors,
		.latency_ns = endpoint->counts.latency_ns,
		.grown = PAGE_NONE,
		.blamed = PAGE_NONE,
	};
	return row;
}

static int add_called(struct writer *writer, const struct request_endpoint *endpoint, u32 at)
{
	const struct requests *requests = writer->requests;
	struct page_data *data = writer->data;

	for (size_t i = 0; i < endpoint->called_count && i < CALLED_MAX; i++) {
		const struct request_called *called =
			hash_item(&requests->called, endpoint->first_called + i);
		const struct request_target *target = hash_item(&requests->targets, called->target);
		struct called_row *row =
			query_append(&writer->called, &writer->called_count, sizeof(*row),
				     CALLED_MAX * PAGE_ENDPOINTS_MAX);

		if (!row)
			return -ENOMEM;
		*row = (struct called_row){
			.endpoint = at,
			.peer = page_name(data, target->peer),
			.protocol = page_name(data, target->protocol),
			.name = page_name(data, request_target_name(target)),
			.typical_ns = (u64)called->ns[REQUESTS_TYPICAL],
			.slow_ns = (u64)called->ns[REQUESTS_SLOW],
			.calls_milli = (u64)(called->calls[REQUESTS_ALL] * 1000 + 1e-6),
		};
	}
	return 0;
}

static void add_growth(struct writer *writer, const struct request_endpoint *endpoint,
		       struct endpoint_row *row)
{
	struct blamed blamed;

	if (!endpoint->has_growth)
		return;
	row->grown = (s32)endpoint->grown;
	row->grown_ns = endpoint->grown_ns;
	if (!endpoint->culprit_ns)
		return;
	blamed = request_blamed(writer->data, endpoint->grown, endpoint->culprit);
	row->blamed = blamed.thread;
	row->blamed_name = blamed.name;
	row->blamed_ns = endpoint->culprit_ns;
}

static int add_budgets(struct writer *writer, const struct request_endpoint *endpoint,
		       struct endpoint_row *row, u32 at)
{
	const struct request_budget *typical = &endpoint->typical, *slow = &endpoint->slow;
	int err;

	/* One that is not chosen is here because of the calls that it answers. */
	if (endpoint->kind != ENDPOINT_REQUEST || !endpoint->counts.requests ||
	    endpoint->answered_kept < REQUESTS_BUDGET_LEAST)
		return 0;
	row->typical_kept = typical->kept;
	row->typical_from_ns = typical->from_ns;
	row->typical_to_ns = typical->to_ns;
	row->slow_kept = slow->kept;
	row->slow_from_ns = slow->from_ns;
	row->slow_to_ns = slow->to_ns;
	add_growth(writer, endpoint, row);
	err = add_budget(writer, typical, at, 0);
	if (!err)
		err = add_budget(writer, slow, at, 1);
	return err ? err : add_called(writer, endpoint, at);
}

static int add_endpoint(struct writer *writer, const struct request_endpoint *endpoint)
{
	const struct request_endpoint *first = hash_item(&writer->requests->endpoints, 0);
	u32 at = (u32)writer->endpoint_count;
	struct endpoint_row *row;
	int err;

	if (writer->endpoint_at[endpoint - first] != PAGE_NONE)
		return 0;
	if (at == PAGE_ENDPOINTS_MAX) {
		writer->left_out++;
		return 0;
	}
	row = append_endpoint(writer, endpoint);
	if (!row)
		return -ENOMEM;
	writer->endpoint_at[endpoint - first] = (s32)at;
	err = add_processes(writer, endpoint, at);
	return err ? err : add_budgets(writer, endpoint, row, at);
}

/* Those with most time first; behind them those that answer calls and are not chosen themselves. */
static int add_endpoints(struct writer *writer)
{
	const struct requests *requests = writer->requests;
	size_t all = requests->request_count + requests->other_count;
	int err = 0;

	writer->endpoint_at = malloc((requests->endpoints.count + 1) * sizeof(s32));
	if (!writer->endpoint_at)
		return -ENOMEM;
	for (size_t i = 0; i < requests->endpoints.count; i++)
		writer->endpoint_at[i] = PAGE_NONE;
	for (size_t i = 0; !err && i < all; i++)
		err = add_endpoint(writer, requests->by_time[i]);
	page_limit(writer->data, "requests", writer->endpoint_count, PAGE_ENDPOINTS_MAX,
		   writer->left_out, "endpoints, those with least time");
	for (size_t i = 0; !err && i < requests->kept_count; i++)
		err = add_endpoint(writer, request_endpoint(requests, &requests->kept[i]));
	return err;
}

static void write_names(struct part *part, const char *key, const char *const *names,
			const char *const *meanings, size_t count)
{
	part_string(part, key);
	part_text(part, ":[");
	for (size_t i = 0; i < count; i++) {
		part_text(part, i ? ",{\"name\":" : "{\"name\":");
		part_string(part, names[i]);
		part_text(part, ",\"meaning\":");
		part_string(part, meanings[i]);
		part_text(part, "}");
	}
	part_text(part, "],");
}

static const char *const model_meanings[REQUEST_MODEL_COUNT + 1] = {
#define MODEL(NAME, name, meaning) [REQUEST_MODEL_##NAME] = (meaning),
	REQUEST_MODELS(MODEL)
#undef MODEL
		[REQUEST_MODEL_COUNT] = "not known",
};

static const char *const outcome_meanings[REQUEST_OUTCOME_COUNT + 1] = {
#define OUTCOME(NAME, name, meaning) [REQUEST_##NAME] = (meaning),
	REQUEST_OUTCOMES(OUTCOME)
#undef OUTCOME
		[REQUEST_OUTCOME_COUNT] = "not known",
};

static const struct column endpoint_columns[] = {
	COLUMN("name$", struct endpoint_row, name),
	COLUMN("protocol$", struct endpoint_row, protocol),
	COLUMN("service$", struct endpoint_row, service),
	COLUMN("comm$", struct endpoint_row, comm),
	COLUMN("port", struct endpoint_row, port),
	COLUMN("kind", struct endpoint_row, kind),
	COLUMN("requests", struct endpoint_row, requests),
	COLUMN("errors", struct endpoint_row, errors),
	COLUMN("latency_ns", struct endpoint_row, latency_ns),
	COLUMN("typical_kept", struct endpoint_row, typical_kept),
	COLUMN("typical_from_ns", struct endpoint_row, typical_from_ns),
	COLUMN("typical_to_ns", struct endpoint_row, typical_to_ns),
	COLUMN("slow_kept", struct endpoint_row, slow_kept),
	COLUMN("slow_from_ns", struct endpoint_row, slow_from_ns),
	COLUMN("slow_to_ns", struct endpoint_row, slow_to_ns),
	COLUMN("grown", struct endpoint_row, grown),
	COLUMN("grown_ns", struct endpoint_row, grown_ns),
	COLUMN("blamed", struct endpoint_row, blamed),
	COLUMN("blamed_name$", struct endpoint_row, blamed_name),
	COLUMN("blamed_ns", struct endpoint_row, blamed_ns),
};

static const struct column called_columns[] = {
	COLUMN("endpoint+", struct called_row, endpoint),
	COLUMN("peer$", struct called_row, peer),
	COLUMN("protocol$", struct called_row, protocol),
	COLUMN("name$", struct called_row, name),
	COLUMN("typical_ns", struct called_row, typical_ns),
	COLUMN("slow_ns", struct called_row, slow_ns),
	COLUMN("calls_milli", struct called_row, calls_milli),
};

static const struct column process_columns[] = {
	COLUMN("endpoint+", struct process_row, endpoint),
	COLUMN("process", struct process_row, process),
};

static const struct column budget_columns[] = {
	COLUMN("endpoint+", struct budget_row, endpoint),
	COLUMN("slow", struct budget_row, slow),
	COLUMN("part", struct budget_row, part),
	COLUMN("ns", struct budget_row, ns),
};

static void write_budgets(struct writer *writer, struct part *part)
{
	write_names(part, "parts", request_part_names, request_part_meanings, BUDGET_COUNT);
	write_names(part, "outcomes", request_outcome_names, outcome_meanings,
		    REQUEST_OUTCOME_COUNT + 1);
	write_names(part, "models", request_model_names, model_meanings, REQUEST_MODEL_COUNT + 1);
	write_names(part, "grades", request_grade_names, request_grade_meanings,
		    REQUEST_GRADE_COUNT + 1);
	part_text(part, "\"endpoints\":");
	part_columns(part, endpoint_columns, ARRAY_SIZE(endpoint_columns), writer->endpoints,
		     sizeof(writer->endpoints[0]), writer->endpoint_count);
	part_text(part, ",\"endpoint_processes\":");
	part_columns(part, process_columns, ARRAY_SIZE(process_columns), writer->processes,
		     sizeof(writer->processes[0]), writer->process_count);
	part_text(part, ",\"budgets\":");
	part_columns(part, budget_columns, ARRAY_SIZE(budget_columns), writer->budgets,
		     sizeof(writer->budgets[0]), writer->budget_count);
	part_text(part, ",\"called\":");
	part_columns(part, called_columns, ARRAY_SIZE(called_columns), writer->called,
		     sizeof(writer->called[0]), writer->called_count);
}

int page_write_requests(struct page_data *data, struct part *part)
{
	struct writer writer = {.data = data, .requests = &data->digest->requests};
	int err = add_endpoints(&writer);

	part->is_omitted = !writer.endpoint_count;
	if (!err) {
		part_text(part, "{");
		write_budgets(&writer, part);
		err = request_rows_write(data, part, writer.endpoint_at);
		part_text(part, "}");
	}
	free(writer.endpoint_at);
	free(writer.endpoints);
	free(writer.processes);
	free(writer.budgets);
	free(writer.called);
	return err;
}
