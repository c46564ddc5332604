// SPDX-License-Identifier: Apache-2.0
#include "otlp.h"

#include <stdlib.h>
#include <string.h>

#include "../base/utf8.h"

#define BLOCK_BYTES	    65536
#define ALIGNMENT	    16
#define TEXT_BYTES	    2048
#define RESOURCE_ATTRIBUTES 3
#define PROCESS_ATTRIBUTES  4

struct otlp_block {
	struct otlp_block *next;
	size_t used, size;
	char bytes[] __attribute__((aligned(ALIGNMENT)));
};

void *otlp_alloc(struct otlp_pool *pool, size_t size)
{
	struct otlp_block *block = pool->blocks;
	void *given;

	size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (!block || block->size - block->used < size) {
		size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;

		block = calloc(1, sizeof(*block) + room);
		if (!block) {
			pool->has_failed = true;
			return NULL;
		}
		block->size = room;
		block->next = pool->blocks;
		pool->blocks = block;
	}
	given = block->bytes + block->used;
	block->used += size;
	return given;
}

char *otlp_text(struct otlp_pool *pool, const char *text)
{
	char escaped[4 * TEXT_BYTES];
	char *copy;

	utf8_escape(escaped, sizeof(escaped), text);
	copy = otlp_alloc(pool, strlen(escaped) + 1);
	return copy ? memcpy(copy, escaped, strlen(escaped) + 1) : NULL;
}

void otlp_free(struct otlp_pool *pool)
{
	while (pool->blocks) {
		struct otlp_block *next = pool->blocks->next;

		free(pool->blocks);
		pool->blocks = next;
	}
}

static Otlp__KeyValue *new_attribute(struct otlp_pool *pool, const char *key)
{
	Otlp__KeyValue *pair = otlp_alloc(pool, sizeof(*pair));
	Otlp__AnyValue *value = otlp_alloc(pool, sizeof(*value));

	if (!pair || !value)
		return NULL;
	otlp__key_value__init(pair);
	otlp__any_value__init(value);
	pair->key = (char *)key;
	pair->value = value;
	return pair;
}

Otlp__KeyValue *otlp_attribute(struct otlp_pool *pool, const char *key, const char *text)
{
	Otlp__KeyValue *pair = new_attribute(pool, key);
	char *copy = otlp_text(pool, text);

	if (!pair || !copy)
		return NULL;
	pair->value->string_value = copy;
	return pair;
}

Otlp__KeyValue *otlp_attribute_int(struct otlp_pool *pool, const char *key, s64 number)
{
	Otlp__KeyValue *pair = new_attribute(pool, key);

	if (pair)
		WIRE_SET(pair->value, int_value, number);
	return pair;
}

Otlp__Resource *otlp_resource(struct otlp_pool *pool, const struct timeline *timeline,
			      const char *service)
{
	const char *host = timeline_text(timeline, timeline->facts.host);
	const struct {
		const char *key, *text;
	} attributes[RESOURCE_ATTRIBUTES] = {
		{"service.name", service}, {"host.name", host}, {"os.type", "linux"}};
	Otlp__Resource *resource = otlp_alloc(pool, sizeof(*resource));
	Otlp__KeyValue **places =
		otlp_alloc(pool, (RESOURCE_ATTRIBUTES + PROCESS_ATTRIBUTES) * sizeof(*places));

	if (!resource || !places)
		return NULL;
	otlp__resource__init(resource);
	resource->attributes = places;
	for (size_t i = 0; i < RESOURCE_ATTRIBUTES; i++) {
		if (!*attributes[i].text)
			continue;
		places[resource->n_attributes] =
			otlp_attribute(pool, attributes[i].key, attributes[i].text);
		if (!places[resource->n_attributes++])
			return NULL;
	}
	return resource;
}

Otlp__Resource *otlp_resource_process(struct otlp_pool *pool, const struct timeline *timeline,
				      const struct timeline_process *process)
{
	Otlp__Resource *resource =
		otlp_resource(pool, timeline, process ? timeline_service(timeline, process) : "");
	const struct {
		const char *key;
		u32 text;
	} texts[] = {{"process.executable.path", process ? process->exe : 0},
		     {"container.id", process ? process->container : 0},
		     {"k8s.pod.uid", process ? process->pod : 0}};

	if (!resource || !process)
		return resource;
	resource->attributes[resource->n_attributes++] =
		otlp_attribute_int(pool, "process.pid", (s64)process->pid);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].text)
			resource->attributes[resource->n_attributes++] = otlp_attribute(
				pool, texts[i].key, timeline_text(timeline, texts[i].text));
	return pool->has_failed ? NULL : resource;
}

Otlp__InstrumentationScope *otlp_scope(struct otlp_pool *pool, const struct timeline *timeline)
{
	Otlp__InstrumentationScope *scope = otlp_alloc(pool, sizeof(*scope));

	if (!scope)
		return NULL;
	otlp__instrumentation_scope__init(scope);
	scope->name = (char *)"dwell";
	scope->version = otlp_text(pool, timeline_text(timeline, timeline->facts.version));
	return scope->version ? scope : NULL;
}
