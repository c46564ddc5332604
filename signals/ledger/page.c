// SPDX-License-Identifier: Apache-2.0
#include "page.h"

#include <stdbool.h>
#include <string.h>

#include "../../src/base/carry.h"
#include "book.h"
#include "culprits.h"

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
	[TABLE_RIVALS] = {.name = "rivals",
			  .columns = "window INTEGER, thread INTEGER, pid INTEGER, tid INTEGER, "
				     "comm TEXT, policy INTEGER, ns INTEGER",
			  .width = 7},
	[TABLE_LOOPS] = {.name = "loops",
			 .columns = "window INTEGER, thread INTEGER, turns INTEGER, "
				    "long_turns INTEGER, long_ns INTEGER, max_ns INTEGER",
			 .width = 6},
	[TABLE_CHAINS] = {.name = "chains",
			  .columns = "window INTEGER, thread INTEGER, state INTEGER, call INTEGER, "
				     "object INTEGER, culprit_pid INTEGER, culprit_tid INTEGER, "
				     "culprit_comm TEXT, part_state INTEGER, part_call INTEGER, "
				     "part_object INTEGER, part_culprit INTEGER, ns INTEGER",
			  .width = 13},
};

/* a - b, or 0 if that is negative */
static u64 less(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

static u64 smaller(u64 a, u64 b)
{
	return a < b ? a : b;
}

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

static struct told_cause *find_told(struct ledger_told *told, const struct ledger_cause *one)
{
	for (size_t i = 0; i < told->cause_count; i++)
		if (is_same_cause(&told->causes[i], one))
			return &told->causes[i];
	return NULL;
}

static struct told_cause name_of(const struct ledger_cause *cause)
{
	return (struct told_cause){.object = cause->object,
				   .holder = cause->holder,
				   .call = cause->call,
				   .state = cause->state};
}

static void collect_cause(const struct ledger_cause *now, struct ledger_told *told,
			  struct cause *causes, size_t *count)
{
	struct cause *cause;
	const struct told_cause *known;

	if ((!now->count && !now->ns) || now->state >= STATE_COUNT)
		return;
	cause = find_cause(causes, *count, now);
	if (cause) {
		cause->now.ns += now->ns;
		cause->now.count += now->count;
		return;
	}
	known = find_told(told, now);
	cause = &causes[(*count)++];
	*cause = (struct cause){.now = *now, .told = known ? *known : name_of(now)};
}

/* All causes of the record, and the wait that lasts. */
static size_t collect_causes(const struct rec_ledger *row, struct ledger_told *told,
			     struct cause causes[CAUSES_MAX + 1])
{
	size_t count = 0;

	for (size_t i = 0; i < CAUSES_MAX; i++)
		collect_cause(&row->causes[i], told, causes, &count);
	if (row->open_since_ns)
		collect_cause(&row->open, told, causes, &count);
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

static void write_row(struct page *page, u64 window, const struct ledger_cause *cause, u64 ns,
		      u64 count)
{
	struct cell cells[] = {
		cell_number(window),
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

static void write_part(struct page *page, const struct ledger_cause *cause, u64 ns, u32 count)
{
	if (ns || count)
		write_row(page, page->window, cause, ns, count);
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

static struct ledger_cause cause_of(const struct told_cause *name)
{
	return (struct ledger_cause){.state = name->state,
				     .call = name->call,
				     .object = name->object,
				     .holder = name->holder};
}

static struct told_cause *add_told(struct ledger_told *told, const struct ledger_cause *cause)
{
	struct told_cause *known = find_told(told, cause);

	if (known || told->cause_count > CAUSES_MAX)
		return known;
	known = &told->causes[told->cause_count++];
	*known = name_of(cause);
	return known;
}

/* One piece of a wait gets the name by which it ended, in the window that has it by another. */
static void rename_piece(struct page *page, struct ledger_told *told,
			 const struct open_piece *piece, const struct ledger_cause *to, u64 limit,
			 u32 count)
{
	struct ledger_cause from = cause_of(&told->open.cause);
	struct told_cause *known = find_told(told, &from);
	u64 ns = smaller(smaller(piece->ns, limit),
			 smaller(told->ns[from.state], known ? known->ns : 0));

	if (!known || !known->count || !told->entries[from.state])
		count = 0;
	if (!ns && !count)
		return;
	from.waker = piece->waker;
	from.waker_kind = (u8)piece->waker_kind;
	write_row(page, piece->window, &from, -ns, -(u64)count);
	write_row(page, piece->window, to, ns, count);
	told->ns[from.state] -= ns;
	told->entries[from.state] -= count;
	if (known) {
		known->ns -= ns;
		known->count -= count;
	}
	told->ns[to->state] += ns;
	told->entries[to->state] += count;
	known = add_told(told, to);
	if (known) {
		known->ns += ns;
		known->count += count;
	}
}

/*
 * A wait is named by how it ends. What was written of it while it lasted is corrected, in the
 * windows that have it: so sums over any of them are right, though single rows are negative.
 */
static void settle_open(struct page *page, const struct rec_ledger *row, struct ledger_told *told)
{
	const struct ledger_cause *to = &row->settled;

	if (!told->open.since_ns || row->settled_since_ns != told->open.since_ns ||
	    to->state >= STATE_COUNT)
		return;
	if (!is_same_cause(&told->open.cause, to))
		for (int i = 0; i < OPEN_PIECES_MAX; i++)
			rename_piece(page, told, &told->open.pieces[i], to,
				     less(row->ns[to->state], told->ns[to->state]), i == 0);
	told->open.cause = name_of(to);
	memset(told->open.pieces, 0, sizeof(told->open.pieces));
}

/* The windows that have something of the wait that lasts. */
static void add_piece(struct told_open *open, u64 window, u64 ns, const struct ledger_cause *as)
{
	int i = 0;

	while (i < OPEN_PIECES_MAX - 1 && open->pieces[i].ns && open->pieces[i].window != window)
		i++;
	open->pieces[i].window = window;
	open->pieces[i].ns += ns;
	open->pieces[i].waker = as->waker;
	open->pieces[i].waker_kind = as->waker_kind;
}

/*
 * A thread that waits and does not move is not read, and so not told, window by window. When it is
 * heard of again, its silence gets a row of its own in the window before, so that no window has
 * more than its own time but that one, of which all is known: it waited throughout.
 */
static void write_silence(const struct ledger_book *book, const struct rec_ledger *row,
			  struct ledger_told *told, struct page *page)
{
	const struct ledger_cause open = cause_of(&told->open.cause);
	u64 now_ns = 0, told_ns = 0, silent_ns;
	struct told_cause *known;

	if (!told->open.since_ns || told->window + 1 >= page->window)
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
	known = find_told(told, &open);
	if (known)
		known->ns += silent_ns;
	if (row->open_since_ns == told->open.since_ns)
		add_piece(&told->open, page->window - 1, silent_ns, &open);
	if (silent_ns)
		write_row(page, page->window - 1, &open, silent_ns, 0);
}

/* The wait that lasts, and what of it this window has. */
static void note_open(const struct page *page, const struct rec_ledger *row,
		      struct ledger_told *told)
{
	const struct cause *as = find_cause(page->causes, page->cause_count, &row->open);
	u64 written = 0;

	if (row->flags & LEDGER_SUM || !row->open_since_ns || row->open.state >= STATE_COUNT) {
		told->open = (struct told_open){0};
		return;
	}
	if (told->open.since_ns != row->open_since_ns)
		told->open = (struct told_open){.since_ns = row->open_since_ns};
	told->open.cause = name_of(&row->open);
	for (int i = 0; i < OPEN_PIECES_MAX; i++)
		written += told->open.pieces[i].ns;
	add_piece(&told->open, page->window, less(row->open.ns, written),
		  as ? &as->now : &row->open);
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
	/* Not cleared: that would cost more than what is in it. */
	struct cause causes[CAUSES_MAX + 1];
	struct page page = {.book = book,
			    .row = row,
			    .sink = sink,
			    .window = window,
			    .thread = told->id,
			    .causes = causes};
	u64 parts[STATE_COUNT];

	settle_open(&page, row, told);
	write_silence(book, row, told, &page);
	page.end_ns = row->end_ns;
	page.cause_count = collect_causes(row, told, causes);
	carry_parts(row->ns, told->ns, parts, STATE_COUNT);
	for (u8 i = 0; i < STATE_COUNT; i++)
		write_state(&page, i, parts[i], carry_count(row->entries[i], &told->entries[i]));
	told->cause_count = page.cause_count;
	for (size_t i = 0; i < page.cause_count; i++)
		told->causes[i] = causes[i].told;
	note_open(&page, row, told);
	told->window = window;
	if (!(row->flags & LEDGER_SUM)) {
		culprits_write(row, told, window, sink);
	}
	return page.end_ns ? MARK_STALE | MARK_DUE : MARK_STALE;
}
