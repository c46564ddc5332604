// SPDX-License-Identifier: Apache-2.0
#include "otlp_conventions.h"

#include <stdio.h>
#include <string.h>

void otlp_attributes_init(struct otlp_attributes *attributes, struct otlp_pool *pool)
{
	attributes->pool = pool;
	attributes->places = otlp_alloc(pool, OTLP_ATTRIBUTES_MAX * sizeof(*attributes->places));
	attributes->count = 0;
}

static void add(struct otlp_attributes *attributes, Otlp__KeyValue *pair)
{
	if (pair && attributes->places && attributes->count < OTLP_ATTRIBUTES_MAX)
		attributes->places[attributes->count++] = pair;
}

static void add_text(struct otlp_attributes *attributes, const char *key, const char *text)
{
	if (*text)
		add(attributes, otlp_attribute(attributes->pool, key, text));
}

static void add_number(struct otlp_attributes *attributes, const char *key, u64 number)
{
	add(attributes, otlp_attribute_int(attributes->pool, key, (s64)number));
}

/* A name is words: which they are, and what follows the first. */
static const char *split(const char *name, char first[REQUEST_NAME_BYTES])
{
	size_t length = strcspn(name, " ");

	memcpy(first, name, length);
	first[length] = '\0';
	return name[length] ? name + length + 1 : name + length;
}

static void add_http(struct otlp_attributes *attributes, const struct request_side *side)
{
	char method[REQUEST_NAME_BYTES];
	const char *path = split(side->name, method);

	add_text(attributes, "network.protocol.name", "http");
	if (*path == '/') {
		add_text(attributes, "http.request.method", method);
		add_text(attributes, "url.template", path);
	}
	if (strlen(side->status) == 3 && strspn(side->status, "0123456789") == 3) {
		u64 code = 0;

		for (int i = 0; i < 3; i++)
			code = 10 * code + (u64)(side->status[i] - '0');
		add_number(attributes, "http.response.status_code", code);
	}
}

static void add_database(struct otlp_attributes *attributes, const struct request_side *side,
			 const char *system)
{
	char operation[REQUEST_NAME_BYTES];
	const char *table = split(side->name, operation);

	add_text(attributes, "db.system.name", system);
	if (side->is_error && side->is_answered)
		add_text(attributes, "db.response.status_code", side->status);
	if (*operation == '(' || !strcmp(operation, system))
		return; /* "(connect)", or no name */
	add_text(attributes, "db.query.summary", side->name);
	add_text(attributes, "db.operation.name", operation);
	if (*table && !strchr(table, ' '))
		add_text(attributes, "db.collection.name", table);
}

static void add_protocol(struct otlp_attributes *attributes, const struct request_side *side)
{
	static const char *const databases[] = {"postgresql", "mysql", "redis"};
	char protocol[REQUEST_WORD_BYTES];

	request_protocol(side, protocol);
	if (!strcmp(protocol, "http") || !strcmp(protocol, "http2"))
		add_http(attributes, side);
	if (!strcmp(protocol, "http2"))
		add_text(attributes, "network.protocol.version", "2");
	if (!strcmp(protocol, "http2") && request_grpc_status(side) >= 0) {
		add_text(attributes, "rpc.system", "grpc");
		add_number(attributes, "rpc.grpc.status_code", (u64)request_grpc_status(side));
	}
	for (size_t i = 0; i < sizeof(databases) / sizeof(databases[0]); i++)
		if (!strcmp(protocol, databases[i]))
			add_database(attributes, side, databases[i]);
}

/* "127.0.0.1:8000" without its port; the path of a Unix socket. */
static void add_server(struct otlp_attributes *attributes, const struct request_side *side)
{
	char address[REQUEST_ADDRESS_BYTES];
	char *colon;

	snprintf(address, sizeof(address), "%s", side->server);
	colon = side->port ? strrchr(address, ':') : NULL;
	if (colon)
		*colon = '\0';
	add_text(attributes, "server.address", address);
	if (side->port)
		add_number(attributes, "server.port", side->port);
	if (side->port || *address)
		add_text(attributes, "network.transport", side->port ? "tcp" : "unix");
}

static void add_side(struct otlp_attributes *attributes, const struct request_side *side)
{
	add_protocol(attributes, side);
	add_server(attributes, side);
	if (side->is_error)
		add_text(attributes, "error.type",
			 side->is_answered ? side->status : side->outcome);
	add_number(attributes, "thread.id", side->tid);
	add_text(attributes, "dwell.outcome", side->outcome);
	add_number(attributes, "dwell.sent_bytes", side->sent);
	add_number(attributes, "dwell.received_bytes", side->received);
}

void otlp_describe_request(struct otlp_attributes *attributes, const struct request_span *request)
{
	static const char *const keys[] = {
#define PART(NAME, name, ...) "dwell.part." #name "_ns",
		REQUEST_PARTS(PART)
#undef PART
	};

	add_side(attributes, &request->side);
	if (request->side.client_port)
		add_number(attributes, "client.port", request->side.client_port);
	add_text(attributes, "dwell.kind", request->kind);
	add_text(attributes, "dwell.model", request->model);
	add_number(attributes, "dwell.weight", request->weight);
	add_number(attributes, "dwell.queue_ns", request->queue_ns);
	for (int i = 0; i < REQUEST_PART_COUNT; i++)
		if (request->part_ns[i])
			add_number(attributes, keys[i], request->part_ns[i]);
	if (request->parent)
		add_text(attributes, "dwell.link", request->grade);
}

void otlp_describe_call(struct otlp_attributes *attributes, const struct request_call *call)
{
	add_side(attributes, &call->side);
	if (call->side.client_port)
		add_number(attributes, "network.local.port", call->side.client_port);
	add_number(attributes, "dwell.wait_ns", call->wait_ns);
	add_text(attributes, "dwell.link", call->grade);
}
