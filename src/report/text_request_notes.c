// SPDX-License-Identifier: Apache-2.0
/* What has to be known of a service's numbers: its model, samples, lost answers, bytes outside
 * turns. */
#include <string.h>

#include "format_value.h"
#include "text_requests.h"

#define INDENT	       6
#define LINKS_SHOWN    10
#define SYSCALLS_SHOWN 6

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
			   "- byte closure: 100 %% of the kernel's %s are in turns",
			   VALUE(UNIT_BYTES, counts->kernel_bytes));
	else
		format_add(line, sizeof(line),
			   "- byte closure: %s of the kernel's %s are not in turns",
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

/* What the processes did besides is in it: background work, polls that nothing came of. */
static void print_syscalls(const struct digest *digest, const struct page *page,
			   const struct request_service *service)
{
	double requests = (double)service->counts.requests, rest = 0;
	char line[512] = "- system calls of its processes per request:", buf[64];
	const char *before = " ";
	struct hash calls;
	size_t shown = 0;

	requests_service_calls(digest, service, &calls);
	for (size_t i = 0; i < calls.count; i++) {
		const struct call *call = hash_item(&calls, i);
		double each = (double)call->count / requests;

		if (!call->call || shown == SYSCALLS_SHOWN || each < 0.05) {
			rest += each;
			continue;
		}
		shown++;
		format_add(line, sizeof(line), "%s%s %.1f", before,
			   ESCAPED(digest_call_name(digest, call->call, buf, sizeof(buf))), each);
		before = ", ";
	}
	if (rest >= 0.05)
		format_add(line, sizeof(line), "%sothers %.1f", before, rest);
	if (*before == ',' || rest >= 0.05)
		print_note(page, line);
	hash_free(&calls);
}

void text_request_notes(const struct digest *digest, const struct page *page,
			const struct request_service *service)
{
	const struct request_counts *all = &service->all;

	print_samples(page, &service->counts);
	print_unanswered(page, &service->counts);
	if (all->kernel_bytes || request_bytes_in(all) || request_bytes_outside(all))
		print_bytes(page, all);
	print_syscalls(digest, page, service);
}

static void add_kind(char *line, size_t size, const char *name, u64 count, u64 all)
{
	if (count)
		format_add(line, size, ", %s %s", COLUMN_SHARE(count, all), name);
}

/* Calls of requests without a record have none either; those without a witness are all counted. */
static void print_links(const struct page *page, const struct request_links *links)
{
	u64 all = request_links_sum(links) - links->unlinked;
	char line[1024] = "";

	format_add(line, sizeof(line), "%s",
		   *links->comm ? ESCAPED(links->comm) : "(unknown process)");
	if (*links->service && strcmp(links->service, links->comm) != 0)
		format_add(line, sizeof(line), ", %s", ESCAPED(links->service));
	format_add(line, sizeof(line), ": %s call%s with a record", NUMBER(all),
		   all == 1 ? "" : "s");
	add_kind(line, sizeof(line), "published by the application", links->published, all);
	add_kind(line, sizeof(line), "confirmed by both witnesses", links->confirmed, all);
	add_kind(line, sizeof(line), "backward only", links->backward, all);
	add_kind(line, sizeof(line), "forward only", links->forward, all);
	add_kind(line, sizeof(line), "with witnesses that contradict each other", links->conflict,
		 all);
	if (links->refused)
		format_add(line, sizeof(line),
			   "; %s refused: not linked (witnesses not reliable enough)",
			   COLUMN_SHARE(links->refused, all));
	if (links->checked)
		format_add(
			line, sizeof(line),
			"; checked by what is published: %s of %s links of the witnesses would be "
			"wrong",
			NUMBER(links->wrong), NUMBER(links->checked));
	if (links->unlinked)
		format_add(line, sizeof(line), "; %s call%s without any witness: not linked",
			   NUMBER(links->unlinked), links->unlinked == 1 ? "" : "s");
	fputs("  ", page->out);
	page_wrap(page, 2, 4, line);
}

void text_request_links(const struct digest *digest, const struct page *page)
{
	const struct requests *requests = &digest->requests;
	size_t most = page_rows(digest, LINKS_SHOWN), shown = 0;

	for (size_t i = 0; i < requests->links.count; i++) {
		const struct request_links *links = hash_item(&requests->links, i);

		if (!request_links_sum(links) || shown++ >= most)
			continue;
		if (shown == 1) {
			fputs("\n  ", page->out);
			page_wrap(page, 2, 4,
				  "calls that servers made, and how they were linked to "
				  "the requests that made them");
		}
		print_links(page, links);
	}
	if (shown > most)
		fprintf(page->out, "  and %zu more (--top)\n", shown - most);
}
