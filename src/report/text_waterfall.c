// SPDX-License-Identifier: Apache-2.0
/* Single requests: the queue, then the parts of the window, as bars of the request's time. */
#include <string.h>

#include "format_value.h"
#include "text_requests.h"

#define INDENT	  6
#define NAME	  13 /* columns of a part's name */
#define NUMBERS	  18 /* of its time and share */
#define BAR_LEAST 10

/* Each begins where the one before it ended; none is empty. */
static void print_bar(const struct page *page, u64 from_ns, u64 ns, u64 all_ns, int width)
{
	int from = (int)((double)from_ns / (double)all_ns * width);
	int to = (int)((double)(from_ns + ns) / (double)all_ns * width + 0.5);

	from = from < width ? from : width - 1;
	to = to > width ? width : to > from ? to : from + 1;
	fprintf(page->out, "%*s", from, "");
	for (int i = from; i < to; i++)
		fputc('#', page->out);
	fprintf(page->out, "%*s", width - to, "");
}

static void print_parts(const struct page *page, const struct request *request)
{
	u64 all_ns = request_latency(request), at_ns = 0;
	u32 parts[BUDGET_COUNT];
	size_t count = request_parts(request->part_ns, request->queue_ns, parts);
	int width = page->columns - INDENT - NAME - NUMBERS;

	width = width < BAR_LEAST ? BAR_LEAST : width;
	for (size_t i = 0; i < count; i++) {
		u64 ns = parts[i] == BUDGET_QUEUE ? request->queue_ns : request->part_ns[parts[i]];

		fprintf(page->out, "%*s%-*s", INDENT, "", NAME, request_part_names[parts[i]]);
		print_bar(page, at_ns, ns, all_ns, width);
		fprintf(page->out, "%9s%8s\n", VALUE(UNIT_NS, ns), SHARE(ns, all_ns));
		at_ns += ns;
	}
}

static void print_request(const struct digest *digest, const struct page *page,
			  const struct request *request)
{
	const struct requests *requests = &digest->requests;
	u64 begin_ns =
		request->begin_ns > digest->start_ns ? request->begin_ns - digest->start_ns : 0;
	char text[ENDPOINT_TEXT_BYTES], line[2048] = "";
	int at = fprintf(page->out, "  %7s  ", VALUE(UNIT_NS, request_latency(request)));

	text_endpoint(page, requests, request_endpoint(requests, request), at + 2, text);
	format_add(line, sizeof(line), "%s", text);
	if (*request->status)
		format_add(line, sizeof(line), ", status %s", ESCAPED(request->status));
	if (request->outcome != REQUEST_ANSWERED)
		format_add(line, sizeof(line), ", %s", request_outcome_names[request->outcome]);
	format_add(line, sizeof(line), "; at %s, pid %u", DURATION(begin_ns), request->pid);
	if (request->tid && request->tid != request->pid)
		format_add(line, sizeof(line), ", tid %u", request->tid);
	page_wrap(page, at, at + 2, line);
	print_parts(page, request);
}

void text_waterfalls(const struct digest *digest, const struct page *page)
{
	const struct requests *requests = &digest->requests;
	u32 shown = 0;

	page_heading(page, "SLOWEST REQUESTS",
		     " of those kept: the queue first, then the sums of the parts, longest first, "
		     "not in the order in which they came");
	for (size_t i = 0; i < requests->kept_count && shown < digest->options->slowest; i++) {
		const struct request *request = &requests->kept[i];

		if (request_endpoint(requests, request)->kind != ENDPOINT_REQUEST)
			continue;
		print_request(digest, page, request);
		shown++;
	}
	if (!shown)
		fputs("  none was kept whole\n", page->out);
}
