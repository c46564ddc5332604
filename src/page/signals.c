// SPDX-License-Identifier: Apache-2.0
/*
 * What signals measured, by time: of each measure all series together, in short buckets, for heat
 * maps; and the largest series one by one, in longer ones where there are many.
 */
#include <errno.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../store/query.h"
#include "buckets.h"
#include "data.h"

#define SLOT_PLACES 4 /* of a histogram in one slot of ours: a quarter of an octave */
#define SLOTS	    (2 + (HIST_BUCKETS - 2 + SLOT_PLACES - 1) / SLOT_PLACES)

static const char *const unit_names[] = {
	[UNIT_NS] = "ns", [UNIT_BYTES] = "bytes", [UNIT_COUNT] = "count"};

struct series_line {
	u32 signal, kind, name, unit; /* names */
	s32 process;
	u32 all; /* 1: of all series of the measure */
};

/* Opens with its key. */
struct value_row {
	u32 bucket, series;
	/* the key ends here */
	s64 count, sum, max;
};

struct slot_row {
	u32 bucket, series, slot, unused;
	/* the key ends here */
	s64 count;
};

/* A series' line by its key, and by its number in the session. */
struct by_key {
	struct series_key key; /* the key */
	s32 line;
};

struct by_number {
	u64 id; /* the key */
	s32 line, all;
};

struct reader {
	struct page_data *data;
	struct series_line *lines;
	size_t line_count;
	struct hash keys, numbers;
	s32 all[256][256]; /* lines, by signal and kind */
	struct buckets values, slots, all_values, all_slots;
	u64 left_out;
};

static s32 add_line(struct reader *reader, const struct measured *of, u32 kind,
		    const struct series_row *row)
{
	struct page_data *data = reader->data;
	struct series_line *line = query_append(&reader->lines, &reader->line_count, sizeof(*line),
						PAGE_SERIES_MAX + 65536);
	char text[SIGNALS_NAME_BYTES] = "";

	if (!line)
		return -ENOMEM;
	if (row)
		series_row_text(data->digest, of, row, text, sizeof(text));
	*line = (struct series_line){
		.signal = page_name(data, of->name),
		.kind = page_name(data, of->view->kinds[kind].name),
		.name = page_name(data, text),
		.unit = page_name(data, unit_names[of->view->kinds[kind].unit]),
		.process = row && row->key.tgid
				   ? page_pid_at(data, row->key.tgid, row->key.start_ns)
				   : PAGE_NONE,
		.all = !row,
	};
	return (s32)reader->line_count - 1;
}

/* The largest series of each signal, which come first. */
static int choose_lines(struct reader *reader)
{
	const struct signals *signals = &reader->data->digest->signals;

	memset(reader->all, 0xff, sizeof(reader->all)); /* PAGE_NONE */
	for (size_t i = 0; i < signals->count; i++) {
		const struct measured *of = &signals->of[i];
		size_t most = PAGE_SERIES_MAX / signals->count;

		for (u32 kind = 0; kind < of->view->kind_count && kind < 256; kind++) {
			s32 line = of->measures[kind].all.count ? add_line(reader, of, kind, NULL)
								: PAGE_NONE;

			if (line == -ENOMEM)
				return line;
			reader->all[of->id % 256][kind] = line;
		}
		for (size_t r = 0; r < of->row_count; r++) {
			const struct series_row *row = of->rows[r];
			struct by_key *by_key;

			if (r >= most) {
				reader->left_out++;
				continue;
			}
			by_key = hash_add(&reader->keys, &row->key);
			if (!by_key)
				return -ENOMEM;
			by_key->line = add_line(reader, of, row->key.kind, row);
			if (by_key->line < 0)
				return by_key->line;
		}
	}
	return 0;
}

static int on_series(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	struct series_key key = {
		.tgid = (u32)query_count(row, 3),
		.start_ns = query_count(row, 4),
		.detail = (u16)query_u64(row, 5),
		.object = query_u64(row, 6),
		.more = query_u64(row, 7),
	};
	u64 id = query_u64(row, 0);
	int signal = signals_column(row, 1), kind = -1;
	const struct by_key *by_key;
	struct by_number *number;
	bool is_kernel;
	char name[64];

	query_text(row, 2, name, sizeof(name));
	if (signal)
		kind = signals_kind(signal_rows[signal].signal->view, name);
	if (kind < 0 || !signals_want(reader->data->digest, key.tgid, key.start_ns, &is_kernel))
		return 0;
	key.signal = (u8)signal;
	key.kind = (u8)kind;
	number = hash_add(&reader->numbers, &id);
	if (!number)
		return -ENOMEM;
	by_key = hash_find(&reader->keys, &key);
	number->line = by_key ? by_key->line : PAGE_NONE;
	number->all = reader->all[key.signal][key.kind];
	return 0;
}

static int add_value(struct buckets *buckets, s32 line, struct value_row value)
{
	value.series = (u32)line;
	return line == PAGE_NONE ? 0 : buckets_add(buckets, &value);
}

static int add_slot(struct buckets *buckets, s32 line, struct slot_row slot)
{
	slot.series = (u32)line;
	return line == PAGE_NONE ? 0 : buckets_add(buckets, &slot);
}

static u32 slot_of(u32 place)
{
	return place < 2 ? place : 2 + (place - 2) / SLOT_PLACES;
}

static int on_value(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	u64 id = query_u64(row, 1), count;
	const struct by_number *number = hash_find(&reader->numbers, &id);
	s32 window = page_window_at(reader->data, sqlite3_column_int64(row, 0));
	const char *text = (const char *)sqlite3_column_text(row, 5);
	struct value_row value = {
		.bucket = (u32)window,
		.count = (s64)query_count(row, 2),
		.sum = (s64)query_count(row, 3),
		.max = (s64)query_count(row, 4),
	};
	u32 place;
	int err;

	if (!number || window == PAGE_NONE)
		return 0;
	err = add_value(&reader->values, number->line, value);
	if (!err)
		err = add_value(&reader->all_values, number->all, value);
	while (!err && text && hist_next(&text, &place, &count) > 0) {
		struct slot_row slot = {
			.bucket = (u32)window, .slot = slot_of(place), .count = (s64)count};

		err = add_slot(&reader->slots, number->line, slot);
		if (!err)
			err = add_slot(&reader->all_slots, number->all, slot);
	}
	return err;
}

static int compare_values(const void *a, const void *b)
{
	const struct value_row *x = a, *y = b;

	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	return x->bucket < y->bucket ? -1 : x->bucket > y->bucket;
}

static int compare_slots(const void *a, const void *b)
{
	const struct slot_row *x = a, *y = b;

	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

static void write_values(struct reader *reader, struct part *part, const char *name,
			 struct buckets *values)
{
	static const struct column columns[] = {
		COLUMN("series+", struct value_row, series),
		COLUMN("bucket", struct value_row, bucket),
		COLUMN("count", struct value_row, count),
		COLUMN("sum", struct value_row, sum),
		COLUMN("max", struct value_row, max),
	};

	buckets_sort(values, compare_values);
	part_text(part, ",");
	part_string(part, name);
	part_text(part, ":");
	page_write_bucket(reader->data, part, values->windows);
	part_columns(part, columns, ARRAY_SIZE(columns), values->rows.items,
		     sizeof(struct value_row), values->rows.count);
	part_text(part, "}");
	page_limit(reader->data, "signals", values->rows.count, PAGE_VALUE_ROWS_MAX,
		   values->left_out, "rows of values");
}

static void write_slots(struct reader *reader, struct part *part, const char *name,
			struct buckets *slots)
{
	static const struct column columns[] = {
		COLUMN("series+", struct slot_row, series),
		COLUMN("bucket", struct slot_row, bucket),
		COLUMN("slot", struct slot_row, slot),
		COLUMN("count", struct slot_row, count),
	};

	buckets_sort(slots, compare_slots);
	part_text(part, ",");
	part_string(part, name);
	part_text(part, ":");
	page_write_bucket(reader->data, part, slots->windows);
	part_columns(part, columns, ARRAY_SIZE(columns), slots->rows.items, sizeof(struct slot_row),
		     slots->rows.count);
	part_text(part, "}");
	page_limit(reader->data, "signals", slots->rows.count, PAGE_HISTOGRAM_ROWS_MAX,
		   slots->left_out, "rows of histograms");
}

/* The least value of each slot, and one more: where the last one ends. */
static void write_bounds(struct part *part)
{
	part_text(part, ",\"slots\":[0,1");
	for (u32 slot = 2; slot <= SLOTS; slot++) {
		u32 place = 2 + (slot - 2) * SLOT_PLACES;

		part_text(part, ",");
		part_number(part, (s64)(place < HIST_BUCKETS ? hist_least(place)
							     : hist_most(HIST_BUCKETS - 1) + 1));
	}
	part_text(part, "]");
}

static void write_all(struct reader *reader, struct part *part)
{
	static const struct column columns[] = {
		COLUMN("signal$", struct series_line, signal),
		COLUMN("kind$", struct series_line, kind),
		COLUMN("name$", struct series_line, name),
		COLUMN("unit$", struct series_line, unit),
		COLUMN("process", struct series_line, process),
		COLUMN("all", struct series_line, all),
	};

	reader->data->has_series = reader->line_count > 0;
	part_text(part, "{\"series\":");
	part_columns(part, columns, ARRAY_SIZE(columns), reader->lines, sizeof(struct series_line),
		     reader->line_count);
	write_bounds(part);
	write_values(reader, part, "values", &reader->all_values);
	write_slots(reader, part, "histograms", &reader->all_slots);
	write_values(reader, part, "series_values", &reader->values);
	write_slots(reader, part, "series_histograms", &reader->slots);
	part_text(part, "}");
	page_limit(reader->data, "signals.series", reader->line_count, PAGE_SERIES_MAX,
		   reader->left_out, "series, the smallest: they are in the sum of their measure");
}

static void init(struct reader *reader, struct page_data *data)
{
	u32 windows = (u32)data->window_count;
	struct buckets *values[] = {&reader->values, &reader->all_values};
	struct buckets *slots[] = {&reader->slots, &reader->all_slots};

	reader->data = data;
	hash_init(&reader->keys, sizeof(struct by_key), sizeof(struct series_key),
		  SIGNALS_KEYS_MAX);
	hash_init(&reader->numbers, sizeof(struct by_number), sizeof(u64), SIGNALS_KEYS_MAX);
	for (int i = 0; i < 2; i++) {
		buckets_init(values[i], sizeof(struct value_row), 3, 2, PAGE_VALUE_ROWS_MAX,
			     windows);
		buckets_init(slots[i], sizeof(struct slot_row), 1, 1, PAGE_HISTOGRAM_ROWS_MAX,
			     windows);
	}
}

int page_write_signals(struct page_data *data, struct part *part)
{
	struct reader *reader = calloc(1, sizeof(*reader)); /* too large for the stack */
	int err = reader ? 0 : -ENOMEM;

	if (err)
		return err;
	init(reader, data);
	err = choose_lines(reader);
	if (!err)
		err = query_table(data->db, "series",
				  "id, signal, kind, pid, start_ns, detail, object, more", NULL,
				  on_series, reader);
	if (!err)
		err = query_table(data->db, "series_values",
				  "window, series, count, sum, max, buckets", NULL, on_value,
				  reader);
	if (!err)
		write_all(reader, part);
	buckets_free(&reader->values);
	buckets_free(&reader->slots);
	buckets_free(&reader->all_values);
	buckets_free(&reader->all_slots);
	hash_free(&reader->keys);
	hash_free(&reader->numbers);
	free(reader->lines);
	free(reader);
	return err;
}
