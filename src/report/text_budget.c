// SPDX-License-Identifier: Apache-2.0
/* Of the endpoints with most time: what typical requests spent it on, and what slow ones. */
#include <string.h>

#include "format_value.h"
#include "text_requests.h"

#define SHOWN	     5
#define INDENT	     4
#define CALLED_SHOWN 4

static const char *difference(u64 typical, u64 slow, char buf[FORMAT_BYTES])
{
	snprintf(buf, FORMAT_BYTES, "%s%s",
		 slow < typical	  ? "-"
		 : slow > typical ? "+"
				  : "",
		 VALUE(UNIT_NS, slow < typical ? typical - slow : slow - typical));
	return buf;
}

static void print_part(const struct page *page, const char *name, u64 typical, u64 slow,
		       bool has_slow)
{
	if (!typical && !slow)
		return;
	fprintf(page->out, "%*s%-14s%9s", INDENT, "", name, VALUE(UNIT_NS, typical));
	if (has_slow)
		fprintf(page->out, "%10s%10s", VALUE(UNIT_NS, slow),
			difference(typical, slow, (char[FORMAT_BYTES]){0}));
	fputc('\n', page->out);
}

/* Of how many these are the averages. */
static void print_base(const struct page *page, const struct request_endpoint *endpoint)
{
	const struct request_budget *typical = &endpoint->typical, *slow = &endpoint->slow;
	char line[256] = "";

	format_add(line, sizeof(line),
		   "typical: %s kept request%s, %s to %s; slow: ", NUMBER(typical->kept),
		   typical->kept == 1 ? "" : "s", VALUE(UNIT_NS, typical->from_ns),
		   VALUE(UNIT_NS, typical->to_ns));
	if (slow->kept)
		format_add(line, sizeof(line), "%s, from %s on", NUMBER(slow->kept),
			   VALUE(UNIT_NS, slow->from_ns));
	else
		format_add(line, sizeof(line), "none was kept (from %s on)",
			   VALUE(UNIT_NS, slow->from_ns));
	fprintf(page->out, "%*s", INDENT, "");
	page_wrap(page, INDENT, INDENT + 2, line);
}

static void print_culprit(const struct digest *digest, const struct page *page,
			  const struct request_endpoint *endpoint)
{
	char text[2 * DIGEST_TEXT], line[3 * DIGEST_TEXT] = "";

	if (!endpoint->culprit_ns)
		return;
	text_culprit(digest, endpoint->grown, endpoint->culprit, text, sizeof(text));
	format_add(line, sizeof(line), "slow ones spend %s in %s, ",
		   VALUE(UNIT_NS, endpoint->slow.ns[endpoint->grown]),
		   request_part_names[endpoint->grown]);
	if (endpoint->grown == REQUEST_PART_DISK)
		format_add(line, sizeof(line), "at least %s of it %s",
			   VALUE(UNIT_NS, endpoint->culprit_ns), text);
	else
		format_add(line, sizeof(line), "%s for at least %s", text,
			   VALUE(UNIT_NS, endpoint->culprit_ns));
	fprintf(page->out, "%*s", INDENT, "");
	page_wrap(page, INDENT, INDENT + 2, line);
}

static void print_wait(const struct digest *digest, const struct page *page,
		       const struct request_endpoint *endpoint)
{
	char text[REQUEST_WAIT_TEXT], line[2 * REQUEST_WAIT_TEXT] = "";

	request_wait_text(digest, endpoint->grown, endpoint->wait_stack, text, sizeof(text));
	if (!*text)
		return;
	format_add(line, sizeof(line), "slow ones spend %s in %s, at least %s of it in one wait: ",
		   VALUE(UNIT_NS, endpoint->slow.ns[endpoint->grown]),
		   request_part_names[endpoint->grown], VALUE(UNIT_NS, endpoint->wait_ns));
	format_add(line, sizeof(line), "%s", ESCAPED(text));
	fprintf(page->out, "%*s", INDENT, "");
	page_wrap(page, INDENT, INDENT + 2, line);
}

/* What is at least so much is not less: 0.96 is no 1.0. */
static double rounded_down(double value, int digits)
{
	double unit = digits == 3 ? 1000 : 10;

	return (double)(u64)(value * unit + 1e-6) / unit;
}

/*
 * How much of the time, and of what slow ones take more, is in calls to one target: at least, as
 * only calls that were linked to their request are known.
 */
static void print_called(const struct digest *digest, const struct page *page,
			 const struct request_endpoint *endpoint,
			 const struct request_called *called)
{
	const struct requests *requests = &digest->requests;
	u64 typical = (u64)called->ns[REQUESTS_TYPICAL], slow = (u64)called->ns[REQUESTS_SLOW];
	int digits = called->calls[REQUESTS_ALL] < 0.1 ? 3 : 1;
	char text[ENDPOINT_TEXT_BYTES], change[FORMAT_BYTES], line[2048] = "";

	text_target(page, hash_item(&requests->targets, called->target), INDENT + 12, text);
	format_add(line, sizeof(line), "linked calls to %s: at least %.*f per request, ", text,
		   digits, rounded_down(called->calls[REQUESTS_ALL], digits));
	format_add(line, sizeof(line), "%s of its time",
		   SHARE((u64)called->ns[REQUESTS_ALL], endpoint->average_ns[REQUESTS_ALL]));
	if (endpoint->average_ns[REQUESTS_TYPICAL] && endpoint->average_ns[REQUESTS_SLOW])
		format_add(line, sizeof(line), "; typical %s, slow %s (%s)",
			   VALUE(UNIT_NS, typical), VALUE(UNIT_NS, slow),
			   difference(typical, slow, change));
	fprintf(page->out, "%*s", INDENT, "");
	page_wrap(page, INDENT, INDENT + 2, line);
}

static bool is_worth_a_line(const struct request_endpoint *endpoint,
			    const struct request_called *called)
{
	for (int group = 0; group < REQUEST_GROUPS; group++)
		if (called->ns[group] > 0.01 * (double)endpoint->average_ns[group])
			return true;
	return false;
}

static void print_all_called(const struct digest *digest, const struct page *page,
			     const struct request_endpoint *endpoint)
{
	const struct requests *requests = &digest->requests;
	size_t most = page_rows(digest, CALLED_SHOWN), shown = 0, more = 0, less;

	for (size_t i = 0; i < endpoint->called_count; i++) {
		const struct request_called *called =
			hash_item(&requests->called, endpoint->first_called + i);

		if (!is_worth_a_line(endpoint, called))
			continue;
		if (shown == most) {
			more++;
			continue;
		}
		print_called(digest, page, endpoint, called);
		shown++;
	}
	if (more)
		fprintf(page->out, "%*sand %zu more (--top)\n", INDENT, "", more);
	less = endpoint->called_count - shown - more;
	if (less)
		fprintf(page->out, "%*s%s%zu %starget%s, each less than 1 %% of its time\n", INDENT,
			"", shown ? "and " : "linked calls to ", less, shown ? "other " : "",
			less == 1 ? "" : "s");
}

static void print_unconfirmed(const struct page *page, const struct request_endpoint *endpoint)
{
	char line[256] = "";

	if (!endpoint->unconfirmed_calls)
		return;
	format_add(line, sizeof(line), "%s of %s linked calls %s supported by only one witness",
		   NUMBER(endpoint->unconfirmed_calls), NUMBER(endpoint->linked_calls),
		   endpoint->unconfirmed_calls == 1 ? "is" : "are");
	fprintf(page->out, "%*s", INDENT, "");
	page_wrap(page, INDENT, INDENT + 2, line);
}

static void print_budget(const struct digest *digest, const struct page *page,
			 const struct request_endpoint *endpoint)
{
	const struct request_budget *typical = &endpoint->typical, *slow = &endpoint->slow;
	char text[ENDPOINT_TEXT_BYTES], growth[128], line[2048] = "  ";

	text_endpoint(page, &digest->requests, endpoint, INDENT, text);
	text_growth(endpoint, growth, sizeof(growth));
	format_add(line, sizeof(line), "%s%s%s", text, *growth ? ": " : "", growth);
	if (endpoint->has_growth)
		format_add(line, sizeof(line), " (%s)", request_part_meanings[endpoint->grown]);
	page_wrap(page, 0, INDENT, line);
	fprintf(page->out, "%s%*s%-14s%9s%s%s\n", page_ink(page, INK_FAINT), INDENT, "", "part",
		"typical", slow->kept ? "      slow    change" : "", page_ink(page, INK_PLAIN));
	print_part(page, request_part_names[BUDGET_QUEUE], typical->ns[BUDGET_QUEUE],
		   slow->ns[BUDGET_QUEUE], slow->kept);
	for (int i = 0; i < REQUEST_PART_COUNT; i++)
		print_part(page, request_part_names[i], typical->ns[i], slow->ns[i], slow->kept);
	print_part(page, "all", typical->sum_ns, slow->sum_ns, slow->kept);
	print_culprit(digest, page, endpoint);
	print_wait(digest, page, endpoint);
	print_all_called(digest, page, endpoint);
	print_unconfirmed(page, endpoint);
	print_base(page, endpoint);
}

void text_budgets(const struct digest *digest, const struct page *page)
{
	const struct requests *requests = &digest->requests;
	size_t most = page_rows(digest, SHOWN), shown = 0, few = 0, more = 0;

	if (!requests->request_count || !requests->kept_count)
		return;
	page_heading(page, "BUDGETS",
		     ": the average typical request (the middle half) beside the average slow one "
		     "(from p95 on)");
	for (size_t i = 0; i < requests->request_count; i++) {
		const struct request_endpoint *endpoint = requests->by_time[i];

		if (endpoint->answered_kept < REQUESTS_BUDGET_LEAST) {
			few++;
		} else if (shown == most) {
			more++;
		} else {
			print_budget(digest, page, endpoint);
			shown++;
		}
	}
	if (more)
		fprintf(page->out, "  and %zu more (--top)\n", more);
	if (few)
		fprintf(page->out, "  not shown: %zu with fewer than %d kept requests\n", few,
			REQUESTS_BUDGET_LEAST);
}
