/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What exports to OpenTelemetry share: resources, and memory for the messages of one body, which is
 * freed at once. Owns that memory. Called by otlp_profiles.c, otlp_metrics.c and otlp_traces.c.
 */
#ifndef DWELL_EXPORT_OTLP_H
#define DWELL_EXPORT_OTLP_H

#include "../store/timeline.h"
#include "proto/otlp.pb-c.h"
#include "wire.h"

struct otlp_block;

struct otlp_pool {
	struct otlp_block *blocks;
	bool has_failed; /* no memory: what was given since then is not to be used */
};

/* Zeroes; NULL: no memory. */
void *otlp_alloc(struct otlp_pool *pool, size_t size);
char *otlp_text(struct otlp_pool *pool, const char *text); /* a copy, escaped */
void otlp_free(struct otlp_pool *pool);

/* "key": "text". NULL: no memory. */
Otlp__KeyValue *otlp_attribute(struct otlp_pool *pool, const char *key, const char *text);

/* "key": number. */
Otlp__KeyValue *otlp_attribute_int(struct otlp_pool *pool, const char *key, s64 number);

/* A service on the session's host; "": of no service. NULL: no memory. */
Otlp__Resource *otlp_resource(struct otlp_pool *pool, const struct timeline *timeline,
			      const char *service);
/* A process of that service; NULL: of one that is not known. */
Otlp__Resource *otlp_resource_process(struct otlp_pool *pool, const struct timeline *timeline,
				      const struct timeline_process *process);
Otlp__InstrumentationScope *otlp_scope(struct otlp_pool *pool, const struct timeline *timeline);

#endif
