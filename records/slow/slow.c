// SPDX-License-Identifier: Apache-2.0
#include "slow.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"

#define PART(NAME, name) ", " #name "_ns INTEGER"
static const struct table tables[] = {
	{.name = "slow",
	 .about = "event that took longer than --slow",
	 .columns = "window INTEGER, ts_ns INTEGER, signal TEXT, kind TEXT, pid INTEGER, "
		    "start_ns INTEGER, tid INTEGER, detail INTEGER, object INTEGER, more INTEGER, "
		    "ns INTEGER, stack INTEGER, value0 INTEGER, value1 INTEGER" SLOW_PARTS(PART),
	 .width = 14 + SLOW_PART_COUNT,
	 .object_columns = 1U << 8},
};
#undef PART

static void open_book(void *state, const struct services *services)
{
	struct slow_book *book = state;

	book->ids = services->stack_ids;
}

static const struct signal_view *view_of(const struct rec_slow *event)
{
	const struct signal *signal =
		event->key.signal < SIGNAL_LIMIT ? signal_rows[event->key.signal].signal : NULL;

	return signal ? signal->view : NULL;
}

/* By signal, the longest first. */
static int compare_events(const void *a, const void *b)
{
	const struct rec_slow *one = a, *other = b;

	if (one->key.signal != other->key.signal)
		return one->key.signal < other->key.signal ? -1 : 1;
	return one->ns < other->ns ? 1 : -(one->ns > other->ns);
}

/* A full book keeps the longest of each signal, as many of one as of another, and half is free. */
static void keep_longest(struct slow_book *book)
{
	u64 signals = 1, kept = 0, rank = 0;

	qsort(book->events, book->count, sizeof(book->events[0]), compare_events);
	for (u64 i = 1; i < book->count; i++)
		signals += book->events[i].key.signal != book->events[i - 1].key.signal;
	for (u64 i = 0; i < book->count; i++) {
		bool is_next = i && book->events[i].key.signal == book->events[i - 1].key.signal;

		rank = is_next ? rank + 1 : 0;
		if (rank < SLOW_MAX / 2 / signals)
			book->events[kept++] = book->events[i];
	}
	book->turned_away += book->count - kept;
	book->count = kept;
}

static void on_record(void *state, const struct rec_hdr *record)
{
	const struct rec_slow *event = (const struct rec_slow *)record;
	const struct signal_view *view = view_of(event);
	struct slow_book *book = state;

	if (!view || event->key.kind >= view->kind_count) {
		book->refused++;
		return;
	}
	if (book->count == SLOW_MAX)
		keep_longest(book);
	book->events[book->count++] = *event;
}

static u64 stack_of(struct slow_book *book, u64 key)
{
	u64 stack = 0;

	if (key && !stack_ids_find(book->ids, key, &stack))
		book->no_stack++;
	return stack;
}

static void write_event(struct slow_book *book, const struct rec_slow *event, u64 window,
			struct sink *sink)
{
	const struct series_key *key = &event->key;
	const struct signal_view *view = view_of(event);
	const char *signal = signal_rows[key->signal].name, *kind = view->kinds[key->kind].name;
	bool object_is_stack = view->object.kind == FIELD_STACK;
	bool more_is_stack = view->more.kind == FIELD_STACK;
	struct cell cells[14 + SLOW_PART_COUNT] = {
		cell_number(window),
		cell_number(event->hdr.ts_ns),
		cell_text(signal, strlen(signal)),
		cell_text(kind, strlen(kind)),
		cell_number(event->hdr.tgid),
		cell_number(event->hdr.start_ns),
		cell_number(event->hdr.tid),
		cell_number(key->detail),
		cell_number(object_is_stack ? stack_of(book, key->object) : key->object),
		cell_number(more_is_stack ? stack_of(book, key->more) : key->more),
		cell_number(event->ns),
		cell_number(stack_of(book, event->stack)),
		cell_number(event->value[0]),
		cell_number(event->value[1]),
	};

	for (size_t i = 0; i < SLOW_PART_COUNT; i++)
		cells[14 + i] = cell_number(event->part[i]);
	sink->add(sink, &tables[0], cells);
}

static void flush(void *state, u64 window, struct sink *sink)
{
	struct slow_book *book = state;

	for (u64 i = 0; i < book->count; i++)
		write_event(book, &book->events[i], window, sink);
	book->count = 0;
}

static const struct signal_loss losses[] = {
	{"slow_no_place", "slow events beyond the limit per window: counted in their series only",
	 offsetof(struct slow_book, turned_away)},
	{"slow_no_stack", "slow events whose stack was lost: they have no stack",
	 offsetof(struct slow_book, no_stack)},
	{"slow_refused", "a slow event of an unknown signal or kind",
	 offsetof(struct slow_book, refused)},
};

static const struct signal_rate rates[] = {
	{offsetof(struct live_config, slow_budget), 0},
};

const struct signal signal_slow = {
	.about = "single slow events",
	.rates = rates,
	.rate_count = ARRAY_SIZE(rates),
	.state_size = sizeof(struct slow_book),
	.open = open_book,
	.on_record = on_record,
	.tables = tables,
	.table_count = ARRAY_SIZE(tables),
	.flush = flush,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
};
