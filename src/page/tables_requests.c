// SPDX-License-Identifier: Apache-2.0
/* Requests: endpoints, what slow ones spend more time on, and the slowest of those that were kept.
 */
#include "../base/cleanup.h"
#include "../report/requests.h"
#include "table.h"

#define SLOWEST_SHOWN 100

static const struct request_service *service_of(const struct requests *requests,
						const struct request_endpoint *endpoint)
{
	return hash_item(&requests->services, endpoint->service);
}

static s64 percentile(const struct request_endpoint *endpoint, double share)
{
	return (s64)hist_percentile(endpoint->latency, share);
}

/* "nginx :80" */
static void table_server(struct page_table *table, size_t column,
			 const struct request_endpoint *endpoint)
{
	char text[128];

	request_service_text(service_of(&table->data->digest->requests, endpoint), text,
			     sizeof(text));
	table_text(table, column, text);
}

int tables_endpoints(struct table_list *list)
{
	enum { ENDPOINT, PROTOCOL, SERVER, PORT, COUNT, RATE, ERRORS, TOTAL, P50, P95, P99, MOST };
	static const struct table_column columns[] = {
		[ENDPOINT] = {"endpoint", "", TABLE_TEXT},
		[PROTOCOL] = {"protocol", "", TABLE_TEXT},
		[SERVER] = {"server", "", TABLE_TEXT},
		[PORT] = {"port", "", TABLE_ID},
		[COUNT] = {"requests", "", TABLE_COUNT},
		[RATE] = {"rate", "a second", TABLE_RATE},
		[ERRORS] = {"errors", "", TABLE_COUNT},
		[TOTAL] = {"total_ns", "total", TABLE_NS},
		[P50] = {"p50_ns", "p50", TABLE_NS},
		[P95] = {"p95_ns", "p95", TABLE_NS},
		[P99] = {"p99_ns", "p99", TABLE_NS},
		[MOST] = {"max_ns", "max", TABLE_NS},
	};
	struct page_table table = {.id = "endpoints",
				   .tab = "requests",
				   .title = "Endpoints",
				   .about = "from a request's first data to the last send of its "
					    "answer",
				   .columns = columns,
				   .column_count = ARRAY_SIZE(columns)};
	const struct requests *requests = &list->data->digest->requests;

	table_begin(list, &table);
	for (size_t i = 0; i < requests->request_count; i++) {
		const struct request_endpoint *endpoint = requests->by_time[i];
		const struct request_service *service = service_of(requests, endpoint);

		if (!table_row(&table))
			continue; /* counted */
		table_text(&table, ENDPOINT, endpoint->name);
		table_text(&table, PROTOCOL, endpoint->protocol);
		table_text(&table, SERVER, service->comm);
		table_number(&table, PORT, (s64)service->port);
		table_number(&table, COUNT, (s64)endpoint->counts.requests);
		table_real(&table, RATE, endpoint->rate);
		table_number(&table, ERRORS, (s64)endpoint->counts.errors);
		table_number(&table, TOTAL, (s64)endpoint->counts.latency_ns);
		if (!endpoint->latency)
			continue;
		table_number(&table, P50, percentile(endpoint, 0.50));
		table_number(&table, P95, percentile(endpoint, 0.95));
		table_number(&table, P99, percentile(endpoint, 0.99));
		table_number(&table, MOST, (s64)endpoint->max_ns);
	}
	return table_end(list, &table);
}

int tables_budgets(struct table_list *list)
{
	enum { ENDPOINT, SERVER, PART, MEANING, TYPICAL, SLOW };
	static const struct table_column columns[] = {
		[ENDPOINT] = {"endpoint", "", TABLE_TEXT},
		[SERVER] = {"server", "", TABLE_TEXT},
		[PART] = {"part", "", TABLE_TEXT},
		[MEANING] = {"meaning", "", TABLE_TEXT},
		[TYPICAL] = {"typical_ns", "typical request", TABLE_NS},
		[SLOW] = {"slow_ns", "slow request", TABLE_NS},
	};
	struct page_table table = {.id = "budgets",
				   .tab = "requests",
				   .title = "Budgets",
				   .about = "what an average request of the middle half, and one "
					    "from p95 on, spent its time on",
				   .columns = columns,
				   .column_count = ARRAY_SIZE(columns)};
	const struct requests *requests = &list->data->digest->requests;

	table_begin(list, &table);
	for (size_t i = 0; i < requests->request_count; i++) {
		const struct request_endpoint *endpoint = requests->by_time[i];

		if (endpoint->answered_kept < REQUESTS_BUDGET_LEAST)
			continue;
		for (u32 part = 0; part < BUDGET_COUNT; part++) {
			u64 typical = endpoint->typical.ns[part], slow = endpoint->slow.ns[part];

			if ((!typical && !slow) || !table_row(&table))
				continue; /* nothing, or counted */
			table_text(&table, ENDPOINT, endpoint->name);
			table_server(&table, SERVER, endpoint);
			table_text(&table, PART, request_part_names[part]);
			table_text(&table, MEANING, request_part_meanings[part]);
			table_number(&table, TYPICAL, (s64)typical);
			if (endpoint->slow.kept)
				table_number(&table, SLOW, (s64)slow);
		}
	}
	return table_end(list, &table);
}

int tables_slowest_requests(struct table_list *list)
{
	enum { TIME, ENDPOINT, SERVER, PID, STATUS, TOTAL, QUEUE, WINDOW, LARGEST, LARGEST_NS };
	static const struct table_column columns[] = {
		[TIME] = {"time", "", TABLE_TIME},
		[ENDPOINT] = {"endpoint", "", TABLE_TEXT},
		[SERVER] = {"server", "", TABLE_TEXT},
		[PID] = {"pid", "", TABLE_ID},
		[STATUS] = {"status", "", TABLE_TEXT},
		[TOTAL] = {"latency_ns", "latency", TABLE_NS},
		[QUEUE] = {"queue_ns", "before it was read", TABLE_NS},
		[WINDOW] = {"window_ns", "after", TABLE_NS},
		[LARGEST] = {"part", "mostly", TABLE_TEXT},
		[LARGEST_NS] = {"part_ns", "of that", TABLE_NS},
	};
	struct page_table table = {.id = "slowest_requests",
				   .tab = "requests",
				   .title = "Slowest requests",
				   .about = "of those that were kept whole, without those that "
					    "another one in the list called",
				   .columns = columns,
				   .column_count = ARRAY_SIZE(columns)};
	const struct digest *digest = list->data->digest;
	const struct requests *requests = &digest->requests;
	u32 slowest[SLOWEST_SHOWN];
	size_t shown = requests_slowest(requests, slowest, SLOWEST_SHOWN);

	table_begin(list, &table);
	for (size_t i = 0; i < shown; i++) {
		const struct request *request = &requests->kept[slowest[i]];
		const struct request_endpoint *endpoint = request_endpoint(requests, request);
		u32 parts[BUDGET_COUNT];
		size_t count = request_parts(request->part_ns, 0, parts);

		if (!table_row(&table))
			continue; /* counted */
		table_number(&table, TIME,
			     request->begin_ns > digest->start_ns
				     ? (s64)(request->begin_ns - digest->start_ns)
				     : 0);
		table_text(&table, ENDPOINT, endpoint->name);
		table_server(&table, SERVER, endpoint);
		table_number(&table, PID, (s64)request->pid);
		table_text(&table, STATUS, request->status);
		table_number(&table, TOTAL, (s64)request_latency(request));
		table_number(&table, QUEUE, (s64)request->queue_ns);
		table_number(&table, WINDOW, (s64)request->window_ns);
		if (!count)
			continue;
		table_text(&table, LARGEST, request_part_names[parts[0]]);
		table_number(&table, LARGEST_NS, (s64)request->part_ns[parts[0]]);
	}
	return table_end(list, &table);
}
