// SPDX-License-Identifier: Apache-2.0
/* Endpoints: how many requests, how long they took, and how far that can be trusted. */
#include <string.h>

#include "../base/utf8.h"
#include "format_value.h"
#include "text_requests.h"

#define SHOWN	    20
#define SHOWN_BRIEF 8
#define SHOWN_OTHER 10
#define NUMBERS	    56 /* columns of a row, beside the name */
#define NAME_LEAST  12
#define INDENT	    4

static const char *rate_text(double rate, char buf[FORMAT_BYTES])
{
	if (rate >= 9.95)
		return figure_number((u64)(rate + 0.5), buf);
	snprintf(buf, FORMAT_BYTES, "%.1f", rate);
	return buf;
}

/* A percentile of answered requests; "-": there are none. */
static const char *latency_text(const struct request_endpoint *endpoint, double share,
				char buf[FORMAT_BYTES])
{
	if (!endpoint->latency || !endpoint->latency->count)
		return "-";
	return figure_time(hist_percentile(endpoint->latency, share), buf);
}

#define RATE(rate)		 rate_text(rate, (char[FORMAT_BYTES]){0})
#define LATENCY(endpoint, share) latency_text(endpoint, share, (char[FORMAT_BYTES]){0})

static void print_heads(const struct page *page, int name_room)
{
	bool is_beside = name_room >= NAME_LEAST;

	fprintf(page->out, "%s%*s%-*s%9s %7s %6s %7s %7s %7s %7s%s\n", page_ink(page, INK_FAINT),
		is_beside ? INDENT : 2, "", is_beside ? name_room : 0, is_beside ? "endpoint" : "",
		"requests", "/s", "errors", "p50", "p95", "p99", "max", page_ink(page, INK_PLAIN));
}

/* A name that is too long for the line of its numbers stands above them. */
static void print_endpoint(const struct page *page, const struct request_endpoint *endpoint,
			   int name_room)
{
	const struct request_counts *counts = &endpoint->counts;
	char name[4 * REQUEST_NAME_BYTES];
	int columns, indent = name_room >= NAME_LEAST ? INDENT + name_room : 2;

	format_middle(request_name(endpoint), page_room(page, page->columns - INDENT), name,
		      sizeof(name));
	columns = (int)utf8_columns(name);
	fprintf(page->out, "%*s%s", INDENT, "", name);
	if (INDENT + columns > indent)
		fprintf(page->out, "\n%*s", indent, "");
	else
		fprintf(page->out, "%*s", indent - INDENT - columns, "");
	fprintf(page->out, "%9s %7s %6s %7s %7s %7s %7s\n", VALUE(UNIT_COUNT, counts->requests),
		RATE(endpoint->rate), NUMBER(counts->errors), LATENCY(endpoint, 0.5),
		LATENCY(endpoint, 0.95), LATENCY(endpoint, 0.99), LATENCY(endpoint, 1));
}

/* Any of the endpoints of a service, which follow each other. */
static bool speaks_tls(const struct requests *requests, size_t first)
{
	u32 service = requests->by_service[first]->service;

	for (size_t i = first;
	     i < requests->request_count && requests->by_service[i]->service == service; i++)
		if (strstr(requests->by_service[i]->protocol, "tls"))
			return true;
	return false;
}

static void print_service(const struct page *page, const struct request_service *service,
			  bool is_tls)
{
	char name[128], models[128], line[1024] = "  ";

	request_service_text(service, name, sizeof(name));
	format_add(line, sizeof(line), "%s", ESCAPED(name));
	if (*service->service && strcmp(service->service, service->comm) != 0)
		format_add(line, sizeof(line), ", %s", ESCAPED(service->service));
	text_models(&service->counts, models, sizeof(models));
	format_add(line, sizeof(line), "%s%s%s", *models ? "; " : "", models,
		   is_tls ? "; TLS" : "");
	page_wrap(page, 0, INDENT, line);
}

static void print_table(const struct digest *digest, const struct page *page)
{
	const struct requests *requests = &digest->requests;
	size_t most = page_rows(digest, SHOWN), count = requests->request_count;
	int name_room = page->columns - INDENT - NUMBERS;

	print_heads(page, name_room);
	for (size_t i = 0; i < count && i < most; i++) {
		const struct request_endpoint *endpoint = requests->by_service[i];
		bool is_first = !i || requests->by_service[i - 1]->service != endpoint->service;
		bool is_last = i + 1 == count || i + 1 == most ||
			       requests->by_service[i + 1]->service != endpoint->service;

		if (is_first)
			print_service(page, request_service(requests, endpoint),
				      speaks_tls(requests, i));
		print_endpoint(page, endpoint, name_room);
		if (is_last)
			text_request_notes(digest, page, request_service(requests, endpoint));
	}
	if (count > most)
		fprintf(page->out, "  and %zu more (--top)\n", count - most);
}

/* What is no request: a line each. */
static void print_others(const struct digest *digest, const struct page *page)
{
	const struct requests *requests = &digest->requests;
	size_t most = page_rows(digest, SHOWN_OTHER);

	if (!requests->other_count)
		return;
	fputs("\n  ", page->out);
	page_wrap(page, 2, 4,
		  "beside requests: set-up of connections, and messages without an answer");
	for (size_t i = 0; i < requests->other_count && i < most; i++) {
		const struct request_endpoint *endpoint =
			requests->by_time[requests->request_count + i];
		char text[ENDPOINT_TEXT_BYTES], line[2048] = "";
		int at = fprintf(page->out, "  %-7s %9s x  ", request_kind_names[endpoint->kind],
				 VALUE(UNIT_COUNT, endpoint->counts.requests));

		text_endpoint(page, requests, endpoint, at + 2, text);
		format_add(line, sizeof(line), "%s", text);
		if (endpoint->latency && endpoint->latency->count)
			format_add(line, sizeof(line), ", p50 %s, max %s", LATENCY(endpoint, 0.5),
				   LATENCY(endpoint, 1));
		page_wrap(page, at, at + 2, line);
	}
	if (requests->other_count > most)
		fprintf(page->out, "  and %zu more (--top)\n", requests->other_count - most);
}

static void print_limits(const struct digest *digest, const struct page *page)
{
	const struct requests *requests = &digest->requests;
	char line[1024] = "";

	format_add(line, sizeof(line),
		   "Percentiles are of answered requests that have a record, within %.1f %%.",
		   100 * HIST_ERROR);
	if (digest->options->part.tid_count)
		format_add(line, sizeof(line),
			   " --tid chooses processes here: requests are counted by process.");
	if (requests->endpoints_left_out)
		format_add(line, sizeof(line),
			   " Left out: %s endpoints of processes beyond the limit of %s.",
			   NUMBER(requests->endpoints_left_out), NUMBER(REQUESTS_ENDPOINTS_MAX));
	if (requests->stride > 1)
		format_add(line, sizeof(line),
			   " More requests were kept than the limit of %s: the slowest %s were "
			   "read, and of the others of an endpoint at least 1 in %s; a part of the "
			   "session (FILE@10s-20s) has fewer.",
			   NUMBER(REQUESTS_KEPT_MAX), NUMBER(REQUESTS_SLOWEST_MAX),
			   NUMBER(requests->stride));
	if (requests->calls_left_out || requests->answers_left_out)
		format_add(line, sizeof(line),
			   " Left out beyond the limits: %s calls, %s requests that answer one.",
			   NUMBER(requests->calls_left_out), NUMBER(requests->answers_left_out));
	if (requests->unclosed)
		format_add(line, sizeof(line),
			   " Of %s kept request%s the parts do not sum to the window: the "
			   "difference is unattributed.",
			   NUMBER(requests->unclosed), requests->unclosed == 1 ? "" : "s");
	if (requests->damaged)
		format_add(line, sizeof(line), " Of %s row%s the buckets are damaged.",
			   NUMBER(requests->damaged), requests->damaged == 1 ? "" : "s");
	fputs("\n", page->out);
	page_wrap(page, 0, 2, line);
}

static void print_nothing(const struct digest *digest, const struct page *page)
{
	const struct requests *requests = &digest->requests;
	bool is_part = digest->is_slice || session_part_is_filtered(&digest->options->part) ||
		       digest->options->part.tid_count;

	fputs("\n", page->out);
	page_wrap(page, 0, 2,
		  requests->has_tables && is_part
			  ? "no requests are in this part of the session; if the whole session has "
			    "none: no requests were recorded: record with -s requests"
			  : "no requests were recorded: record with -s requests");
}

/* The overhead limit may have switched the signal off for a time. */
static void print_cover(const struct digest *digest, const struct page *page)
{
	const struct cover *cover = digest_partial_cover(digest, "requests");
	char line[256] = "";

	if (!cover)
		return;
	format_add(line, sizeof(line),
		   "  ! covers %.1f of %.1f s: off for the rest to limit the overhead; raise "
		   "--max-overhead. Counts and rates are too low, bytes of that time are unseen",
		   (double)cover->covered_ns / 1e9, (double)cover->total_ns / 1e9);
	page_wrap(page, 0, 4, line);
}

void text_requests(const struct digest *digest, const struct page *page)
{
	const struct requests *requests = &digest->requests;
	char about[128] = "";

	if (!requests->request_count && !requests->other_count) {
		print_nothing(digest, page);
		return;
	}
	format_add(about, sizeof(about),
		   ": %zu endpoint%s in %s; latency: data ready to last send; most time first",
		   requests->request_count, requests->request_count == 1 ? "" : "s",
		   DURATION(digest_span(digest)));
	page_heading(page, "REQUESTS", about);
	print_cover(digest, page);
	print_table(digest, page);
	print_others(digest, page);
	text_request_links(digest, page);
	text_budgets(digest, page);
	if (digest->options->slowest)
		text_waterfalls(digest, page);
	print_limits(digest, page);
}

void text_requests_brief(const struct digest *digest, const struct page *page)
{
	const struct requests *requests = &digest->requests;
	size_t most = page_rows(digest, SHOWN_BRIEF);

	if (!requests->request_count)
		return;
	page_heading(page, "REQUESTS", ", most time first; more: dwell report --requests");
	print_cover(digest, page);
	fprintf(page->out, "%s  %9s %7s %7s  endpoint%s\n", page_ink(page, INK_FAINT), "requests",
		"p50", "p99", page_ink(page, INK_PLAIN));
	for (size_t i = 0; i < requests->request_count && i < most; i++) {
		const struct request_endpoint *endpoint = requests->by_time[i];
		char text[ENDPOINT_TEXT_BYTES], growth[128], reason[4 * DIGEST_TEXT];
		char line[4096] = "";
		int at = fprintf(page->out, "  %9s %7s %7s  ",
				 VALUE(UNIT_COUNT, endpoint->counts.requests),
				 LATENCY(endpoint, 0.5), LATENCY(endpoint, 0.99));

		text_endpoint(page, requests, endpoint, at + 2, text);
		text_growth(endpoint, growth, sizeof(growth));
		format_add(line, sizeof(line), "%s%s%s", text, *growth ? ": " : "", growth);
		text_reason(digest, endpoint, reason, sizeof(reason));
		format_add(line, sizeof(line), "%s", reason);
		page_wrap(page, at, at + 2, line);
	}
	if (requests->request_count > most)
		fprintf(page->out, "  and %zu more\n", requests->request_count - most);
}
