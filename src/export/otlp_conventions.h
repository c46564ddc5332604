/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What OpenTelemetry calls what dwell knows of a request or a call: the names of its semantic
 * conventions, and dwell's own, which begin with "dwell.". Owns nothing: memory is the pool's.
 * Called by otlp_traces.c.
 */
#ifndef DWELL_EXPORT_OTLP_CONVENTIONS_H
#define DWELL_EXPORT_OTLP_CONVENTIONS_H

#include "otlp.h"
#include "requests.h"

#define OTLP_ATTRIBUTES_MAX 48 /* of one span */

struct otlp_attributes {
	struct otlp_pool *pool;
	Otlp__KeyValue **places; /* NULL: no memory */
	size_t count;
};

void otlp_attributes_init(struct otlp_attributes *attributes, struct otlp_pool *pool);
void otlp_describe_request(struct otlp_attributes *attributes, const struct request_span *request);
void otlp_describe_call(struct otlp_attributes *attributes, const struct request_call *call);

#endif
