// SPDX-License-Identifier: Apache-2.0
/*
 * A session as OpenMetrics 1.0 text: base units, and no label but service, state and device, so
 * that a restart makes no new series. Histograms are classic ones, whose bounds are powers of two
 * of the unit that was measured: these are bounds of dwell's own buckets too, so counts are exact.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "../base/clock.h"
#include "export.h"
#include "totals.h"

#define METRIC_BYTES 128
#define TEXT_OF(x)   #x
#define TEXT(x)	     TEXT_OF(x)

/* By unit: what a value of 1 is in base units, and which powers of two are bounds. */
static const struct {
	const char *suffix, *unit;
	double base;
	u32 first, last, step;
} units[] = {
	[UNIT_NS] = {"_seconds", "seconds", 1e-9, 10, 34, 2},
	[UNIT_BYTES] = {"_bytes", "bytes", 1, 4, 40, 4},
	[UNIT_COUNT] = {"", NULL, 1, 0, 20, 2},
};

struct label {
	const char *name, *value;
};

/* Values are escaped already but for what the format itself needs. */
static void write_labels(const struct label *labels, size_t count, const char *le, FILE *out)
{
	const char *before = "{";

	for (size_t i = 0; i < count; i++) {
		if (!*labels[i].value)
			continue; /* empty is the same as absent */
		fprintf(out, "%s%s=\"", before, labels[i].name);
		for (const char *at = labels[i].value; *at; at++)
			fprintf(out, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
		fputc('"', out);
		before = ",";
	}
	if (le) {
		fprintf(out, "%sle=\"%s\"", before, le);
		before = ",";
	}
	if (*before == ',')
		fputc('}', out);
}

static void write_head(const char *name, const char *type, const char *unit, const char *help,
		       FILE *out)
{
	fprintf(out, "# TYPE %s %s\n", name, type);
	if (unit)
		fprintf(out, "# UNIT %s %s\n", name, unit);
	fprintf(out, "# HELP %s %s\n", name, help);
}

/* Without a part of a ns lost: a double has not enough digits for the time of a large host. */
static void write_seconds(u64 ns, FILE *out)
{
	fprintf(out, " %" PRIu64 ".%09" PRIu64 "\n", (uint64_t)(ns / NS_PER_S),
		(uint64_t)(ns % NS_PER_S));
}

static void write_ledger(const struct totals *totals, FILE *out)
{
	write_head("dwell_ledger_seconds", "counter", "seconds",
		   "Time of threads by what they did; of a service's threads it sums up to their "
		   "wall clock.",
		   out);
	for (size_t i = 0; i < totals->services.count; i++) {
		const struct totals_service *service = hash_item(&totals->services, i);

		for (u32 state = 0; state < STATE_LIMIT; state++) {
			const struct label labels[] = {
				{"service", totals_text(totals, service->name)},
				{"state", timeline_state(totals->timeline, state)}};

			if (!service->ns[state])
				continue;
			fputs("dwell_ledger_seconds_total", out);
			write_labels(labels, 2, NULL, out);
			write_seconds(service->ns[state], out);
		}
	}
}

static void name_metric(const struct totals_series *series, char name[METRIC_BYTES])
{
	const struct series_kind *kind = totals_kind(series);

	snprintf(name, METRIC_BYTES, "dwell_%s_%s%s", signal_rows[series->signal].name, kind->name,
		 units[kind->unit].suffix);
	for (char *at = name; *at; at++)
		if (!((*at >= 'a' && *at <= 'z') || (*at >= '0' && *at <= '9')))
			*at = '_';
}

static void write_buckets(const struct totals_series *series, const char *name,
			  const struct label *labels, FILE *out)
{
	enum series_unit unit = totals_kind(series)->unit;
	const struct hist *hist = &series->hist;
	u64 below = 0;
	u32 place = 0;

	for (u32 power = units[unit].first; power <= units[unit].last; power += units[unit].step) {
		char le[32];

		/* Up to 2^power: see abi/hist.h. */
		for (; place <= power * HIST_PER_OCTAVE + 1; place++)
			below += hist->buckets[place];
		snprintf(le, sizeof(le), "%.15g", ldexp(units[unit].base, (int)power));
		if (!strpbrk(le, ".e"))
			strcat(le, ".0");
		fprintf(out, "%s_bucket", name);
		write_labels(labels, 2, le, out);
		fprintf(out, " %" PRIu64 "\n", (uint64_t)below);
	}
	for (; place < HIST_BUCKETS; place++)
		below += hist->buckets[place];
	fprintf(out, "%s_bucket", name);
	write_labels(labels, 2, "+Inf", out);
	fprintf(out, " %" PRIu64 "\n", (uint64_t)below);
	/* By the buckets, so that both agree in a damaged session too. */
	fprintf(out, "%s_count", name);
	write_labels(labels, 2, NULL, out);
	fprintf(out, " %" PRIu64 "\n%s_sum", (uint64_t)below, name);
	write_labels(labels, 2, NULL, out);
	if (unit == UNIT_NS)
		write_seconds(hist->sum, out);
	else
		fprintf(out, " %" PRIu64 "\n", (uint64_t)hist->sum);
}

static void write_series(const struct totals *totals, FILE *out)
{
	char before[METRIC_BYTES] = "", name[METRIC_BYTES];

	for (size_t i = 0; i < totals->series.count; i++) {
		const struct totals_series *series = hash_item(&totals->series, i);
		const struct series_kind *kind = totals_kind(series);
		const struct label labels[] = {{"service", totals_text(totals, series->service)},
					       {"device", totals_text(totals, series->device)}};
		char help[256];

		name_metric(series, name);
		if (strcmp(before, name) != 0) {
			snprintf(help, sizeof(help), "%s, of dwell's signal %s: %s.", kind->name,
				 signal_rows[series->signal].name, kind->about);
			write_head(name, "histogram", units[kind->unit].unit, help, out);
			memcpy(before, name, sizeof(before));
		}
		write_buckets(series, name, labels, out);
	}
}

static void write_gauge(const char *name, const char *unit, const char *help, u64 value, FILE *out)
{
	write_head(name, "gauge", unit, help, out);
	fputs(name, out);
	if (unit)
		write_seconds(value, out);
	else
		fprintf(out, " %" PRIu64 "\n", (uint64_t)value);
}

int export_openmetrics(const struct export_source *source, const struct export_options *options,
		       FILE *out)
{
	const struct timeline *timeline = source->timeline;
	struct totals totals;
	int err = totals_read(timeline, &totals);

	(void)options;
	if (err)
		return err;
	if (timeline->facts.started_real_ns)
		write_gauge("dwell_session_start_time_seconds", "seconds",
			    "When the exported part of the session began, since the Unix epoch.",
			    timeline_real_ns(timeline, timeline->begin_ns), out);
	write_gauge("dwell_session_length_seconds", "seconds",
		    "Length of the exported part of the session.",
		    timeline->end_ns - timeline->begin_ns, out);
	write_head("dwell_lost_records", "counter", NULL,
		   "What dwell could not record: dwell report lists the causes.", out);
	fprintf(out, "dwell_lost_records_total %" PRIu64 "\n", (uint64_t)totals.lost);
	write_gauge(
		"dwell_export_folded_services", NULL,
		"Services beyond the limit of " TEXT(
			TOTALS_SERVICES) ", added up as " TOTALS_OTHER
					 ". Of more than " TEXT(
						 TOTALS_SERVICES_MAX) " the rest counts as one.",
		totals.services_folded, out);
	write_gauge("dwell_export_folded_series", NULL,
		    "Values of series beyond the limit of " TEXT(
			    TOTALS_SERIES) ", added up as " TOTALS_OTHER ".",
		    totals.series_folded, out);
	write_ledger(&totals, out);
	write_series(&totals, out);
	fputs("# EOF\n", out);
	totals_free(&totals);
	return 0;
}
