// SPDX-License-Identifier: Apache-2.0
/* The detail of a line: where its last second went and why, its threads, and its stacks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/figures.h"
#include "causes.h"
#include "view.h"

#define CAUSES_SHOWN  20
#define CAUSES_FEW    8 /* ... or on a screen where threads would have no room */
#define HEIGHT_FEW    40
#define THREADS_SHOWN 500
#define STACKS_SHOWN  12

/* The detail while it is drawn: a list of lines, of which the screen shows a part. */
struct detail {
	struct view *view;
	const struct model *model;
	const struct live *live;
	struct grid *grid;
	struct view_list *list;
	int line;
};

/* Where the next line is on the screen, or -1: it is above or below. */
static int next_line(struct detail *page)
{
	int at = page->line++ - page->list->first;

	return at >= 0 && at < page->view->page ? VIEW_HEAD_LINES + at : -1;
}

static void finish_line(struct detail *page, int y)
{
	if (y >= 0 && page->line - 1 == page->list->cursor)
		grid_ink_line(page->grid, y, GRID_CURSOR);
}

static void put_heading(struct detail *page, const char *text)
{
	int y;

	finish_line(page, next_line(page));
	y = next_line(page);
	grid_put(page->grid, y, 0, GRID_STRONG, -1, text);
	finish_line(page, y);
}

static void put_note(struct detail *page, const char *text)
{
	int y = next_line(page);

	grid_put(page->grid, y, 2, GRID_FAINT, -1, text);
	finish_line(page, y);
}

/* --- why --- */

static void put_cause(struct detail *page, const struct cause_sum *sum, u64 whole_ns)
{
	char call[LIVE_TEXT_BYTES], object[LIVE_TEXT_BYTES], who[CAUSE_WHO_BYTES];
	enum part part = part_of_state(sum->state);
	const char glyph[] = {part_kinds[part].glyph, '\0'};
	int y = next_line(page), x;

	if (y < 0)
		return;
	live_call_name(page->live, sum->call, call);
	live_object_name(page->live, sum->object, object);
	causes_format_who(page->model, sum, who);
	x = grid_put(page->grid, y, 2, GRID_PART + part, 1, glyph);
	x = grid_put_right(page->grid, y, x + 1, GRID_PLAIN, 6,
			   view_percent((u64)sum->ns, whole_ns, (char[16]){0}));
	x = grid_put_right(page->grid, y, x + 1, GRID_FAINT, 9,
			   sum->count > 0 ? FIGURE_NUMBER((u64)sum->count) : "lasts");
	x = grid_put_left(page->grid, y, x + 2, GRID_PLAIN, 15, view_state_name(sum->state)) + 1;
	x = grid_put(page->grid, y, x, GRID_PLAIN, -1, call) + (call[0] != '\0');
	x = grid_put(page->grid, y, x, GRID_STRONG, -1, object) + (object[0] != '\0');
	grid_put(page->grid, y, x + (call[0] || object[0]), GRID_PLAIN, -1, who);
	finish_line(page, y);
}

static void put_causes(struct detail *page, const struct rows_subject *subject, u64 whole_ns)
{
	size_t most = page->grid->height < HEIGHT_FEW ? CAUSES_FEW : CAUSES_SHOWN;
	struct causes causes;
	char note[96];

	put_heading(page,
		    "STATES AND CAUSES of the last second: % of its threads' time, how often");
	causes_add_up(page->model, subject, &causes);
	for (size_t i = 0; i < causes.count && i < most; i++)
		put_cause(page, &causes.items[i], whole_ns);
	if (causes.count > most) {
		snprintf(note, sizeof(note), "and %zu more", causes.count - most);
		put_note(page, note);
	}
	causes_free(&causes);
}

/* --- who --- */

static void put_thread(struct detail *page, const struct top_row *row, u64 whole_ns)
{
	const u64 shown[] = {row->ns[PART_CPU], row->ns[PART_RUNQ], row->blocked_ns,
			     row->ns[PART_WAIT]};
	struct grid *grid = page->grid;
	int y = next_line(page), x;
	char tid[16];

	/* It begins at the first thread, so that Enter goes on to it. */
	if (page->list->cursor < 0)
		page->list->cursor = page->line - 1;
	if (page->line - 1 == page->list->cursor)
		page->view->cursor_thread = row->subject.thread;
	if (y < 0)
		return;
	snprintf(tid, sizeof(tid), "%u", row->number);
	x = grid_put_right(grid, y, 0, GRID_PLAIN, 9, tid) + 1;
	x = grid_put_left(grid, y, x, GRID_PLAIN, 16, row->name);
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		x = grid_put_right(grid, y, x, shown[i] ? GRID_PLAIN : GRID_FAINT, 7,
				   view_percent(shown[i], page->model->window_ns, (char[16]){0}));
	x = grid_put_left(grid, y, x + 1, GRID_PLAIN, 15, view_state_name(row->state));
	view_draw_bar(grid, y, x, grid->width - x, row->ns, whole_ns, false);
	finish_line(page, y);
}

static void put_threads(struct detail *page, const struct rows_subject *subject)
{
	struct rows_options options = page->view->options;
	struct rows rows;
	char note[96];

	options.by = BY_THREAD;
	options.subject = *subject;
	options.filter[0] = '\0';
	put_heading(page, "THREADS  tid, name, CPU% RUNQ% BLOCK% WAIT%, mostly, all time; Enter "
			  "opens one");
	rows_make(page->model, &options, &rows);
	for (size_t i = 0; i < rows.count && i < THREADS_SHOWN; i++)
		put_thread(page, &rows.items[i], page->model->window_ns);
	if (rows.count > THREADS_SHOWN) {
		snprintf(note, sizeof(note), "and %zu more", rows.count - THREADS_SHOWN);
		put_note(page, note);
	}
	rows_free(&rows);
}

/* --- stacks --- */

static bool is_busy_stack(const struct live_stack *stack)
{
	return stack->kind == SAMPLE_CPU ||
	       part_kinds[part_of_state((unsigned int)stack->state)].is_busy;
}

static int heavier(const void *a, const void *b)
{
	const struct live_stack *x = *(const struct live_stack *const *)a;
	const struct live_stack *y = *(const struct live_stack *const *)b;
	bool is_busy = is_busy_stack(x);

	if (is_busy != is_busy_stack(y))
		return is_busy ? -1 : 1;
	if (x->weight_ns != y->weight_ns)
		return x->weight_ns > y->weight_ns ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static void put_stack(struct detail *page, const struct live_stack *stack, u64 seconds)
{
	bool is_cpu = stack->kind == SAMPLE_CPU;
	char text[1024];
	int y = next_line(page), x;

	if (y >= 0) {
		live_stack_text(page->live, stack->stack, !is_cpu, text, sizeof(text));
		x = grid_put_right(
			page->grid, y, 0, GRID_PLAIN, 9,
			view_percent(stack->weight_ns, seconds * NS_PER_S, (char[16]){0}));
		x = grid_put_left(page->grid, y, x + 1, GRID_PLAIN, 12,
				  is_cpu ? "cpu" : view_state_name((unsigned int)stack->state));
		grid_put(page->grid, y, x + 1, GRID_PLAIN, -1, text[0] ? text : "(no stack)");
		finish_line(page, y);
	}
	if (!stack->waker_stack)
		return;
	y = next_line(page);
	if (y < 0)
		return;
	live_stack_text(page->live, stack->waker_stack, true, text, sizeof(text));
	x = grid_put(page->grid, y, 23, GRID_FAINT, -1, "woken by ");
	grid_put(page->grid, y, x, GRID_FAINT, -1, text);
	finish_line(page, y);
}

static void put_stacks(struct detail *page)
{
	const struct hash *stacks = &page->live->stacks;
	u64 since = page->live->stacks_since_ns;
	u64 seconds = page->model->end_ns > since
			      ? (page->model->end_ns - since + NS_PER_S / 2) / NS_PER_S
			      : 1;
	const struct live_stack **order = calloc(stacks->count + 1, sizeof(*order));
	char heading[128];

	snprintf(heading, sizeof(heading),
		 "STACKS of the last %llu s: %% of a CPU or of a thread's time, innermost first",
		 (unsigned long long)seconds);
	put_heading(page, heading);
	for (size_t i = 0; order && i < stacks->count; i++)
		order[i] = hash_item(stacks, i);
	if (order && stacks->count)
		qsort(order, stacks->count, sizeof(*order), heavier);
	for (size_t i = 0; order && i < stacks->count && i < STACKS_SHOWN; i++)
		put_stack(page, order[i], seconds ? seconds : 1);
	if (!stacks->count)
		put_note(page, "none: no sample was taken of it, on a CPU or in a wait (or "
			       "--no-stacks)");
	free(order);
}

/* --- the whole --- */

static void put_title(struct detail *page, const struct rows_subject *subject, struct rows *rows,
		      u64 *ret_whole_ns)
{
	struct rows_options options = page->view->options;
	const char *kinds[] = {"service", "process", "thread"};
	const struct top_row *row;
	int y = next_line(page), x;

	options.by = subject->thread ? BY_THREAD : subject->pid ? BY_PROCESS : BY_SERVICE;
	options.subject = *subject;
	options.filter[0] = '\0';
	*ret_whole_ns = 0;
	rows_make(page->model, &options, rows);
	if (!rows->count) {
		grid_put(page->grid, y, 0, GRID_WARN, -1,
			 "It has ended: press Esc to go back to the list.");
		return;
	}
	row = &rows->items[0];
	x = grid_format(page->grid, y, 0, GRID_STRONG, "%s %s", kinds[options.by], row->name);
	if (row->number)
		x = grid_format(page->grid, y, x, GRID_STRONG, " (%u)", row->number);
	grid_format(page->grid, y, x, GRID_PLAIN, "  %llu thread%s",
		    (unsigned long long)row->threads, row->threads == 1 ? "" : "s");
	finish_line(page, y);
	for (enum part part = 0; part < PART_COUNT; part++)
		*ret_whole_ns += row->ns[part];
	y = next_line(page);
	view_draw_bar(page->grid, y, 0, page->grid->width, row->ns, *ret_whole_ns, false);
	finish_line(page, y);
}

void view_draw_detail(struct view *view, const struct model *model, const struct live *live,
		      struct grid *grid)
{
	const struct rows_subject *subject = &view->trail[view->depth - 1];
	struct view_list *list = &view->detail[view->depth - 1];
	struct detail page = {view, model, live, grid, list, 0};
	struct rows rows;
	u64 whole_ns;

	view->page = grid->height - VIEW_HEAD_LINES - 1;
	view->cursor_thread = 0;
	if (list->cursor >= 0)
		view_scroll(list, view->detail_lines ? view->detail_lines : 1, view->page);
	put_title(&page, subject, &rows, &whole_ns);
	if (rows.count) {
		put_causes(&page, subject, whole_ns);
		if (!subject->thread)
			put_threads(&page, subject);
		put_stacks(&page);
	}
	rows_free(&rows);
	if (list->cursor < 0)
		list->cursor = 0;
	view->detail_lines = page.line;
}
