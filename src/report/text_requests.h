/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests in the report that a person reads: endpoints, what slow requests spent more time on, and
 * single ones. Own nothing. Called by report.c.
 */
#ifndef DWELL_REPORT_TEXT_REQUESTS_H
#define DWELL_REPORT_TEXT_REQUESTS_H

#include "text.h"

/* In the report: a few endpoints; nothing if there were no requests. */
void text_requests_brief(const struct digest *digest, const struct page *page);

/* --requests and --slowest, instead of the report. */
void text_requests(const struct digest *digest, const struct page *page);

/* The parts of it. */
void text_request_notes(const struct digest *digest, const struct page *page,
			const struct request_service *service);
void text_request_links(const struct digest *digest, const struct page *page);
void text_budgets(const struct digest *digest, const struct page *page);
void text_waterfalls(const struct digest *digest, const struct page *page);

/* "nginx :80 GET /cart/:id", escaped; a name is cut where a line from column at on is too short. */
#define ENDPOINT_TEXT_BYTES 1024
void text_endpoint(const struct page *page, const struct requests *requests,
		   const struct request_endpoint *endpoint, int at, char buf[ENDPOINT_TEXT_BYTES]);

/* "postgres :5432 SELECT orders": whom a call asks for what; likewise. */
void text_target(const struct page *page, const struct request_target *target, int at,
		 char buf[ENDPOINT_TEXT_BYTES]);

/* "held up by exporter (4711)", "on the file /tmp/export" */
void text_culprit(const struct digest *digest, u32 part, u64 who, char *buf, size_t size);

/* "slow ones (>= 31.2 ms) spend 24.1 ms more in net"; "": in no part more. */
void text_growth(const struct request_endpoint *endpoint, char *buf, size_t size);

/* "; at least 20 ms held up by exporter (4711)", "; 31 ms more in linked calls to postgres :5432
 * SELECT items"; "" */
void text_reason(const struct digest *digest, const struct request_endpoint *endpoint, char *buf,
		 size_t size);

/* "event loop", "event loop 98 %, thread pool 2 %" */
void text_models(const struct request_counts *counts, char *buf, size_t size);

#endif
