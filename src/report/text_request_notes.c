// SPDX-License-Identifier: Apache-2.0
/* What has to be known of a service's numbers: its model, samples, lost answers, bytes outside
 * turns. */
#include <string.h>

#include "format_value.h"
#include "text_requests.h"

#define INDENT 6

static void print_note(const struct page *page, const char *line)
{
	fprintf(page->out, "%*s", INDENT - 2, "");
	page_wrap(page, INDENT - 2, INDENT, line);
}

static void print_samples(const struct page *page, const struct request_counts *counts)
{
	char line[256] = "";

	if (counts->records && counts->records < counts->requests) {
		format_add(line, sizeof(line),
			   "- sampled: %s have a record; the others count as the last one on "
			   "their connection that began alike",
			   SHARE(counts->records, counts->requests));
		print_note(page, line);
	}
	*line = '\0';
	if (counts->several) {
		format_add(line, sizeof(line),
			   "- pipelined: %s turns carried several requests each; the count is a "
			   "lower bound",
			   NUMBER(counts->several));
		print_note(page, line);
	}
}

static void print_unanswered(const struct page *page, const struct request_counts *counts)
{
	static const char *const texts[REQUEST_OUTCOME_COUNT] = {
		[REQUEST_CLOSED] = "closed",
		[REQUEST_RESET] = "reset",
		[REQUEST_TIMED_OUT] = "timed out",
		[REQUEST_OPEN] = "still open at the end",
	};
	char line[256] = "- without an answer:";
	const char *before = " ";

	for (int i = 0; i < REQUEST_OUTCOME_COUNT; i++) {
		if (!texts[i] || !counts->outcomes[i])
			continue;
		format_add(line, sizeof(line), "%s%s %s", before, NUMBER(counts->outcomes[i]),
			   texts[i]);
		before = ", ";
	}
	if (*before == ',')
		print_note(page, line);
}

/* The kernel's own count of bytes is what has to be explained. */
static void print_bytes(const struct page *page, const struct request_counts *counts)
{
	u64 in = request_bytes_in(counts), outside = request_bytes_outside(counts);
	char line[512] = "";
	const char *before = ": ";

	if (profile_add(in, outside) != counts->kernel_bytes)
		format_add(line, sizeof(line),
			   "! byte closure fails: %s B in turns and %s B outside are not the %s B "
			   "of the kernel's count",
			   NUMBER(in), NUMBER(outside), NUMBER(counts->kernel_bytes));
	else if (!outside)
		format_add(line, sizeof(line),
			   "- byte closure: 100 %% of %s of the kernel's count are in turns",
			   VALUE(UNIT_BYTES, counts->kernel_bytes));
	else
		format_add(line, sizeof(line),
			   "- byte closure: %s of %s of the kernel's count are not in turns",
			   SHARE(outside, counts->kernel_bytes),
			   VALUE(UNIT_BYTES, counts->kernel_bytes));
	for (int i = 0; *line == '-' && i < REQUEST_BYTES_COUNT; i++) {
		if (!counts->outside_bytes[i])
			continue;
		format_add(line, sizeof(line), "%s%s %s", before, request_bytes_names[i],
			   VALUE(UNIT_BYTES, counts->outside_bytes[i]));
		before = ", ";
	}
	print_note(page, line);
}

void text_request_notes(const struct page *page, const struct request_service *service)
{
	const struct request_counts *all = &service->all;

	print_samples(page, &service->counts);
	print_unanswered(page, &service->counts);
	if (all->kernel_bytes || request_bytes_in(all) || request_bytes_outside(all))
		print_bytes(page, all);
}
