// SPDX-License-Identifier: Apache-2.0
#include "table.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../store/query.h"
#include "stack_tree.h"

static const struct {
	const char *unit, *subject;
} units[] = {
	[TABLE_TEXT] = {"text", NULL},
	[TABLE_NS] = {"ns", NULL},
	[TABLE_BYTES] = {"bytes", NULL},
	[TABLE_COUNT] = {"count", NULL},
	[TABLE_PERCENT] = {"percent", NULL},
	[TABLE_RATE] = {"rate", NULL},
	[TABLE_ID] = {"id", NULL},
	[TABLE_NODE] = {"node", NULL},
	[TABLE_STATE] = {"state", NULL},
	[TABLE_TIME] = {"time", NULL},
	[TABLE_THREAD] = {"subject", "thread"},
	[TABLE_PROCESS] = {"subject", "process"},
	[TABLE_GROUP] = {"subject", "group"},
};

const char *table_tab_of(const char *signal)
{
	static const struct {
		const char *signal, *tab;
	} tabs[] = {{"locks", "locks"}, {"block", "disks"},   {"files", "disks"},
		    {"tcp", "network"}, {"netrx", "network"}, {"syscalls", "calls"}};

	for (size_t i = 0; i < ARRAY_SIZE(tabs); i++)
		if (!strcmp(signal, tabs[i].signal))
			return tabs[i].tab;
	return "latency";
}

void table_begin(struct table_list *list, struct page_table *table)
{
	table->data = list->data;
	table->part = list->part;
}

bool table_row(struct page_table *table)
{
	void *row;

	if (table->err)
		return false;
	if (table->row_count == PAGE_TABLE_ROWS_MAX) {
		table->left_out++;
		return false;
	}
	row = query_append(&table->rows, &table->row_count, sizeof(table->rows[0]),
			   PAGE_TABLE_ROWS_MAX);
	table->err = row ? 0 : -ENOMEM;
	return row;
}

static struct table_cell *cell_of(struct page_table *table, size_t column)
{
	return &table->rows[table->row_count - 1][column];
}

void table_number(struct page_table *table, size_t column, s64 number)
{
	*cell_of(table, column) = (struct table_cell){.kind = LIST_NUMBER, .number = number};
}

void table_real(struct page_table *table, size_t column, double number)
{
	if (isfinite(number))
		*cell_of(table, column) = (struct table_cell){.kind = LIST_REAL, .real = number};
}

void table_text(struct page_table *table, size_t column, const char *text)
{
	table_number(table, column, page_name(table->data, text));
}

void table_stack(struct page_table *table, size_t column, u64 stack)
{
	s32 node = PAGE_NONE;
	int err = stack ? stack_tree_add(table->data, stack, STOP_END, &node) : 0;

	table->err = table->err ? table->err : err;
	table_number(table, column, node);
}

void table_at(struct page_table *table, size_t column, s32 place)
{
	table_number(table, column, place);
}

static void write_cell(struct part *part, enum table_unit unit, const struct table_cell *cell)
{
	char text[64];

	if (cell->kind == LIST_NUMBER) {
		part_number(part, cell->number);
	} else if (cell->kind == LIST_REAL) {
		snprintf(text, sizeof(text), "%.4g", cell->real);
		part_text(part, text);
	} else if (unit == TABLE_TEXT) {
		part_text(part, "0"); /* the empty string */
	} else if (unit == TABLE_NODE || unit >= TABLE_THREAD) {
		part_number(part, PAGE_NONE);
	} else {
		part_text(part, "null");
	}
}

static void write_rows(const struct page_table *table)
{
	struct part *part = table->part;

	for (size_t c = 0; c < table->column_count; c++) {
		const struct table_column *column = &table->columns[c];
		char key[96];

		snprintf(key, sizeof(key), "%s%s", column->key,
			 column->unit == TABLE_TEXT ? "$" : "");
		part_text(part, c ? "," : "");
		part_string(part, key);
		part_text(part, ":[");
		for (size_t r = 0; r < table->row_count; r++) {
			part_text(part, r ? "," : "");
			write_cell(part, column->unit, &table->rows[r][c]);
		}
		part_text(part, "]");
	}
}

static void write_field(struct part *part, const char *before, const char *name, const char *text)
{
	part_text(part, before);
	part_string(part, name);
	part_text(part, ":");
	part_string(part, text);
}

static void write_table(const struct page_table *table)
{
	struct part *part = table->part;

	write_field(part, "{", "id", table->id);
	write_field(part, ",", "tab", table->tab);
	write_field(part, ",", "title", table->title);
	write_field(part, ",", "about", table->about);
	part_text(part, ",\"left_out\":");
	part_number(part, (s64)table->left_out);
	part_text(part, ",\"columns\":[");
	for (size_t c = 0; c < table->column_count; c++) {
		const struct table_column *column = &table->columns[c];

		write_field(part, c ? ",{" : "{", "key", column->key);
		write_field(part, ",", "title", *column->title ? column->title : column->key);
		write_field(part, ",", "unit", units[column->unit].unit);
		if (units[column->unit].subject)
			write_field(part, ",", "subject", units[column->unit].subject);
		else
			part_text(part, ",\"subject\":null");
		part_text(part, "}");
	}
	part_text(part, "],\"rows\":{");
	write_rows(table);
	part_text(part, "}}");
}

static void note_tab(struct page_data *data, const char *tab)
{
	for (size_t i = 0; i < data->tab_count; i++)
		if (!strcmp(data->tabs[i], tab))
			return;
	if (data->tab_count < PAGE_TABS_MAX)
		data->tabs[data->tab_count++] = tab;
}

int table_end(struct table_list *list, struct page_table *table)
{
	if (!table->err && table->row_count) {
		note_tab(list->data, table->tab);
		part_text(list->part, list->count++ ? ",\n" : "");
		write_table(table);
		list->left_out += table->left_out;
	}
	free(table->rows);
	table->rows = NULL;
	return table->err;
}
