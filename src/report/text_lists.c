// SPDX-License-Identifier: Apache-2.0
/* What signals list besides their series. The names of columns say what is in them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text_signals.h"
#include "format_value.h"

#define SHOWN_ALONE  30
#define STACK_FRAMES 6

static bool ends_in(const char *name, const char *suffix)
{
	size_t length = strlen(name), end = strlen(suffix);

	return length > end && !strcmp(name + length - end, suffix);
}

/* As in the ledger, those who hold and wake are threads. */
bool list_is_tid(const char *column)
{
	return ends_in(column, "_tid") || !strcmp(column, "holder") || !strcmp(column, "waker");
}

void list_number(const struct digest *digest, const char *column, s64 number, char *buf,
		 size_t size)
{
	u64 value = number > 0 ? (u64)number : 0;

	if (!strcmp(column, "ts_ns") || ends_in(column, "_ts_ns"))
		snprintf(buf, size, "%s",
			 DURATION(value > digest->start_ns ? value - digest->start_ns : 0));
	else if (ends_in(column, "_ns"))
		snprintf(buf, size, "%s", VALUE(UNIT_NS, value));
	else if (ends_in(column, "_bytes"))
		snprintf(buf, size, "%s", VALUE(UNIT_BYTES, value));
	else if (ends_in(column, "_stack"))
		series_stack_text(digest, (u64)number, STACK_FRAMES, buf, size);
	else if (ends_in(column, "_object"))
		format_object(digest, (u64)number, buf, size);
	else if (!strcmp(column, "pid"))
		series_process_text(digest, value, 0, buf, size);
	else if (list_is_tid(column) && value)
		format_tid(digest, (u32)value, buf, size);
	else if (!strcmp(column, "tid"))
		snprintf(buf, size, "%" PRId64, (int64_t)number);
	else if (number < 0)
		snprintf(buf, size, "%" PRId64, (int64_t)number);
	else
		snprintf(buf, size, "%s", VALUE(UNIT_COUNT, value));
}

static bool is_text(const struct list_rows *list, size_t column)
{
	const char *name = list->columns[column];

	if (ends_in(name, "_stack") || ends_in(name, "_object") || !strcmp(name, "pid") ||
	    list_is_tid(name))
		return true;
	for (size_t i = 0; i < list->row_count; i++)
		if (list->rows[i][column].kind == LIST_TEXT)
			return true;
	return false;
}

static void cell_text_of(const struct digest *digest, const char *column,
			 const struct list_cell *cell, char *buf, size_t size)
{
	char text[2 * SIGNALS_NAME_BYTES] = "";

	if (cell->kind == LIST_NUMBER)
		list_number(digest, column, cell->number, text, sizeof(text));
	else if (cell->kind == LIST_REAL)
		snprintf(text, sizeof(text), "%.3g", cell->real);
	else if (cell->kind == LIST_TEXT)
		snprintf(text, sizeof(text), "%s", cell->text);
	format_escaped(text, buf, size);
}

/* Words in a head: what its suffix says is in the values. */
void list_head(const char *column, char *buf, size_t size)
{
	static const char *const suffixes[] = {"_ns", "_bytes", "_stack", "_object", "_tid"};

	snprintf(buf, size, "%s",
		 !strcmp(column, "ts_ns") ? "at"
		 : !strcmp(column, "pid") ? "process"
					  : column);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (ends_in(buf, suffixes[i]))
			buf[strlen(buf) - strlen(suffixes[i])] = '\0';
	for (char *at = buf; *at; at++)
		*at = *at == '_' ? ' ' : *at;
}

static void fill(const struct digest *digest, const struct list_rows *list, size_t most,
		 struct grid *grid, char (*heads)[LIST_HEAD_BYTES])
{
	size_t order[SIGNALS_COLUMNS_MAX], count = 0;

	for (int texts = 1; texts >= 0; texts--) {
		for (size_t c = 0; c < list->column_count; c++)
			if (is_text(list, c) == (texts == 1))
				order[count++] = c;
		if (texts)
			grid->texts = count;
	}
	grid->columns = count;
	for (size_t c = 0; c < count; c++) {
		list_head(list->columns[order[c]], heads[c], sizeof(heads[c]));
		grid->heads[c] = heads[c];
		grid->is_right[c] = c >= grid->texts;
	}
	for (; grid->rows < list->row_count && grid->rows < most && grid->rows < GRID_ROWS_MAX;
	     grid->rows++)
		for (size_t c = 0; c < count; c++)
			cell_text_of(digest, list->columns[order[c]],
				     &list->rows[grid->rows][order[c]], grid->cells[grid->rows][c],
				     GRID_TEXT);
}

static void print_list(const struct digest *digest, const struct page *page,
		       const struct signal_list *about, const struct list_rows *list)
{
	size_t most = page_rows(digest, digest->options->signals && about->shown < SHOWN_ALONE
						? SHOWN_ALONE
						: about->shown);
	struct grid *grid = list->row_count ? calloc(1, sizeof(*grid)) : NULL;
	char heads[SIGNALS_COLUMNS_MAX][LIST_HEAD_BYTES], line[512] = "";

	if (!grid)
		return;
	format_add(line, sizeof(line), "%s: %s", about->name, about->about ? about->about : "");
	if (digest->is_slice)
		format_add(line, sizeof(line), " (of the whole session)");
	fputs("\n  ", page->out);
	page_wrap(page, 2, 4, line);
	fill(digest, list, most, grid, heads);
	grid_print(page, grid);
	if (list->row_count > grid->rows)
		fprintf(page->out, "  and %s%s more\n", NUMBER(list->row_count - grid->rows),
			list->is_cut ? " or" : "");
	free(grid);
}

void text_lists(const struct digest *digest, const struct page *page, const struct measured *of)
{
	for (size_t i = 0; i < of->view->list_count; i++)
		print_list(digest, page, &of->view->lists[i], &of->lists[i]);
}
