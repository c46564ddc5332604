// SPDX-License-Identifier: Apache-2.0
#include "page.h"

#include <stdbool.h>
#include <string.h>

#include "../../src/base/carry.h"
#include "../../src/base/cleanup.h"
#include "book.h"
#include "culprits.h"
#include "inner.h"

static bool is_same_cause(const struct written_cause *written, const struct ledger_cause *cause)
{
	return written->state == cause->state && written->call == cause->call &&
	       written->object == cause->object && written->holder == cause->holder;
}

/* One cause of the record, those of the same name added up, with what the session has of it. */
struct cause {
	struct ledger_cause now;
	struct written_cause written;
};

static struct cause *find_cause(struct cause *causes, size_t count, const struct ledger_cause *one)
{
	for (size_t i = 0; i < count; i++)
		if (is_same_cause(&causes[i].written, one))
			return &causes[i];
	return NULL;
}

static struct written_cause *find_written(struct ledger_written *written,
					  const struct ledger_cause *one)
{
	for (size_t i = 0; i < written->cause_count; i++)
		if (is_same_cause(&written->causes[i], one))
			return &written->causes[i];
	return NULL;
}

static struct written_cause name_of(const struct ledger_cause *cause)
{
	return (struct written_cause){.object = cause->object,
				      .holder = cause->holder,
				      .call = cause->call,
				      .state = cause->state};
}

static void collect_cause(const struct ledger_cause *now, struct ledger_written *written,
			  struct cause *causes, size_t *count)
{
	struct cause *cause;
	const struct written_cause *known;

	if ((!now->count && !now->ns) || now->state >= STATE_COUNT)
		return;
	cause = find_cause(causes, *count, now);
	if (cause) {
		cause->now.ns += now->ns;
		cause->now.count += now->count;
		return;
	}
	known = find_written(written, now);
	cause = &causes[(*count)++];
	*cause = (struct cause){.now = *now, .written = known ? *known : name_of(now)};
}

/* All causes of the record, and the wait that lasts. */
static size_t collect_causes(const struct rec_ledger *row, struct ledger_written *written,
			     struct cause causes[CAUSES_MAX + 1])
{
	size_t count = 0;

	for (size_t i = 0; i < CAUSES_MAX; i++)
		collect_cause(&row->causes[i], written, causes, &count);
	if (row->open_since_ns)
		collect_cause(&row->open, written, causes, &count);
	return count;
}

/* One thread's part of a window, on its way to the sink. */
struct page {
	struct ledger_book *book;
	const struct rec_ledger *row;
	struct sink *sink;
	u64 window;
	u64 thread;
	u64 end_ns;  /* up to when its time is told; 0: a row says so already */
	u64 open_ns; /* what this window got by the name of the wait that lasts */
	u32 open_count;
	struct cause *causes;
	size_t cause_count;
};

/* A reader of the session that is written learns so for what a silent thread waits. */
static bool tells_end(const struct page *page, const struct ledger_cause *cause)
{
	const struct written_cause name = name_of(cause);

	return page->end_ns &&
	       (!page->row->open_since_ns || is_same_cause(&name, &page->row->open));
}

static void write_row(struct page *page, u64 window, const struct ledger_cause *cause, u64 ns,
		      u64 count)
{
	bool is_end = tells_end(page, cause);
	struct cell cells[] = {
		cell_number(window),
		cell_number(page->thread),
		cell_number(cause->state),
		cell_number(cause->call),
		cell_number(cause->object),
		cell_number(inner_holder(page->book, page->row, cause->holder)),
		cell_number(cause->waker),
		cell_number(cause->waker_kind),
		cell_number(ns),
		cell_number(count),
		is_end ? cell_number(page->end_ns) : (struct cell){.kind = CELL_NULL},
	};

	if (is_end)
		page->end_ns = 0;
	page->sink->add(page->sink, &ledger_tables[TABLE_LEDGER], cells);
}

static void write_part(struct page *page, const struct ledger_cause *cause, u64 ns, u32 count)
{
	const struct written_cause name = name_of(cause);

	if (!ns && !count)
		return;
	write_row(page, page->window, cause, ns, count);
	if (page->row->open_since_ns && is_same_cause(&name, &page->row->open)) {
		page->open_ns += ns;
		page->open_count += count;
	}
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
		part_ns = carry_one(cause->now.ns, &cause->written.ns, ns);
		part_count = carry_count(cause->now.count, &cause->written.count);
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

static struct ledger_cause cause_of(const struct written_cause *name)
{
	return (struct ledger_cause){.state = name->state,
				     .call = name->call,
				     .object = name->object,
				     .holder = name->holder};
}

static struct written_cause *add_written(struct ledger_written *written,
					 const struct ledger_cause *cause)
{
	struct written_cause *known = find_written(written, cause);

	if (known || written->cause_count > CAUSES_MAX)
		return known;
	known = &written->causes[written->cause_count++];
	*known = name_of(cause);
	return known;
}

/* One piece of a wait gets the name by which it ended, in the window that has it by another. */
static void rename_piece(struct page *page, struct ledger_written *written,
			 const struct open_piece *piece, const struct ledger_cause *to, u64 limit)
{
	struct ledger_cause from = cause_of(&written->open.cause);
	struct written_cause *known = find_written(written, &from);
	u64 ns = smaller(smaller(piece->ns, limit),
			 smaller(written->ns[from.state], known ? known->ns : 0));
	u32 count = piece->count;

	if (!known || !known->count || !written->entries[from.state])
		count = 0;
	if (!ns && !count)
		return;
	from.waker = piece->waker;
	from.waker_kind = (u8)piece->waker_kind;
	/* In an earlier file it keeps its provisional name; this one has the rest of the wait. */
	if (piece->window >= page->book->first_window) {
		write_row(page, piece->window, &from, -ns, -(u64)count);
		write_row(page, piece->window, to, ns, count);
	}
	written->ns[from.state] -= ns;
	written->entries[from.state] -= count;
	if (known) {
		known->ns -= ns;
		known->count -= count;
	}
	written->ns[to->state] += ns;
	written->entries[to->state] += count;
	known = add_written(written, to);
	if (known) {
		known->ns += ns;
		known->count += count;
	}
}

/*
 * A wait is named by how it ends. What was written of it while it lasted is corrected, in the
 * windows that have it: so sums over any of them are right, though single rows are negative.
 */
static void settle_open(struct page *page, const struct rec_ledger *row,
			struct ledger_written *written)
{
	const struct ledger_cause *to = &row->settled;

	if (!written->open.since_ns || row->settled_since_ns != written->open.since_ns ||
	    to->state >= STATE_COUNT)
		return;
	if (!is_same_cause(&written->open.cause, to))
		for (int i = 0; i < OPEN_PIECES_MAX; i++)
			rename_piece(page, written, &written->open.pieces[i], to,
				     less(row->ns[to->state], written->ns[to->state]));
	written->open.cause = name_of(to);
	memset(written->open.pieces, 0, sizeof(written->open.pieces));
}

/*
 * The windows that have something of the wait that lasts. One for which there is no place keeps the
 * provisional name.
 */
static void add_piece(struct written_open *open, u64 window, u64 ns, u32 count,
		      const struct ledger_cause *as)
{
	struct open_piece *piece = open->pieces, *last = piece + OPEN_PIECES_MAX - 1;

	while (piece < last && (piece->ns || piece->count) && piece->window != window)
		piece++;
	if (piece->window != window)
		*piece = (struct open_piece){.window = window};
	piece->ns += ns;
	piece->count = (u16)(piece->count + count);
	piece->waker = as->waker;
	piece->waker_kind = as->waker_kind;
}

/*
 * A thread that waits and does not move is not read, and so not told, window by window. When it is
 * heard of again, its silence gets a row of its own in the window before, so that no window has
 * more than its own time but that one, of which all is known: it waited throughout. The first
 * window of a file has none before.
 */
static void write_silence(const struct ledger_book *book, const struct rec_ledger *row,
			  struct ledger_written *written, struct page *page)
{
	const struct ledger_cause open = cause_of(&written->open.cause);
	u64 now_ns = 0, told_ns = 0, silent_ns;
	u64 before = page->window > book->first_window ? page->window - 1 : page->window;
	struct written_cause *known;

	if (!written->open.since_ns || written->window + 1 >= page->window)
		return;
	for (int i = 0; i < STATE_COUNT; i++) {
		told_ns += written->ns[i];
		now_ns += row->ns[i];
	}
	/* Not beyond what its state has, nor beyond what there is to tell at all. */
	silent_ns = smaller(
		less(book->flushed_ns, row->begin_ns + told_ns),
		smaller(less(row->ns[open.state], written->ns[open.state]), less(now_ns, told_ns)));
	written->ns[open.state] += silent_ns;
	known = find_written(written, &open);
	if (known)
		known->ns += silent_ns;
	if (row->open_since_ns == written->open.since_ns)
		add_piece(&written->open, before, silent_ns, 0, &open);
	if (silent_ns)
		write_row(page, before, &open, silent_ns, 0);
}

/* The wait that lasts, and what of it this window has: not more than was written there. */
static void note_open(const struct page *page, const struct rec_ledger *row,
		      struct ledger_written *written)
{
	const struct cause *as = find_cause(page->causes, page->cause_count, &row->open);
	u64 written_ns = 0;
	u32 written_count = 0;

	if (row->flags & LEDGER_SUM || !row->open_since_ns || row->open.state >= STATE_COUNT) {
		written->open = (struct written_open){0};
		return;
	}
	if (written->open.since_ns != row->open_since_ns ||
	    !is_same_cause(&written->open.cause, &row->open))
		written->open = (struct written_open){.since_ns = row->open_since_ns};
	written->open.cause = name_of(&row->open);
	for (int i = 0; i < OPEN_PIECES_MAX; i++) {
		written_ns += written->open.pieces[i].ns;
		written_count += written->open.pieces[i].count;
	}
	add_piece(&written->open, page->window,
		  smaller(less(row->open.ns, written_ns), page->open_ns),
		  !written_count && page->open_count, as ? &as->now : &row->open);
}

/* Of a sum only the length counts: its begin is 0. */
static u64 end_in_file(const struct rec_ledger *row, const struct written_before *before)
{
	return row->flags & LEDGER_SUM ? row->end_ns - before->ns : row->end_ns;
}

void page_begin_file(const struct rec_ledger *row, struct ledger_written *written)
{
	struct written_before *before = &written->before;

	*before = (struct written_before){
		.voluntary = row->voluntary,
		.involuntary = row->involuntary,
		.kernel_voluntary = row->kernel_voluntary,
		.kernel_involuntary = row->kernel_involuntary,
		.kernel_exec_ns = row->kernel_exec_ns,
		.kernel_delay_ns = row->kernel_delay_ns,
		.max_turn_ns = row->turns.max_ns,
		.missed = row->missed,
		.unnamed = row->unnamed,
		.threads = row->flags & LEDGER_SUM ? row->threads : 0,
	};
	for (int i = 0; i < STATE_COUNT; i++)
		before->ns += written->ns[i];
	before->runq_ns = written_runq_ns(written);
	before->rivals_ns = written->rivals_ns;
	for (int i = 1; i < OPEN_PIECES_MAX; i++) {
		written->open.pieces[0].ns += written->open.pieces[i].ns;
		written->open.pieces[0].count |= written->open.pieces[i].count;
		written->open.pieces[i] = (struct open_piece){0};
	}
}

void page_write_thread(const struct rec_ledger *row, const struct ledger_written *written,
		       struct sink *sink)
{
	const struct written_before *before = &written->before;
	bool is_sum = row->flags & LEDGER_SUM;
	struct cell cells[] = {
		cell_number(written->id),
		cell_number(row->hdr.tgid),
		cell_number(row->hdr.start_ns),
		cell_number(row->hdr.tid),
		cell_number(row->thread_start_ns),
		cell_number(is_sum ? row->begin_ns : row->begin_ns + before->ns),
		cell_number(end_in_file(row, before)),
		cell_text(row->comm, sizeof(row->comm)),
		cell_number(!!(row->flags & LEDGER_KERNEL)),
		cell_number(!!(row->flags & LEDGER_LAST)),
		cell_number(row->threads - before->threads),
		cell_number(less(row->voluntary, before->voluntary)),
		cell_number(less(row->involuntary, before->involuntary)),
		cell_number(less(row->kernel_voluntary, before->kernel_voluntary)),
		cell_number(less(row->kernel_involuntary, before->kernel_involuntary)),
		cell_number(less(row->kernel_exec_ns, before->kernel_exec_ns)),
		cell_number(less(row->kernel_delay_ns, before->kernel_delay_ns)),
		cell_number(less(row->missed, before->missed)),
		cell_number(less(row->unnamed, before->unnamed)),
		cell_number(row->begin_ns),
	};

	_Static_assert(ARRAY_SIZE(cells) == 20, "as many as the table has columns");

	sink->add(sink, &ledger_tables[TABLE_THREADS], cells);
}

u8 page_write(struct ledger_book *book, const struct rec_ledger *row,
	      struct ledger_written *written, u64 window, struct sink *sink)
{
	/* Not cleared: that would cost more than what is in it. */
	struct cause causes[CAUSES_MAX + 1];
	struct page page = {.book = book,
			    .row = row,
			    .sink = sink,
			    .window = window,
			    .thread = written->id,
			    .causes = causes};
	u64 parts[STATE_COUNT];

	settle_open(&page, row, written);
	write_silence(book, row, written, &page);
	page.end_ns = end_in_file(row, &written->before);
	page.cause_count = collect_causes(row, written, causes);
	carry_parts(row->ns, written->ns, parts, STATE_COUNT);
	for (u8 i = 0; i < STATE_COUNT; i++)
		write_state(&page, i, parts[i], carry_count(row->entries[i], &written->entries[i]));
	if (page.end_ns && row->open_since_ns && row->open.state < STATE_COUNT)
		write_row(&page, window, &row->open, 0, 0); /* it has just begun */
	written->cause_count = page.cause_count;
	for (size_t i = 0; i < page.cause_count; i++)
		written->causes[i] = causes[i].written;
	note_open(&page, row, written);
	written->window = window;
	if (!(row->flags & LEDGER_SUM))
		culprits_write(row, written, window, sink);
	return page.end_ns ? MARK_STALE | MARK_DUE : MARK_STALE;
}
