// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../store/process_filter.h"
#include "digest.h"
#include "json.h"
#include "text.h"
#include "text_requests.h"
#include "text_signals.h"
#include "text_stacks.h"
#include "verdict.h"

#define COLUMNS_DEFAULT 80
#define COLUMNS_MIN	40
#define COLUMNS_MAX	200 /* a longer line is hard to follow */
#define SLICE_MAX_NS	1000000000000000000ULL

/* The first screen answers; what follows are the details. */
static int print_report(const struct digest *digest, const struct page *page)
{
	int err = text_first(digest, page);

	text_where(digest, page);
	if (!err && digest->options->group_by)
		err = text_groups(digest, page);
	if (!err &&
	    (digest->options->group_by ? digest->options->threads
				       : digest_is_of_one(digest) || digest->options->threads))
		err = text_processes(digest, page);
	if (!err)
		err = text_why(digest, page);
	if (!err)
		err = text_hot(digest, page);
	if (!err)
		err = text_calls(digest, page);
	text_requests_brief(digest, page);
	text_signals(digest, page);
	text_quality_details(digest, page);
	text_again(digest, page);
	return err;
}

static int print_text(const struct digest *digest, FILE *out)
{
	const struct report_options *options = digest->options;
	struct page page = {.out = out,
			    .color = options->color,
			    .columns = options->columns,
			    .whole = options->whole};

	if (!page.columns)
		page.columns = COLUMNS_DEFAULT;
	page.columns = page.columns < COLUMNS_MIN ? COLUMNS_MIN : page.columns;
	/* A terminal may be wider than is easy to read; who sets COLUMNS wants just that. */
	if (!page.whole && page.columns > COLUMNS_MAX)
		page.columns = COLUMNS_MAX;
	if (!(options->cpus || options->execs || options->requests || options->signals ||
	      options->stacks || options->why))
		return print_report(digest, &page);
	text_quality(digest, &page);
	if (options->cpus)
		text_cpus(digest, &page);
	if (options->execs)
		text_execs(digest, &page);
	if (options->requests)
		text_requests(digest, &page);
	if (options->signals) {
		text_signals(digest, &page);
		return 0;
	}
	if (options->stacks)
		return text_stacks(digest, &page);
	return options->why ? text_state(digest, &page) : 0;
}

static int print_chosen(sqlite3 *db, const struct report_options *options, FILE *out)
{
	struct digest digest;
	int err = digest_read(db, options, &digest);
	bool is_read = !err;

	if (is_read && digest.is_slice && !digest.window_count) {
		log_error("no window of the session is in the part that was asked for");
		err = -ENODATA;
	} else if (is_read) {
		err = options->json ? report_print_json(&digest, out) : print_text(&digest, out);
	}
	if (err == -ENOMEM)
		log_error("not enough memory for this report: take a part of the session, "
			  "as FILE@10s-20s, or --pid");
	if (is_read)
		digest_free(&digest);
	return err;
}

int report_print(sqlite3 *db, const struct report_options *options, FILE *out)
{
	struct report_options chosen = *options;
	int err = process_filter_read(db, &chosen.part);

	if (!err)
		err = print_chosen(db, &chosen, out);
	process_filter_free(&chosen.part);
	return err;
}

/* One end of a slice, of which length characters: 0 or -EINVAL. */
static int parse_end(const char *text, size_t length, u64 *ret_ns)
{
	char copy[32];

	if (length >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, length);
	copy[length] = '\0';
	return text_parse_seconds(copy, 0, SLICE_MAX_NS, ret_ns) ? -EINVAL : 0;
}

int report_parse_slice(const char *text, u64 *ret_from_ns, u64 *ret_to_ns)
{
	size_t length = strcspn(text, "-");
	u64 from_ns = 0, to_ns = ~0ULL;

	if (text[length] != '-' || (!length && !text[1]))
		return -EINVAL;
	if (length && parse_end(text, length, &from_ns))
		return -EINVAL;
	if (text[length + 1] && parse_end(text + length + 1, strlen(text + length + 1), &to_ns))
		return -EINVAL;
	if (to_ns <= from_ns)
		return -EINVAL;
	*ret_from_ns = from_ns;
	*ret_to_ns = to_ns;
	return 0;
}
