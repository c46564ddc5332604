// SPDX-License-Identifier: Apache-2.0
/*
 * Requests and calls as trees: which calls a request made, in order, and which request answered
 * each of them. A file can say anything: what would be a circle is cut.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/text.h"
#include "digest.h"
#include "format.h"

/* Where a request is in kept, now that it is sorted. Opens with its key. */
struct kept_place {
	u64 id;
	/* the key ends here */
	u64 index;
};

static struct request_call *call_at(const struct requests *requests, size_t index)
{
	return hash_item(&requests->calls, index);
}

static int index_requests(const struct requests *requests, struct hash *places)
{
	hash_init(places, sizeof(struct kept_place), sizeof(u64), requests->kept_count + 1);
	for (size_t i = 0; i < requests->kept_count; i++) {
		struct kept_place *place = hash_add(places, &requests->kept[i].id);

		if (!place)
			return -ENOMEM;
		place->index = i;
	}
	return 0;
}

/* Each call was read for a request: it is there. */
static void find_callers(struct requests *requests, const struct hash *places)
{
	for (size_t i = 0; i < requests->calls.count; i++) {
		struct request_call *call = call_at(requests, i);
		const struct kept_place *place = hash_find(places, &call->caller);

		call->request = place ? (u32)place->index : 0;
	}
}

/* The first one that answers a call is taken: there is one, unless the file is damaged. */
static void find_answers(struct requests *requests)
{
	for (size_t i = 0; i < requests->kept_count; i++) {
		struct request *request = &requests->kept[i];
		struct request_call *call =
			request->parent ? hash_find(&requests->calls, &request->parent) : NULL;
		struct request_asked *asked;

		if (!call || call->answer != REQUEST_NONE)
			continue;
		call->answer = (u32)i;
		asked = hash_item(&requests->asked, call->target);
		if (asked->object && asked->service == REQUEST_NONE)
			asked->service = request_endpoint(requests, request)->service;
	}
}

static int order(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

static int by_begin(const void *a, const void *b)
{
	const struct request_call *x = a, *y = b;

	if (x->request != y->request)
		return order(x->request, y->request);
	if (x->begin_ns != y->begin_ns)
		return order(x->begin_ns, y->begin_ns);
	return order(x->id, y->id);
}

static void sort_calls(struct requests *requests)
{
	if (!requests->calls.count)
		return;
	qsort(requests->calls.items, requests->calls.count, sizeof(struct request_call), by_begin);
	for (size_t i = 0; i < requests->calls.count; i++) {
		const struct request_call *call = call_at(requests, i);
		struct request *request = &requests->kept[call->request];

		if (!request->call_count++)
			request->first_call = i;
		if (call->answer != REQUEST_NONE)
			requests->kept[call->answer].call = (u32)i;
	}
}

/* One that would answer a call of itself, or of one below it, answers none. */
static void cut_circles(struct requests *requests)
{
	for (size_t i = 0; i < requests->kept_count; i++) {
		struct request *request = &requests->kept[i];
		const struct request *at = request;
		u32 depth = 0;

		while (at && depth++ <= 2 * REQUEST_DEPTH_MAX)
			at = request_caller(requests, at);
		if (!at)
			continue;
		call_at(requests, request->call)->answer = REQUEST_NONE;
		request->call = REQUEST_NONE;
	}
}

static void name_peer(const struct digest *digest, u64 object, u32 service, char *buf, size_t size)
{
	const struct requests *requests = &digest->requests;
	char text[DIGEST_TEXT + 32];

	if (service != REQUEST_NONE)
		request_service_text(hash_item(&requests->services, service), text, sizeof(text));
	else
		format_object(digest, object, text, sizeof(text));
	text_copy(buf, size, *text ? text : "(unknown peer)");
}

/* Addresses of one service are one peer. Returns its index; REQUEST_NONE: no memory. */
static u32 add_target(struct digest *digest, const struct request_asked *asked, u32 service)
{
	struct requests *requests = &digest->requests;
	struct request_target key, *target;

	memset(&key, 0, sizeof(key));
	name_peer(digest, asked->object, service, key.peer, sizeof(key.peer));
	memcpy(key.protocol, asked->protocol, sizeof(key.protocol));
	memcpy(key.name, asked->name, sizeof(key.name));
	target = hash_add(&requests->targets, &key);
	return target ? (u32)(target - (struct request_target *)(void *)requests->targets.items)
		      : REQUEST_NONE;
}

/* Of a Unix socket no address is known: only the request that answered a call says whose it is. */
static u32 target_of_unix(struct digest *digest, const struct request_call *call,
			  const struct request_asked *asked)
{
	const struct requests *requests = &digest->requests;
	const struct request *answer = request_answer(requests, call);

	return add_target(digest, asked,
			  answer ? request_endpoint(requests, answer)->service : REQUEST_NONE);
}

static int name_targets(struct digest *digest)
{
	struct requests *requests = &digest->requests;

	for (size_t i = 0; i < requests->asked.count; i++) {
		struct request_asked *asked = hash_item(&requests->asked, i);

		if (!asked->object)
			continue;
		asked->target = add_target(digest, asked, asked->service);
		if (asked->target == REQUEST_NONE)
			return -ENOMEM;
	}
	for (size_t i = 0; i < requests->calls.count; i++) {
		struct request_call *call = call_at(requests, i);
		const struct request_asked *asked = hash_item(&requests->asked, call->target);

		call->target = asked->object ? asked->target : target_of_unix(digest, call, asked);
		if (call->target == REQUEST_NONE)
			return -ENOMEM;
	}
	return 0;
}

int requests_connect(struct digest *digest)
{
	struct requests *requests = &digest->requests;
	struct hash places;
	int err;

	if (!requests->calls.count)
		return 0;
	err = index_requests(requests, &places);
	if (!err) {
		find_callers(requests, &places);
		find_answers(requests);
		err = name_targets(digest);
	}
	hash_free(&places);
	if (err)
		return err;
	sort_calls(requests);
	cut_circles(requests);
	return 0;
}
