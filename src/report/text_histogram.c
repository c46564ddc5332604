// SPDX-License-Identifier: Apache-2.0
/* A histogram in a terminal: buckets put together until they fit, by ratio, as they are. */
#include <string.h>

#include "text_signals.h"
#include "format_value.h"

#define LINES_MOST 30
#define OCTAVE	   HIST_PER_OCTAVE
#define ROWS_MAX   (HIST_BUCKETS + 1)
#define BAR_MOST   40
#define MARKS_ROOM 20
#define GAP	   3 /* so many empty lines are one that says so */
#define MARKS_MAX  4

struct mark {
	char name[32];
	u32 row;
};

struct rows {
	u64 counts[ROWS_MAX];
	u32 step; /* buckets of each */
	u32 first, last;
	u64 highest, all;
	struct mark marks[MARKS_MAX];
	size_t mark_count;
};

/* Row 0 is of the values 0 and 1; then each has as many buckets. */
static u32 row_of(const struct rows *rows, u32 place)
{
	return place < 2 ? 0 : 1 + (place - 2) / rows->step;
}

/* The largest value in it. */
static u64 end_of(const struct rows *rows, u32 row)
{
	u32 last = row ? 1 + row * rows->step : 1;

	return hist_most(last < HIST_BUCKETS ? last : HIST_BUCKETS - 1);
}

static void add_up(const struct hist *hist, struct rows *rows)
{
	u32 first = HIST_BUCKETS, last = 0;

	for (u32 i = 0; i < HIST_BUCKETS; i++) {
		if (!hist->buckets[i])
			continue;
		first = first == HIST_BUCKETS ? i : first;
		last = i;
	}
	for (rows->step = 1; rows->step < OCTAVE; rows->step *= 2)
		if (row_of(rows, last) - row_of(rows, first) < LINES_MOST)
			break;
	rows->first = row_of(rows, first);
	rows->last = row_of(rows, last);
	for (u32 i = first; i <= last; i++) {
		u64 *count = &rows->counts[row_of(rows, i)];

		*count += hist->buckets[i];
		rows->highest = *count > rows->highest ? *count : rows->highest;
	}
	rows->all = hist->count;
}

static void add_mark(struct rows *rows, const char *name, u64 value)
{
	struct mark *mark = &rows->marks[rows->mark_count++];

	snprintf(mark->name, sizeof(mark->name), "%s", name);
	mark->row = row_of(rows, hist_place(value));
}

static bool has_mark(const struct rows *rows, u32 row)
{
	for (size_t i = 0; i < rows->mark_count; i++)
		if (rows->marks[i].row == row)
			return true;
	return false;
}

static void print_row(const struct page *page, const struct rows *rows, enum series_unit unit,
		      u32 row)
{
	int room = page->columns - 32 - MARKS_ROOM, full;
	u64 count = rows->counts[row];
	char bar[BAR_MOST + 1];

	room = room > BAR_MOST ? BAR_MOST : room < 8 ? 8 : room;
	full = (int)((double)count / (double)rows->highest * room + 0.5);
	memset(bar, ' ', (size_t)room);
	memset(bar, '#', (size_t)full);
	bar[room] = '\0';
	if (count && !full)
		bar[0] = '.';
	if (!has_mark(rows, row))
		bar[full ? full : count != 0] = '\0';
	fprintf(page->out, "  %9s %10s %7s%s%s", VALUE(unit, end_of(rows, row)),
		VALUE(UNIT_COUNT, count), COLUMN_SHARE(count, rows->all), *bar ? "  " : "", bar);
	for (size_t i = 0; i < rows->mark_count; i++)
		if (rows->marks[i].row == row)
			fprintf(page->out, " %s", rows->marks[i].name);
	fputc('\n', page->out);
}

/* How many lines from here on have nothing. */
static u32 empty_from(const struct rows *rows, u32 row)
{
	u32 count = 0;

	while (row + count <= rows->last && !rows->counts[row + count] &&
	       !has_mark(rows, row + count))
		count++;
	return count;
}

static void print_tick(const struct page *page, const struct rows *rows, const char *name,
		       u64 tick_ns)
{
	u32 row = row_of(rows, hist_place(tick_ns));

	if (row < rows->first || row > rows->last)
		fprintf(page->out, "  %s, %s, is %s all of them\n", name, VALUE(UNIT_NS, tick_ns),
			row < rows->first ? "below" : "above");
}

void text_histogram(const struct digest *digest, const struct page *page, const struct measured *of,
		    u32 kind, const struct hist *hist)
{
	enum series_unit unit = of->view->kinds[kind].unit;
	u64 tick_ns =
		unit == UNIT_NS && of->view->tick_mark ? digest_meta_number(digest, "tick_ns") : 0;
	struct rows rows = {0};

	if (!hist->count)
		return;
	add_up(hist, &rows);
	add_mark(&rows, "p50", hist_percentile(hist, 0.5));
	add_mark(&rows, "p95", hist_percentile(hist, 0.95));
	add_mark(&rows, "p99", hist_percentile(hist, 0.99));
	if (tick_ns)
		add_mark(&rows, of->view->tick_mark, tick_ns);
	fprintf(page->out, "%s  %9s %10s %7s%s\n", page_ink(page, INK_FAINT), "up to", "count",
		"share", page_ink(page, INK_PLAIN));
	for (u32 row = rows.first; row <= rows.last; row++) {
		u32 empty = empty_from(&rows, row);
		/* Between small numbers there are buckets in which none can be. */
		bool can_be = !row ||
			      end_of(&rows, row + (empty ? empty - 1 : 0)) > end_of(&rows, row - 1);

		if (empty >= GAP && can_be)
			fprintf(page->out, "  %9s\n", "...");
		if (empty >= GAP)
			row += empty - 1;
		else if (!empty || can_be)
			print_row(page, &rows, unit, row);
	}
	if (tick_ns)
		print_tick(page, &rows, of->view->tick_mark, tick_ns);
}
