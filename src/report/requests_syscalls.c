// SPDX-License-Identifier: Apache-2.0
/*
 * Which system calls the processes of a service made, where that can be divided by its requests:
 * all of them were measured all the time, and they answered requests of this service only.
 */
#include <errno.h>
#include <stdlib.h>

#include "calls.h"
#include "digest.h"

#define PROCESSES_MAX 4096 /* of a service that are looked at */

/* Processes of some endpoints, each once; opens with its key. */
struct pid_row {
	u64 pid;
};

static int collect(const struct requests *requests, const struct request_service *service,
		   bool is_of_others, struct hash *pids)
{
	for (size_t i = 0; i < requests->endpoints.count; i++) {
		const struct request_endpoint *endpoint = hash_item(&requests->endpoints, i);
		bool is_other = request_service(requests, endpoint) != service;

		for (size_t k = 0; is_other == is_of_others && k < endpoint->process_count; k++) {
			const struct request_process *process =
				hash_item(&requests->processes, endpoint->first_process + k);
			u64 pid = process->pid;

			if (is_of_others && !hash_find(pids, &pid))
				continue;
			if (is_of_others)
				return -EBUSY;
			if (!hash_add(pids, &pid))
				return -ENOMEM;
		}
	}
	return 0;
}

static int by_count(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

static bool is_all_measured(const struct digest *digest)
{
	return digest->calls.count && !digest->options->part.tid_count &&
	       !digest_partial_cover(digest, "tier_b") && !digest_partial_cover(digest, "requests");
}

/* Of all processes with these pids. */
static int add_up(const struct digest *digest, const struct hash *pids, struct hash *calls)
{
	int err = 0;

	for (size_t i = 0; !err && i < digest->process_count; i++) {
		u64 pid = digest->processes[i].pid;

		if (hash_find(pids, &pid))
			err = calls_add_process(digest, &digest->processes[i], calls);
	}
	return err;
}

void requests_service_calls(const struct digest *digest, const struct request_service *service,
			    struct hash *ret_calls)
{
	const struct requests *requests = &digest->requests;
	struct hash pids;

	calls_init(ret_calls);
	hash_init(&pids, sizeof(struct pid_row), sizeof(u64), PROCESSES_MAX);
	if (is_all_measured(digest) && service->counts.requests &&
	    !collect(requests, service, false, &pids) && !collect(requests, service, true, &pids) &&
	    add_up(digest, &pids, ret_calls))
		hash_clear(ret_calls);
	if (ret_calls->count)
		qsort(ret_calls->items, ret_calls->count, sizeof(struct call), by_count);
	hash_free(&pids);
}
