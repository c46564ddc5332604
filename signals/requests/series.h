/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What the signal of requests counts in series: every request, whether it has a record or not.
 * KIND(NAME, name, unit, meaning).
 */
#ifndef DWELL_REQUESTS_SERIES_H
#define DWELL_REQUESTS_SERIES_H

#define REQUEST_KINDS(KIND)                                                                        \
	KIND(LATENCY, "latency", UNIT_NS, "from the request's first data to its last send")        \
	KIND(UNANSWERED, "unanswered", UNIT_NS, "requests whose connection ended before an answer")

enum request_series_kind {
#define KIND(NAME, ...) REQUEST_SERIES_##NAME,
	REQUEST_KINDS(KIND)
#undef KIND
		REQUEST_SERIES_COUNT
};

#endif
