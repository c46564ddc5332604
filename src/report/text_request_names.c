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

void text_target(const struct page *page, const struct request_target *target, int at,
		 char buf[ENDPOINT_TEXT_BYTES])
{
	char peer[2 * REQUEST_PEER_BYTES], name[4 * REQUEST_NAME_BYTES];

	format_middle(target->peer, page_room(page, page->columns - at - 1), peer, sizeof(peer));
	format_middle(request_target_name(target), page_room(page, page->columns - at - 1), name,
		      sizeof(name));
	snprintf(buf, ENDPOINT_TEXT_BYTES, "%s %s", peer, name);
}

void text_culprit(const struct digest *digest, u32 part, u64 who, char *buf, size_t size)
{
	char text[DIGEST_TEXT + 32];

	*buf = '\0';
	if (part == REQUEST_PART_DISK) {
		format_object(digest, who, text, sizeof(text));
		format_add(buf, size, "for %s", ESCAPED(text));
	} else {
		format_tid(digest, (u32)who, text, sizeof(text));
		format_add(buf, size, "held up by %s", text);
	}
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

/* The target in whose calls at least half of the time is that slow ones take more. */
static const struct request_target *
grown_target(const struct requests *requests, const struct request_endpoint *endpoint, u64 *ret_ns)
{
	double least = ((double)endpoint->slow.sum_ns - (double)endpoint->typical.sum_ns) / 2;

	if (!endpoint->average_ns[REQUESTS_TYPICAL] || !endpoint->average_ns[REQUESTS_SLOW])
		return NULL;
	for (size_t i = 0; i < endpoint->called_count; i++) {
		const struct request_called *called =
			hash_item(&requests->called, endpoint->first_called + i);
		double ns = called->ns[REQUESTS_SLOW] - called->ns[REQUESTS_TYPICAL];

		if (ns < least || ns < 1)
			continue;
		*ret_ns = (u64)ns;
		return hash_item(&requests->targets, called->target);
	}
	return NULL;
}

void text_reason(const struct digest *digest, const struct request_endpoint *endpoint, char *buf,
		 size_t size)
{
	const struct request_target *target;
	char culprit[2 * DIGEST_TEXT];
	u64 ns = 0;

	*buf = '\0';
	if (!endpoint->has_growth)
		return;
	if (endpoint->culprit_ns) {
		text_culprit(digest, endpoint->grown, endpoint->culprit, culprit, sizeof(culprit));
		format_add(buf, size, "; at least %s %s", VALUE(UNIT_NS, endpoint->culprit_ns),
			   culprit);
	}
	target = grown_target(&digest->requests, endpoint, &ns);
	if (target)
		format_add(buf, size, "; %s more in linked calls to %s %s", VALUE(UNIT_NS, ns),
			   ESCAPED(target->peer), ESCAPED(request_target_name(target)));
}
