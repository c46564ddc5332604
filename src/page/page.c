// SPDX-License-Identifier: Apache-2.0
#include "page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/log.h"
#include "../base/memory_stream.h"
#include "../diff/diff.h"
#include "../store/process_filter.h"
#include "data.h"
#include "ledger_time.h"
#include "sample_rows.h"
#include "stack_tree.h"
#include "subjects.h"
#include "template.h"

/* Where the data goes in the page that web/ builds. */
#define MARKER "<!-- dwell-data -->"

static const struct {
	const char *name;
	page_part_fn *write;
} parts[PART_COUNT] = {
#define PART(id, name) [PART_##id] = {#name, page_write_##name},
#include "parts.def"
#undef PART
};

static int write_parts(struct page_data *data)
{
	int err = 0;

	/* The head is last: it says what did not fit. */
	for (int i = PART_COUNT - 1; !err && i >= 0; i--) {
		int ended;

		err = part_begin(&data->parts[i]);
		if (!err)
			err = parts[i].write(data, &data->parts[i]);
		ended = part_end(&data->parts[i]);
		err = err ? err : ended;
	}
	return err;
}

static int make_parts(struct page_data *data, const struct page_session *session)
{
	struct ledger_time time = {0};
	struct stack_tree tree = {0};
	struct sample_rows samples = {0};
	struct digest digest;
	int err = digest_read(session->db, session->options, &digest);

	if (err)
		return err;
	if (digest.is_slice && !digest.window_count) {
		log_error("no window of the session is in the part that was asked for");
		err = -ENODATA;
	}
	if (!err)
		err = page_data_init(data, session->db, &digest);
	data->file = session->file;
	data->time = &time;
	data->tree = &tree;
	data->samples = &samples;
	if (!err)
		err = subjects_find(data);
	if (!err)
		err = ledger_time_read(data, &time);
	if (!err)
		err = stack_tree_init(&tree, data);
	if (!err)
		err = sample_rows_read(data, &samples);
	if (!err)
		err = write_parts(data);
	sample_rows_free(&samples);
	stack_tree_free(&tree);
	ledger_time_free(&time);
	digest_free(&digest);
	return err;
}

static void print_part(const char *prefix, const char *name, const struct part *part, FILE *out)
{
	if (!part->is_omitted)
		fprintf(out, "<script type=\"text/plain\" data-part=\"%s%s\">%s</script>\n", prefix,
			name, part->base64.text);
}

/* Where the data goes in the page, or NULL, told. */
static const char *find_marker(void)
{
	const char *marker = strstr(page_template(), MARKER);

	if (!marker)
		log_error("this dwell's page has no marker for data: build it again with npm");
	return marker;
}

static void print_opening(const char *marker, FILE *out)
{
	fwrite(page_template(), 1, (size_t)(marker - page_template()), out);
}

static int print_page(const struct page_data *data, const struct page_session *session, FILE *out)
{
	const char *marker = find_marker();

	if (!marker)
		return -EINVAL;
	if (session->opens)
		print_opening(marker, out);
	for (int i = 0; i < PART_COUNT; i++)
		print_part(session->is_baseline ? "baseline." : "", parts[i].name, &data->parts[i],
			   out);
	if (session->closes)
		fputs(marker + strlen(MARKER), out);
	return 0;
}

bool page_is_built_in(void)
{
	return *page_template();
}

static int write_chosen(const struct page_session *session, FILE *out)
{
	struct page_data *data = calloc(1, sizeof(*data));
	int err = data ? make_parts(data, session) : -ENOMEM;

	if (!err)
		err = print_page(data, session, out);
	if (err == -ENOMEM)
		log_error("not enough memory for the page: take a part of the session, as "
			  "FILE@10s-20s, or --pid");
	if (data)
		page_data_free(data);
	free(data);
	return err;
}

int html_page_write(const struct page_session *session, FILE *out)
{
	struct report_options options = *session->options;
	struct page_session chosen = *session;
	int err = process_filter_read(session->db, &options.part);

	chosen.options = &options;
	if (!err)
		err = write_chosen(&chosen, out);
	process_filter_free(&options.part);
	return err;
}

/* As `dwell diff --json` prints it. */
static int make_diff_part(const struct diff *diff, struct part *part)
{
	struct memory_stream json;
	int err = memory_stream_open(&json), ended;

	if (err)
		return err;
	err = diff_print_json(diff, json.out);
	ended = memory_stream_end(&json);
	err = err ? err : ended;
	if (!err)
		err = part_begin(part);
	if (!err)
		part_text(part, json.text);
	if (!err)
		err = part_end(part);
	memory_stream_free(&json);
	return err;
}

int html_page_open(const struct diff *diff, FILE *out)
{
	const char *marker = find_marker();
	struct part *part = marker ? calloc(1, sizeof(*part)) : NULL;
	int err = !marker ? -EINVAL : part ? make_diff_part(diff, part) : -ENOMEM;

	if (!err) {
		print_opening(marker, out);
		print_part("", "diff", part, out);
	}
	if (part)
		part_free(part);
	free(part);
	return err;
}
