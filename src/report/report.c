// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/log.h"
#include "digest.h"
#include "json.h"
#include "text.h"
#include "text_signals.h"
#include "text_stacks.h"

#define COLUMNS_DEFAULT 80
#define COLUMNS_MIN	40
#define COLUMNS_MAX	200 /* a longer line is hard to follow */

static int print_text(const struct digest *digest, FILE *out)
{
	const struct report_options *options = digest->options;
	struct page page = {.out = out, .color = options->color, .columns = options->columns};
	int err;

	if (!page.columns)
		page.columns = COLUMNS_DEFAULT;
	page.columns = page.columns < COLUMNS_MIN ? COLUMNS_MIN : page.columns;
	page.columns = page.columns > COLUMNS_MAX ? COLUMNS_MAX : page.columns;
	text_quality(digest, &page);
	if (options->cpus)
		text_cpus(digest, &page);
	if (options->execs)
		text_execs(digest, &page);
	if (options->signals) {
		text_signals(digest, &page);
		return 0;
	}
	if (options->stacks)
		return text_stacks(digest, &page);
	if (options->why)
		return text_state(digest, &page);
	if (options->cpus || options->execs)
		return 0;
	text_verdict(digest, &page);
	text_where(digest, &page);
	text_processes(digest, &page);
	err = text_why(digest, &page);
	if (!err)
		err = text_hot(digest, &page);
	if (!err)
		err = text_calls(digest, &page);
	text_signals(digest, &page);
	text_again(digest, &page);
	return err;
}

int report_print(sqlite3 *db, const struct report_options *options, FILE *out)
{
	struct digest digest;
	int err = digest_read(db, options, &digest);

	if (err)
		return err;
	if (digest.is_slice && !digest.window_count) {
		log_error("no window of the session is in the part that was asked for");
		err = -ENODATA;
	} else {
		err = options->json ? report_print_json(&digest, out) : print_text(&digest, out);
		if (err == -ENOMEM)
			log_error("not enough memory for this report: take a part of the session, "
				  "as FILE@10s-20s, or --pid");
	}
	digest_free(&digest);
	return err;
}

/* "10s", "1.5s", "500ms", bare seconds, of which length characters: 0 or -EINVAL. */
static int parse_time(const char *text, size_t length, u64 *ret_ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 1e9}, {"s", 1e9},  {"ms", 1e6},   {"us", 1e3},
		     {"ns", 1}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
	char copy[32], *end;
	double value;

	if (!length || length >= sizeof(copy) || !isdigit((unsigned char)*text))
		return -EINVAL;
	memcpy(copy, text, length);
	copy[length] = '\0';
	if (copy[strspn(copy, "0123456789.")] == 'e' || strpbrk(copy, "xX"))
		return -EINVAL; /* strtod would take more than people mean */
	value = strtod(copy, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].name) != 0)
			continue;
		if (value * units[i].ns > 1e18)
			return -EINVAL;
		*ret_ns = (u64)(value * units[i].ns + 0.5);
		return 0;
	}
	return -EINVAL;
}

int report_parse_slice(const char *text, u64 *ret_from_ns, u64 *ret_to_ns)
{
	size_t length = strcspn(text, "-");
	u64 from_ns = 0, to_ns = ~0ULL;

	if (text[length] != '-' || (!length && !text[1]))
		return -EINVAL;
	if (length && parse_time(text, length, &from_ns))
		return -EINVAL;
	if (text[length + 1] && parse_time(text + length + 1, strlen(text + length + 1), &to_ns))
		return -EINVAL;
	if (to_ns <= from_ns)
		return -EINVAL;
	*ret_from_ns = from_ns;
	*ret_to_ns = to_ns;
	return 0;
}
