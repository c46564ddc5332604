// SPDX-License-Identifier: Apache-2.0
/* What endpoints, models of servers and growth read like. */
#include "format_value.h"
#include "text_requests.h"

void text_endpoint(const struct page *page, const struct requests *requests,
		   const struct request_endpoint *endpoint, int at, char buf[ENDPOINT_TEXT_BYTES])
{
	char service[128], name[4 * REQUEST_NAME_BYTES];

	request_service_text(request_service(requests, endpoint), service, sizeof(service));
	/* A colon or comma may follow. */
	format_middle(request_name(endpoint), page_room(page, page->columns - at - 1), name,
		      sizeof(name));
	snprintf(buf, ENDPOINT_TEXT_BYTES, "%s %s", ESCAPED(service), name);
}

static const char *const model_texts[REQUEST_MODEL_COUNT] = {
	[REQUEST_MODEL_THREAD] = "thread per request",
	[REQUEST_MODEL_LOOP] = "event loop",
	[REQUEST_MODEL_POOL] = "thread pool",
};

void text_models(const struct request_counts *counts, char *buf, size_t size)
{
	u64 all = 0;
	const char *before = "";

	*buf = '\0';
	for (int i = 0; i < REQUEST_MODEL_COUNT; i++)
		all = profile_add(all, counts->models[i]);
	for (int i = 0; i < REQUEST_MODEL_COUNT; i++) {
		u64 count = counts->models[i];

		if (!count)
			continue;
		format_add(buf, size, "%s%s", before, model_texts[i]);
		if (count != all)
			format_add(buf, size, " %s", SHARE(count, all));
		before = ", ";
	}
}

void text_growth(const struct request_endpoint *endpoint, char *buf, size_t size)
{
	*buf = '\0';
	if (endpoint->has_growth)
		format_add(buf, size, "slow ones (>= %s) spend %s more in %s",
			   VALUE(UNIT_NS, endpoint->slow.from_ns),
			   VALUE(UNIT_NS, endpoint->grown_ns), request_part_names[endpoint->grown]);
}
