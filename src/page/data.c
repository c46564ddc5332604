// SPDX-License-Identifier: Apache-2.0
#include "data.h"

#include <errno.h>
#include <stdlib.h>

#include "../base/clock.h"
#include "../store/query.h"

struct window_place {
	s64 id; /* the key */
	u32 at;
};

static int on_window(sqlite3_stmt *row, void *context)
{
	struct page_data *data = context;
	s64 id = sqlite3_column_int64(row, 0);
	struct window_place *place;
	struct page_window *window;

	if (!digest_window_is_in(data->digest, id))
		return 0;
	window = query_append(&data->windows, &data->window_count, sizeof(*window),
			      PAGE_WINDOWS_MAX);
	if (!window && data->window_count < PAGE_WINDOWS_MAX)
		return -ENOMEM;
	place = hash_add(&data->by_window, &id);
	if (!place)
		return -ENOMEM;
	place->at = (u32)data->window_count - 1;
	if (!place->at)
		data->first_window = id;
	data->is_counted &= id == data->first_window + (s64)place->at;
	if (window)
		window->begin_ns = page_time(data, query_count(row, 1));
	else /* beyond the limit: they extend the last one */
		window = &data->windows[data->window_count - 1];
	window->end_ns = page_time(data, query_count(row, 2));
	return 0;
}

/* A session without windows, or whose writer was killed in the first one, is one window. */
static int read_windows(struct page_data *data)
{
	const struct digest *digest = data->digest;
	int err = query_table(data->db, "windows", "id, begin_ns, end_ns", "begin_ns", on_window,
			      data);
	struct page_window *window;

	if (err)
		return err;
	if (data->by_window.count > data->window_count)
		page_limit(data, "windows", data->window_count, PAGE_WINDOWS_MAX,
			   data->by_window.count - data->window_count,
			   "windows: they are in the last one");
	if (data->window_count)
		return 0;
	window = query_append(&data->windows, &data->window_count, sizeof(*window), 1);
	if (!window)
		return -ENOMEM;
	window->begin_ns = page_time(data, digest->begin_ns);
	window->end_ns = page_time(data, digest->end_ns);
	return 0;
}

struct start_place {
	u64 tid, start_ns; /* the key */
	u32 thread;	   /* index in the digest */
};

static int index_threads(struct page_data *data)
{
	const struct digest *digest = data->digest;

	for (size_t i = 0; i < digest->thread_count; i++) {
		const struct thread *thread = &digest->threads[i];
		struct start_place *place =
			hash_add(&data->by_start, &(u64[]){thread->tid, thread->start_ns});

		if (!place)
			return -ENOMEM;
		place->thread = (u32)i;
	}
	return 0;
}

int page_data_init(struct page_data *data, sqlite3 *db, const struct digest *digest)
{
	int err;

	*data = (struct page_data){.db = db, .digest = digest, .is_counted = true};
	strings_init(&data->names, PAGE_TEXT_MAX);
	hash_init(&data->by_window, sizeof(struct window_place), sizeof(s64), DIGEST_ROWS_MAX);
	hash_init(&data->by_start, sizeof(struct start_place), 2 * sizeof(u64), DIGEST_THREADS_MAX);
	hash_init(&data->groups, sizeof(struct page_group), 2 * sizeof(u32), DIGEST_THREADS_MAX);
	err = read_windows(data);
	if (!err)
		err = index_threads(data);
	if (err)
		return err;
	data->window_ns = digest_meta_number(digest, "window_ns");
	if (!data->window_ns)
		data->window_ns = NS_PER_S;
	return 0;
}

void page_data_free(struct page_data *data)
{
	strings_free(&data->names);
	hash_free(&data->by_window);
	hash_free(&data->by_start);
	hash_free(&data->groups);
	free(data->windows);
	free(data->thread_at);
	free(data->process_at);
	free(data->group_at);
	free(data->is_busiest);
	for (size_t i = 0; i < PART_COUNT; i++)
		part_free(&data->parts[i]);
}

u32 page_name(struct page_data *data, const char *text)
{
	u32 number = *text ? strings_add(&data->names, text) : 0;

	if (number != STRINGS_NONE)
		return number;
	data->names_left_out++;
	return 0;
}

s32 page_window_at(const struct page_data *data, s64 id)
{
	const struct window_place *place;

	if (data->is_counted && id >= data->first_window &&
	    (u64)(id - data->first_window) < data->window_count)
		return (s32)(id - data->first_window);
	place = hash_find(&data->by_window, &id);
	if (place)
		return (s32)place->at;
	/* A row without its window is not lost, unless a part was asked for. */
	return data->digest->is_slice ? PAGE_NONE : (s32)data->window_count - 1;
}

u32 page_window_of(const struct page_data *data, u64 ns)
{
	size_t low = 0, high = data->window_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (data->windows[middle].begin_ns <= ns)
			low = middle;
		else
			high = middle;
	}
	return (u32)low;
}

const struct thread *page_find_thread(const struct page_data *data, u64 tid, u64 start_ns)
{
	const struct start_place *place = hash_find(&data->by_start, &(u64[]){tid, start_ns});

	return place ? &data->digest->threads[place->thread] : NULL;
}

s32 page_thread_at(const struct page_data *data, u64 tid, u64 start_ns)
{
	const struct thread *thread = page_find_thread(data, tid, start_ns);

	return thread ? data->thread_at[thread - data->digest->threads] : PAGE_NONE;
}

s32 page_tid_at(const struct page_data *data, u32 tid)
{
	const struct thread *thread = tid ? digest_by_tid(data->digest, tid) : NULL;

	return thread ? data->thread_at[thread - data->digest->threads] : PAGE_NONE;
}

s32 page_pid_at(const struct page_data *data, u64 pid, u64 start_ns)
{
	const struct process *process = digest_process(data->digest, pid, start_ns);

	return process ? data->process_at[process - data->digest->processes] : PAGE_NONE;
}

s32 page_last_pid_at(const struct page_data *data, u32 pid)
{
	const struct digest *digest = data->digest;
	size_t low = 0, high = digest->process_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (digest->processes[middle].pid <= pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low && digest->processes[low - 1].pid == pid ? data->process_at[low - 1] : PAGE_NONE;
}

void page_limit(struct page_data *data, const char *part, u64 rows, u64 limit, u64 left_out,
		const char *text)
{
	if (left_out && data->limit_count < PAGE_LIMITS_MAX)
		data->limits[data->limit_count++] =
			(struct page_limit){part, rows, limit, left_out, text};
}

void page_write_bucket(const struct page_data *data, struct part *part, u32 windows)
{
	part_text(part, "{\"windows\":");
	part_number(part, windows);
	part_text(part, ",\"bucket_ns\":");
	part_number(part, (s64)(windows * data->window_ns));
	part_text(part, ",\"rows\":");
}
