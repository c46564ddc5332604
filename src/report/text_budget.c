// SPDX-License-Identifier: Apache-2.0
/* Of the endpoints with most time: what typical requests spent it on, and what slow ones. */
#include <string.h>

#include "format_value.h"
#include "text_requests.h"

#define SHOWN  5
#define INDENT 4

static const char *difference(u64 typical, u64 slow, char buf[FORMAT_BYTES])
{
	snprintf(buf, FORMAT_BYTES, "%s%s",
		 slow < typical	  ? "-"
		 : slow > typical ? "+"
				  : "",
		 VALUE(UNIT_NS, slow < typical ? typical - slow : slow - typical));
	return buf;
}

static void print_part(const struct page *page, const char *name, u64 typical, u64 slow)
{
	if (typical || slow)
		fprintf(page->out, "%*s%-14s%9s%10s%10s\n", INDENT, "", name,
			VALUE(UNIT_NS, typical), VALUE(UNIT_NS, slow),
			difference(typical, slow, (char[FORMAT_BYTES]){0}));
}

/* Of how many these are the averages. */
static void print_base(const struct page *page, const struct request_endpoint *endpoint)
{
	const struct request_budget *typical = &endpoint->typical, *slow = &endpoint->slow;
	char line[256] = "";

	format_add(line, sizeof(line), "of %s kept request%s from %s to %s, and ",
		   NUMBER(typical->kept), typical->kept == 1 ? "" : "s",
		   VALUE(UNIT_NS, typical->from_ns), VALUE(UNIT_NS, typical->to_ns));
	format_add(line, sizeof(line), "%s of at least %s", NUMBER(slow->kept),
		   VALUE(UNIT_NS, slow->from_ns));
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
	fprintf(page->out, "%s%*s%-14s%9s%10s%10s%s\n", page_ink(page, INK_FAINT), INDENT, "",
		"part", "typical", "slow", "change", page_ink(page, INK_PLAIN));
	print_part(page, request_part_names[BUDGET_QUEUE], typical->ns[BUDGET_QUEUE],
		   slow->ns[BUDGET_QUEUE]);
	for (int i = 0; i < REQUEST_PART_COUNT; i++)
		print_part(page, request_part_names[i], typical->ns[i], slow->ns[i]);
	print_part(page, "all", typical->sum_ns, slow->sum_ns);
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
		fprintf(page->out, "  not shown: %zu with fewer than %d requests to compare\n", few,
			REQUESTS_BUDGET_LEAST);
}
