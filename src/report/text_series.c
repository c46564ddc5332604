// SPDX-License-Identifier: Apache-2.0
/* The largest series of a measure, as a table. */
#include <stdlib.h>
#include <string.h>

#include "text_signals.h"
#include "value.h"

#define SHOWN	     10 /* of a signal, in the report */
#define SHOWN_LEAST  3	/* of each of its measures */
#define SHOWN_ALONE  30 /* of each measure, with --signal */
#define STACK_FRAMES 8

static size_t rows_shown(const struct digest *digest, const struct measured *of)
{
	size_t kinds = 0, each;

	if (digest->options->signals)
		return SHOWN_ALONE;
	for (size_t i = 0; i < of->view->kind_count; i++)
		kinds += of->measures[i].all.count > 0;
	each = SHOWN / (kinds ? kinds : 1);
	return each > SHOWN_LEAST ? each : SHOWN_LEAST;
}

/* Stacks are too long for a column: they have lines of their own. */
static const struct series_field *column_field(const struct series_field *field)
{
	return field->kind == FIELD_NONE || field->kind == FIELD_STACK ? NULL : field;
}

static void add_heads(const struct measured *of, struct grid *grid)
{
	static const char *const numbers[] = {"count", "total", "p50", "p90", "p99", "max"};
	const struct series_field *fields[] = {&of->view->detail, &of->view->object,
					       &of->view->more};

	grid->heads[grid->columns++] = "process";
	for (size_t i = 0; i < 3; i++)
		if (column_field(fields[i]))
			grid->heads[grid->columns++] = fields[i]->name;
	grid->texts = grid->columns;
	for (size_t i = 0; i < 6; i++) {
		grid->is_right[grid->columns] = true;
		grid->heads[grid->columns++] = numbers[i];
	}
}

static void add_text(struct grid *grid, size_t *column, const char *text)
{
	format_escaped(text, grid->cells[grid->rows][(*column)++], GRID_TEXT);
}

static void add_key(const struct digest *digest, const struct measured *of,
		    const struct series_row *row, struct grid *grid, size_t *column)
{
	const struct signal_view *view = of->view;
	const struct series_field *fields[] = {&view->detail, &view->object, &view->more};
	const u64 values[] = {row->key.detail, row->key.object, row->key.more};

	add_text(grid, column, row->process);
	for (size_t i = 0; i < 3; i++) {
		char name[SIGNALS_NAME_BYTES] = "";

		if (!column_field(fields[i]))
			continue;
		if (!series_is_other(&row->key) || (i == 0 && row->key.detail != SERIES_ANY_DETAIL))
			series_field_text(digest, of, fields[i], values[i], name, sizeof(name));
		add_text(grid, column, name);
	}
}

static void add_numbers(enum series_unit unit, const struct hist *hist, struct grid *grid,
			size_t *column)
{
	add_text(grid, column, VALUE(UNIT_COUNT, hist->count));
	add_text(grid, column, VALUE(unit, hist->sum));
	add_text(grid, column, VALUE(unit, hist_percentile(hist, 0.5)));
	add_text(grid, column, VALUE(unit, hist_percentile(hist, 0.9)));
	add_text(grid, column, VALUE(unit, hist_percentile(hist, 0.99)));
	add_text(grid, column, VALUE(unit, hist->max));
}

static u64 stack_of(const struct signal_view *view, const struct series_key *key)
{
	if (series_is_other(key))
		return 0;
	return view->more.kind == FIELD_STACK	  ? key->more
	       : view->object.kind == FIELD_STACK ? key->object
						  : 0;
}

/* Below the table, by the number of the row that each is of. */
static void print_stacks(const struct digest *digest, const struct page *page,
			 const struct measured *of, const struct series_row *const *rows,
			 size_t count)
{
	for (size_t i = 0; i < count; i++) {
		u64 stack = stack_of(of->view, &rows[i]->key);
		char text[4 * GRID_TEXT], escaped[2 * sizeof(text)];
		int at;

		if (!stack)
			continue;
		series_stack_text(digest, stack, STACK_FRAMES, text, sizeof(text));
		at = fprintf(page->out, "  %zu: ", i + 1);
		page_wrap(page, at, at, format_escaped(text, escaped, sizeof(escaped)));
	}
}

static void add_row(const struct digest *digest, const struct measured *of,
		    const struct series_row *row, struct grid *grid)
{
	size_t column = 0;

	add_key(digest, of, row, grid, &column);
	add_numbers(of->view->kinds[row->key.kind].unit, &row->hist, grid, &column);
	/* Of nobody and of nothing: all of it. */
	if (grid->texts == 1 && !*grid->cells[grid->rows][0])
		snprintf(grid->cells[grid->rows][0], GRID_TEXT, "all");
	grid->rows++;
}

void text_series(const struct digest *digest, const struct page *page, const struct measured *of,
		 u32 kind)
{
	const struct measure *measure = &of->measures[kind];
	const struct series_row *shown[SHOWN_ALONE];
	size_t most = rows_shown(digest, of), series = measure->left_out;
	u64 shown_sum = 0;
	struct grid *grid = calloc(1, sizeof(*grid));

	if (!grid)
		return;
	add_heads(of, grid);
	for (size_t i = 0; i < of->alike_count; i++) {
		const struct series_row *row = of->alike[i].row;

		if (row->key.kind != kind || !row->hist.count)
			continue;
		series++;
		if (grid->rows == most)
			continue;
		shown[grid->rows] = row;
		shown_sum += row->hist.sum;
		add_row(digest, of, row, grid);
	}
	grid_print(page, grid);
	if (series > grid->rows)
		fprintf(page->out, "  and %s more, with %s of the total\n",
			NUMBER(series - grid->rows),
			SHARE(measure->all.sum > shown_sum ? measure->all.sum - shown_sum : 0,
			      measure->all.sum));
	print_stacks(digest, page, of, shown, grid->rows);
	free(grid);
}
