// SPDX-License-Identifier: Apache-2.0
/* The parts with samples: of threads, and of groups where those of threads do not tell all. */
#include "../base/cleanup.h"
#include "sample_rows.h"

/* By node, so that equal numbers stand together: they deflate well. */
static int compare(const void *a, const void *b)
{
	const struct sample_row *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->subject != y->subject)
		return x->subject < y->subject ? -1 : 1;
	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	return x->state < y->state ? -1 : x->state > y->state;
}

static void write_rows(struct page_data *data, struct part *part, struct buckets *rows,
		       const char *subject)
{
	const struct column columns[] = {
		COLUMN("node+", struct sample_row, node),
		COLUMN(subject, struct sample_row, subject),
		COLUMN("bucket", struct sample_row, bucket),
		COLUMN("kind", struct sample_row, kind),
		COLUMN("state", struct sample_row, state),
		COLUMN("stop", struct sample_row, stop),
		COLUMN("count", struct sample_row, count),
		COLUMN("weight_ns", struct sample_row, weight_ns),
	};

	buckets_sort(rows, compare);
	page_write_bucket(data, part, rows->windows);
	part_columns(part, columns, ARRAY_SIZE(columns), rows->rows.items,
		     sizeof(struct sample_row), rows->rows.count);
	part_text(part, "}");
}

int page_write_group_samples(struct page_data *data, struct part *part)
{
	struct sample_rows *samples = data->samples;

	if (samples->threads.windows == 1 && !samples->left_out) {
		part->is_omitted = true;
		return 0;
	}
	write_rows(data, part, &samples->groups, "group");
	page_limit(data, "group_samples", samples->groups.rows.count, PAGE_GROUP_SAMPLE_ROWS_MOST,
		   samples->cut, "samples: their time is there, without a stack");
	return 0;
}

int page_write_samples(struct page_data *data, struct part *part)
{
	struct sample_rows *samples = data->samples;

	write_rows(data, part, &samples->threads, "thread");
	page_limit(data, "samples", samples->threads.rows.count, PAGE_SAMPLE_ROWS_MAX,
		   samples->left_out,
		   "samples of single threads, those with the least: they are in their groups");
	return 0;
}
