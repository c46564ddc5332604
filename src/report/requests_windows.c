// SPDX-License-Identifier: Apache-2.0
#include "requests_windows.h"

#include <errno.h>
#include <stdlib.h>

#include "../store/query.h"

#define ROWS_MAX 1000000

static int on_window(sqlite3_stmt *row, void *context)
{
	struct window_list *list = context;
	struct window_row *window =
		query_append(&list->rows, &list->count, sizeof(*window), ROWS_MAX);

	if (!window)
		return list->count == ROWS_MAX ? QUERY_ENOUGH : -ENOMEM;
	window->id = sqlite3_column_int64(row, 0);
	window->begin_ns = query_count(row, 1);
	window->end_ns = query_count(row, 2);
	return 0;
}

int window_list_read(sqlite3 *db, struct window_list *list)
{
	return query_table(db, "windows", "id, begin_ns, end_ns", "id", on_window, list);
}

void window_list_free(struct window_list *list)
{
	free(list->rows);
}

/* Between two windows that do not follow each other, nobody was looking. */
static bool follow_each_other(const struct request_windows *windows)
{
	for (size_t i = 1; i < windows->count; i++)
		if (windows->rows[i].begin_ns > windows->rows[i - 1].end_ns)
			return false;
	return true;
}

bool request_windows_find(const struct window_list *list, u64 begin_ns, u64 end_ns,
			  struct request_windows *ret_windows)
{
	size_t low = 0, high = list->count, first;
	bool has_before;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->rows[middle].end_ns < begin_ns)
			low = middle + 1;
		else
			high = middle;
	}
	has_before = low > 0;
	first = low - has_before;
	while (low < list->count && list->rows[low].begin_ns <= end_ns &&
	       low - first <= REQUEST_WINDOWS_MAX)
		low++;
	*ret_windows = (struct request_windows){.rows = list->rows ? &list->rows[first] : NULL,
						.count = low - first,
						.has_before = has_before};
	return ret_windows->count && ret_windows->count <= REQUEST_WINDOWS_MAX &&
	       follow_each_other(ret_windows);
}
