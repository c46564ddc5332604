// SPDX-License-Identifier: Apache-2.0
/*
 * A session whose writer has died is continued: threads that it has keep their ids, and their time
 * goes on where it ends there.
 */
#include "resume.h"

#include <stdbool.h>

#include "../../src/base/cleanup.h"
#include "../../src/base/text.h"
#include "book.h"
#include "page.h"

struct known_key {
	u64 process_start_ns, start_ns, account_ns;
	u32 pid, tid;
};

enum {
	VOLUNTARY,
	INVOLUNTARY,
	KERNEL_VOLUNTARY,
	KERNEL_INVOLUNTARY,
	KERNEL_EXEC_NS,
	KERNEL_DELAY_NS,
	MISSED,
	UNNAMED,
	COUNT_COUNT
};

struct known_thread {
	struct known_key key;
	u64 id;
	u64 begin_ns; /* in this file */
	u64 told_ns;  /* up to then */
	u64 end_ns;   /* as its row says, which may be older */
	u64 is_kernel, threads;
	u64 counts[COUNT_COUNT];
	char comm[COMM_BYTES];
};

#define THREAD_COLUMNS                                                                             \
	"id, pid, process_start_ns, tid, start_ns, account_ns, begin_ns, end_ns, is_kernel, "      \
	"threads, comm, voluntary, involuntary, kernel_voluntary, kernel_involuntary, "            \
	"kernel_exec_ns, kernel_delay_ns, missed, unnamed"
#define THREAD_WIDTH 11 /* before the counts */

struct known_id {
	u64 id; /* the key */
	u64 place;
};

struct reading {
	struct hash *threads; /* struct known_thread */
	struct hash ids;      /* struct known_id */
	u64 oldest_window;
};

static bool take_thread(void *context, const struct cell *cells)
{
	struct reading *reading = context;
	const struct known_key key = {
		.process_start_ns = cell_as_number(&cells[2]),
		.start_ns = cell_as_number(&cells[4]),
		.account_ns = cell_as_number(&cells[5]),
		.pid = (u32)cell_as_number(&cells[1]),
		.tid = (u32)cell_as_number(&cells[3]),
	};
	struct known_thread *thread = hash_add(reading->threads, &key);
	const u64 id = cell_as_number(&cells[0]);
	struct known_id *known = thread ? hash_add(&reading->ids, &id) : NULL;

	if (!known)
		return false;
	known->place = reading->threads->count - 1;
	thread->id = id;
	thread->begin_ns = cell_as_number(&cells[6]);
	thread->told_ns = thread->end_ns = cell_as_number(&cells[7]);
	thread->is_kernel = cell_as_number(&cells[8]);
	thread->threads = cell_as_number(&cells[9]);
	text_copy(thread->comm, sizeof(thread->comm), cell_as_text(&cells[10]));
	for (int i = 0; i < COUNT_COUNT; i++)
		thread->counts[i] = cell_as_number(&cells[THREAD_WIDTH + i]);
	return true;
}

/* A thread's row is written now and then: how far its time is told, its pages say. */
static bool take_page(void *context, const struct cell *cells)
{
	struct reading *reading = context;
	u64 id = cell_as_number(&cells[0]), end_ns = cell_as_number(&cells[2]);
	const struct known_id *known = hash_find(&reading->ids, &id);
	struct known_thread *thread;

	if (cell_as_number(&cells[1]) < reading->oldest_window)
		return false;
	if (!known)
		return true;
	thread = hash_item(reading->threads, known->place);
	if (thread->told_ns < end_ns)
		thread->told_ns = end_ns;
	return true;
}

void book_resume(void *state, const struct resumed *resumed)
{
	struct ledger_book *book = state;
	struct reading reading = {.threads = &book->known};

	if (resumed->next_window > THREADS_EVERY + 1)
		reading.oldest_window = resumed->next_window - THREADS_EVERY - 1;
	hash_init(&book->known, sizeof(struct known_thread), sizeof(struct known_key),
		  LEDGER_ROWS_MAX);
	hash_init(&reading.ids, sizeof(struct known_id), sizeof(u64), LEDGER_ROWS_MAX);
	resumed->source->each(resumed->source, THREAD_COLUMNS, THREAD_WIDTH + COUNT_COUNT,
			      "threads WHERE NOT is_dead", take_thread, &reading);
	resumed->source->each(resumed->source, "thread, window, end_ns", 3,
			      "ledger WHERE end_ns IS NOT NULL ORDER BY rowid DESC", take_page,
			      &reading);
	hash_free(&reading.ids);
	book->last_id = source_highest(resumed->source, "id", "threads");
	/* What comes later does not correct what is told: it is not known any more. */
	book->first_window = resumed->next_window + 1;
	book->is_resumed = true;
	book->earlier_ns = resumed->is_first_file ? 0 : resumed->begin_ns;
}

void book_release(void *state)
{
	struct ledger_book *book = state;

	hash_free(&book->known);
}

/*
 * What files before this one have of a thread. The first has all. Else it is not known by how much
 * the counts have grown since its row was last written: that much is missing.
 */
static void know_before(const struct ledger_book *book, const struct known_thread *known,
			const struct rec_ledger *row, struct written_before *before)
{
	if (!book->earlier_ns)
		return;
	*before = (struct written_before){
		.voluntary = less(row->voluntary, known->counts[VOLUNTARY]),
		.involuntary = less(row->involuntary, known->counts[INVOLUNTARY]),
		.kernel_voluntary = less(row->kernel_voluntary, known->counts[KERNEL_VOLUNTARY]),
		.kernel_involuntary =
			less(row->kernel_involuntary, known->counts[KERNEL_INVOLUNTARY]),
		.kernel_exec_ns = less(row->kernel_exec_ns, known->counts[KERNEL_EXEC_NS]),
		.kernel_delay_ns = less(row->kernel_delay_ns, known->counts[KERNEL_DELAY_NS]),
		.missed = (u32)less(row->missed, known->counts[MISSED]),
		.unnamed = (u32)less(row->unnamed, known->counts[UNNAMED]),
	};
	/* Of a sum only the length counts: its begin is 0. */
	before->ns = row->flags & LEDGER_SUM ? less(row->end_ns, known->told_ns)
					     : less(known->begin_ns, row->begin_ns);
}

void resume_thread(const struct ledger_book *book, const struct rec_ledger *row,
		   struct ledger_written *written)
{
	const struct known_key key = {
		.process_start_ns = row->hdr.start_ns,
		.start_ns = row->thread_start_ns,
		.account_ns = row->begin_ns,
		.pid = row->hdr.tgid,
		.tid = row->hdr.tid,
	};
	bool is_sum = row->flags & LEDGER_SUM;
	const struct known_thread earlier = {.begin_ns = book->earlier_ns,
					     .told_ns = is_sum ? 0 : book->earlier_ns};
	const struct known_thread *known = hash_find(&book->known, &key);

	/* A file without a window has no thread, but earlier ones have those that were there. */
	if (!known && row->begin_ns < book->earlier_ns)
		known = &earlier;
	if (!known)
		return;		 /* it has begun since: all of it is news */
	written->id = known->id; /* 0: it gets one */
	written->is_resumed = 1;
	written->told_ns = known->told_ns;
	know_before(book, known, row, &written->before);
}

/* One that has ended meanwhile does not come again: its row has the time that its pages have. */
static void write_known(const struct known_thread *known, struct sink *sink)
{
	const struct known_key *key = &known->key;
	const u64 *counts = known->counts;
	const struct cell cells[] = {
		cell_number(known->id),
		cell_number(key->pid),
		cell_number(key->process_start_ns),
		cell_number(key->tid),
		cell_number(key->start_ns),
		cell_number(known->begin_ns),
		cell_number(known->told_ns),
		cell_text(known->comm, sizeof(known->comm)),
		cell_number(known->is_kernel),
		cell_number(0), /* is_dead: that is not known */
		cell_number(known->threads),
		cell_number(counts[VOLUNTARY]),
		cell_number(counts[INVOLUNTARY]),
		cell_number(counts[KERNEL_VOLUNTARY]),
		cell_number(counts[KERNEL_INVOLUNTARY]),
		cell_number(counts[KERNEL_EXEC_NS]),
		cell_number(counts[KERNEL_DELAY_NS]),
		cell_number(counts[MISSED]),
		cell_number(counts[UNNAMED]),
		cell_number(key->account_ns),
	};

	_Static_assert(ARRAY_SIZE(cells) == 20, "as many as the table has columns");
	if (known->end_ns < known->told_ns)
		sink->add(sink, &ledger_tables[TABLE_THREADS], cells);
}

void resume_write_known(struct ledger_book *book, struct sink *sink)
{
	for (size_t i = 0; i < book->known.count && !book->is_known_written; i++)
		write_known(hash_item(&book->known, i), sink);
	book->is_known_written = 1;
}

/* --- its first page --- */

static void write_part(const struct ledger_written *written, const struct ledger_cause *cause,
		       u64 ns, u64 end_ns, u64 window, struct sink *sink)
{
	const struct cell cells[] = {
		cell_number(window),
		cell_number(written->id),
		cell_number(cause->state),
		cell_number(cause->call),
		cell_number(cause->object),
		cell_number(0), /* who held it is known by another number */
		cell_number(cause->waker),
		cell_number(cause->waker_kind),
		cell_number(ns),
		cell_number(0),
		cell_number(end_ns),
	};

	_Static_assert(ARRAY_SIZE(cells) == 11, "as many as the table has columns");
	if (ns)
		sink->add(sink, &ledger_tables[TABLE_LEDGER], cells);
}

/* What the thread did since it was told is known of the wait that lasts: it came last. */
static void write_since(const struct rec_ledger *row, const struct ledger_written *written,
			u64 end_ns, u64 window, struct sink *sink)
{
	const struct ledger_cause lost = {.state = STATE_UNATTRIBUTED};
	u64 since_ns = less(end_ns, written->told_ns), waited_ns = 0;

	if (!(row->flags & LEDGER_SUM) && row->open_since_ns && row->open.state < STATE_COUNT)
		waited_ns = smaller(row->open.ns, since_ns);
	write_part(written, &row->open, waited_ns, end_ns, window, sink);
	write_part(written, &lost, since_ns - waited_ns, end_ns, window, sink);
}

u8 resume_page(struct ledger_book *book, const struct rec_ledger *row,
	       struct ledger_written *written, u64 window, struct sink *sink)
{
	u64 end_ns = row->flags & LEDGER_SUM ? row->end_ns - written->before.ns : row->end_ns;
	struct sink nowhere = sink_nowhere();
	u8 marks = page_write(book, row, written, window, &nowhere);

	write_since(row, written, end_ns, window, sink);
	written->before.runq_ns = written_runq_ns(written);
	written->before.rivals_ns = written->rivals_ns;
	written->before.max_turn_ns = row->turns.max_ns;
	written->is_resumed = 0;
	return marks;
}
