// SPDX-License-Identifier: Apache-2.0
/* How far the page can be trusted, and how to measure again: as the text report says it. */
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/memory_stream.h"
#include "../report/json.h"
#include "../report/quality.h"
#include "../report/text.h"
#include "head.h"

#define WIDE 4000 /* columns: a sentence is one line */

/* What a part of the text report prints. */
static char *print(const struct digest *digest,
		   void (*text)(const struct digest *digest, const struct page *page))
{
	struct memory_stream printed;

	if (memory_stream_open(&printed))
		return NULL;
	text(digest, &(struct page){.out = printed.out, .columns = WIDE, .whole = true});
	memory_stream_end(&printed);
	return printed.text; /* NULL: it did not fit */
}

/* Each line that says something, without its bullet: warnings, or the others. */
static json_t *sentences(const struct digest *digest, bool warnings)
{
	_cleanup_free_ char *text = print(digest, text_quality);
	json_t *list = text ? json_array() : NULL;
	char *rest = NULL;

	for (char *line = list ? strtok_r(text, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest)) {
		bool is_warning;

		line += strspn(line, " ");
		is_warning = !strncmp(line, "! ", 2);
		line += is_warning ? 2 : 0;
		if (*line && is_warning == warnings)
			json_array_append_new(list, json_string(line));
	}
	return list;
}

/* A share of the time of all CPUs; null: not measured, or not known. */
static json_t *overhead_share(const struct digest *digest)
{
	const struct overhead *overhead = &digest->overhead;
	u64 cpus = digest_meta_number(digest, "cpus"), wall_ns = digest_span(digest);
	double bpf_ns = (double)overhead->bpf_ns;

	if (!wall_ns || *digest_meta(digest, "cost_unknown") ||
	    (!overhead->rss_bytes && !overhead->bpf_ns && !overhead->user_cpu_ns))
		return json_null();
	if (overhead->bpf_windows && overhead->bpf_windows < digest->window_count)
		bpf_ns *= (double)digest->window_count / (double)overhead->bpf_windows;
	return json_real((bpf_ns + (double)overhead->user_cpu_ns) /
			 ((double)wall_ns * (double)(cpus ? cpus : 1)));
}

json_t *head_trust(const struct page_data *data)
{
	const struct digest *digest = data->digest;
	const struct profile *profile = &digest->profile;
	struct quality quality;

	quality_find(digest, &quality);
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "sentences",
			 sentences(digest, false), "warnings", sentences(digest, true),
			 "parts_minus_wall_ns", json_number(quality.closure_error_ns),
			 "unattributed_ns", json_number(quality.unattributed_ns), "lost",
			 json_number(quality.lost), "stacks_complete",
			 profile->all.count
				 ? json_real((double)profile->complete / (double)profile->all.count)
				 : json_null(),
			 "overhead", overhead_share(digest));
}

/* "Run again: sudo dwell record ...", and what to add to it. */
json_t *head_run_again(const struct page_data *data)
{
	static const char begins[] = "Run again: ";
	struct report_options options = *data->digest->options;
	struct digest digest = *data->digest;
	_cleanup_free_ char *text = NULL;
	char *at, *end;

	options.session = NULL; /* no hint at other reports */
	digest.options = &options;
	text = print(&digest, text_again);
	at = text ? strstr(text, begins) : NULL;
	if (!at)
		return text ? json_string("") : NULL;
	at += strlen(begins);
	end = strchr(at, '\n');
	if (end)
		*end = '\0';
	return json_string(at);
}
