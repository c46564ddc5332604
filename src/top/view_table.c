// SPDX-License-Identifier: Apache-2.0
/* The head of the screen, and the table of services or processes. */
#include <stdio.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/figures.h"
#include "../model/state.h"
#include "view.h"

#define NAME_COLUMNS_MIN 15
#define NAME_COLUMNS_MAX 40
#define STATE_COLUMNS	 14
#define VALUE_COLUMNS	 6
#define NUMBER_COLUMNS	 7
#define WIDTH_NARROW	 100

const char *view_percent(u64 ns, u64 window_ns, char buf[16])
{
	double percent = window_ns ? 100 * (double)ns / (double)window_ns : 0;

	if (!ns)
		return "-";
	snprintf(buf, 16, percent < 999.95 ? "%.1f" : "%.0f", percent);
	return buf;
}

const char *view_state_name(unsigned int state)
{
	const char *name = state < STATE_COUNT ? state_names[state] : "?";

	return strncmp(name, "blocked.", 8) ? name : name + 8;
}

/* --- head --- */

static int put_pressure(const struct model_host *host, struct grid *grid, int y, int x)
{
	static const char *const names[] = {"cpu", "io", "memory"};

	x = grid_put(grid, y, x, GRID_PLAIN, -1, "pressure");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (host->pressure[i] < 0)
			x = grid_format(grid, y, x, GRID_FAINT, " %s ?", names[i]);
		else
			x = grid_format(grid, y, x,
					host->pressure[i] >= 10 ? GRID_WARN : GRID_PLAIN,
					" %s %.0f%%", names[i], host->pressure[i]);
	}
	return x + 2;
}

static void put_own_cost(const struct view *view, const struct model *model, struct grid *grid,
			 int y, int x)
{
	const struct model_host *host = &model->host;
	u64 own_ns = host->own_ns + host->bpf_ns + view->screen_ns;

	x = grid_format(grid, y, x, GRID_PLAIN, "dwell itself %s%% of a CPU",
			view_percent(own_ns, model->window_ns, (char[16]){0}));
	if (!host->has_bpf)
		grid_put(grid, y, x, GRID_FAINT, -1, " without its programs");
}

static void put_legend(const struct view *view, struct grid *grid, int y)
{
	int x = 0;

	for (enum part part = 0; part < PART_COUNT; part++) {
		const char glyph[] = {part_kinds[part].glyph, '\0'};

		if (!part_kinds[part].is_busy && !view->has_idle && !view->depth)
			continue;
		x = grid_put(grid, y, x, GRID_PART + part, 1, glyph);
		x = grid_put(grid, y, x, GRID_FAINT, -1, part_kinds[part].name) + 1;
	}
}

void view_draw_head(const struct view *view, const struct model *model, struct grid *grid)
{
	const struct model_host *host = &model->host;
	u64 seconds = model->end_ns > model->begin_ns
			      ? (model->end_ns - model->begin_ns + NS_PER_S / 2) / NS_PER_S
			      : 0;
	double busy = host->cpu_ns ? 100 * (double)host->busy_ns / (double)host->cpu_ns : 0;
	double waiting = model->window_ns ? (double)host->queue_ns / (double)model->window_ns : 0;
	int x = grid_format(grid, 0, 0, GRID_STRONG, "dwell top  %s", view->host);

	x = grid_format(grid, 0, x, GRID_PLAIN, "  %llu:%02llu:%02llu  tier %c  ",
			(unsigned long long)(seconds / 3600),
			(unsigned long long)(seconds / 60 % 60), (unsigned long long)(seconds % 60),
			view->tier);
	if (!model->window) {
		grid_put(grid, 0, x, GRID_PLAIN, -1, "starting: loading BPF programs");
		return;
	}
	x = grid_format(grid, 0, x, busy >= 90 ? GRID_WARN : GRID_PLAIN, "%llu CPU%s %.0f%% busy",
			(unsigned long long)host->cpus, host->cpus == 1 ? "" : "s", busy);
	x = grid_format(grid, 0, x,
			waiting >= (double)host->cpus && host->cpus ? GRID_WARN : GRID_PLAIN,
			"  %.1f waiting for one", waiting);
	if (view->is_paused)
		grid_put(grid, 0, grid->width - 8, GRID_CURSOR, -1, " PAUSED ");
	x = put_pressure(host, grid, 1, 0);
	x = grid_format(grid, 1, x, host->lost ? GRID_WARN : GRID_PLAIN, "lost %s",
			FIGURE_NUMBER(host->lost)) +
	    2;
	if (model->not_kept)
		x = grid_format(grid, 1, x, GRID_WARN, "left out %s",
				FIGURE_NUMBER(model->not_kept)) +
		    2;
	put_own_cost(view, model, grid, 1, x);
	put_legend(view, grid, 2);
}

int view_draw_bar(struct grid *grid, int y, int x, int width, const u64 ns[PART_COUNT],
		  u64 whole_ns, bool is_busy_only)
{
	int cells[PART_COUNT], rest;

	bar_cells(ns, whole_ns, is_busy_only, width, cells, &rest);
	for (enum part part = 0; part < PART_COUNT; part++) {
		const char glyph[] = {part_kinds[part].glyph, '\0'};

		for (int i = 0; i < cells[part]; i++)
			x = grid_put(grid, y, x, GRID_PART + part, 1, glyph);
	}
	return x + rest;
}

/* --- table --- */

static const struct {
	enum rows_sort sort;
	const char *title;
} values[] = {
	{SORT_CPU, "CPU%"},
	{SORT_RUNQ, "RUNQ%"},
	{SORT_BLOCKED, "BLOCK%"},
	{SORT_WAIT, "WAIT%"},
};

/* Where its columns are, on a terminal of this width. */
struct columns {
	int name;
	bool has_number;
	size_t values; /* columns of percentages */
	int bar_at, bar;
};

static struct columns columns_of(const struct view *view, int width)
{
	struct columns columns = {.has_number = view->options.by != BY_SERVICE,
				  .values = ARRAY_SIZE(values)};
	int fixed, room;

	/* Where pids need their place, the wait for others is the least of what is told. */
	if (columns.has_number && width < WIDTH_NARROW && view->options.sort != SORT_WAIT)
		columns.values--;
	fixed = 5 + (int)columns.values * (VALUE_COLUMNS + 1) + STATE_COLUMNS + 2 +
		(columns.has_number ? NUMBER_COLUMNS + 1 : 0);
	room = width - fixed;
	columns.name = room / 2;
	if (columns.name < NAME_COLUMNS_MIN)
		columns.name = NAME_COLUMNS_MIN;
	if (columns.name > NAME_COLUMNS_MAX)
		columns.name = NAME_COLUMNS_MAX;
	columns.bar = room - columns.name > 0 ? room - columns.name : 0;
	columns.bar_at = width - columns.bar;
	return columns;
}

/* The column that sorts has a mark: v for the most first. */
static int put_title(const struct view *view, struct grid *grid, int x, enum rows_sort sort,
		     int columns, const char *title, bool is_right)
{
	bool is_sort = view->options.sort == sort;
	bool is_up = view->options.is_reversed != (sort == SORT_NAME);
	char text[32];

	snprintf(text, sizeof(text), "%s%s", is_sort ? (is_up ? "^" : "v") : "", title);
	/* The mark may need the space before a column that is full. */
	if (is_right && (int)strlen(text) > columns) {
		x--;
		columns++;
	}
	return (is_right ? grid_put_right : grid_put_left)(
		grid, 3, x, is_sort ? GRID_CURSOR : GRID_HEADING, columns, text);
}

/* Bars of busy time have one scale, so that lines can be compared: what the whole width stands for.
 */
static u64 bar_scale(const struct view *view, u64 window_ns)
{
	return view->rows.busiest_ns > window_ns ? view->rows.busiest_ns : window_ns;
}

static void put_titles(const struct view *view, const struct model *model, struct grid *grid,
		       const struct columns *columns)
{
	static const char *const names[] = {"SERVICE", "PROCESS", "THREAD"};
	u64 scale_ns = bar_scale(view, model->window_ns);
	char bar[64];
	int x = 0;

	grid_put_left(grid, 3, 0, GRID_HEADING, grid->width, "");
	if (columns->has_number)
		x = grid_put_right(grid, 3, 0, GRID_HEADING, NUMBER_COLUMNS, "PID") + 1;
	x = put_title(view, grid, x, SORT_NAME, columns->name, names[view->options.by], false);
	x = put_title(view, grid, x, SORT_THREADS, 5, "THR", true);
	for (size_t i = 0; i < columns->values; i++)
		x = put_title(view, grid, x + 1, values[i].sort, VALUE_COLUMNS, values[i].title,
			      true);
	grid_put(grid, 3, x + 1, GRID_HEADING, STATE_COLUMNS, "WAITS MOSTLY");
	snprintf(bar, sizeof(bar), view->has_idle ? "ALL TIME" : "BUSY to %s%%",
		 view_percent(scale_ns, model->window_ns, (char[16]){0}));
	put_title(view, grid, columns->bar_at, SORT_BUSY, columns->bar, bar, false);
}

static void put_row(const struct view *view, struct grid *grid, int y,
		    const struct columns *columns, const struct top_row *row, u64 window_ns)
{
	const u64 shown[] = {row->ns[PART_CPU], row->ns[PART_RUNQ], row->blocked_ns,
			     row->ns[PART_WAIT]};
	u64 whole_ns = 0;
	char text[32];
	int x = 0;

	if (columns->has_number) {
		snprintf(text, sizeof(text), "%u", row->number);
		x = grid_put_right(grid, y, 0, GRID_PLAIN, NUMBER_COLUMNS, text) + 1;
	}
	x = grid_put_left(grid, y, x, row->busy_ns ? GRID_PLAIN : GRID_FAINT, columns->name,
			  row->name);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)row->threads);
	x = grid_put_right(grid, y, x, GRID_PLAIN, 5, text);
	for (size_t i = 0; i < columns->values; i++)
		x = grid_put_right(grid, y, x + 1, shown[i] ? GRID_PLAIN : GRID_FAINT,
				   VALUE_COLUMNS, view_percent(shown[i], window_ns, (char[16]){0}));
	grid_put(grid, y, x + 1, GRID_PLAIN, STATE_COLUMNS, view_state_name(row->state));
	for (enum part part = 0; view->has_idle && part < PART_COUNT; part++)
		whole_ns += row->ns[part];
	if (!view->has_idle)
		whole_ns = bar_scale(view, window_ns);
	view_draw_bar(grid, y, columns->bar_at, columns->bar, row->ns, whole_ns, !view->has_idle);
}

void view_scroll(struct view_list *list, int count, int page)
{
	if (list->cursor >= count)
		list->cursor = count - 1;
	if (list->cursor < 0)
		list->cursor = 0;
	if (list->first > list->cursor)
		list->first = list->cursor;
	if (page > 0 && list->cursor >= list->first + page)
		list->first = list->cursor - page + 1;
	if (list->first < 0)
		list->first = 0;
}

/* The cursor stays with its line, whatever the order becomes. */
static void follow_selected(struct view *view)
{
	for (size_t i = 0; view->has_selected && i < view->rows.count; i++)
		if (!memcmp(&view->rows.items[i].subject, &view->selected,
			    sizeof(view->selected))) {
			view->table.cursor = (int)i;
			return;
		}
}

static void put_empty(const struct view *view, const struct model *model, struct grid *grid)
{
	if (!model->window)
		grid_put(grid, VIEW_HEAD_LINES + 1, 2, GRID_PLAIN, -1,
			 "The first lines appear when the first second has been measured.");
	else if (view->options.filter[0])
		grid_format(grid, VIEW_HEAD_LINES + 1, 2, GRID_PLAIN,
			    "No line contains '%s': press / to change the filter.",
			    view->options.filter);
	else
		grid_put(grid, VIEW_HEAD_LINES + 1, 2, GRID_PLAIN, -1,
			 "No measured thread is there. Threads of the kernel are hidden: K shows "
			 "them.");
}

void view_draw_table(struct view *view, const struct model *model, struct grid *grid)
{
	struct columns columns = columns_of(view, grid->width);

	rows_free(&view->rows);
	rows_make(model, &view->options, &view->rows);
	follow_selected(view);
	view->page = grid->height - VIEW_HEAD_LINES - 1;
	view_scroll(&view->table, (int)view->rows.count, view->page);
	put_titles(view, model, grid, &columns);
	if (!view->rows.count)
		put_empty(view, model, grid);
	for (int i = 0; i < view->page; i++) {
		size_t index = (size_t)(view->table.first + i);

		if (index >= view->rows.count)
			break;
		put_row(view, grid, VIEW_HEAD_LINES + i, &columns, &view->rows.items[index],
			model->window_ns);
		if ((int)index == view->table.cursor)
			grid_ink_line(grid, VIEW_HEAD_LINES + i, GRID_CURSOR);
	}
}
