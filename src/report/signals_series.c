// SPDX-License-Identifier: Apache-2.0
/*
 * Series into memory, in two passes: sums of all first, as they are small; then the histograms of
 * those that are large enough to be shown.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../store/query.h"
#include "digest.h"

/* A series of the session is known by a number; one key may have had several. */
struct number {
	u64 id; /* the key */
	size_t entry;
};

struct entry {
	struct series_key key; /* the key */
	u64 count, sum, max, orphan_starts, orphan_ends, expired, sums[SERIES_SUMS];
	struct series_row *row; /* NULL: it is too small for one */
};

struct reading {
	struct digest *digest;
	struct hash numbers, entries;
	struct entry **order; /* by signal and kind, the largest first */
};

static int on_series(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	struct signals *signals = &reading->digest->signals;
	struct series_key key = {
		.tgid = (u32)query_count(row, 3),
		.start_ns = query_count(row, 4),
		.detail = (u16)query_u64(row, 5),
		.object = query_u64(row, 6),
		.more = query_u64(row, 7),
	};
	u64 id = query_u64(row, 0);
	int signal = signals_column(row, 1), kind = -1;
	struct number *number;
	struct entry *entry;
	char name[64];

	query_text(row, 2, name, sizeof(name));
	if (signal)
		kind = signals_kind(signal_rows[signal].signal->view, name);
	if (kind < 0) {
		signals->unknown++;
		return 0;
	}
	key.signal = (u8)signal;
	key.kind = (u8)kind;
	entry = signals_find(signals, key.signal) ? hash_add(&reading->entries, &key) : NULL;
	number = entry ? hash_add(&reading->numbers, &id) : NULL;
	if (!number)
		return -ENOMEM;
	number->entry = (size_t)(entry - (struct entry *)reading->entries.items);
	return 0;
}

/* The entry that a row of series_values is of, if it is wanted; column 0 its window, 1 its series.
 */
static struct entry *entry_of(struct reading *reading, sqlite3_stmt *row)
{
	u64 id = query_u64(row, 1);
	const struct number *number = hash_find(&reading->numbers, &id);

	if (!number || !digest_window_is_in(reading->digest, sqlite3_column_int64(row, 0)))
		return NULL;
	return hash_item(&reading->entries, number->entry);
}

static void add(u64 *to, u64 by)
{
	*to = profile_add(*to, by);
}

static int on_sums(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	struct entry *entry = entry_of(reading, row);
	bool is_kernel;
	u64 max;

	if (!entry)
		return 0;
	if (!signals_want(reading->digest, entry->key.tgid, entry->key.start_ns, &is_kernel)) {
		if (is_kernel)
			add(&reading->digest->signals.kernel, query_count(row, 2));
		return 0;
	}
	add(&entry->count, query_count(row, 2));
	add(&entry->sum, query_count(row, 3));
	max = query_count(row, 4);
	entry->max = max > entry->max ? max : entry->max;
	add(&entry->orphan_starts, query_count(row, 5));
	add(&entry->orphan_ends, query_count(row, 6));
	add(&entry->expired, query_count(row, 7));
	for (int i = 0; i < SERIES_SUMS; i++)
		add(&entry->sums[i], query_count(row, 8 + i));
	return 0;
}

static bool has_values(const struct entry *entry)
{
	return entry->count || entry->orphan_starts || entry->orphan_ends || entry->expired;
}

static int order(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

static int by_size(const struct entry *x, const struct entry *y)
{
	if (x->sum != y->sum)
		return order(y->sum, x->sum);
	if (x->count != y->count)
		return order(y->count, x->count);
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

static int by_kind(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;

	if (x->key.signal != y->key.signal)
		return order(x->key.signal, y->key.signal);
	if (x->key.kind != y->key.kind)
		return order(x->key.kind, y->key.kind);
	return by_size(x, y);
}

int series_compare(const struct series_row *x, const struct series_row *y)
{
	if (x->hist.sum != y->hist.sum)
		return order(y->hist.sum, x->hist.sum);
	if (x->hist.count != y->hist.count)
		return order(y->hist.count, x->hist.count);
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

static int by_sum(const void *a, const void *b)
{
	return series_compare(*(struct series_row *const *)a, *(struct series_row *const *)b);
}

static int make_row(struct reading *reading, struct entry *entry)
{
	struct measured *of = signals_find(&reading->digest->signals, entry->key.signal);
	struct series_row **place = NULL;

	entry->row = calloc(1, sizeof(*entry->row));
	if (entry->row)
		place = query_append(&of->rows, &of->row_count, sizeof(struct series_row *),
				     SIGNALS_ROWS_MAX);
	if (!place) {
		free(entry->row);
		return -ENOMEM;
	}
	*place = entry->row;
	*entry->row = (struct series_row){
		.key = entry->key,
		.orphan_starts = entry->orphan_starts,
		.orphan_ends = entry->orphan_ends,
		.expired = entry->expired,
		.sums = {entry->sums[0], entry->sums[1]},
		.detail_name = "",
		.object_name = "",
		.process = "",
	};
	return 0;
}

/* How many of each kind may have a row, so that all together have no more than there may be. */
static size_t rows_of_kind(const struct reading *reading, size_t count)
{
	size_t kinds = 1, most;

	for (size_t i = 1; i < count; i++)
		kinds += reading->order[i]->key.signal != reading->order[i - 1]->key.signal ||
			 reading->order[i]->key.kind != reading->order[i - 1]->key.kind;
	most = SIGNALS_ROWS_MAX / kinds;
	return most < SIGNALS_ROWS_KIND ? most : SIGNALS_ROWS_KIND;
}

static int choose_rows(struct reading *reading)
{
	size_t count = 0, most;
	int err = 0;

	reading->order = calloc(reading->entries.count + 1, sizeof(struct entry *));
	if (!reading->order)
		return -ENOMEM;
	for (size_t i = 0; i < reading->entries.count; i++) {
		struct entry *entry = hash_item(&reading->entries, i);

		if (has_values(entry))
			reading->order[count++] = entry;
	}
	qsort(reading->order, count, sizeof(struct entry *), by_kind);
	most = rows_of_kind(reading, count);
	for (size_t i = 0; !err && i < count; i++) {
		struct entry *entry = reading->order[i];
		struct measured *of = signals_find(&reading->digest->signals, entry->key.signal);
		struct measure *measure = &of->measures[entry->key.kind];

		if (measure->series < most) {
			measure->series++;
			err = make_row(reading, entry);
		} else {
			measure->left_out++;
		}
		add(&measure->all.sum, entry->sum);
		measure->all.max = entry->max > measure->all.max ? entry->max : measure->all.max;
		add(&measure->orphan_starts, entry->orphan_starts);
		add(&measure->orphan_ends, entry->orphan_ends);
		add(&measure->expired, entry->expired);
	}
	return err;
}

static int on_buckets(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	struct signals *signals = &reading->digest->signals;
	const struct entry *entry = entry_of(reading, row);
	const char *text = (const char *)sqlite3_column_text(row, 2);
	struct hist *hist;

	if (!entry || !has_values(entry) || !text)
		return 0;
	hist = entry->row
		       ? &entry->row->hist
		       : &signals_find(signals, entry->key.signal)->measures[entry->key.kind].all;
	if (hist_parse(hist, text))
		signals->damaged++;
	return 0;
}

/* No sum turns round, whatever the file says. */
static void add_hist(struct hist *to, const struct hist *from)
{
	add(&to->count, from->count);
	for (u32 i = 0; i < HIST_BUCKETS; i++)
		add(&to->buckets[i], from->buckets[i]);
}

static const char *copy_name(const char *name, int *err)
{
	char *copy = *name ? strdup(name) : NULL;

	if (*name && !copy)
		*err = -ENOMEM;
	return copy ? copy : "";
}

static int name_row(const struct digest *digest, const struct measured *of, struct series_row *row)
{
	char name[SIGNALS_NAME_BYTES];
	int err = 0;

	if (series_is_other(&row->key)) {
		row->detail_name = row->object_name = row->process = "(other)";
		return 0;
	}
	series_field_text(digest, of, &of->view->detail, row->key.detail, name, sizeof(name));
	row->detail_name = copy_name(name, &err);
	series_field_text(digest, of, &of->view->object, row->key.object, name, sizeof(name));
	row->object_name = copy_name(name, &err);
	series_process_text(digest, row->key.tgid, row->key.start_ns, name, sizeof(name));
	row->process = copy_name(name, &err);
	return err;
}

static void note_fields(struct measure *measure, const struct series_key *key)
{
	if (series_is_other(key))
		return;
	measure->uses[FIELD_AT_DETAIL] |= key->detail != 0;
	measure->uses[FIELD_AT_OBJECT] |= key->object != 0;
	measure->uses[FIELD_AT_MORE] |= key->more != 0;
}

/* Also after an error: who frees the rows looks at their names. */
static int finish_rows(struct reading *reading)
{
	struct signals *signals = &reading->digest->signals;
	int err = 0;

	for (size_t i = 0; i < reading->entries.count; i++) {
		const struct entry *entry = hash_item(&reading->entries, i);

		if (!entry->row)
			continue;
		entry->row->hist.sum = entry->sum;
		entry->row->hist.max = entry->max;
	}
	for (size_t i = 0; i < signals->count; i++) {
		struct measured *of = &signals->of[i];

		for (size_t r = 0; r < of->row_count; r++) {
			struct measure *measure = &of->measures[of->rows[r]->key.kind];

			add_hist(&measure->all, &of->rows[r]->hist);
			note_fields(measure, &of->rows[r]->key);
			if (name_row(reading->digest, of, of->rows[r]))
				err = -ENOMEM;
		}
		if (of->row_count)
			qsort(of->rows, of->row_count, sizeof(of->rows[0]), by_sum);
	}
	return err;
}

#define VALUES "window, series, count, sum, max, orphan_starts, orphan_ends, expired"

int signals_read_series(sqlite3 *db, struct digest *digest)
{
	struct reading reading = {.digest = digest};
	int err;

	hash_init(&reading.numbers, sizeof(struct number), sizeof(u64), SIGNALS_KEYS_MAX);
	hash_init(&reading.entries, sizeof(struct entry), sizeof(struct series_key),
		  SIGNALS_KEYS_MAX);
	err = query_table(db, "series", "id, signal, kind, pid, start_ns, detail, object, more",
			  NULL, on_series, &reading);
	if (!err)
		err = query_table(db, "series_values",
				  query_has_column(db, "series_values", "sum1") ? VALUES
					  ", sum1, sum2"
										: VALUES ", 0, 0",
				  NULL, on_sums, &reading);
	if (!err)
		err = choose_rows(&reading);
	if (!err)
		err = query_table(db, "series_values", "window, series, buckets", NULL, on_buckets,
				  &reading);
	if (finish_rows(&reading) && !err)
		err = -ENOMEM;
	hash_free(&reading.numbers);
	hash_free(&reading.entries);
	free(reading.order);
	return err;
}
