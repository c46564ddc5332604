/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session as metrics: the ledger's time by service and state, histograms of series by service and
 * device, without processes. Monitoring pays for each set of labels, so there are at most
 * TOTALS_SERVICES and TOTALS_SERIES of them; the rest is added to those of TOTALS_OTHER, so that
 * sums stay whole, and is counted. Owns its sums: some 12 MB at most. Called by exporters of
 * metrics.
 */
#ifndef DWELL_EXPORT_TOTALS_H
#define DWELL_EXPORT_TOTALS_H

#include "../model/hist.h"
#include "../store/timeline_rows.h"

#define TOTALS_SERVICES	    200
#define TOTALS_SERVICES_MAX 20000 /* that are compared, to find those with most time */
#define TOTALS_SERIES	    2000
#define TOTALS_OTHER	    "(other)"

struct totals_service {
	u32 name; /* the key: text */
	u32 unused;
	u64 ns[STATE_LIMIT];
	u64 all_ns;
};

struct totals_series {
	u32 service, device; /* texts */
	u32 signal, kind;
	/* the key ends here */
	struct hist hist; /* count, sum and max are those of the session, not of the buckets */
};
#define TOTALS_SERIES_KEY __builtin_offsetof(struct totals_series, hist)

struct totals {
	const struct timeline *timeline;
	struct strings strings;
	u32 other;	      /* text: TOTALS_OTHER */
	struct hash services; /* the one with most time first, TOTALS_OTHER last */
	struct hash series;   /* by signal, kind, service, device */
	u64 services_folded, series_folded;
	u64 lost; /* sum of the session's losses */
};

/* 0 or -errno, told. */
int totals_read(const struct timeline *timeline, struct totals *ret_totals);
void totals_free(struct totals *totals);

static inline const char *totals_text(const struct totals *totals, u32 text)
{
	return strings_get(&totals->strings, text);
}

static inline const struct series_kind *totals_kind(const struct totals_series *series)
{
	return &signal_rows[series->signal].signal->view->kinds[series->kind];
}

#endif
