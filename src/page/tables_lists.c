// SPDX-License-Identifier: Apache-2.0
/* What signals list besides their series (connections, holders of locks, ...), and slow events. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../report/text_signals.h"
#include "table.h"

#define ID_BYTES   96
#define TEXT_BYTES 160

static bool ends_in(const char *name, const char *suffix)
{
	size_t length = strlen(name), end = strlen(suffix);

	return length >= end && !strcmp(name + length - end, suffix);
}

static bool has_text(const struct list_rows *rows, size_t column)
{
	for (size_t i = 0; i < rows->row_count; i++)
		if (rows->rows[i][column].kind == LIST_TEXT)
			return true;
	return false;
}

/* By the name of the column, as text_signals.h says. */
static enum table_unit unit_of(const struct list_rows *rows, size_t column)
{
	const char *name = rows->columns[column];

	if (!strcmp(name, "pid"))
		return TABLE_PROCESS;
	if (list_is_tid(name))
		return TABLE_THREAD;
	if (!strcmp(name, "ts_ns") || ends_in(name, "_ts_ns"))
		return TABLE_TIME;
	if (ends_in(name, "_ns"))
		return TABLE_NS;
	if (ends_in(name, "_bytes"))
		return TABLE_BYTES;
	if (ends_in(name, "_stack"))
		return TABLE_NODE;
	return ends_in(name, "_object") || has_text(rows, column) ? TABLE_TEXT : TABLE_COUNT;
}

/* The last process with this pid. */
static s32 last_process(const struct page_data *data, s64 pid)
{
	const struct digest *digest = data->digest;
	size_t low = 0, high = digest->process_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((s64)digest->processes[middle].pid <= pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low && digest->processes[low - 1].pid == pid ? data->process_at[low - 1] : PAGE_NONE;
}

static void fill_number(struct page_table *table, size_t column, s64 number)
{
	char text[DIGEST_TEXT + 32];

	switch (table->columns[column].unit) {
	case TABLE_PROCESS:
		table_at(table, column, last_process(table->data, number));
		return;
	case TABLE_THREAD:
		table_at(table, column, page_tid_at(table->data, number > 0 ? (u32)number : 0));
		return;
	case TABLE_TIME:
		table_number(table, column, (s64)page_time(table->data, (u64)number));
		return;
	case TABLE_NODE:
		table_stack(table, column, (u64)number);
		return;
	case TABLE_TEXT:
		list_number(table->data->digest, table->columns[column].key, number, text,
			    sizeof(text));
		table_text(table, column, text);
		return;
	default:
		table_number(table, column, number);
	}
}

static void fill_row(struct page_table *table, const struct list_cell *cells)
{
	for (size_t c = 0; c < table->column_count; c++) {
		const struct list_cell *cell = &cells[c];

		if (cell->kind == LIST_NUMBER)
			fill_number(table, c, cell->number);
		else if (cell->kind == LIST_REAL)
			table_real(table, c, cell->real);
		else if (cell->kind == LIST_TEXT && table->columns[c].unit == TABLE_TEXT)
			table_text(table, c, cell->text);
	}
}

static int write_list(struct table_list *list, const struct measured *of, size_t index)
{
	const struct signal_list *view = &of->view->lists[index];
	const struct list_rows *rows = &of->lists[index];
	struct table_column columns[SIGNALS_COLUMNS_MAX];
	char heads[SIGNALS_COLUMNS_MAX][LIST_HEAD_BYTES], id[ID_BYTES], title[TEXT_BYTES];
	char about[TEXT_BYTES + 64];
	struct page_table table = {.id = id,
				   .tab = table_tab_of(of->name),
				   .title = title,
				   .about = about,
				   .columns = columns,
				   .column_count = rows->column_count};

	snprintf(id, sizeof(id), "%s.list.%s", of->name, view->name);
	snprintf(title, sizeof(title), "%s: %s", of->name, view->name);
	snprintf(about, sizeof(about), "%s", view->about);
	if (rows->is_cut) /* how many more there are, nobody counted */
		format_add(about, sizeof(about), "; the session has more than %zu of them",
			   rows->row_count);
	for (size_t c = 0; c < rows->column_count; c++) {
		list_head(rows->columns[c], heads[c], sizeof(heads[c]));
		columns[c] = (struct table_column){rows->columns[c], heads[c], unit_of(rows, c)};
	}
	table_begin(list, &table);
	for (size_t i = 0; i < rows->row_count; i++)
		if (table_row(&table))
			fill_row(&table, rows->rows[i]);
	return table_end(list, &table);
}

int tables_lists(struct table_list *list)
{
	const struct signals *signals = &list->data->digest->signals;
	int err = 0;

	for (size_t i = 0; !err && i < signals->count; i++)
		for (size_t l = 0; !err && l < signals->of[i].view->list_count; l++)
			err = write_list(list, &signals->of[i], l);
	return err;
}

enum {
	SLOW_SIGNAL,
	SLOW_KIND,
	SLOW_AT,
	SLOW_THREAD,
	SLOW_WHAT,
	SLOW_NS,
	SLOW_PARTS_FROM,
	SLOW_STACK = SLOW_PARTS_FROM + SLOW_PART_COUNT,
	SLOW_COLUMNS,
};

/* Detail and object, in few words. */
static void what_of(const struct digest *digest, const struct measured *of,
		    const struct series_key *key, char *buf, size_t size)
{
	*buf = '\0';
	for (int at = 0; at < FIELDS; at++) {
		char text[SIGNALS_NAME_BYTES];
		u64 value;
		const struct series_field *field = series_field_at(of, key, at, &value);

		if (!field || field->kind == FIELD_STACK)
			continue;
		series_field_text(digest, of, field, value, text, sizeof(text));
		if (*text)
			format_add(buf, size, "%s%s", *buf ? " " : "", text);
	}
}

static void fill_slow(struct page_table *table, const struct measured *of,
		      const struct slow_row *slow)
{
	struct page_data *data = table->data;
	u64 begin_ns = slow->ts_ns > slow->ns ? slow->ts_ns - slow->ns : 0;
	char text[2 * SIGNALS_NAME_BYTES];
	u64 known = 0;

	table_text(table, SLOW_SIGNAL, of->name);
	table_text(table, SLOW_KIND, of->view->kinds[slow->key.kind].name);
	table_number(table, SLOW_AT, (s64)page_time(data, begin_ns));
	table_at(table, SLOW_THREAD, page_tid_at(data, slow->tid));
	what_of(data->digest, of, &slow->key, text, sizeof(text));
	table_text(table, SLOW_WHAT, text);
	table_number(table, SLOW_NS, (s64)slow->ns);
	for (size_t i = 0; i < SLOW_PART_COUNT; i++)
		known |= slow->part[i];
	for (size_t i = 0; known && i < SLOW_PART_COUNT; i++)
		table_number(table, SLOW_PARTS_FROM + i, (s64)slow->part[i]);
	table_stack(table, SLOW_STACK, slow->stack);
}

/* The slowest of all signals first, so that the limit keeps those. */
struct slow_place {
	const struct measured *of;
	const struct slow_row *slow;
};

static int slowest_first(const void *a, const void *b)
{
	const struct slow_place *x = a, *y = b;

	if (x->slow->ns != y->slow->ns)
		return x->slow->ns > y->slow->ns ? -1 : 1;
	return x->slow < y->slow ? -1 : x->slow > y->slow; /* as they are in the digest */
}

int tables_slow(struct table_list *list)
{
	static const struct table_column columns[SLOW_COLUMNS] = {
		[SLOW_SIGNAL] = {"signal", "", TABLE_TEXT},
		[SLOW_KIND] = {"kind", "measure", TABLE_TEXT},
		[SLOW_AT] = {"at_ns", "began at", TABLE_TIME},
		[SLOW_THREAD] = {"thread", "", TABLE_THREAD},
		[SLOW_WHAT] = {"what", "", TABLE_TEXT},
		[SLOW_NS] = {"ns", "took", TABLE_NS},
#define PART(NAME, name) [SLOW_PARTS_FROM + SLOW_PART_##NAME] = {#name "_ns", #name, TABLE_NS},
		SLOW_PARTS(PART)
#undef PART
			[SLOW_STACK] = {"stack", "", TABLE_NODE},
	};
	struct page_table table = {
		.id = "slow",
		.tab = "latency",
		.title = "Slow events",
		.about = "those that took longer than --slow, the slowest first, and "
			 "where their time went",
		.columns = columns,
		.column_count = SLOW_COLUMNS};
	const struct signals *signals = &list->data->digest->signals;
	_cleanup_free_ struct slow_place *places = NULL;
	size_t count = 0, at = 0;

	table_begin(list, &table);
	for (size_t i = 0; i < signals->count; i++)
		count += signals->of[i].slow_count;
	places = calloc(count + 1, sizeof(*places));
	table.err = places ? 0 : -ENOMEM;
	for (size_t i = 0; places && i < signals->count; i++) {
		table.left_out += signals->of[i].slow_left_out;
		for (size_t s = 0; s < signals->of[i].slow_count; s++)
			places[at++] =
				(struct slow_place){&signals->of[i], &signals->of[i].slow[s]};
	}
	if (at)
		qsort(places, at, sizeof(*places), slowest_first);
	for (size_t i = 0; i < at; i++)
		if (table_row(&table))
			fill_slow(&table, places[i].of, places[i].slow);
	return table_end(list, &table);
}
