// SPDX-License-Identifier: Apache-2.0
/* What was measured: where, when, for how long, and what of it. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "../base/clock.h"
#include "../base/utf8.h"
#include "../store/process_filter.h"
#include "text.h"

/* The moment the session began, in UTC; "" if it is not known. */
static void format_date(const struct digest *digest, char *buf, size_t size)
{
	time_t seconds = (time_t)(digest_meta_number(digest, "started_real_ns") / NS_PER_S);
	struct tm tm;

	*buf = '\0';
	if (seconds && gmtime_r(&seconds, &tm))
		strftime(buf, size, "%Y-%m-%d %H:%M:%S UTC", &tm);
}

static void add_what(const struct digest *digest, char *line, size_t size)
{
	const char *command = digest_meta(digest, "command");
	const char *filter = digest_meta(digest, "filter"), *kind = digest_meta(digest, "kind");

	if (!*kind)
		kind = *command ? "run" : "record";
	format_add(line, size, "dwell %s", ESCAPED(kind));
	if (*command)
		format_add(line, size, " %s", ESCAPED(command));
	else if (!strcmp(filter, "all") || !*filter)
		format_add(line, size, ", all processes");
	else
		format_add(line, size, ", %s", ESCAPED(filter));
}

static void add_where(const struct digest *digest, char *line, size_t size)
{
	const char *host = digest_meta(digest, "host"), *kernel = digest_meta(digest, "kernel");
	u64 cpus = digest_meta_number(digest, "cpus");

	if (*host)
		format_add(line, size, " on %s", ESCAPED(host));
	if (*kernel)
		format_add(line, size, ", Linux %s", ESCAPED(kernel));
	if (cpus)
		format_add(line, size, ", %" PRIu64 " CPU%s", (uint64_t)cpus, cpus == 1 ? "" : "s");
}

static void add_signals(const struct digest *digest, char *line, size_t size)
{
	const char *tier = digest_meta(digest, "tier");
	size_t count = 0;

	if (*tier)
		format_add(line, size, ", Tier %s", ESCAPED(tier));
	for (size_t i = 0; i < digest->signals.count; i++)
		format_add(line, size, "%s%s", count++ ? "," : "; signals ",
			   digest->signals.of[i].name);
}

/* Of what was recorded, what the report is about; nothing if it is about all of it. */
static void print_filter(const struct digest *digest, const struct page *page)
{
	char line[2048];
	u64 processes = 0;

	for (size_t i = 0; i < digest->process_count; i++)
		processes += digest->processes[i].is_present;
	process_filter_text(&digest->options->part, line, sizeof(line));
	if (!*line)
		return;
	format_add(line, sizeof(line), ": %s process%s", NUMBER(processes),
		   processes == 1 ? "" : "es");
	page_wrap(page, fprintf(page->out, "shown: "), 2, line);
}

void text_head(const struct digest *digest, const struct page *page)
{
	char line[2048] = "", date[64];

	add_what(digest, line, sizeof(line));
	add_where(digest, line, sizeof(line));
	format_date(digest, date, sizeof(date));
	format_add(line, sizeof(line), "; %s%s%s", date, *date ? ", " : "",
		   DURATION(digest_span(digest)));
	add_signals(digest, line, sizeof(line));
	if (digest_meta_number(digest, "warmup_ns"))
		format_add(line, sizeof(line), "; after %s of warm-up",
			   DURATION(digest_meta_number(digest, "warmup_ns")));
	fputs(page_ink(page, INK_STRONG), page->out);
	page_wrap(page, 0, 2, line);
	fputs(page_ink(page, INK_PLAIN), page->out);
	print_filter(digest, page);
}
