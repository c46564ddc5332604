// SPDX-License-Identifier: Apache-2.0
/*
 * What an endpoint's typical requests spent their time on, and its slow ones: of those kept whole,
 * by their weights. Typical are those from the first to the third quartile, slow those from the
 * 95th percentile of all on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "digest.h"

#define SLOW_SHARE 0.95
#define LEAST	   3 /* kept requests: fewer say nothing of what slow ones have in common */

#define SHARES 16 /* of an endpoint: different ones */

static int order(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

static int by_latency(const void *a, const void *b)
{
	const struct request *x = a, *y = b;

	if (request_latency(x) != request_latency(y))
		return order(request_latency(y), request_latency(x));
	if (x->begin_ns != y->begin_ns)
		return order(x->begin_ns, y->begin_ns);
	return order(x->tid, y->tid);
}

/* Of each endpoint the answered ones, fastest first: kept has the slowest first. */
static int index_kept(struct requests *requests)
{
	size_t at = 0;

	if (!requests->kept_count)
		return 0;
	qsort(requests->kept, requests->kept_count, sizeof(struct request), by_latency);
	requests->by_endpoint = calloc(requests->kept_count, sizeof(u32));
	if (!requests->by_endpoint)
		return -ENOMEM;
	for (size_t i = 0; i < requests->kept_count; i++) {
		const struct request *request = &requests->kept[i];
		struct request_endpoint *endpoint =
			hash_item(&requests->endpoints, request->endpoint);

		if (!request->weight)
			continue;
		endpoint->kept++;
		endpoint->answered_kept += request->outcome == REQUEST_ANSWERED;
	}
	for (size_t i = 0; i < requests->endpoints.count; i++) {
		struct request_endpoint *endpoint = hash_item(&requests->endpoints, i);

		endpoint->first_kept = at;
		at += endpoint->answered_kept;
		endpoint->answered_kept = 0;
	}
	for (size_t i = requests->kept_count; i-- > 0;) {
		const struct request *request = &requests->kept[i];
		struct request_endpoint *endpoint =
			hash_item(&requests->endpoints, request->endpoint);

		if (request->outcome == REQUEST_ANSWERED && request->weight)
			requests->by_endpoint[endpoint->first_kept + endpoint->answered_kept++] =
				(u32)i;
	}
	return 0;
}

/* One of an endpoint's, fastest first. */
static const struct request *kept_at(const struct requests *requests,
				     const struct request_endpoint *endpoint, size_t at)
{
	return &requests->kept[requests->by_endpoint[endpoint->first_kept + at]];
}

/* The slowest are kept, so that the maximum is exact; without them it is the last bucket's end. */
static void find_max(const struct requests *requests, struct request_endpoint *endpoint)
{
	struct hist *latency = endpoint->latency;
	u32 last = HIST_BUCKETS;

	if (endpoint->answered_kept)
		endpoint->max_ns =
			request_latency(kept_at(requests, endpoint, endpoint->answered_kept - 1));
	if (!latency || !latency->count)
		return;
	while (last && !latency->buckets[last - 1])
		last--;
	if (last && endpoint->max_ns < hist_least(last - 1))
		endpoint->max_ns = hist_most(last - 1);
	latency->max = endpoint->max_ns;
}

/* The latency that a share of the kept ones, by weight, does not exceed. */
static u64 quantile(const struct requests *requests, const struct request_endpoint *endpoint,
		    double share)
{
	double all = 0, seen = 0;
	size_t i = 0;

	for (size_t k = 0; k < endpoint->answered_kept; k++)
		all += kept_at(requests, endpoint, k)->weight;
	for (; i + 1 < endpoint->answered_kept; i++) {
		seen += kept_at(requests, endpoint, i)->weight;
		if (seen >= share * all)
			break;
	}
	return request_latency(kept_at(requests, endpoint, i));
}

/* The average of those whose latency is in the budget's range. */
static void average(const struct requests *requests, const struct request_endpoint *endpoint,
		    struct request_budget *budget)
{
	double sums[BUDGET_COUNT] = {0}, weight = 0;

	for (size_t k = 0; k < endpoint->answered_kept; k++) {
		const struct request *request = kept_at(requests, endpoint, k);
		u64 latency_ns = request_latency(request);

		if (latency_ns < budget->from_ns || latency_ns > budget->to_ns)
			continue;
		budget->kept++;
		weight += request->weight;
		for (int i = 0; i < REQUEST_PART_COUNT; i++)
			sums[i] += request->weight * (double)request->part_ns[i];
		sums[BUDGET_QUEUE] += request->weight * (double)request->queue_ns;
	}
	for (int i = 0; budget->kept && i < BUDGET_COUNT; i++) {
		budget->ns[i] = (u64)(sums[i] / weight + 0.5);
		budget->sum_ns = profile_add(budget->sum_ns, budget->ns[i]);
	}
}

static void find_growth(struct request_endpoint *endpoint)
{
	if (endpoint->typical.kept < LEAST || endpoint->slow.kept < LEAST ||
	    endpoint->slow.from_ns <= endpoint->typical.to_ns)
		return;
	for (u32 i = 0; i < BUDGET_COUNT; i++) {
		u64 typical = endpoint->typical.ns[i], slow = endpoint->slow.ns[i];

		if (slow <= typical || slow - typical <= endpoint->grown_ns)
			continue;
		endpoint->has_growth = true;
		endpoint->grown = i;
		endpoint->grown_ns = slow - typical;
	}
}

static void find_budgets(const struct requests *requests, struct request_endpoint *endpoint)
{
	const struct hist *latency = endpoint->latency;

	find_max(requests, endpoint);
	if (!endpoint->answered_kept)
		return;
	endpoint->typical.from_ns = quantile(requests, endpoint, 0.25);
	endpoint->typical.to_ns = quantile(requests, endpoint, 0.75);
	endpoint->slow.from_ns = latency && latency->count
					 ? hist_percentile(latency, SLOW_SHARE)
					 : quantile(requests, endpoint, SLOW_SHARE);
	endpoint->slow.to_ns = ~0ULL;
	average(requests, endpoint, &endpoint->typical);
	average(requests, endpoint, &endpoint->slow);
	endpoint->slow.to_ns = endpoint->max_ns;
	find_growth(endpoint);
}

static int by_process(const void *a, const void *b)
{
	const struct request_process *x = a, *y = b;

	return x->endpoint != y->endpoint ? order(x->endpoint, y->endpoint) : order(x->pid, y->pid);
}

/*
 * Nothing is looked up by id any more: rows of one endpoint stand together, each process that is
 * wanted once.
 */
static void index_processes(struct requests *requests)
{
	struct request_process *rows = (struct request_process *)(void *)requests->processes.items;
	size_t count = 0;

	if (!requests->processes.count)
		return;
	qsort(rows, requests->processes.count, sizeof(*rows), by_process);
	for (size_t i = 0; i < requests->processes.count; i++) {
		struct request_endpoint *endpoint =
			hash_item(&requests->endpoints, rows[i].endpoint);

		if (!rows[i].is_wanted || (count && !by_process(&rows[count - 1], &rows[i])))
			continue;
		rows[count] = rows[i];
		if (!endpoint->process_count++)
			endpoint->first_process = count;
		count++;
	}
	requests->processes.count = count;
}

static int by_time(const void *a, const void *b)
{
	const struct request_endpoint *x = *(struct request_endpoint *const *)a;
	const struct request_endpoint *y = *(struct request_endpoint *const *)b;

	if (x->kind != y->kind)
		return order(x->kind, y->kind);
	if (x->counts.latency_ns != y->counts.latency_ns)
		return order(y->counts.latency_ns, x->counts.latency_ns);
	if (x->counts.requests != y->counts.requests)
		return order(y->counts.requests, x->counts.requests);
	return memcmp(x, y,
		      sizeof(x->service) + sizeof(x->kind) + sizeof(x->protocol) + sizeof(x->name));
}

static int by_service(const void *a, const void *b)
{
	const struct request_endpoint *x = *(struct request_endpoint *const *)a;
	const struct request_endpoint *y = *(struct request_endpoint *const *)b;

	if (x->service_ns != y->service_ns)
		return order(y->service_ns, x->service_ns);
	return x->service != y->service ? order(x->service, y->service) : by_time(a, b);
}

/* Those that had a request in the part that is shown. */
static int order_endpoints(struct requests *requests)
{
	size_t count = 0;

	requests->by_time = calloc(requests->endpoints.count + 1, sizeof(requests->by_time[0]));
	requests->by_service =
		calloc(requests->endpoints.count + 1, sizeof(requests->by_service[0]));
	if (!requests->by_time || !requests->by_service)
		return -ENOMEM;
	for (size_t i = 0; i < requests->endpoints.count; i++) {
		struct request_endpoint *endpoint = hash_item(&requests->endpoints, i);

		endpoint->service_ns = request_service(requests, endpoint)->counts.latency_ns;
		if (!endpoint->counts.requests)
			continue;
		requests->by_time[count++] = endpoint;
		requests->request_count += endpoint->kind == ENDPOINT_REQUEST;
	}
	requests->other_count = count - requests->request_count;
	qsort(requests->by_time, count, sizeof(requests->by_time[0]), by_time);
	memcpy(requests->by_service, requests->by_time,
	       requests->request_count * sizeof(requests->by_time[0]));
	qsort(requests->by_service, requests->request_count, sizeof(requests->by_service[0]),
	      by_service);
	return 0;
}

/* Of what slow requests spend more on: by whom, or where. */
struct shares {
	struct share {
		u64 who;
		double ns;
	} shares[SHARES];
	size_t count;
};

static void add_share(struct shares *shares, u64 who, double ns)
{
	size_t k = 0;

	while (k < shares->count && shares->shares[k].who != who)
		k++;
	if (k == SHARES)
		return;
	shares->count += k == shares->count;
	shares->shares[k].who = who;
	shares->shares[k].ns += ns;
}

/* Most of it is due to this one: less than a quarter of the part is nobody's. */
static u64 largest_share(const struct shares *shares, double weight, u64 part_ns, u64 *ret_who)
{
	u64 most = 0;

	for (size_t k = 0; k < shares->count; k++) {
		u64 ns = (u64)(shares->shares[k].ns / weight);

		if (ns < part_ns / 4 || ns <= most)
			continue;
		*ret_who = shares->shares[k].who;
		most = ns;
	}
	return most;
}

/* Who held slow requests up, and where in the code they waited. */
static void explain_growth(const struct requests *requests, struct request_endpoint *endpoint)
{
	u64 part_ns = endpoint->slow.ns[endpoint->grown];
	struct shares culprits = {0}, places = {0};
	double weight = 0;

	for (size_t i = 0; endpoint->has_growth && i < endpoint->answered_kept; i++) {
		const struct request *request = kept_at(requests, endpoint, i);
		const struct request_culprit *culprit = request_culprit(requests, request);

		if (request_latency(request) < endpoint->slow.from_ns)
			continue;
		weight += request->weight;
		if (culprit && culprit->part == endpoint->grown)
			add_share(&culprits, culprit->who,
				  request->weight * (double)culprit->least_ns);
		if (request->wait_stack && request->wait_part == endpoint->grown)
			add_share(&places, request->wait_stack,
				  request->weight * (double)request->wait_ns);
	}
	endpoint->culprit_ns = largest_share(&culprits, weight, part_ns, &endpoint->culprit);
	endpoint->wait_ns = largest_share(&places, weight, part_ns, &endpoint->wait_stack);
}

int requests_compute(sqlite3 *db, struct digest *digest)
{
	struct requests *requests = &digest->requests;
	double seconds = (double)digest_span(digest) / (double)NS_PER_S;
	int err = index_kept(requests);

	if (!err)
		err = requests_connect(digest);
	if (!err)
		err = requests_find_culprits(db, digest);
	if (err)
		return err;
	index_processes(requests);
	for (size_t i = 0; i < requests->endpoints.count; i++) {
		struct request_endpoint *endpoint = hash_item(&requests->endpoints, i);

		endpoint->rate = seconds > 0 ? (double)endpoint->counts.requests / seconds : 0;
		find_budgets(requests, endpoint);
		explain_growth(requests, endpoint);
	}
	err = requests_add_up_calls(requests);
	return err ? err : order_endpoints(requests);
}

size_t request_parts(const u64 part_ns[REQUEST_PART_COUNT], u64 queue_ns,
		     u32 ret_parts[BUDGET_COUNT])
{
	size_t count = 0, first;

	if (queue_ns)
		ret_parts[count++] = BUDGET_QUEUE;
	first = count;
	for (u32 i = 0; i < REQUEST_PART_COUNT; i++) {
		size_t at = count;

		if (!part_ns[i])
			continue;
		for (; at > first && part_ns[ret_parts[at - 1]] < part_ns[i]; at--)
			ret_parts[at] = ret_parts[at - 1];
		ret_parts[at] = i;
		count++;
	}
	return count;
}
