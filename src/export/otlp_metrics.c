// SPDX-License-Identifier: Apache-2.0
/*
 * A session as OTLP metrics: a resource per service, with the ledger's time by state as a sum, and
 * series as exponential histograms. dwell's histogram is OpenTelemetry's of scale 4, so buckets go
 * over as they are, in the unit that was measured: in seconds, whose bounds are others, they would
 * have to be guessed. Services go out one by one; one is in memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "export.h"
#include "otlp.h"
#include "totals.h"

#define METRIC_NAME_BYTES 96
#define METRICS_MAX	  512 /* of one service: one for each measure of each signal */

static const char *const units[] = {[UNIT_NS] = "ns", [UNIT_BYTES] = "By", [UNIT_COUNT] = "1"};

struct metrics {
	const struct timeline *timeline;
	const struct totals *totals;
	struct wire wire;
	u64 begin_ns, end_ns; /* time of day */
};

/* The messages of one service. */
struct body {
	struct otlp_pool pool;
	Otlp__Metric *metrics[METRICS_MAX];
	size_t count;
};

static Otlp__Metric *add_metric(struct body *body, const char *name, const char *about,
				const char *unit)
{
	Otlp__Metric *metric = otlp_alloc(&body->pool, sizeof(*metric));
	char *copy = otlp_text(&body->pool, name);

	if (!metric || !copy || body->count == METRICS_MAX)
		return NULL;
	otlp__metric__init(metric);
	metric->name = copy;
	metric->description = (char *)about;
	metric->unit = (char *)unit;
	body->metrics[body->count++] = metric;
	return metric;
}

static Otlp__NumberDataPoint *state_point(struct metrics *metrics, struct body *body, u32 state,
					  u64 ns)
{
	Otlp__NumberDataPoint *point = otlp_alloc(&body->pool, sizeof(*point));
	Otlp__KeyValue **attributes = otlp_alloc(&body->pool, sizeof(*attributes));

	if (!point || !attributes)
		return NULL;
	attributes[0] = otlp_attribute(&body->pool, "dwell.state",
				       timeline_state(metrics->timeline, state));
	if (!attributes[0])
		return NULL;
	otlp__number_data_point__init(point);
	WIRE_SET(point, start_time_unix_nano, metrics->begin_ns);
	WIRE_SET(point, time_unix_nano, metrics->end_ns);
	WIRE_SET(point, as_double, (double)ns / NS_PER_S);
	point->attributes = attributes;
	point->n_attributes = 1;
	return point;
}

static void add_ledger(struct metrics *metrics, struct body *body,
		       const struct totals_service *service)
{
	Otlp__Metric *metric = add_metric(
		body, "dwell.ledger.time",
		"Time of the service's threads, by what they did: it sums up to their wall clock",
		"s");
	Otlp__Sum *sum = otlp_alloc(&body->pool, sizeof(*sum));
	Otlp__NumberDataPoint **points = otlp_alloc(&body->pool, STATE_LIMIT * sizeof(*points));

	if (!metric || !sum || !points)
		return;
	otlp__sum__init(sum);
	WIRE_SET(sum, aggregation_temporality,
		 OTLP__AGGREGATION_TEMPORALITY__AGGREGATION_TEMPORALITY_DELTA);
	WIRE_SET(sum, is_monotonic, true);
	sum->data_points = points;
	for (u32 state = 0; state < STATE_LIMIT && !body->pool.has_failed; state++)
		if (service->ns[state])
			points[sum->n_data_points++] =
				state_point(metrics, body, state, service->ns[state]);
	metric->sum = sum;
}

/* Place p of the array is bucket p - 2, and place 0 the value 0: abi/hist.h. */
static Otlp__ExponentialHistogramDataPoint__Buckets *buckets_of(struct body *body,
								const struct hist *hist)
{
	Otlp__ExponentialHistogramDataPoint__Buckets *buckets =
		otlp_alloc(&body->pool, sizeof(*buckets));
	u32 first = 1, last = HIST_BUCKETS - 1;

	while (first < last && !hist->buckets[first])
		first++;
	while (last > first && !hist->buckets[last])
		last--;
	if (!buckets)
		return NULL;
	otlp__exponential_histogram_data_point__buckets__init(buckets);
	WIRE_SET(buckets, offset, (s32)first - 2);
	buckets->bucket_counts =
		otlp_alloc(&body->pool, (last - first + 1) * sizeof(*buckets->bucket_counts));
	for (u32 i = first; buckets->bucket_counts && i <= last; i++)
		buckets->bucket_counts[buckets->n_bucket_counts++] = hist->buckets[i];
	return buckets;
}

static Otlp__ExponentialHistogramDataPoint *
histogram_point(struct metrics *metrics, struct body *body, const struct totals_series *series)
{
	const char *device = totals_text(metrics->totals, series->device);
	Otlp__ExponentialHistogramDataPoint *point = otlp_alloc(&body->pool, sizeof(*point));
	Otlp__KeyValue **attributes = otlp_alloc(&body->pool, sizeof(*attributes));
	u64 count = 0;

	if (!point || !attributes)
		return NULL;
	for (u32 i = 0; i < HIST_BUCKETS; i++)
		count += series->hist.buckets[i];
	otlp__exponential_histogram_data_point__init(point);
	WIRE_SET(point, start_time_unix_nano, metrics->begin_ns);
	WIRE_SET(point, time_unix_nano, metrics->end_ns);
	WIRE_SET(point, count, count); /* by the buckets: both must agree */
	WIRE_SET(point, sum, (double)series->hist.sum);
	WIRE_SET(point, max, (double)series->hist.max);
	WIRE_SET(point, scale, HIST_SCALE);
	WIRE_SET(point, zero_count, series->hist.buckets[0]);
	point->positive = buckets_of(body, &series->hist);
	point->attributes = attributes;
	if (*device) {
		attributes[0] = otlp_attribute(&body->pool, "system.device", device);
		point->n_attributes = attributes[0] ? 1 : 0;
	}
	return point;
}

/* A measure with all its devices: how many series that are, which follow each other. */
static size_t add_histogram(struct metrics *metrics, struct body *body, size_t index)
{
	const struct hash *all = &metrics->totals->series;
	const struct totals_series *first = hash_item(all, index), *series = first;
	const struct series_kind *kind = totals_kind(first);
	Otlp__ExponentialHistogram *histogram = otlp_alloc(&body->pool, sizeof(*histogram));
	char name[METRIC_NAME_BYTES];
	Otlp__Metric *metric;
	size_t count = 0;

	while (index + count < all->count && series->signal == first->signal &&
	       series->kind == first->kind && series->service == first->service) {
		count++;
		series = hash_item(all, index + count);
	}
	snprintf(name, sizeof(name), "dwell.%s.%s", signal_rows[first->signal].name, kind->name);
	metric = add_metric(body, name, kind->about, units[kind->unit]);
	if (!metric || !histogram)
		return count;
	otlp__exponential_histogram__init(histogram);
	WIRE_SET(histogram, aggregation_temporality,
		 OTLP__AGGREGATION_TEMPORALITY__AGGREGATION_TEMPORALITY_DELTA);
	histogram->data_points = otlp_alloc(&body->pool, count * sizeof(*histogram->data_points));
	for (size_t i = 0; i < count && !body->pool.has_failed; i++)
		histogram->data_points[histogram->n_data_points++] =
			histogram_point(metrics, body, hash_item(all, index + i));
	metric->exponential_histogram = histogram;
	return count;
}

/* A service with all that is known of it; 0: what is of none. */
static int put_service(struct metrics *metrics, u32 name)
{
	const struct totals *totals = metrics->totals;
	const struct totals_service *service = hash_find(&totals->services, &name);
	struct body *body = calloc(1, sizeof(*body));
	Otlp__ExportMetricsServiceRequest part = OTLP__EXPORT_METRICS_SERVICE_REQUEST__INIT;
	Otlp__ResourceMetrics resource = OTLP__RESOURCE_METRICS__INIT;
	Otlp__ScopeMetrics scope = OTLP__SCOPE_METRICS__INIT;
	int err;

	if (!body)
		return -ENOMEM;
	if (service)
		add_ledger(metrics, body, service);
	for (size_t i = 0; i < totals->series.count;) {
		const struct totals_series *series = hash_item(&totals->series, i);

		i += series->service == name ? add_histogram(metrics, body, i) : 1;
	}
	resource.resource =
		otlp_resource(&body->pool, metrics->timeline, totals_text(totals, name));
	scope.scope = otlp_scope(&body->pool, metrics->timeline);
	scope.metrics = body->metrics;
	scope.n_metrics = body->count;
	resource.scope_metrics = (Otlp__ScopeMetrics *[]){&scope};
	resource.n_scope_metrics = 1;
	part.resource_metrics = (Otlp__ResourceMetrics *[]){&resource};
	part.n_resource_metrics = 1;
	err = body->pool.has_failed ? -ENOMEM : 0;
	if (!err && body->count)
		wire_put(&metrics->wire, &part.base);
	otlp_free(&body->pool);
	free(body);
	return err;
}

/* Services of the ledger first, then those that only series have. */
static int put_services(struct metrics *metrics)
{
	const struct totals *totals = metrics->totals;
	struct hash others;
	int err = 0;

	hash_init(&others, sizeof(u32), sizeof(u32), TOTALS_SERIES * 2);
	for (size_t i = 0; !err && i < totals->services.count; i++) {
		const struct totals_service *service = hash_item(&totals->services, i);

		err = put_service(metrics, service->name);
	}
	for (size_t i = 0; !err && i < totals->series.count; i++) {
		const struct totals_series *series = hash_item(&totals->series, i);

		if (hash_find(&totals->services, &series->service) ||
		    hash_find(&others, &series->service))
			continue;
		err = hash_add(&others, &series->service) ? put_service(metrics, series->service)
							  : -ENOMEM;
	}
	hash_free(&others);
	return err;
}

int export_otlp_metrics(const struct export_source *source, const struct export_options *options,
			FILE *out)
{
	struct metrics metrics = {.timeline = source->timeline};
	struct totals totals;
	int err = totals_read(source->timeline, &totals);

	if (err)
		return err;
	metrics.totals = &totals;
	metrics.begin_ns = timeline_real_ns(source->timeline, source->timeline->begin_ns);
	metrics.end_ns = timeline_real_ns(source->timeline, source->timeline->end_ns);
	err = wire_begin(&metrics.wire, out, options->is_gzip);
	if (!err) {
		err = put_services(&metrics);
		wire_end(&metrics.wire);
	}
	totals_free(&totals);
	return err;
}
