// SPDX-License-Identifier: Apache-2.0
/* Rows in a terminal of any width: what does not fit beside the numbers stands above them. */
#include <string.h>

#include "../base/utf8.h"
#include "text_signals.h"
#include "format_value.h"

#define INDENT 2
#define GAP    2
#define LEAST  12 /* columns that a text keeps when it is cut */

static int width_of(const struct grid *grid, size_t column)
{
	size_t width = utf8_columns(grid->heads[column]);
	bool is_used = false;

	for (size_t r = 0; r < grid->rows; r++) {
		size_t one = utf8_columns(grid->cells[r][column]);

		is_used |= one > 0;
		width = one > width ? one : width;
	}
	return is_used ? (int)width : 0;
}

/* Of numbers it is one column: they are short. */
static int gap_after(const struct grid *grid, size_t column)
{
	return column >= grid->texts || grid->is_tight ? 1 : GAP;
}

static void print_cell(const struct page *page, const struct grid *grid, size_t column,
		       const char *text, int width, bool is_last)
{
	char cut[2 * GRID_TEXT];
	int pad;

	if (!width)
		return;
	if (utf8_columns(text) > (size_t)width) {
		format_middle(text, width, cut, sizeof(cut));
		text = cut;
	}
	pad = width - (int)utf8_columns(text);
	if (grid->is_right[column])
		fprintf(page->out, "%*s%s", pad, "", text);
	else
		fprintf(page->out, "%s%*s", text, is_last ? 0 : pad, "");
	if (!is_last)
		fprintf(page->out, "%*s", gap_after(grid, column), "");
}

static void print_line(const struct page *page, const struct grid *grid, size_t from, size_t to,
		       const char (*cells)[GRID_TEXT], const char *const *heads, const int *widths)
{
	size_t last = from;

	for (size_t c = from; c < to; c++)
		if (widths[c] && *(heads ? heads[c] : cells[c]))
			last = c;
	for (size_t c = from; c <= last && c < to; c++)
		print_cell(page, grid, c, heads ? heads[c] : cells[c], widths[c], c == last);
}

static int sum(const struct grid *grid, const int *widths, size_t from, size_t to)
{
	int total = 0;

	for (size_t c = from; c < to; c++)
		total += widths[c] ? widths[c] + gap_after(grid, c) : 0;
	return total;
}

/* The texts of a row on a line of their own, the widest of them cut until they fit. */
static void print_texts(const struct page *page, const struct grid *grid, size_t row)
{
	int room = page->columns - INDENT, widths[GRID_COLUMNS_MAX] = {0};

	for (size_t c = 0; c < grid->texts; c++)
		widths[c] = (int)utf8_columns(grid->cells[row][c]);
	for (int over = sum(grid, widths, 0, grid->texts) - GAP - room; over > 0 && !page->whole;) {
		size_t widest = 0;
		int by;

		for (size_t c = 1; c < grid->texts; c++)
			widest = widths[c] > widths[widest] ? c : widest;
		by = widths[widest] - LEAST < over ? widths[widest] - LEAST : over;
		if (by <= 0)
			break;
		widths[widest] -= by;
		over -= by;
	}
	fprintf(page->out, "%*s", INDENT, "");
	for (size_t c = 0, first = 1; c < grid->texts; c++) {
		char cut[2 * GRID_TEXT];

		if (!widths[c])
			continue;
		format_middle(grid->cells[row][c], widths[c], cut, sizeof(cut));
		fprintf(page->out, "%*s%s", first ? 0 : GAP, "", cut);
		first = 0;
	}
	fputc('\n', page->out);
}

static void begin_heads(const struct page *page)
{
	fprintf(page->out, "%s%*s", page_ink(page, INK_FAINT), INDENT, "");
}

static void print_beside(const struct page *page, const struct grid *grid, const int *widths)
{
	begin_heads(page);
	print_line(page, grid, 0, grid->columns, NULL, grid->heads, widths);
	fprintf(page->out, "%s\n", page_ink(page, INK_PLAIN));
	for (size_t r = 0; r < grid->rows; r++) {
		fprintf(page->out, "%*s", INDENT, "");
		print_line(page, grid, 0, grid->columns, grid->cells[r], NULL, widths);
		fputc('\n', page->out);
	}
}

static void print_above(const struct page *page, const struct grid *grid, const int *widths)
{
	int pad = page->columns - sum(grid, widths, grid->texts, grid->columns) + 1;

	pad = pad > 2 * INDENT ? (pad > 6 * INDENT ? 6 * INDENT : pad) : 2 * INDENT;
	begin_heads(page);
	for (size_t c = 0; c < grid->texts; c++)
		if (widths[c])
			fprintf(page->out, "%s%s", grid->heads[c],
				sum(grid, widths, c + 1, grid->texts) ? ", " : "");
	fprintf(page->out, "\n%*s", pad, "");
	print_line(page, grid, grid->texts, grid->columns, NULL, grid->heads, widths);
	fprintf(page->out, "%s\n", page_ink(page, INK_PLAIN));
	for (size_t r = 0; r < grid->rows; r++) {
		print_texts(page, grid, r);
		fprintf(page->out, "%*s", pad, "");
		print_line(page, grid, grid->texts, grid->columns, grid->cells[r], NULL, widths);
		fputc('\n', page->out);
	}
}

static int columns_over(const struct page *page, const struct grid *grid, const int *widths)
{
	return INDENT + sum(grid, widths, 0, grid->columns) - 1 - page->columns;
}

/*
 * Few columns too many are taken from the gaps, then from the widest text: false if too little of
 * it would be left to be read.
 */
static bool make_fit(const struct page *page, struct grid *grid, int *widths)
{
	size_t widest = 0;
	int over;

	if (columns_over(page, grid, widths) <= 0)
		return true;
	for (size_t c = 1; c < grid->texts; c++)
		widest = widths[c] > widths[widest] ? c : widest;
	grid->is_tight = true;
	over = columns_over(page, grid, widths);
	if (over <= 0)
		return true;
	if (!page->whole && grid->texts && over <= widths[widest] * 2 / 5 &&
	    widths[widest] - over >= LEAST) {
		widths[widest] -= over;
		return true;
	}
	grid->is_tight = false;
	return false;
}

void grid_print(const struct page *page, struct grid *grid)
{
	int widths[GRID_COLUMNS_MAX];

	for (size_t c = 0; c < grid->columns; c++)
		widths[c] = width_of(grid, c);
	if (make_fit(page, grid, widths))
		print_beside(page, grid, widths);
	else
		print_above(page, grid, widths);
}
