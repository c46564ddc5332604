// SPDX-License-Identifier: Apache-2.0
/*
 * What signals count (-s), by window: how often, the mean, and histograms for percentiles. A line
 * is a measure with its detail, over all processes; and the same of one object, where that has a
 * name that other sessions can have too.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../model/signal.h"
#include "../model/syscall.h"
#include "../store/query.h"
#include "reading.h"

#define SERIES_IDS_MAX	  1000000
#define NAMES_MAX	  500000
#define DEVICE_MINOR_BITS 20 /* as the kernel numbers devices */
#define BUCKETS_BYTES	  (64 << 10)

/* What an object, or a label of a signal, is called. */
struct named {
	u64 signal, id; /* the key; signal 0: an object */
	u32 name;
};

struct series_of {
	u64 id; /* the key */
	u32 signal, kind, unit;
	u32 name, object_name; /* texts; 0: no line */
	bool is_work, is_left_out;
};

struct series_reader {
	struct reading *reading;
	struct hash names, series;
	struct hist *hist; /* of one row */
};

static int on_name(struct series_reader *reader, u64 signal, u64 id, sqlite3_stmt *row, int column)
{
	struct named *named = hash_add(&reader->names, &(u64[]){signal, id});

	if (!named)
		return hash_is_full(&reader->names) ? 0 : -ENOMEM;
	named->name = reading_column(reader->reading, row, column);
	return 0;
}

static int on_object(sqlite3_stmt *row, void *context)
{
	return on_name(context, 0, query_u64(row, 0), row, 1);
}

static int on_label(sqlite3_stmt *row, void *context)
{
	char signal[64];

	query_text(row, 0, signal, sizeof(signal));
	return on_name(context, (u64)signal_find(signal, strlen(signal)), query_u64(row, 1), row,
		       2);
}

static const char *name_of(const struct series_reader *reader, u64 signal, u64 id)
{
	const struct named *named = hash_find(&reader->names, &(u64[]){signal, id});

	return named ? diff_text(reader->reading->diff, named->name) : "";
}

/* A small field, in few words; "" if it says nothing, or nothing that another session has too. */
static void detail_text(const struct series_field *field, u64 value, char *buf, size_t size)
{
	*buf = '\0';
	if (field->kind == FIELD_NAME && value < field->name_count &&
	    strcmp(field->names[value], "-") != 0)
		snprintf(buf, size, "%s", field->names[value]);
	else if (field->kind == FIELD_SYSCALL)
		snprintf(buf, size, "%s", syscall_name((u32)value));
	else if (field->kind == FIELD_ERRNO && value && value < 4096 && strerrorname_np((int)value))
		snprintf(buf, size, "%s", strerrorname_np((int)value));
}

static void object_text(const struct series_reader *reader, int signal,
			const struct series_field *field, u64 value, char *buf, size_t size)
{
	const char *label = name_of(reader, (u64)signal, value);

	*buf = '\0';
	if (!value || value == SERIES_OTHER)
		return;
	if (*label)
		snprintf(buf, size, "%s", label);
	else if (field->kind == FIELD_DEVICE)
		snprintf(buf, size, "%" PRIu64 ":%" PRIu64, (uint64_t)(value >> DEVICE_MINOR_BITS),
			 (uint64_t)(value & ((1 << DEVICE_MINOR_BITS) - 1)));
	else if (field->kind == FIELD_OBJECT || field->kind == FIELD_LABEL)
		snprintf(buf, size, "%s", name_of(reader, 0, value));
}

/* A measure, a detail or an object: what a series counts is one of these. Requests are no series.
 */
static bool is_work(const struct diff_per *per, const char *signal, const char *kind,
		    const char *detail, const char *object)
{
	return per->kind == DIFF_PER_COUNT && !per->is_requests && !strcmp(per->signal, signal) &&
	       (!strcmp(per->what, kind) || !strcmp(per->what, detail) ||
		!strcmp(per->what, object));
}

static int kind_of(const struct signal_view *view, const char *name)
{
	for (size_t i = 0; i < view->kind_count; i++)
		if (!strcmp(view->kinds[i].name, name))
			return (int)i;
	return -1;
}

static int on_series(sqlite3_stmt *row, void *context)
{
	struct series_reader *reader = context;
	struct reading *reading = reader->reading;
	const struct signal_view *view;
	const struct reading_process *process =
		reading_process(reading, query_count(row, 3), query_count(row, 4));
	char signal[64], kind[64], detail[96], object[192], name[384];
	u64 id = query_u64(row, 0);
	struct series_of *series;
	int number, at;

	query_text(row, 1, signal, sizeof(signal));
	query_text(row, 2, kind, sizeof(kind));
	number = signal_find(signal, strlen(signal));
	view = number && signal_rows[number].signal ? signal_rows[number].signal->view : NULL;
	at = view ? kind_of(view, kind) : -1;
	/* Those by stack, and estimates, count again what others have. */
	if (at < 0 || view->estimates >> at & 1 ||
	    (view->more.kind == FIELD_STACK && query_u64(row, 7)))
		return 0;
	series = hash_add(&reader->series, &id);
	if (!series)
		return hash_is_full(&reader->series) ? 0 : -ENOMEM;
	detail_text(&view->detail, query_u64(row, 5), detail, sizeof(detail));
	object_text(reader, number, &view->object, query_u64(row, 6), object, sizeof(object));
	snprintf(name, sizeof(name), "%s%s%s", kind, *detail ? " " : "", detail);
	series->signal = reading_text(reading, signal);
	series->name = reading_text(reading, name);
	if (*object) {
		snprintf(name + strlen(name), sizeof(name) - strlen(name), " %s", object);
		series->object_name = reading_text(reading, name);
	}
	series->unit = view->kinds[at].unit;
	series->is_left_out = reading_leaves_out(reading, process);
	/* Tier B's own counts of system calls are complete: they are taken instead. */
	series->is_work = is_work(&reading->diff->options.per, signal, kind, detail, object) &&
			  (strcmp(signal, "syscalls") != 0 || strcmp(reading->run->tier, "B") != 0);
	return 0;
}

/* --- values --- */

/* The line of a mean has the histograms, which those of its percentiles share. */
static int share_buckets(struct reading *reading, struct diff_key key)
{
	struct diff *diff = reading->diff;
	struct diff_line *mean = hash_find(&diff->lines, &key);
	u32 *buckets;
	int err = 0;

	if (diff->latency_count == DIFF_LATENCIES_MAX)
		return 0;
	buckets = calloc((size_t)DIFF_BINS_MAX * HIST_BUCKETS, sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	diff->latency_count++;
	mean->buckets = buckets;
	mean->owns_buckets = true;
	for (u32 measure = DIFF_P50; !err && measure <= DIFF_P99; measure++) {
		struct diff_line *line;

		key.measure = measure;
		line = reading_line(reading, &key, 0, &err);
		if (line)
			line->buckets = buckets;
	}
	return err;
}

int reading_make_events(struct reading *reading, struct diff_line **line)
{
	const struct diff_key key = (*line)->key;
	int err;

	if ((*line)->events)
		return 0;
	(*line)->events = calloc(DIFF_BINS_MAX, sizeof(*(*line)->events));
	if (!(*line)->events)
		return -ENOMEM;
	err = share_buckets(reading, key);
	*line = hash_find(&reading->diff->lines, &key);
	return err;
}

int reading_add_mean(struct reading *reading, const struct diff_key *key, const struct hist *hist,
		     int bin, u64 count, u64 sum)
{
	struct diff_line *line;
	int err = 0;

	line = reading_line(reading, key, 0, &err);
	if (!line)
		return err;
	err = reading_make_events(reading, &line);
	if (err)
		return err;
	line->values[bin] += (double)sum;
	line->events[bin] += (double)count;
	for (size_t i = 0; line->buckets && i < HIST_BUCKETS; i++)
		if (hist->buckets[i]) {
			u32 *to = &line->buckets[(size_t)bin * HIST_BUCKETS + i];
			u64 all = *to + hist->buckets[i];

			*to = all < ~0U ? (u32)all : ~0U;
		}
	return 0;
}

static int add_values(struct series_reader *reader, const struct series_of *series, u32 name,
		      int bin, u64 count, u64 sum)
{
	struct diff_key key = {
		.table = DIFF_COUNT,
		.measure = DIFF_TIMES,
		.service = series->signal,
		.name = name,
	};
	struct diff_line *line;
	int err = 0;

	if (!name)
		return 0;
	line = reading_line(reader->reading, &key, (double)count, &err);
	if (line) {
		line->values[bin] += (double)count;
		line->needs_both = name == series->object_name;
	}
	key.unit = series->unit;
	key.table = DIFF_LATENCY;
	key.measure = DIFF_MEAN;
	return err ? err : reading_add_mean(reader->reading, &key, reader->hist, bin, count, sum);
}

static int on_value(sqlite3_stmt *row, void *context)
{
	struct series_reader *reader = context;
	struct reading *reading = reader->reading;
	int bin = reading_bin(reading, sqlite3_column_int64(row, 0)), err;
	u64 id = query_u64(row, 1), count = query_count(row, 2), sum = query_count(row, 3);
	const struct series_of *series = hash_find(&reader->series, &id);
	const char *buckets = (const char *)sqlite3_column_text(row, 4);

	if (bin < 0 || !series || !count || series->is_left_out)
		return 0;
	if (series->is_work)
		reading->diff->bins[bin].count += (double)count;
	*reader->hist = (struct hist){0};
	if (buckets && strlen(buckets) < BUCKETS_BYTES && hist_parse(reader->hist, buckets))
		return 0; /* damaged */
	err = add_values(reader, series, series->name, bin, count, sum);
	return err ? err : add_values(reader, series, series->object_name, bin, count, sum);
}

int reading_series(struct reading *reading)
{
	struct series_reader reader = {.reading = reading, .hist = calloc(1, sizeof(struct hist))};
	const struct {
		const char *table, *columns;
		query_row_fn *on_row;
	} tables[] = {
		{"objects", "id, name", on_object},
		{"labels", "signal, id, name", on_label},
		{"series", "id, signal, kind, pid, start_ns, detail, object, more", on_series},
		{"series_values", "window, series, count, sum, buckets", on_value},
	};
	int err = reader.hist ? 0 : -ENOMEM;

	hash_init(&reader.names, sizeof(struct named), 2 * sizeof(u64), NAMES_MAX);
	hash_init(&reader.series, sizeof(struct series_of), sizeof(u64), SERIES_IDS_MAX);
	for (size_t i = 0; !err && i < ARRAY_SIZE(tables); i++)
		err = query_table(reading->db, tables[i].table, tables[i].columns, NULL,
				  tables[i].on_row, &reader);
	hash_free(&reader.names);
	hash_free(&reader.series);
	free(reader.hist);
	return err;
}
