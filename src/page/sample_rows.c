// SPDX-License-Identifier: Apache-2.0
#include "sample_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "../base/cleanup.h"
#include "../store/query.h"
#include "stack_tree.h"

struct reader {
	struct page_data *data;
	struct sample_rows *rows;
};

enum sample_column {
	SAMPLE_WINDOW,
	SAMPLE_PID,
	SAMPLE_PROCESS_START,
	SAMPLE_TID,
	SAMPLE_THREAD_START,
	SAMPLE_KIND,
	SAMPLE_STATE,
	SAMPLE_STACK,
	SAMPLE_STOP,
	SAMPLE_COUNT,
	SAMPLE_WEIGHT,
};
#define SAMPLE_COLUMNS                                                                             \
	"window, pid, process_start_ns, tid, thread_start_ns, kind, state, stack, stop, count, "   \
	"weight_ns"

static bool is_wanted(const struct digest *digest, sqlite3_stmt *row, u64 kind, u64 state)
{
	const struct session_part *part = &digest->options->part;

	if (!session_part_has_process(part, query_count(row, SAMPLE_PID),
				      query_count(row, SAMPLE_PROCESS_START)) ||
	    !session_part_has_tid(part, query_count(row, SAMPLE_TID)))
		return false;
	if (part->one_kind && kind != part->kind)
		return false;
	return !part->state || profile_state_fits(part->state, digest->state_names[state]);
}

/* The thread and the group of a sample; that of its process also where the thread is not known. */
static void find_subjects(const struct page_data *data, sqlite3_stmt *row, s32 *ret_thread,
			  s32 *ret_group)
{
	const struct digest *digest = data->digest;
	const struct thread *thread = page_find_thread(data, query_count(row, SAMPLE_TID),
						       query_count(row, SAMPLE_THREAD_START));
	const struct process *process;

	*ret_thread = thread ? data->thread_at[thread - digest->threads] : PAGE_NONE;
	if (thread) {
		*ret_group = data->group_at[thread->process];
		return;
	}
	process = digest_process(digest, query_count(row, SAMPLE_PID),
				 query_count(row, SAMPLE_PROCESS_START));
	*ret_group = process ? data->group_at[process - digest->processes] : PAGE_NONE;
}

/* Where even the most rows of groups do not do, a stack that has none gives way to its weight. */
static void cut_stack(struct sample_rows *rows, struct sample_row *sample)
{
	struct sample_row key = *sample;

	if (rows->groups.rows.count < PAGE_GROUP_SAMPLE_ROWS_MOST)
		return;
	key.bucket /= rows->groups.windows;
	if (hash_find(&rows->groups.rows, &key))
		return;
	sample->node = PAGE_NONE;
	rows->cut += (u64)sample->count;
}

static int add(struct reader *reader, sqlite3_stmt *row, const struct sample_row *sample)
{
	struct sample_row of_thread = *sample, of_group = *sample;
	int err;

	find_subjects(reader->data, row, &of_thread.subject, &of_group.subject);
	cut_stack(reader->rows, &of_group);
	err = buckets_add(&reader->rows->threads, &of_thread);
	return err ? err : buckets_add(&reader->rows->groups, &of_group);
}

static int on_sample(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	struct page_data *data = reader->data;
	s32 window = page_window_at(data, sqlite3_column_int64(row, SAMPLE_WINDOW));
	u64 kind = query_u64(row, SAMPLE_KIND), state = query_u64(row, SAMPLE_STATE);
	u64 stop = query_u64(row, SAMPLE_STOP);
	struct sample_row sample;
	int err;

	kind = kind < PROFILE_KINDS ? kind : PROFILE_KINDS - 1;
	state = state < STATE_LIMIT ? state : STATE_UNATTRIBUTED;
	stop = stop < PROFILE_STOPS ? stop : PROFILE_STOPS - 1;
	if (window == PAGE_NONE || !is_wanted(data->digest, row, kind, state))
		return 0;
	sample = (struct sample_row){
		.bucket = (u32)window,
		.kind = (u32)kind,
		.state = (u32)state,
		.stop = (u32)stop,
		.count = (s64)query_count(row, SAMPLE_COUNT),
		.weight_ns = (s64)query_count(row, SAMPLE_WEIGHT),
	};
	err = stack_tree_add(data, query_u64(row, SAMPLE_STACK), sample.stop, &sample.node);
	return err ? err : add(reader, row, &sample);
}

/* What a thread has. */
struct load {
	s32 thread;
	size_t rows;
	u64 weight_ns;
};

static int compare_loads(const void *a, const void *b)
{
	const struct load *x = a, *y = b;

	if (x->weight_ns != y->weight_ns)
		return x->weight_ns > y->weight_ns ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static bool is_kept(const void *item, const void *context)
{
	const bool *kept = context;

	return kept[((const struct sample_row *)item)->subject + 1];
}

/* Drops the threads with the least weight until the rest has no more rows than the limit: a thread
 * has all of its samples, or none. 0 or -ENOMEM. */
static int keep_heaviest(struct sample_rows *samples, u32 thread_count)
{
	/* Of each thread, and first of those that are not in the page. */
	_cleanup_free_ struct load *loads = calloc(thread_count + 1, sizeof(*loads));
	_cleanup_free_ bool *kept = calloc(thread_count + 1, sizeof(*kept));
	struct hash *rows = &samples->threads.rows;
	size_t used = 0;

	if (!loads || !kept)
		return -ENOMEM;
	for (u32 i = 0; i <= thread_count; i++)
		loads[i].thread = (s32)i - 1;
	for (size_t i = 0; i < rows->count; i++) {
		const struct sample_row *row = hash_item(rows, i);

		loads[row->subject + 1].rows++;
		loads[row->subject + 1].weight_ns += (u64)row->weight_ns;
	}
	qsort(loads, thread_count + 1, sizeof(*loads), compare_loads);
	for (u32 i = 0; i <= thread_count && used + loads[i].rows <= PAGE_SAMPLE_ROWS_MAX; i++) {
		used += loads[i].rows;
		kept[loads[i].thread + 1] = true;
	}
	for (size_t i = 0; i < rows->count; i++)
		if (!is_kept(hash_item(rows, i), kept))
			samples->left_out += (u64)((struct sample_row *)hash_item(rows, i))->count;
	hash_retain(rows, is_kept, kept);
	return 0;
}

int sample_rows_read(struct page_data *data, struct sample_rows *ret_rows)
{
	struct reader reader = {data, ret_rows};
	u32 windows = (u32)data->window_count;
	int err;

	*ret_rows = (struct sample_rows){0};
	buckets_init(&ret_rows->threads, sizeof(struct sample_row), 2, 2, PAGE_SAMPLE_ROWS_MAX,
		     windows);
	buckets_allow(&ret_rows->threads, PAGE_SAMPLE_ROWS_MOST);
	buckets_init(&ret_rows->groups, sizeof(struct sample_row), 2, 2, PAGE_GROUP_SAMPLE_ROWS_MAX,
		     windows);
	buckets_allow(&ret_rows->groups, DIGEST_ROWS_MAX);
	err = query_table(data->db, "samples", SAMPLE_COLUMNS, NULL, on_sample, &reader);
	ret_rows->left_out = (u64)ret_rows->threads.left_value;
	if (!err && ret_rows->threads.rows.count > PAGE_SAMPLE_ROWS_MAX)
		err = keep_heaviest(ret_rows, data->thread_count);
	return err;
}

void sample_rows_free(struct sample_rows *rows)
{
	buckets_free(&rows->threads);
	buckets_free(&rows->groups);
}
