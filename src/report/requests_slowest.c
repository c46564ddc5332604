// SPDX-License-Identifier: Apache-2.0
/* Which requests are shown one by one. */
#include <stdlib.h>

#include "requests.h"

#define CALLERS_MAX 64 /* that are followed: a file can have long chains of them */

static int by_index(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* The list is in the order of kept. */
static bool has_caller_in(const struct requests *requests, const struct request *request,
			  const u32 *list, size_t count)
{
	for (int i = 0; i < CALLERS_MAX && (request = request_caller(requests, request)); i++) {
		u32 index = (u32)(request - requests->kept);

		if (bsearch(&index, list, count, sizeof(*list), by_index))
			return true;
	}
	return false;
}

/* One that answers a call can take longer than who made it: it is shown below that one. */
static size_t drop_those_below(const struct requests *requests, u32 caller, u32 *list, size_t count)
{
	size_t left = 0;

	if (!requests->kept[caller].call_count)
		return count;
	for (size_t i = 0; i < count; i++)
		if (!has_caller_in(requests, &requests->kept[list[i]], &caller, 1))
			list[left++] = list[i];
	return left;
}

size_t requests_slowest(const struct requests *requests, u32 *ret_list, size_t most)
{
	size_t count = 0;

	for (size_t i = 0; i < requests->kept_count && count < most; i++) {
		const struct request *request = &requests->kept[i];

		if (request_endpoint(requests, request)->kind != ENDPOINT_REQUEST ||
		    !request->weight || has_caller_in(requests, request, ret_list, count))
			continue;
		count = drop_those_below(requests, (u32)i, ret_list, count);
		ret_list[count++] = (u32)i;
	}
	return count;
}
