// SPDX-License-Identifier: Apache-2.0
/* The samples by time: threads, states and stacks. */
#include "../base/cleanup.h"
#include "../store/query.h"
#include "buckets.h"
#include "stack_tree.h"

/* Opens with its key. */
struct sample_row {
	u32 bucket;
	s32 thread;
	u32 kind, state;
	s32 node;
	u32 stop;
	/* the key ends here */
	s64 count, weight_ns;
};

struct reader {
	struct page_data *data;
	struct buckets samples;
};

static bool is_wanted(const struct digest *digest, sqlite3_stmt *row, u64 kind, u64 state)
{
	const struct session_part *part = &digest->options->part;

	if (!session_part_has_pid(part, query_count(row, 1)) ||
	    !session_part_has_tid(part, query_count(row, 2)))
		return false;
	if (part->one_kind && kind != part->kind)
		return false;
	return !part->state || profile_state_fits(part->state, digest->state_names[state]);
}

static int on_sample(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	struct page_data *data = reader->data;
	s32 window = page_window_at(data, sqlite3_column_int64(row, 0));
	u64 kind = query_u64(row, 4), state = query_u64(row, 5), stop = query_u64(row, 7);
	struct sample_row sample;
	int err;

	kind = kind < PROFILE_KINDS ? kind : PROFILE_KINDS - 1;
	state = state < STATE_LIMIT ? state : STATE_UNATTRIBUTED;
	stop = stop < PROFILE_STOPS ? stop : PROFILE_STOPS - 1;
	if (window == PAGE_NONE || !is_wanted(data->digest, row, kind, state))
		return 0;
	sample = (struct sample_row){
		.bucket = (u32)window,
		.thread = page_thread_at(data, query_count(row, 2), query_count(row, 3)),
		.kind = (u32)kind,
		.state = (u32)state,
		.stop = (u32)stop,
		.count = (s64)query_count(row, 8),
		.weight_ns = (s64)query_count(row, 9),
	};
	err = stack_tree_add(data, query_u64(row, 6), sample.stop, &sample.node);
	return err ? err : buckets_add(&reader->samples, &sample);
}

/* By node, so that equal numbers stand together: they deflate well. */
static int compare(const void *a, const void *b)
{
	const struct sample_row *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	return x->state < y->state ? -1 : x->state > y->state;
}

int page_write_samples(struct page_data *data, struct part *part)
{
	static const struct column columns[] = {
		COLUMN("node+", struct sample_row, node),
		COLUMN("thread", struct sample_row, thread),
		COLUMN("bucket", struct sample_row, bucket),
		COLUMN("kind", struct sample_row, kind),
		COLUMN("state", struct sample_row, state),
		COLUMN("stop", struct sample_row, stop),
		COLUMN("count", struct sample_row, count),
		COLUMN("weight_ns", struct sample_row, weight_ns),
	};
	struct reader reader = {.data = data};
	int err;

	buckets_init(&reader.samples, sizeof(struct sample_row), 2, 2, PAGE_SAMPLE_ROWS_MAX,
		     (u32)data->window_count);
	err = query_table(data->db, "samples",
			  "window, pid, tid, thread_start_ns, kind, state, stack, stop, count, "
			  "weight_ns",
			  NULL, on_sample, &reader);
	if (!err) {
		buckets_sort(&reader.samples, compare);
		page_write_bucket(data, part, reader.samples.windows);
		part_columns(part, columns, ARRAY_SIZE(columns), reader.samples.rows.items,
			     sizeof(struct sample_row), reader.samples.rows.count);
		part_text(part, "}");
		page_limit(data, "samples", reader.samples.rows.count, PAGE_SAMPLE_ROWS_MAX,
			   reader.samples.left_out, "rows");
	}
	buckets_free(&reader.samples);
	return err;
}
