// SPDX-License-Identifier: Apache-2.0
/* The largest series of a measure, or a few of each, as a table. */
#include <stdlib.h>
#include <string.h>

#include "text_signals.h"
#include "format_value.h"

#define SHOWN	     10 /* of a signal, in the report */
#define SHOWN_LEAST  3	/* of each of its measures */
#define SHOWN_ALONE  30 /* of each measure, with --signal */
#define SHOWN_MIXED  12 /* of many measures in one table */
#define STACK_FRAMES 8
#define STACK_TEXT   (4 * GRID_TEXT)

/* A table, and the stacks that its rows name by number: each that reads alike once. */
struct series_table {
	struct grid grid;
	const struct series_row *shown[GRID_ROWS_MAX];
	char stacks[GRID_ROWS_MAX][STACK_TEXT];
	size_t stack_count;
};

size_t text_measures(const struct measured *of)
{
	size_t count = 0;

	for (size_t i = 0; i < of->view->kind_count; i++)
		count += of->measures[i].all.count > 0;
	return count;
}

static size_t at_least(size_t share, size_t least)
{
	return share > least ? share : least;
}

/* Stacks are too long for a column: they have lines of their own. */
static bool is_column(const struct series_field *field)
{
	return field->kind != FIELD_NONE && field->kind != FIELD_STACK;
}

/* Where several measures are in one table, what one sums besides is left out. */
static void add_heads(const struct measured *of, u32 kind, bool is_mixed, struct grid *grid)
{
	static const char *const numbers[] = {"count", "total", "p50", "p95", "p99", "max"};
	const struct series_field *fields[FIELDS] = {&of->view->detail, &of->view->object,
						     &of->view->more};

	if (is_mixed)
		grid->heads[grid->columns++] = "measure";
	grid->heads[grid->columns++] = "process";
	for (size_t i = 0; i < FIELDS; i++)
		if (is_column(fields[i]))
			grid->heads[grid->columns++] = fields[i]->name;
	grid->heads[grid->columns++] = "stack";
	grid->texts = grid->columns;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		grid->is_right[grid->columns] = true;
		grid->heads[grid->columns++] = numbers[i];
	}
	for (u32 i = 0; !is_mixed && i < SERIES_SUMS; i++) {
		if (!view_bytes(of->view, kind, i))
			continue;
		grid->is_right[grid->columns] = true;
		grid->heads[grid->columns++] = of->view->bytes[i];
	}
}

static void add_text(struct grid *grid, size_t *column, const char *text)
{
	format_escaped(text, grid->cells[grid->rows][(*column)++], GRID_TEXT);
}

static void add_key(const struct digest *digest, const struct measured *of,
		    const struct series_row *row, struct grid *grid, size_t *column)
{
	const struct series_field *fields[FIELDS] = {&of->view->detail, &of->view->object,
						     &of->view->more};

	add_text(grid, column, row->process);
	for (int at = 0; at < FIELDS; at++) {
		char name[SIGNALS_NAME_BYTES] = "";
		u64 value;

		if (!is_column(fields[at]))
			continue;
		if (series_field_at(of, &row->key, at, &value))
			series_field_text(digest, of, fields[at], value, name, sizeof(name));
		add_text(grid, column, name);
	}
}

bool text_is_tally(enum series_unit unit, const struct hist *hist)
{
	return unit == UNIT_COUNT && hist->max == 1 && hist->sum == hist->count;
}

static void add_numbers(enum series_unit unit, const struct hist *hist, struct grid *grid,
			size_t *column)
{
	add_text(grid, column, VALUE(UNIT_COUNT, hist->count));
	if (text_is_tally(unit, hist)) {
		for (int i = 0; i < 5; i++)
			add_text(grid, column, "");
		return;
	}
	add_text(grid, column, VALUE(unit, hist->sum));
	add_text(grid, column, VALUE(unit, hist_percentile(hist, 0.5)));
	add_text(grid, column, VALUE(unit, hist_percentile(hist, 0.95)));
	add_text(grid, column, VALUE(unit, hist_percentile(hist, 0.99)));
	add_text(grid, column, VALUE(unit, hist->max));
}

/* Of nobody and of nothing: all of it. */
static void name_all(struct grid *grid)
{
	for (size_t c = 0; c < grid->texts; c++)
		if (*grid->cells[grid->rows][c])
			return;
	snprintf(grid->cells[grid->rows][0], GRID_TEXT, "all");
}

static u64 stack_of(const struct signal_view *view, const struct series_key *key)
{
	if (series_is_other(key))
		return 0;
	return view->more.kind == FIELD_STACK	  ? key->more
	       : view->object.kind == FIELD_STACK ? key->object
						  : 0;
}

static void add_stack(const struct digest *digest, const struct measured *of,
		      const struct series_row *row, struct series_table *table, size_t *column)
{
	char *text = table->stacks[table->stack_count], number[32] = "";
	u64 stack = stack_of(of->view, &row->key);
	size_t same = 0;

	if (stack) {
		series_stack_text(digest, stack, STACK_FRAMES, text, STACK_TEXT);
		while (strcmp(table->stacks[same], text))
			same++;
		table->stack_count += same == table->stack_count;
		snprintf(number, sizeof(number), "[%zu]", same + 1);
	}
	add_text(&table->grid, column, number);
}

static void add_row(const struct digest *digest, const struct measured *of,
		    const struct series_row *row, bool is_mixed, struct series_table *table)
{
	const struct series_kind *kind = &of->view->kinds[row->key.kind];
	struct grid *grid = &table->grid;
	size_t column = 0;

	if (is_mixed)
		add_text(grid, &column, kind->name);
	add_key(digest, of, row, grid, &column);
	add_stack(digest, of, row, table, &column);
	add_numbers(kind->unit, &row->hist, grid, &column);
	for (u32 i = 0; !is_mixed && i < SERIES_SUMS; i++)
		if (view_bytes(of->view, row->key.kind, i))
			add_text(grid, &column, VALUE(UNIT_BYTES, row->sums[i]));
	name_all(grid);
	table->shown[grid->rows++] = row;
}

/* Below the table. */
static void print_stacks(const struct page *page, const struct series_table *table)
{
	for (size_t i = 0; i < table->stack_count; i++) {
		char escaped[2 * STACK_TEXT];
		int at = fprintf(page->out, "  [%zu] ", i + 1);

		page_wrap(page, at, at, format_escaped(table->stacks[i], escaped, sizeof(escaped)));
	}
}

/* The largest of a measure into the grid: how many there are. */
static size_t add_measure(const struct digest *digest, const struct measured *of, u32 kind,
			  size_t most, bool is_mixed, struct series_table *table)
{
	const struct grid *grid = &table->grid;
	size_t series = of->measures[kind].left_out, until = grid->rows + most;

	for (size_t i = 0; i < of->alike_count; i++) {
		const struct series_row *row = of->alike[i].row;

		if (row->key.kind != kind || !row->hist.count)
			continue;
		series++;
		if (grid->rows == until || grid->rows == GRID_ROWS_MAX)
			continue;
		add_row(digest, of, row, is_mixed, table);
	}
	return series;
}

void text_series(const struct digest *digest, const struct page *page, const struct measured *of,
		 u32 kind)
{
	size_t usual = digest->options->signals ? SHOWN_ALONE
						: at_least(SHOWN / text_measures(of), SHOWN_LEAST);
	size_t most = page_rows(digest, usual);
	struct series_table *table = calloc(1, sizeof(*table));
	u64 rest = of->measures[kind].all.sum;
	size_t series;

	if (!table)
		return;
	add_heads(of, kind, false, &table->grid);
	series = add_measure(digest, of, kind, most, false, table);
	grid_print(page, &table->grid);
	for (size_t i = 0; i < table->grid.rows; i++)
		rest -= table->shown[i]->hist.sum < rest ? table->shown[i]->hist.sum : rest;
	if (series > table->grid.rows)
		fprintf(page->out, "  and %s more, with %s of the total\n",
			NUMBER(series - table->grid.rows), SHARE(rest, of->measures[kind].all.sum));
	print_stacks(page, table);
	free(table);
}

void text_series_mixed(const struct digest *digest, const struct page *page,
		       const struct measured *of)
{
	size_t most = page_rows(digest, at_least(SHOWN_MIXED / text_measures(of), 1)), series = 0;
	struct series_table *table = calloc(1, sizeof(*table));

	if (!table)
		return;
	add_heads(of, 0, true, &table->grid);
	for (u32 kind = 0; kind < of->view->kind_count; kind++)
		if (of->measures[kind].all.count)
			series += add_measure(digest, of, kind, most, true, table);
	grid_print(page, &table->grid);
	if (series > table->grid.rows)
		fprintf(page->out, "  and %s more: --signal %s\n",
			NUMBER(series - table->grid.rows), of->name);
	print_stacks(page, table);
	free(table);
}
