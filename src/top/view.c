// SPDX-License-Identifier: Apache-2.0
#include "view.h"

#include <stdio.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/text.h"

#define STATUS_WINDOWS 8 /* that it is shown for, unless a key is pressed */

void view_age_status(struct view *view)
{
	if (view->status_windows && !--view->status_windows)
		view->status[0] = '\0';
}

void view_init(struct view *view)
{
	*view = (struct view){.tier = 'A'};
}

void view_close(struct view *view)
{
	rows_free(&view->rows);
}

void view_say(struct view *view, bool is_alarm, const char *text)
{
	text_copy(view->status, sizeof(view->status), text);
	view->is_alarm = is_alarm;
	view->status_windows = STATUS_WINDOWS;
}

/* --- drawing --- */

void view_draw_help(struct grid *grid)
{
	static const struct {
		const char *keys, *text;
	} lines[] = {
		{"Up, Down, j, k", "move the cursor; PgUp, PgDn, Home, End move further"},
		{"Enter", "open the line: states with causes, threads, stacks"},
		{"Esc, Backspace", "go back"},
		{"t", "a line per service, or per process"},
		{"<, >", "sort by the column to the left or right"},
		{"u c r b w T n", "sort by busy, CPU%, RUNQ%, BLOCK%, WAIT%, threads, name"},
		{"R", "reverse the order"},
		{"i", "bars of all the time, idle included, or of busy time"},
		{"K", "show or hide the threads of the kernel"},
		{"/", "show lines with this text in their names; empty: all"},
		{"Space", "pause, and go on"},
		{"s", "save the last minute as a session for 'dwell report'"},
		{"h", "the same, and write its HTML report"},
		{"?", "this text; any key closes it"},
		{"q, Ctrl-C", "quit"},
	};
	static const char *const notes[] = {
		"100% is one thread for the whole second. BLOCK%: lock, disk, network, memory.",
		"WAIT%: for another thread, a process, a pipe; often for work. Busy: all but",
		"WAIT%, sleep and idle. Bars of busy time have the scale of the busiest line.",
	};
	int y = VIEW_HEAD_LINES;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++, y++) {
		grid_put(grid, y, 1, GRID_STRONG, -1, lines[i].keys);
		grid_put(grid, y, 18, GRID_PLAIN, -1, lines[i].text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(notes); i++)
		grid_put(grid, y++, 1, GRID_FAINT, -1, notes[i]);
}

static void put_status(const struct view *view, struct grid *grid)
{
	int y = grid->height - 1, x;

	if (view->is_filtering) {
		x = grid_format(grid, y, 0, GRID_STRONG, "/%s", view->options.filter);
		x = grid_put(grid, y, x, GRID_CURSOR, 1, " ");
		grid_put(grid, y, x + 1, GRID_FAINT, -1, "Enter keeps it, Esc clears it");
		return;
	}
	if (view->status[0]) {
		grid_put(grid, y, 0, view->is_alarm ? GRID_WARN : GRID_STRONG, -1, view->status);
		return;
	}
	x = grid_put(grid, y, 0, GRID_FAINT, -1,
		     view->depth ? "Esc back  Enter thread  Space pause  s save  ? keys  q quit"
				 : "Enter open  t process  < > sort  / filter  Space pause  s "
				   "save  ? keys  q quit");
	if (view->options.filter[0])
		grid_format(grid, y, x + 2, GRID_STRONG, "/%s", view->options.filter);
}

static void draw_too_small(struct grid *grid)
{
	grid_format(grid, 0, 0, GRID_PLAIN, "dwell top needs %dx%d,", VIEW_WIDTH_MIN,
		    VIEW_HEIGHT_MIN);
	grid_format(grid, 1, 0, GRID_PLAIN, "this is %dx%d.", grid->width, grid->height);
	grid_put(grid, 2, 0, GRID_PLAIN, -1, "Make it larger; q quits.");
}

void view_draw(struct view *view, const struct model *model, const struct live *live,
	       struct grid *grid)
{
	grid_clear(grid);
	if (grid->width < VIEW_WIDTH_MIN || grid->height < VIEW_HEIGHT_MIN) {
		draw_too_small(grid);
		return;
	}
	view_draw_head(view, model, grid);
	if (view->has_help)
		view_draw_help(grid);
	else if (view->depth)
		view_draw_detail(view, model, live, grid);
	else
		view_draw_table(view, model, grid);
	put_status(view, grid);
}

/* --- keys --- */

/* All of its bytes. */
static void remove_last_character(char *text)
{
	size_t length = strlen(text);

	while (length && ((unsigned char)text[--length] & 0xc0) == 0x80)
		;
	text[length] = '\0';
}

static void press_filter(struct view *view, int key)
{
	char *filter = view->options.filter, bytes[5];

	if (key == VIEW_KEY_ENTER || key == VIEW_KEY_ESCAPE) {
		view->is_filtering = false;
		if (key == VIEW_KEY_ESCAPE)
			filter[0] = '\0';
	} else if (key == VIEW_KEY_BACK) {
		remove_last_character(filter);
	} else if (key >= ' ' && key < VIEW_KEY_UP &&
		   strlen(filter) + grid_encode(key, bytes) < sizeof(view->options.filter)) {
		strcat(filter, bytes);
	}
	view->has_selected = false;
	view->table = (struct view_list){0};
}

static struct view_list *list_of(struct view *view)
{
	return view->depth ? &view->detail[view->depth - 1] : &view->table;
}

static bool press_move(struct view *view, int key)
{
	struct view_list *list = list_of(view);
	int by = 0;

	switch (key) {
	case VIEW_KEY_UP:
	case 'k':
		by = -1;
		break;
	case VIEW_KEY_DOWN:
	case 'j':
		by = 1;
		break;
	case VIEW_KEY_PAGE_UP:
		by = -view->page;
		break;
	case VIEW_KEY_PAGE_DOWN:
		by = view->page;
		break;
	case VIEW_KEY_HOME:
		by = -list->cursor;
		break;
	case VIEW_KEY_END:
		by = view->depth ? view->detail_lines : (int)view->rows.count;
		break;
	default:
		return false;
	}
	list->cursor += by;
	view_scroll(list, view->depth ? view->detail_lines : (int)view->rows.count, view->page);
	if (!view->depth && (size_t)list->cursor < view->rows.count) {
		view->selected = view->rows.items[list->cursor].subject;
		view->has_selected = true;
	}
	return true;
}

static bool press_sort(struct view *view, int key)
{
	static const struct {
		char key;
		enum rows_sort sort;
	} keys[] = {{'n', SORT_NAME},	 {'T', SORT_THREADS}, {'c', SORT_CPU}, {'r', SORT_RUNQ},
		    {'b', SORT_BLOCKED}, {'w', SORT_WAIT},    {'u', SORT_BUSY}}; /* as columns */
	size_t at = 0;

	if (key == 'R') {
		view->options.is_reversed = !view->options.is_reversed;
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (keys[i].sort == view->options.sort)
			at = i;
		if (keys[i].key == key) {
			view->options.sort = keys[i].sort;
			return true;
		}
	}
	if (key != '<' && key != '>')
		return false;
	at = key == '>' ? (at + 1) % ARRAY_SIZE(keys)
			: (at + ARRAY_SIZE(keys) - 1) % ARRAY_SIZE(keys);
	view->options.sort = keys[at].sort;
	return true;
}

static void open_line(struct view *view, const struct model *model, struct live *live)
{
	struct rows_subject subject = {0};

	if (!view->depth) {
		if ((size_t)view->table.cursor >= view->rows.count)
			return;
		subject = view->rows.items[view->table.cursor].subject;
		view->selected = subject;
		view->has_selected = true;
	} else {
		const struct model_thread *thread = model_thread(model, view->cursor_thread);

		if (view->depth == VIEW_DEPTH_MAX || !view->cursor_thread || !thread) {
			view_say(view, false, "Enter opens a thread: move the cursor to one first");
			return;
		}
		subject.thread = thread->id;
		subject.pid = thread->pid;
		subject.process_start_ns = thread->process_start_ns;
	}
	view->trail[view->depth] = subject;
	view->detail[view->depth] = (struct view_list){.cursor = -1};
	view->detail_lines = 0;
	view->depth++;
	live_watch(live, model, &subject);
}

static void go_back(struct view *view, const struct model *model, struct live *live)
{
	if (!view->depth) {
		view->options.filter[0] = '\0';
		return;
	}
	view->depth--;
	view->detail_lines = 0;
	live_watch(live, model, view->depth ? &view->trail[view->depth - 1] : NULL);
}

static enum view_action press_other(struct view *view, const struct model *model, struct live *live,
				    int key)
{
	switch (key) {
	case 'q':
	case 3: /* Ctrl-C */
		return VIEW_QUIT;
	case 's':
		return VIEW_SAVE;
	case 'h':
		return VIEW_PAGE;
	case '?':
		view->has_help = true;
		break;
	case '/':
		view->is_filtering = !view->depth;
		break;
	case ' ':
		view->is_paused = !view->is_paused;
		break;
	case 'i':
		view->has_idle = !view->has_idle;
		break;
	case 'K':
		view->options.has_kernel = !view->options.has_kernel;
		break;
	case 't':
		if (!view->depth)
			view->options.by = view->options.by == BY_SERVICE ? BY_PROCESS : BY_SERVICE;
		view->has_selected = false;
		break;
	case VIEW_KEY_ENTER:
	case VIEW_KEY_RIGHT:
		open_line(view, model, live);
		break;
	case VIEW_KEY_BACK:
	case VIEW_KEY_ESCAPE:
	case VIEW_KEY_LEFT:
		go_back(view, model, live);
		break;
	default:
		break;
	}
	return VIEW_STAY;
}

enum view_action view_press(struct view *view, const struct model *model, struct live *live,
			    int key)
{
	view->status[0] = '\0';
	if (view->has_help) {
		view->has_help = false;
		return key == 3 || key == 'q' ? VIEW_QUIT : VIEW_STAY;
	}
	if (view->is_filtering && key != 3) {
		press_filter(view, key);
		return VIEW_STAY;
	}
	if (press_move(view, key) || press_sort(view, key))
		return VIEW_STAY;
	return press_other(view, model, live, key);
}
