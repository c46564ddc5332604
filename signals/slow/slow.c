// SPDX-License-Identifier: Apache-2.0
#include "slow.h"

#include <stdbool.h>
#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"

#define PART(NAME, name) ", " #name "_ns INTEGER"
static const struct table tables[] = {
	{.name = "slow",
	 .columns = "window INTEGER, ts_ns INTEGER, signal TEXT, kind TEXT, pid INTEGER, "
		    "start_ns INTEGER, tid INTEGER, detail INTEGER, object INTEGER, more INTEGER, "
		    "ns INTEGER, stack INTEGER, value0 INTEGER, value1 INTEGER" SLOW_PARTS(PART),
	 .width = 14 + SLOW_PART_COUNT},
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

static void on_record(void *state, const struct rec_hdr *record)
{
	const struct rec_slow *event = (const struct rec_slow *)record;
	const struct signal_view *view = view_of(event);
	struct slow_book *book = state;

	if (!view || event->key.kind >= view->kind_count)
		book->refused++;
	else if (book->count == SLOW_MAX)
		book->turned_away++;
	else
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
	{"slow_no_place", "slow events beyond what a window has room for: they are in their series",
	 offsetof(struct slow_book, turned_away)},
	{"slow_no_stack", "slow events whose stack did not come: they are without",
	 offsetof(struct slow_book, no_stack)},
	{"slow_refused", "a slow event of a signal or kind that there is not",
	 offsetof(struct slow_book, refused)},
};

const struct signal signal_slow = {
	.about = "single events that took long",
	.state_size = sizeof(struct slow_book),
	.open = open_book,
	.on_record = on_record,
	.tables = tables,
	.table_count = ARRAY_SIZE(tables),
	.flush = flush,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
};
