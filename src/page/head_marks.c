// SPDX-License-Identifier: Apache-2.0
/* What is drawn on the time axis: losses, steps of the governor, gaps between windows. */
#include <errno.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../report/json.h"
#include "../store/query.h"
#include "head.h"

struct marks {
	struct page_data *data;
	json_t *list;
	u64 left_out;
};

static void add(struct marks *marks, u64 ts_ns, const char *kind, const char *text, u64 count)
{
	if (json_array_size(marks->list) >= PAGE_MARKS_MAX) {
		marks->left_out++;
		return;
	}
	json_array_append_new(marks->list,
			      json_pack("{s:o, s:s, s:s, s:o}", "ts_ns", json_number(ts_ns), "kind",
					kind, "text", text, "count", json_number(count)));
}

static int on_loss(sqlite3_stmt *row, void *context)
{
	struct marks *marks = context;
	s32 window = page_window_at(marks->data, sqlite3_column_int64(row, 0));
	u64 cause = query_u64(row, 1), count = query_count(row, 2);
	char name[64];

	if (window == PAGE_NONE || !count)
		return 0;
	query_text(row, 1, name, sizeof(name));
	if (sqlite3_column_type(row, 1) == SQLITE_INTEGER && cause < LOSS_COUNT)
		snprintf(name, sizeof(name), "%s", loss_names[cause]);
	add(marks, marks->data->windows[window].begin_ns, "loss", name, count);
	return 0;
}

static void add_steps(struct marks *marks)
{
	const struct digest *digest = marks->data->digest;

	for (size_t i = 0; i < digest->step_count; i++) {
		const struct step *step = &digest->steps[i];
		char text[2 * DIGEST_TEXT + 4];

		if (digest->is_slice &&
		    (step->ts_ns < digest->begin_ns || step->ts_ns > digest->end_ns))
			continue;
		snprintf(text, sizeof(text), "%s%s%s", step->what, *step->why ? ": " : "",
			 step->why);
		add(marks, page_time(marks->data, step->ts_ns), "step", text, 1);
	}
}

/* Time that is in no window. */
static void add_gaps(struct marks *marks)
{
	const struct page_data *data = marks->data;

	for (size_t i = 1; i < data->window_count; i++)
		if (data->windows[i].begin_ns > data->windows[i - 1].end_ns)
			add(marks, data->windows[i - 1].end_ns, "gap",
			    "in no window: ns that were not measured",
			    data->windows[i].begin_ns - data->windows[i - 1].end_ns);
}

json_t *head_marks(struct page_data *data)
{
	struct marks marks = {.data = data, .list = json_array()};

	add_steps(&marks);
	add_gaps(&marks);
	if (query_groups(data->db, "losses", "window, cause, sum(count)", "window, cause", NULL,
			 on_loss, &marks)) {
		json_decref(marks.list);
		return NULL;
	}
	page_limit(data, "head.marks", json_array_size(marks.list), PAGE_MARKS_MAX, marks.left_out,
		   "marks");
	return marks.list;
}
