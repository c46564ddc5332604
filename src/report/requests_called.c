// SPDX-License-Identifier: Apache-2.0
/*
 * What an endpoint's requests call, of those that were kept, by their weights: how often, and how
 * much of their time one of these calls was under way. Calls at the same time count once. Requests
 * with calls beyond a limit are left out.
 */
#include <errno.h>
#include <stdlib.h>

#include "digest.h"

/* An endpoint's sums. */
struct sums {
	double weight[REQUEST_GROUPS], ns[REQUEST_GROUPS];
};

static bool is_in(const struct request_budget *budget, u64 latency_ns)
{
	return latency_ns >= budget->from_ns && latency_ns <= budget->to_ns;
}

/* Bits of the groups that a request is in. */
static u32 groups_of(const struct request_endpoint *endpoint, const struct request *request)
{
	u64 latency_ns = request_latency(request);

	return 1U << REQUESTS_ALL | (u32)is_in(&endpoint->typical, latency_ns) << REQUESTS_TYPICAL |
	       (u32)is_in(&endpoint->slow, latency_ns) << REQUESTS_SLOW;
}

/* How long some call of the target was under way, within the request. They are sorted by begin. */
static u64 time_in_calls(const struct requests *requests, const struct request *request, u32 target)
{
	u64 until_ns = request->begin_ns, sum = 0;
	u64 last_ns = request->begin_ns + request_latency(request);

	for (size_t i = 0; i < request->call_count; i++) {
		const struct request_call *call = request_call(requests, request, i);
		u64 begin_ns = call->begin_ns > until_ns ? call->begin_ns : until_ns;
		u64 end_ns = call->begin_ns + call->window_ns;

		end_ns = end_ns < last_ns ? end_ns : last_ns;
		if (call->target != target || end_ns <= begin_ns)
			continue;
		sum += end_ns - begin_ns;
		until_ns = end_ns;
	}
	return sum;
}

static bool is_first_of_target(const struct requests *requests, const struct request *request,
			       size_t at)
{
	u32 target = request_call(requests, request, at)->target;

	for (size_t i = 0; i < at; i++)
		if (request_call(requests, request, i)->target == target)
			return false;
	return true;
}

/* There are no more pairs of an endpoint and a target than calls: each fits. */
static int add_calls(struct requests *requests, const struct request *request, u32 groups)
{
	for (size_t i = 0; i < request->call_count; i++) {
		u32 key[2] = {request->endpoint, request_call(requests, request, i)->target};
		struct request_called *called = hash_add(&requests->called, key);
		u64 ns = is_first_of_target(requests, request, i)
				 ? time_in_calls(requests, request, key[1])
				 : 0;

		if (!called)
			return -ENOMEM;
		for (int group = 0; group < REQUEST_GROUPS; group++) {
			if (!(groups & 1U << group))
				continue;
			called->calls[group] += request->weight;
			called->ns[group] += request->weight * (double)ns;
		}
	}
	return 0;
}

static void count_links(const struct requests *requests, const struct request *request,
			struct request_endpoint *endpoint)
{
	endpoint->linked_calls += request->call_count;
	for (size_t i = 0; i < request->call_count; i++) {
		u32 grade = request_call(requests, request, i)->grade;

		endpoint->unconfirmed_calls +=
			grade != REQUEST_GRADE_CONFIRMED && grade != REQUEST_GRADE_PUBLISHED;
	}
}

static int add_endpoint(struct requests *requests, struct request_endpoint *endpoint,
			struct sums *sums)
{
	for (size_t k = 0; k < endpoint->answered_kept; k++) {
		const struct request *request =
			&requests->kept[requests->by_endpoint[endpoint->first_kept + k]];
		u32 groups = groups_of(endpoint, request);
		int err;

		if (request->lacks_calls)
			continue;
		for (int group = 0; group < REQUEST_GROUPS; group++) {
			if (!(groups & 1U << group))
				continue;
			sums->weight[group] += request->weight;
			sums->ns[group] += request->weight * (double)request_latency(request);
		}
		count_links(requests, request, endpoint);
		err = add_calls(requests, request, groups);
		if (err)
			return err;
	}
	return 0;
}

static void take_averages(struct requests *requests, const struct sums *all)
{
	for (size_t i = 0; i < requests->endpoints.count; i++) {
		struct request_endpoint *endpoint = hash_item(&requests->endpoints, i);

		for (int group = 0; group < REQUEST_GROUPS; group++) {
			double weight = all[i].weight[group];

			if (weight <= 0)
				continue;
			endpoint->average_ns[group] = (u64)(all[i].ns[group] / weight + 0.5);
		}
	}
	for (size_t i = 0; i < requests->called.count; i++) {
		struct request_called *called = hash_item(&requests->called, i);

		for (int group = 0; group < REQUEST_GROUPS; group++) {
			double weight = all[called->endpoint].weight[group];

			if (weight <= 0)
				continue;
			called->calls[group] /= weight;
			called->ns[group] /= weight;
		}
	}
}

static int by_endpoint(const void *a, const void *b)
{
	const struct request_called *x = a, *y = b;

	if (x->endpoint != y->endpoint)
		return x->endpoint < y->endpoint ? -1 : 1;
	if (x->ns[REQUESTS_ALL] != y->ns[REQUESTS_ALL])
		return x->ns[REQUESTS_ALL] > y->ns[REQUESTS_ALL] ? -1 : 1;
	return x->target < y->target ? -1 : x->target > y->target;
}

static void index_called(struct requests *requests)
{
	if (!requests->called.count)
		return;
	qsort(requests->called.items, requests->called.count, sizeof(struct request_called),
	      by_endpoint);
	for (size_t i = 0; i < requests->called.count; i++) {
		const struct request_called *called = hash_item(&requests->called, i);
		struct request_endpoint *endpoint =
			hash_item(&requests->endpoints, called->endpoint);

		if (!endpoint->called_count++)
			endpoint->first_called = i;
	}
}

int requests_add_up_calls(struct requests *requests)
{
	struct sums *all;
	int err = 0;

	if (!requests->calls.count)
		return 0;
	all = calloc(requests->endpoints.count, sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (size_t i = 0; !err && i < requests->endpoints.count; i++)
		err = add_endpoint(requests, hash_item(&requests->endpoints, i), &all[i]);
	if (!err) {
		take_averages(requests, all);
		index_called(requests);
	}
	free(all);
	return err;
}
