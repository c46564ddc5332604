// SPDX-License-Identifier: Apache-2.0
/*
 * Kept requests as OTLP spans: a request is a span of its server, each call that it made one of its
 * client, and the request that answers a call on this host the call's child. Ids are made of those
 * of the session, so that the same request has the same span in every export: a span's is the id of
 * the request, or of the call with its highest bit set, and a trace's that of the request that all
 * began with, unless its application has said of which trace that is. Spans go out some at a time;
 * these are in memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "otlp_conventions.h"

#define SPANS_AT_ONCE 256
#define SPAN_ID_BYTES 8
#define CALL_BIT      (1ULL << 63) /* ids have 63 bits */

struct traces {
	const struct timeline *timeline;
	struct wire wire;
	u64 pid, start_ns; /* whose spans these are */
	struct otlp_pool pool;
	Otlp__Span *spans[SPANS_AT_ONCE];
	size_t count;
};

static void put_big_endian(u8 *to, u64 number)
{
	for (int i = SPAN_ID_BYTES - 1; i >= 0; i--, number >>= 8)
		to[i] = (u8)number;
}

/* 0 would be no id. */
static u64 request_id(u64 id)
{
	return id ? id : CALL_BIT;
}

static u64 call_id(u64 id)
{
	return id | CALL_BIT;
}

static ProtobufCBinaryData span_id(struct otlp_pool *pool, u64 id)
{
	u8 *bytes = otlp_alloc(pool, SPAN_ID_BYTES);

	if (bytes)
		put_big_endian(bytes, id);
	return (ProtobufCBinaryData){bytes ? SPAN_ID_BYTES : 0, bytes};
}

/* 32 digits, as its application has it. */
static bool is_trace(const char *text)
{
	return strlen(text) == (size_t)4 * SPAN_ID_BYTES &&
	       strspn(text, "0123456789abcdef") == (size_t)4 * SPAN_ID_BYTES;
}

static ProtobufCBinaryData own_trace_id(struct otlp_pool *pool, const char *text)
{
	u8 *bytes = otlp_alloc(pool, 2 * SPAN_ID_BYTES);
	char digits[3] = "";

	for (int i = 0; bytes && i < 2 * SPAN_ID_BYTES; i++) {
		memcpy(digits, text + 2 * i, 2);
		bytes[i] = (u8)strtoul(digits, NULL, 16);
	}
	return (ProtobufCBinaryData){bytes ? 2 * SPAN_ID_BYTES : 0, bytes};
}

/* Its second half is the root's id; the first is made of it (splitmix64), as 0 would be short. */
static ProtobufCBinaryData trace_id(struct otlp_pool *pool, const struct request_span *request)
{
	u64 root = request->root, mixed = request_id(root) + 0x9e3779b97f4a7c15ULL;
	u8 *bytes;

	if (is_trace(request->trace))
		return own_trace_id(pool, request->trace);
	bytes = otlp_alloc(pool, 2 * SPAN_ID_BYTES);
	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ULL;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebULL;
	mixed ^= mixed >> 31;
	if (bytes) {
		put_big_endian(bytes, mixed);
		put_big_endian(bytes + SPAN_ID_BYTES, request_id(root));
	}
	return (ProtobufCBinaryData){bytes ? 2 * SPAN_ID_BYTES : 0, bytes};
}

static int put_spans(struct traces *traces)
{
	const struct timeline *timeline = traces->timeline;
	Otlp__ExportTraceServiceRequest part = OTLP__EXPORT_TRACE_SERVICE_REQUEST__INIT;
	Otlp__ResourceSpans resource = OTLP__RESOURCE_SPANS__INIT;
	Otlp__ScopeSpans scope = OTLP__SCOPE_SPANS__INIT;
	struct otlp_pool *pool = &traces->pool;
	int err;

	resource.resource = otlp_resource_process(
		pool, timeline, timeline_process(timeline, traces->pid, traces->start_ns));
	scope.scope = otlp_scope(pool, timeline);
	scope.spans = traces->spans;
	scope.n_spans = traces->count;
	resource.scope_spans = (Otlp__ScopeSpans *[]){&scope};
	resource.n_scope_spans = 1;
	part.resource_spans = (Otlp__ResourceSpans *[]){&resource};
	part.n_resource_spans = 1;
	err = pool->has_failed ? -ENOMEM : 0;
	if (!err && traces->count)
		wire_put(&traces->wire, &part.base);
	otlp_free(pool);
	traces->count = 0;
	return err;
}

/* The time of day; of a session that does not know it, the time since the host's start. */
static u64 time_of(const struct traces *traces, u64 ns)
{
	u64 real_ns = timeline_real_ns(traces->timeline, ns);

	return real_ns ? real_ns : ns;
}

/* 0 or -ENOMEM. Who was there before goes out first, if it is another process's, or enough. */
static int add_span(struct traces *traces, const struct request_side *side, u64 id,
		    const struct request_span *request, Otlp__Span **ret_span)
{
	Otlp__Span *span;
	int err = 0;

	if (traces->count == SPANS_AT_ONCE || traces->pid != side->pid ||
	    traces->start_ns != side->start_ns)
		err = put_spans(traces);
	traces->pid = side->pid;
	traces->start_ns = side->start_ns;
	span = err ? NULL : otlp_alloc(&traces->pool, sizeof(*span));
	if (!span)
		return -ENOMEM;
	otlp__span__init(span);
	WIRE_SET(span, trace_id, trace_id(&traces->pool, request));
	WIRE_SET(span, span_id, span_id(&traces->pool, id));
	span->name = otlp_text(&traces->pool, side->name);
	WIRE_SET(span, start_time_unix_nano, time_of(traces, side->begin_ns));
	WIRE_SET(span, end_time_unix_nano, time_of(traces, side->end_ns));
	if (side->is_error) {
		Otlp__Status *status = otlp_alloc(&traces->pool, sizeof(*status));

		if (!status)
			return -ENOMEM;
		otlp__status__init(status);
		WIRE_SET(status, code, OTLP__STATUS__STATUS_CODE__STATUS_CODE_ERROR);
		span->status = status;
	}
	traces->spans[traces->count++] = span;
	*ret_span = span;
	return 0;
}

static void set_attributes(Otlp__Span *span, const struct otlp_attributes *attributes)
{
	span->attributes = attributes->places;
	span->n_attributes = attributes->count;
}

static int add_call(struct traces *traces, const struct request_span *request,
		    const struct request_call *call)
{
	struct otlp_attributes attributes;
	Otlp__Span *span;
	int err = add_span(traces, &call->side, call_id(call->side.id), request, &span);

	if (err)
		return err;
	WIRE_SET(span, kind, OTLP__SPAN__SPAN_KIND__SPAN_KIND_CLIENT);
	WIRE_SET(span, parent_span_id, span_id(&traces->pool, request_id(request->side.id)));
	otlp_attributes_init(&attributes, &traces->pool);
	otlp_describe_call(&attributes, call);
	set_attributes(span, &attributes);
	return 0;
}

static int add_request(const struct request_span *request, void *context)
{
	struct traces *traces = context;
	struct otlp_attributes attributes;
	Otlp__Span *span;
	int err = add_span(traces, &request->side, request_id(request->side.id), request, &span);

	if (err)
		return err;
	WIRE_SET(span, kind, OTLP__SPAN__SPAN_KIND__SPAN_KIND_SERVER);
	if (request->parent)
		WIRE_SET(span, parent_span_id, span_id(&traces->pool, call_id(request->parent)));
	otlp_attributes_init(&attributes, &traces->pool);
	otlp_describe_request(&attributes, request);
	set_attributes(span, &attributes);
	for (size_t i = 0; !err && i < request->call_count; i++)
		err = add_call(traces, request, &request->calls[i]);
	return err;
}

int export_otlp_traces(const struct export_source *source, const struct export_options *options,
		       FILE *out)
{
	struct traces *traces = calloc(1, sizeof(*traces));
	int err = traces ? 0 : -ENOMEM;

	if (!err) {
		traces->timeline = source->timeline;
		err = wire_begin(&traces->wire, out, options->is_gzip);
	}
	if (!err) {
		err = requests_each(source->timeline, add_request, traces);
		if (!err)
			err = put_spans(traces);
		otlp_free(&traces->pool);
		wire_end(&traces->wire);
	}
	free(traces);
	return err;
}
