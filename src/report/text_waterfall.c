// SPDX-License-Identifier: Apache-2.0
/*
 * Single requests, as bars of the time of the one that came from outside: the queue and the parts
 * of its window, and below it the calls that it made, each where it was, with the request that
 * answered it there.
 */
#include <string.h>

#include "format_value.h"
#include "text_requests.h"

#define INDENT	    6
#define STEP	    2  /* columns further in, below a call */
#define NAME	    13 /* columns of a part's name, or a protocol's */
#define NUMBERS	    18 /* of its time and share */
#define BAR_LEAST   10
#define DEPTH_MAX   4 /* calls of calls */
#define CALLS_SHOWN 5 /* of a request: the longest */
#define PART_FILL   '#'
#define CALL_FILL   '='

/* One block: all bars of it have one axis. */
struct waterfall {
	const struct digest *digest;
	const struct page *page;
	const struct request *outermost;
	int at; /* column of the bars */
	int width;
	u32 grades; /* that calls in it have, as bits */
};

/* Part of a line, from there to there of the axis; never empty. */
static void print_bar(const struct waterfall *waterfall, u64 from_ns, u64 ns, char fill)
{
	const struct request *outermost = waterfall->outermost;
	double begin = (double)from_ns - (double)outermost->begin_ns, width = waterfall->width;
	double all = (double)request_latency(outermost);
	double left = all > 0 ? begin / all * width : 0;
	double right = all > 0 ? (begin + (double)ns) / all * width + 0.5 : width;
	int from = left <= 0 ? 0 : left < width - 1 ? (int)left : waterfall->width - 1;
	int to = right <= from + 1 ? from + 1 : right < width ? (int)right : waterfall->width;

	fprintf(waterfall->page->out, "%*s", from, "");
	for (int i = from; i < to; i++)
		fputc(fill, waterfall->page->out);
	fprintf(waterfall->page->out, "%*s", waterfall->width - to, "");
}

static void print_numbers(const struct waterfall *waterfall, u64 ns)
{
	fprintf(waterfall->page->out, "%9s%8s\n", VALUE(UNIT_NS, ns),
		SHARE(ns, request_latency(waterfall->outermost)));
}

static void print_row(const struct waterfall *waterfall, int indent, const char *name, u64 from_ns,
		      u64 ns, char fill)
{
	char text[4 * FORMAT_BYTES];
	FILE *out = waterfall->page->out;

	format_cut(name, NAME - 1, text, sizeof(text));
	fprintf(out, "%*s%-*s", indent, "", waterfall->at - indent, text);
	print_bar(waterfall, from_ns, ns, fill);
	print_numbers(waterfall, ns);
}

/* What the reader has to know of: 1 % of the whole. */
static bool is_shown(const struct waterfall *waterfall, u64 ns)
{
	return ns && ns >= request_latency(waterfall->outermost) / 100;
}

/* Below its part. */
static void print_culprit(const struct waterfall *waterfall, const struct request *request,
			  u32 part, int indent)
{
	const struct request_culprit *culprit =
		request_culprit(&waterfall->digest->requests, request);
	char text[2 * DIGEST_TEXT], line[3 * DIGEST_TEXT] = "";

	if (!culprit || culprit->part != part)
		return;
	text_culprit(waterfall->digest, part, culprit->who, text, sizeof(text));
	format_add(line, sizeof(line), "at least %s %s", VALUE(UNIT_NS, culprit->least_ns), text);
	fprintf(waterfall->page->out, "%*s", indent + STEP, "");
	page_wrap(waterfall->page, indent + STEP, indent + 2 * STEP, line);
}

/* Below its part, too: where in the code. A longer one may be there whose stack was not taken. */
static void print_wait(const struct waterfall *waterfall, const struct request *request, u32 part,
		       int indent)
{
	char text[REQUEST_WAIT_TEXT], line[2 * REQUEST_WAIT_TEXT] = "";

	if (!request->wait_stack || request->wait_part != part ||
	    !is_shown(waterfall, request->wait_ns))
		return;
	request_wait_text(waterfall->digest, part, request->wait_stack, text, sizeof(text));
	if (!*text)
		return;
	format_add(line, sizeof(line), "one wait of %s: %s", VALUE(UNIT_NS, request->wait_ns),
		   ESCAPED(text));
	fprintf(waterfall->page->out, "%*s", indent + STEP, "");
	page_wrap(waterfall->page, indent + STEP, indent + 2 * STEP, line);
}

/*
 * One after the other from its begin. Of a request that answers a call only what is a share of the
 * whole; its queue is in the call's transit.
 */
static void print_parts(const struct waterfall *waterfall, const struct request *request,
			int indent)
{
	bool is_outermost = request == waterfall->outermost;
	u64 at_ns = request->begin_ns;
	u32 parts[BUDGET_COUNT];
	size_t count = request_parts(request->part_ns, request->queue_ns, parts);

	for (size_t i = 0; i < count; i++) {
		u64 ns = parts[i] == BUDGET_QUEUE ? request->queue_ns : request->part_ns[parts[i]];

		if (is_outermost || (parts[i] != BUDGET_QUEUE && is_shown(waterfall, ns))) {
			print_row(waterfall, indent, request_part_names[parts[i]], at_ns, ns,
				  PART_FILL);
			print_culprit(waterfall, request, parts[i], indent);
			print_wait(waterfall, request, parts[i], indent);
		}
		at_ns += ns;
	}
}

static void add_outcome(char *line, size_t size, const char *status, u32 outcome)
{
	if (*status)
		format_add(line, size, ", status %s", ESCAPED(status));
	if (outcome != REQUEST_ANSWERED)
		format_add(line, size, ", %s", request_outcome_names[outcome]);
}

/* Whom it asked for what, and how that is known. */
static void print_call_head(struct waterfall *waterfall, const struct request_call *call,
			    int indent)
{
	const struct requests *requests = &waterfall->digest->requests;
	char text[ENDPOINT_TEXT_BYTES], line[2048] = "";

	text_target(waterfall->page, request_target(requests, call), indent + 6, text);
	format_add(line, sizeof(line), "calls %s", text);
	add_outcome(line, sizeof(line), call->status, call->outcome);
	if (call->grade != REQUEST_GRADE_CONFIRMED)
		format_add(line, sizeof(line), "; link: %s", request_grade_names[call->grade]);
	waterfall->grades |= 1U << call->grade;
	fprintf(waterfall->page->out, "%*s", indent, "");
	page_wrap(waterfall->page, indent, indent + STEP, line);
}

/* Where it was; and what of it was not the server's work, which is at both of its ends: no bar. */
static void print_call(struct waterfall *waterfall, const struct request_call *call, int indent)
{
	const struct requests *requests = &waterfall->digest->requests;
	const char *protocol = request_target(requests, call)->protocol;
	u64 transit_ns = request_transit_ns(requests, call);

	print_call_head(waterfall, call, indent);
	indent += STEP;
	print_row(waterfall, indent, *protocol ? protocol : "call", call->begin_ns, call->window_ns,
		  CALL_FILL);
	if (!is_shown(waterfall, transit_ns))
		return;
	fprintf(waterfall->page->out, "%*s%-*s", indent, "",
		waterfall->at + waterfall->width - indent, "transit and queue");
	print_numbers(waterfall, transit_ns);
}

/* The longest of a request's, as bits: they are shown in the order in which they were made. */
static u64 choose_calls(const struct requests *requests, const struct request *request)
{
	u64 chosen = 0;

	for (int n = 0; n < CALLS_SHOWN; n++) {
		size_t best = REQUEST_CALLS_MAX;
		u64 best_ns = 0;

		for (size_t i = 0; i < request->call_count; i++) {
			u64 ns = request_call(requests, request, i)->window_ns;

			if (chosen >> i & 1 || (best < REQUEST_CALLS_MAX && ns <= best_ns))
				continue;
			best = i;
			best_ns = ns;
		}
		if (best < REQUEST_CALLS_MAX)
			chosen |= 1ULL << best;
	}
	return chosen;
}

/* How many of those that are not shown have this target. */
static u64 count_target(const struct requests *requests, const struct request *request, u64 chosen,
			u32 target)
{
	u64 count = 0;

	for (size_t i = 0; i < request->call_count; i++)
		count += !(chosen >> i & 1) && request_call(requests, request, i)->target == target;
	return count;
}

static void print_more_calls(const struct waterfall *waterfall, const struct request *request,
			     u64 chosen, int indent)
{
	const struct requests *requests = &waterfall->digest->requests;
	const struct request_target *target = NULL;
	char text[ENDPOINT_TEXT_BYTES], line[2048] = "";
	u64 ns = 0, count = 0, most = 0;

	for (size_t i = 0; i < request->call_count; i++) {
		const struct request_call *call = request_call(requests, request, i);
		u64 alike = count_target(requests, request, chosen, call->target);

		if (chosen >> i & 1)
			continue;
		ns += call->window_ns;
		count++;
		if (alike <= most)
			continue;
		most = alike;
		target = request_target(requests, call);
	}
	if (!count)
		return;
	text_target(waterfall->page, target, indent + STEP, text);
	format_add(line, sizeof(line), "and %s more call%s, %s together; %s of them to %s",
		   NUMBER(count), count == 1 ? "" : "s", VALUE(UNIT_NS, ns), NUMBER(most), text);
	fprintf(waterfall->page->out, "%*s", indent, "");
	page_wrap(waterfall->page, indent, indent + STEP, line);
}

/* The request that answered a call made some itself, for which there is no room. */
static void print_deeper_calls(const struct waterfall *waterfall, const struct request *request,
			       int indent)
{
	u32 count = request->call_count;

	if (count)
		fprintf(waterfall->page->out, "%*s%u deeper call%s not shown\n", indent, "", count,
			count == 1 ? "" : "s");
}

static void print_calls(struct waterfall *waterfall, const struct request *request, int depth)
{
	const struct requests *requests = &waterfall->digest->requests;
	int indent = INDENT + STEP * (depth - 1);
	u64 chosen = choose_calls(requests, request);

	for (size_t i = 0; i < request->call_count; i++) {
		const struct request_call *call = request_call(requests, request, i);
		const struct request *answer = request_answer(requests, call);

		if (!(chosen >> i & 1))
			continue;
		print_call(waterfall, call, indent);
		if (!answer)
			continue;
		print_parts(waterfall, answer, indent + STEP);
		if (depth < DEPTH_MAX)
			print_calls(waterfall, answer, depth + 1);
		else
			print_deeper_calls(waterfall, answer, indent + STEP);
	}
	print_more_calls(waterfall, request, chosen, indent);
}

/* How many calls are below each other. */
static int depth_of(const struct requests *requests, const struct request *request, int most)
{
	int deepest = 0;

	for (size_t i = 0; most && i < request->call_count; i++) {
		const struct request *answer =
			request_answer(requests, request_call(requests, request, i));
		int depth = 1 + (answer ? depth_of(requests, answer, most - 1) : 0);

		deepest = depth > deepest ? depth : deepest;
	}
	return deepest;
}

/* Returns the grades of the calls that it shows. */
static u32 print_request(const struct digest *digest, const struct page *page,
			 const struct request *request)
{
	const struct requests *requests = &digest->requests;
	struct waterfall waterfall = {.digest = digest, .page = page, .outermost = request};
	char text[ENDPOINT_TEXT_BYTES], line[2048] = "";
	int at = fprintf(page->out, "  %7s  ", VALUE(UNIT_NS, request_latency(request)));

	text_endpoint(page, requests, request_endpoint(requests, request), at + 2, text);
	format_add(line, sizeof(line), "%s", text);
	add_outcome(line, sizeof(line), request->status, request->outcome);
	if (request->begin_ns < digest->start_ns)
		format_add(line, sizeof(line), "; from before the start");
	else
		format_add(line, sizeof(line), "; at %s",
			   DURATION(request->begin_ns - digest->start_ns));
	format_add(line, sizeof(line), ", pid %u", request->pid);
	if (request->tid && request->tid != request->pid)
		format_add(line, sizeof(line), ", tid %u", request->tid);
	page_wrap(page, at, at + 2, line);
	waterfall.at = INDENT + NAME + STEP * depth_of(requests, request, DEPTH_MAX);
	waterfall.width = page->columns - waterfall.at - NUMBERS;
	waterfall.width = waterfall.width < BAR_LEAST ? BAR_LEAST : waterfall.width;
	print_parts(&waterfall, request, INDENT);
	print_calls(&waterfall, request, 1);
	return waterfall.grades;
}

static void print_legend(const struct page *page, u32 grades)
{
	const u32 published = 1U << REQUEST_GRADE_PUBLISHED;
	char line[512] = "- links of calls to requests are ";

	if (!grades)
		return;
	format_add(line, sizeof(line), "%s",
		   grades == published
			   ? "published by the application"
			   : "inferred, from the order in which threads read and write");
	if (grades & (1U << REQUEST_GRADE_BACKWARD | 1U << REQUEST_GRADE_FORWARD))
		format_add(line, sizeof(line),
			   "; forward and backward mark links that only one of the two witnesses "
			   "supports");
	if (grades & published && grades != published)
		format_add(line, sizeof(line),
			   "; published marks those that the application publishes itself");
	fputs("\n  ", page->out);
	page_wrap(page, 2, 4, line);
}

void text_waterfalls(const struct digest *digest, const struct page *page)
{
	const struct requests *requests = &digest->requests;
	u32 list[REQUESTS_SLOWEST_MAX], grades = 0;
	size_t count = requests_slowest(requests, list, digest->options->slowest);

	page_heading(page, "SLOWEST REQUESTS",
		     requests->calls.count
			     ? " of those answered and kept, and the calls that they made. Bars of "
			       "#: the queue, then the sum of each part, longest first, not in "
			       "order of time. Bars of =: calls, at their time; below, the request "
			       "that answered, its parts of at least 1 % of the whole"
			     : " of those answered and kept: the queue, then the sum of each part, "
			       "longest first, not in order of time");
	for (size_t i = 0; i < count; i++) {
		if (i && requests->calls.count)
			fputs("\n", page->out);
		grades |= print_request(digest, page, &requests->kept[list[i]]);
	}
	if (!count)
		fputs("  none was kept whole\n", page->out);
	print_legend(page, grades);
}
