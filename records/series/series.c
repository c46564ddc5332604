// SPDX-License-Identifier: Apache-2.0
#include "series.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"

#define BUCKETS_BYTES (HIST_BUCKETS * 16)
#define IDLE_WINDOWS  10

enum { TABLE_SERIES, TABLE_VALUES };

static const struct table tables[] = {
	[TABLE_SERIES] = {.name = "series",
			  .about = "thing that a signal measures (-s)",
			  .columns =
				  "id INTEGER PRIMARY KEY, signal TEXT, kind TEXT, pid INTEGER, "
				  "start_ns INTEGER, detail INTEGER, object INTEGER, more INTEGER",
			  .width = 8,
			  .object_columns = 1U << 6},
	[TABLE_VALUES] = {.name = "series_values",
			  .about = "window and series",
			  .columns = "window INTEGER, series INTEGER, count INTEGER, sum INTEGER, "
				     "max INTEGER, orphan_starts INTEGER, orphan_ends INTEGER, "
				     "expired INTEGER, sum1 INTEGER, sum2 INTEGER, buckets TEXT",
			  .width = 9 + SERIES_SUMS},
};

static void open_book(void *state, const struct services *services)
{
	struct series_book *book = state;

	hash_init(&book->entries, sizeof(struct series_entry), sizeof(struct series_key),
		  SERIES_BOOK_MAX);
	book->ids = services->stack_ids;
}

static void free_buckets(struct series_book *book)
{
	for (size_t i = 0; i < book->entries.count; i++)
		free(((struct series_entry *)hash_item(&book->entries, i))->buckets);
}

static void release(void *state)
{
	struct series_book *book = state;

	free_buckets(book);
	hash_free(&book->entries);
}

static const struct signal_view *view_of(const struct series_key *key)
{
	const struct signal *signal =
		key->signal < SIGNAL_LIMIT ? signal_rows[key->signal].signal : NULL;

	return signal ? signal->view : NULL;
}

/* The record's size is what its count of buckets says, and each of them is one. */
static bool is_possible(const struct rec_series *row)
{
	const struct signal_view *view = view_of(&row->key);

	if (!view || row->key.kind >= view->kind_count ||
	    row->bucket_count > SERIES_RECORD_BUCKETS ||
	    row->hdr.size != offsetof(struct rec_series, buckets) +
				     row->bucket_count * sizeof(row->buckets[0]))
		return false;
	for (u32 i = 0; i < row->bucket_count; i++)
		if (row->buckets[i].place >= HIST_BUCKETS)
			return false;
	return true;
}

static bool add_buckets(struct series_entry *entry, const struct rec_series *row)
{
	size_t needed = entry->bucket_count + row->bucket_count;

	if (!row->bucket_count)
		return true; /* only something unmatched */
	if (needed > entry->bucket_room) {
		struct series_bucket *grown =
			needed <= 2 * HIST_BUCKETS
				? realloc(entry->buckets, needed * sizeof(*grown))
				: NULL;

		if (!grown)
			return false;
		entry->buckets = grown;
		entry->bucket_room = needed;
	}
	memcpy(entry->buckets + entry->bucket_count, row->buckets,
	       row->bucket_count * sizeof(row->buckets[0]));
	entry->bucket_count = needed;
	return true;
}

static void on_record(void *state, const struct rec_hdr *record)
{
	const struct rec_series *row = (const struct rec_series *)record;
	struct series_book *book = state;
	struct series_entry *entry;

	if (!is_possible(row)) {
		book->refused++;
		return;
	}
	entry = hash_add(&book->entries, &row->key);
	if (!entry || !add_buckets(entry, row)) {
		book->turned_away++;
		return;
	}
	if (!entry->id)
		entry->id = ++book->last_id;
	entry->count += row->count;
	entry->sum += row->sum;
	entry->max = row->max > entry->max ? row->max : entry->max;
	entry->orphan_starts += row->orphan_starts;
	entry->orphan_ends += row->orphan_ends;
	entry->expired += row->expired;
	for (int i = 0; i < SERIES_SUMS; i++)
		entry->sums[i] += row->sums[i];
}

/* A sum alone, too: it was read out before a value was added, whose bucket was read after. */
static bool has_news(const struct series_entry *entry)
{
	return entry->count || entry->sum || entry->orphan_starts || entry->orphan_ends ||
	       entry->expired;
}

/* A field that is a stack's key becomes its id: false if that is not known yet. */
static bool name_stack(struct series_book *book, enum field_kind kind, u64 *field)
{
	u64 key = *field;

	if (kind != FIELD_STACK || !key)
		return true;
	*field = 0;
	return stack_ids_find(book->ids, key, field);
}

/* False: it can wait for the name of its stack. */
static bool define(struct series_book *book, struct series_entry *entry, bool can_wait,
		   struct sink *sink)
{
	const struct series_key *key = &entry->key;
	const struct signal_view *view = view_of(key);
	const char *signal = signal_rows[key->signal].name, *kind = view->kinds[key->kind].name;
	u64 object = key->object, more = key->more;
	bool is_known = name_stack(book, view->object.kind, &object) &&
			name_stack(book, view->more.kind, &more);

	if (!is_known && can_wait)
		return false;
	book->no_stack += is_known ? 0 : entry->count;
	const struct cell cells[] = {
		cell_number(entry->id),	       cell_text(signal, strlen(signal)),
		cell_text(kind, strlen(kind)), cell_number(key->tgid),
		cell_number(key->start_ns),    cell_number(key->detail),
		cell_number(object),	       cell_number(more),
	};

	sink->add(sink, &tables[TABLE_SERIES], cells);
	entry->is_defined = 1;
	return true;
}

/*
 * The largest value: CPUs that share one place in the kernel may write over each other's, which
 * percentiles must not suffer from. It is in the last bucket that is not empty, at least.
 */
static u64 largest(const struct series_entry *entry, const struct hist *hist)
{
	u32 last = HIST_BUCKETS - 1;

	while (last && !hist->buckets[last])
		last--;
	return entry->max > hist_least(last) ? entry->max : hist_least(last);
}

static void write_values(struct series_entry *entry, u64 window, struct sink *sink)
{
	char text[BUCKETS_BYTES];
	struct hist hist = {0};
	size_t length;

	for (size_t i = 0; i < entry->bucket_count; i++)
		hist_add_bucket(&hist, entry->buckets[i].place, entry->buckets[i].count);
	length = hist_print(&hist, text, sizeof(text));
	const struct cell cells[] = {
		cell_number(window),
		cell_number(entry->id),
		cell_number(entry->count),
		cell_number(entry->sum),
		cell_number(largest(entry, &hist)),
		cell_number(entry->orphan_starts),
		cell_number(entry->orphan_ends),
		cell_number(entry->expired),
		cell_number(entry->sums[0]),
		cell_number(entry->sums[1]),
		cell_text(text, length),
	};

	sink->add(sink, &tables[TABLE_VALUES], cells);
	entry->count = entry->sum = entry->max = 0;
	memset(entry->sums, 0, sizeof(entry->sums));
	entry->orphan_starts = entry->orphan_ends = entry->expired = 0;
	entry->bucket_count = 0;
}

static void write_all(struct series_book *book, bool can_wait, struct sink *sink)
{
	for (size_t i = 0; i < book->entries.count; i++) {
		struct series_entry *entry = hash_item(&book->entries, i);

		if (!has_news(entry))
			continue;
		if (!entry->is_defined && !define(book, entry, can_wait && !entry->waited++, sink))
			continue;
		write_values(entry, book->window, sink);
		entry->window = book->window;
	}
}

/* One that waits for its stack has values that are not written yet. */
static bool is_recent(const void *item, const void *context)
{
	const struct series_entry *entry = item;
	const struct series_book *book = context;

	if (has_news(entry) || entry->window + IDLE_WINDOWS > book->window)
		return true;
	free(entry->buckets);
	return false;
}

static void forget_idle(struct series_book *book)
{
	size_t before = book->entries.count;

	if (before <= SERIES_BOOK_MAX / 2)
		return;
	hash_retain(&book->entries, is_recent, book);
	book->forgotten += before - book->entries.count;
}

static void flush(void *state, u64 window, struct sink *sink)
{
	struct series_book *book = state;
	bool is_full = book->entries.count == SERIES_BOOK_MAX;

	book->window = window;
	write_all(book, !is_full, sink);
	if (is_full) {
		free_buckets(book);
		hash_clear(&book->entries);
	}
	forget_idle(book);
}

/* Each series is defined again by its first values in the next file, which has those that wait. */
static void renew(void *state, u64 window, struct sink *sink)
{
	struct series_book *book = state;

	(void)window;
	(void)sink;
	for (size_t i = 0; i < book->entries.count; i++)
		((struct series_entry *)hash_item(&book->entries, i))->is_defined = 0;
}

/* One key may have several numbers in a file: they are the same series to who reads it. */
static void resume(void *state, const struct resumed *resumed)
{
	struct series_book *book = state;

	book->last_id = source_highest(resumed->source, "id", "series");
}

static void close_book(void *state, struct sink *sink)
{
	write_all(state, false, sink);
}

static const struct signal_loss losses[] = {
	{"series_no_place", "values of series beyond the worker's limit: they are missing",
	 offsetof(struct series_book, turned_away)},
	{"series_no_stack", "values whose stack was lost: they have no stack",
	 offsetof(struct series_book, no_stack)},
	{"series_refused", "a series of an unknown signal or kind",
	 offsetof(struct series_book, refused)},
};

const struct signal signal_series = {
	.about = "what signals count, as histograms",
	.state_size = sizeof(struct series_book),
	.open = open_book,
	.release = release,
	.on_record = on_record,
	.tables = tables,
	.table_count = ARRAY_SIZE(tables),
	.flush = flush,
	.close = close_book,
	.renew = renew,
	.resume = resume,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
};
