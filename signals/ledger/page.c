// SPDX-License-Identifier: Apache-2.0
#include "page.h"

#include <stdbool.h>

#include "../../src/base/carry.h"
#include "book.h"

enum { TABLE_THREADS, TABLE_LEDGER };

const struct table ledger_tables[LEDGER_TABLE_COUNT] = {
	[TABLE_THREADS] = {.name = "threads",
			   .columns = "id INTEGER PRIMARY KEY, pid INTEGER, "
				      "process_start_ns INTEGER, tid INTEGER, start_ns INTEGER, "
				      "begin_ns INTEGER, end_ns INTEGER, comm TEXT, "
				      "is_kernel INTEGER, is_dead INTEGER, threads INTEGER, "
				      "voluntary INTEGER, involuntary INTEGER, "
				      "kernel_voluntary INTEGER, kernel_involuntary INTEGER, "
				      "kernel_exec_ns INTEGER, kernel_delay_ns INTEGER, "
				      "missed INTEGER, unnamed INTEGER",
			   .width = 19},
	/* Each row is written once, so there is no key to keep: an index would double the cost. */
	[TABLE_LEDGER] = {.name = "ledger",
			  .columns =
				  "window INTEGER, thread INTEGER, state INTEGER, "
				  "call INTEGER, object INTEGER, holder INTEGER, "
				  "waker INTEGER, waker_kind INTEGER, ns INTEGER, count INTEGER, "
				  "end_ns INTEGER",
			  .width = 11},
};

static bool is_same_cause(const struct told_cause *told, const struct ledger_cause *cause)
{
	return told->state == cause->state && told->call == cause->call &&
	       told->object == cause->object && told->holder == cause->holder;
}

/* One cause of the record, those of the same name added up, with what was told of it. */
struct cause {
	struct ledger_cause now;
	struct told_cause told;
};

static struct cause *find_cause(struct cause *causes, size_t count, const struct ledger_cause *one)
{
	for (size_t i = 0; i < count; i++)
		if (is_same_cause(&causes[i].told, one))
			return &causes[i];
	return NULL;
}

static size_t collect_causes(const struct rec_ledger *row, const struct ledger_told *told,
			     struct cause causes[CAUSES_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < CAUSES_MAX; i++) {
		const struct ledger_cause *now = &row->causes[i];
		struct cause *cause;

		if (!now->count || now->state >= STATE_COUNT)
			continue;
		cause = find_cause(causes, count, now);
		if (cause) {
			cause->now.ns += now->ns;
			cause->now.count += now->count;
			continue;
		}
		cause = &causes[count++];
		*cause = (struct cause){.now = *now,
					.told = {.object = now->object,
						 .holder = now->holder,
						 .call = now->call,
						 .state = now->state}};
		for (size_t j = 0; j < told->cause_count; j++)
			if (is_same_cause(&told->causes[j], now))
				cause->told = told->causes[j];
	}
	return count;
}

/* One thread's part of a window, on its way to the sink. */
struct page {
	const struct ledger_book *book;
	const struct rec_ledger *row;
	struct sink *sink;
	u64 window;
	u64 thread;
	u64 end_ns; /* up to when its time is told; 0: a row says so already */
	struct cause *causes;
	size_t cause_count;
};

/*
 * A lock names its holder as the pid namespace of its process does. Here a holder is known by its
 * number in dwell's own; one that is not, or no longer, in the book keeps the number it has.
 */
static u32 holder_here(const struct page *page, u32 holder)
{
	if (!holder || page->row->inner_tid == page->row->hdr.tid)
		return holder;
	for (u64 i = 0; i < page->book->count; i++) {
		const struct rec_ledger *other = &page->book->rows[i];

		if (other->inner_tid == holder && other->hdr.tgid == page->row->hdr.tgid)
			return other->hdr.tid;
	}
	return holder;
}

static void write_part(struct page *page, const struct ledger_cause *cause, u64 ns, u32 count)
{
	if (!ns && !count)
		return;
	struct cell cells[] = {
		cell_number(page->window),
		cell_number(page->thread),
		cell_number(cause->state),
		cell_number(cause->call),
		cell_number(cause->object),
		cell_number(holder_here(page, cause->holder)),
		cell_number(cause->waker),
		cell_number(cause->waker_kind),
		cell_number(ns),
		cell_number(count),
		page->end_ns ? cell_number(page->end_ns) : (struct cell){.kind = CELL_NULL},
	};

	page->end_ns = 0;
	page->sink->add(page->sink, &ledger_tables[TABLE_LEDGER], cells);
}

/* Splits what a state got in this window by cause; the rest goes to no cause. */
static void write_state(struct page *page, u8 state, u64 ns, u32 count)
{
	struct ledger_cause rest = {.state = state};

	for (size_t i = 0; i < page->cause_count; i++) {
		struct cause *cause = &page->causes[i];
		u64 part_ns;
		u32 part_count;

		if (cause->now.state != state)
			continue;
		part_ns = carry_one(cause->now.ns, &cause->told.ns, ns);
		part_count = carry_count(cause->now.count, &cause->told.count);
		/* One without call, object and holder has the same name as the rest. */
		if (!cause->now.call && !cause->now.object && !cause->now.holder) {
			rest = cause->now;
			continue;
		}
		write_part(page, &cause->now, part_ns, part_count);
		ns -= part_ns;
		count -= part_count < count ? part_count : count;
	}
	write_part(page, &rest, ns, count);
}

/* a - b, or 0 if that is negative */
static u64 less(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

static u64 smaller(u64 a, u64 b)
{
	return a < b ? a : b;
}

/*
 * A thread that waits and does not move is not read, and so not told, window by window. When it is
 * heard of again, its silence gets a row of its own in the window before, so that no window has
 * more than its own time but that one, of which all is known: it waited throughout.
 */
static void write_silence(const struct ledger_book *book, const struct rec_ledger *row,
			  struct ledger_told *told, struct page *page)
{
	const struct ledger_cause open = {.state = told->open.state,
					  .call = told->open.call,
					  .object = told->open.object,
					  .holder = told->open.holder};
	u64 now_ns = 0, told_ns = 0, silent_ns;

	if (!told->is_open || told->window + 1 >= page->window)
		return;
	for (int i = 0; i < STATE_COUNT; i++) {
		told_ns += told->ns[i];
		now_ns += row->ns[i];
	}
	/* Not beyond what its state has, nor beyond what there is to tell at all. */
	silent_ns = smaller(
		less(book->flushed_ns, row->begin_ns + told_ns),
		smaller(less(row->ns[open.state], told->ns[open.state]), less(now_ns, told_ns)));
	told->ns[open.state] += silent_ns;
	for (size_t i = 0; i < told->cause_count; i++)
		if (is_same_cause(&told->causes[i], &open))
			told->causes[i].ns += silent_ns;
	page->window--;
	write_part(page, &open, silent_ns, 0);
	page->window++;
}

/* What it waits for, if it does. */
static void note_open(const struct rec_ledger *row, struct ledger_told *told)
{
	const struct ledger_cause *cause = &row->causes[(row->open_cause - 1) % CAUSES_MAX];

	told->is_open = !(row->flags & LEDGER_SUM) && row->open_state >= STATE_BLOCKED_LOCK &&
			row->open_state < STATE_COUNT;
	told->open = (struct told_cause){.state = (u8)row->open_state};
	if (row->open_cause && cause->state == row->open_state) {
		told->open.call = cause->call;
		told->open.object = cause->object;
		told->open.holder = cause->holder;
	}
}

void page_write_thread(const struct rec_ledger *row, u64 id, struct sink *sink)
{
	struct cell cells[] = {
		cell_number(id),
		cell_number(row->hdr.tgid),
		cell_number(row->hdr.start_ns),
		cell_number(row->hdr.tid),
		cell_number(row->thread_start_ns),
		cell_number(row->begin_ns),
		cell_number(row->end_ns),
		cell_text(row->comm, sizeof(row->comm)),
		cell_number(!!(row->flags & LEDGER_KERNEL)),
		cell_number(!!(row->flags & LEDGER_LAST)),
		cell_number(row->threads),
		cell_number(row->voluntary),
		cell_number(row->involuntary),
		cell_number(row->kernel_voluntary),
		cell_number(row->kernel_involuntary),
		cell_number(row->kernel_exec_ns),
		cell_number(row->kernel_delay_ns),
		cell_number(row->missed),
		cell_number(row->unnamed),
	};

	sink->add(sink, &ledger_tables[TABLE_THREADS], cells);
}

u8 page_write(const struct ledger_book *book, const struct rec_ledger *row,
	      struct ledger_told *told, u64 window, struct sink *sink)
{
	struct cause causes[CAUSES_MAX]; /* not cleared: that would cost more than what is in it */
	struct page page = {.book = book,
			    .row = row,
			    .sink = sink,
			    .window = window,
			    .thread = told->id,
			    .causes = causes};
	u64 parts[STATE_COUNT];

	write_silence(book, row, told, &page);
	page.end_ns = row->end_ns;
	page.cause_count = collect_causes(row, told, causes);
	carry_parts(row->ns, told->ns, parts, STATE_COUNT);
	for (u8 i = 0; i < STATE_COUNT; i++)
		write_state(&page, i, parts[i], carry_count(row->entries[i], &told->entries[i]));
	told->cause_count = page.cause_count;
	for (size_t i = 0; i < page.cause_count; i++)
		told->causes[i] = causes[i].told;
	told->window = window;
	note_open(row, told);
	return page.end_ns ? MARK_STALE | MARK_DUE : MARK_STALE;
}
