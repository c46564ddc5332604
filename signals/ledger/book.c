// SPDX-License-Identifier: Apache-2.0
#include "book.h"

#include <stdbool.h>
#include <string.h>

#include "../../src/base/clock.h"
#include "../../src/base/memory.h"
#include "inner.h"
#include "page.h"
#include "resume.h"

static u32 hash_of(const struct rec_ledger *row)
{
	return index_hash(row->thread_start_ns, (u64)row->hdr.tgid << 32 | row->hdr.tid,
			  row->begin_ns);
}

/* A sum has no thread's times: its process tells it from another's. */
static bool is_same_thread(const struct rec_ledger *a, const struct rec_ledger *b)
{
	return a->hdr.tid == b->hdr.tid && a->hdr.tgid == b->hdr.tgid &&
	       a->thread_start_ns == b->thread_start_ns && a->begin_ns == b->begin_ns &&
	       !((a->flags ^ b->flags) & LEDGER_SUM) &&
	       (!(a->flags & LEDGER_SUM) || a->hdr.start_ns == b->hdr.start_ns);
}

/* Where the thread is in the index, or where it would be. */
static struct index_slot *find_slot(struct ledger_book *book, const struct rec_ledger *row)
{
	u32 hash = hash_of(row);
	struct index_slot *slot = index_start(book->index, LEDGER_INDEX_MAX, hash);

	while (slot->place &&
	       (slot->hash != hash || !is_same_thread(&book->rows[slot->place - 1], row)))
		slot = index_next(book->index, LEDGER_INDEX_MAX, slot);
	return slot;
}

/* A living thread's record comes again; a dead one's is all that there will ever be. */
static void turn_away(struct ledger_book *book, const struct rec_ledger *row)
{
	if (!(row->flags & LEDGER_LAST)) {
		book->turned_away++;
		return;
	}
	book->folded++;
	book->other_marks |= MARK_PENDING;
	for (int i = 0; i < STATE_COUNT; i++) {
		book->other.ns[i] += row->ns[i];
		book->other.entries[i] += row->entries[i];
	}
	book->other.end_ns += row->end_ns - row->begin_ns; /* from begin_ns 0: the wall */
}

/* What the session has of this thread. A new one's memory is not touched before it is needed. */
static struct ledger_written *written_of(struct ledger_book *book, u64 place)
{
	if (book->marks[place] & MARK_NEW)
		book->written[place] = (struct ledger_written){0};
	book->marks[place] &= (u8)~MARK_NEW;
	return &book->written[place];
}

static u64 add_row(struct ledger_book *book, struct index_slot *slot, const struct rec_ledger *row)
{
	u64 place = book->count++;

	if (book->count > book->highest)
		book->highest = book->count;
	*slot = (struct index_slot){.hash = hash_of(row), .place = (u32)place + 1};
	book->rows[place] = (struct rec_ledger){0};
	book->marks[place] = MARK_DUE | MARK_NEW;
	if (book->is_resumed)
		resume_thread(book, row, written_of(book, place));
	return place;
}

/*
 * The parts of a sum are differences, and one that was told as an open wait may have ended before:
 * what is below zero there is too much elsewhere.
 */
static void settle_sum(struct rec_ledger *sum)
{
	u64 left = sum->end_ns - sum->begin_ns;

	for (int i = 0; i < STATE_COUNT; i++) {
		if ((s64)sum->ns[i] < 0)
			sum->ns[i] = 0;
		if ((s32)sum->entries[i] < 0)
			sum->entries[i] = 0;
		if (sum->ns[i] > left)
			sum->ns[i] = left;
		left -= sum->ns[i];
	}
	sum->ns[STATE_UNATTRIBUTED] += left;
}

/*
 * A thread is read while its last switch is under way: the reader's clock may be later than that of
 * the last word. What was told remains.
 */
static void extend_last_word(struct rec_ledger *last, u64 told_end_ns, u32 told_state)
{
	last->ns[told_state < STATE_COUNT ? told_state : STATE_UNATTRIBUTED] +=
		told_end_ns - last->end_ns;
	last->end_ns = told_end_ns;
}

void book_on_record(void *state, const struct rec_hdr *record)
{
	const struct rec_ledger *row = (const struct rec_ledger *)record;
	struct ledger_book *book = state;
	struct index_slot *slot = find_slot(book, row);
	bool is_last_word = (row->flags & (LEDGER_LAST | LEDGER_SUM)) == LEDGER_LAST;
	u64 place, told_end_ns;
	u32 told_state;

	if (!slot->place && book->count == LEDGER_ROWS_MAX) {
		turn_away(book, row);
		return;
	}
	place = slot->place ? slot->place - 1 : add_row(book, slot, row);
	/* A thread is read while it lives, and tells its end: the last word holds. */
	told_end_ns = book->rows[place].end_ns;
	told_state = book->rows[place].open_state;
	if (book->marks[place] & MARK_ENDED || (row->end_ns < told_end_ns && !is_last_word))
		return;
	if (memcmp(book->rows[place].comm, row->comm, sizeof(row->comm)))
		book->marks[place] |= MARK_DUE;
	if (row->flags & LEDGER_LAST)
		book->marks[place] |= MARK_DUE | MARK_ENDED;
	book->rows[place] = *row;
	if (row->end_ns < told_end_ns)
		extend_last_word(&book->rows[place], told_end_ns, told_state);
	if (row->flags & LEDGER_SUM)
		settle_sum(&book->rows[place]);
	book->marks[place] |= MARK_PENDING;
}

/* The last row takes the place that becomes free, so that the rows stay dense. */
static void remove_row(struct ledger_book *book, u64 place)
{
	u64 last = book->count - 1;
	struct index_slot *slot = index_of_place(book->index, LEDGER_INDEX_MAX,
						 hash_of(&book->rows[place]), (u32)place);

	index_free(book->index, LEDGER_INDEX_MAX, slot);
	if (place != last) {
		slot = index_of_place(book->index, LEDGER_INDEX_MAX, hash_of(&book->rows[last]),
				      (u32)last);
		slot->place = (u32)place + 1;
		book->rows[place] = book->rows[last];
		book->marks[place] = book->marks[last];
		if (!(book->marks[last] & MARK_NEW))
			book->written[place] = book->written[last];
	}
	book->count--;
}

static void flush_other(struct ledger_book *book, u64 window, struct sink *sink)
{
	static const char name[] = "(folded)";

	if (!book->other_marks)
		return;
	memcpy(book->other.comm, name, sizeof(name));
	book->other.flags = LEDGER_SUM | LEDGER_LAST;
	book->other.threads = (u32)book->folded;
	if (!book->other_written.id)
		book->other_written.id = ++book->last_id;
	page_write(book, &book->other, &book->other_written, window, sink);
	page_write_thread(&book->other, &book->other_written, sink);
	book->other_marks = 0;
}

/*
 * The threads that have one of these marks; who has ended leaves the book, now that all is told: it
 * may have held what others waited for.
 */
static void write_threads(struct ledger_book *book, u8 marks, struct sink *sink)
{
	u64 i = 0;

	while (i < book->count) {
		if (book->marks[i] & marks) {
			page_write_thread(&book->rows[i], written_of(book, i), sink);
			book->marks[i] &= (u8) ~(MARK_DUE | MARK_STALE);
		}
		if (book->marks[i] & MARK_ENDED)
			remove_row(book, i); /* another one is at i now */
		else
			i++;
	}
}

/*
 * Of threads that came and went in a window nothing is left but the pages of their rows. Those of a
 * few stay: the next window has as many.
 */
static void give_back_pages(struct ledger_book *book)
{
	if (book->highest - book->count < LEDGER_ROWS_SPARE)
		return;
	memory_give_back(&book->rows[book->count], &book->rows[LEDGER_ROWS_MAX]);
	memory_give_back(&book->written[book->count], &book->written[LEDGER_ROWS_MAX]);
	book->highest = book->count;
}

static void write_page(struct ledger_book *book, u64 place, u64 window, struct sink *sink)
{
	struct ledger_written *written = written_of(book, place);

	if (!written->id)
		written->id = ++book->last_id;
	book->marks[place] |= written->is_resumed
				      ? resume_page(book, &book->rows[place], written, window, sink)
				      : page_write(book, &book->rows[place], written, window, sink);
}

/*
 * A thread that came and went within a window is written once. Nobody asks again what the session
 * has of it, so that it needs no memory for that: thousands of them may end in one window.
 */
static void write_short_lived(struct ledger_book *book, u64 place, u64 window, struct sink *sink)
{
	struct ledger_written written = {.id = ++book->last_id};

	page_write(book, &book->rows[place], &written, window, sink);
	page_write_thread(&book->rows[place], &written, sink);
	book->marks[place] &= (u8)~MARK_DUE;
}

void book_flush(void *state, u64 window, struct sink *sink)
{
	const u8 short_lived = MARK_NEW | MARK_ENDED;
	struct ledger_book *book = state;
	bool is_round = window % THREADS_EVERY == THREADS_EVERY - 1;

	inner_index(book);
	if (book->is_resumed)
		resume_write_known(book, sink);
	for (u64 i = 0; i < book->count; i++) {
		if (!(book->marks[i] & MARK_PENDING))
			continue;
		book->marks[i] &= (u8)~MARK_PENDING;
		if ((book->marks[i] & short_lived) == short_lived)
			write_short_lived(book, i, window, sink);
		else
			write_page(book, i, window, sink);
	}
	write_threads(book, is_round ? MARK_DUE | MARK_STALE : MARK_DUE, sink);
	flush_other(book, window, sink);
	give_back_pages(book);
	book->flushed_ns = clock_now_ns();
}

void book_close(void *state, struct sink *sink)
{
	write_threads(state, MARK_DUE | MARK_STALE, sink);
}

/*
 * A last word that was lost leaves its thread in the book, and its time in its process's sum, which
 * comes until that process has ended. They are forgotten late: a row that comes after that would be
 * told once more, from its begin on.
 */
static void forget_vanished(struct ledger_book *book, u64 oldest_window)
{
	u64 i = 0;

	while (i < book->count) {
		if (written_of(book, i)->window >= oldest_window) {
			i++;
			continue;
		}
		remove_row(book, i); /* another one is at i now */
		book->vanished++;
	}
}

static void next_file(struct ledger_book *book, u64 window)
{
	const size_t rest = sizeof(book->first_windows) - sizeof(book->first_windows[0]);

	if (book->files >= LEDGER_ABSENT_FILES)
		forget_vanished(book, book->first_windows[LEDGER_ABSENT_FILES - 2]);
	memmove(&book->first_windows[1], &book->first_windows[0], rest);
	book->first_windows[0] = book->first_window;
	book->first_window = window;
	book->files++;
}

/* In the next file each thread begins where it ends in this one, with a row of its own. */
void book_renew(void *state, u64 window, struct sink *sink)
{
	struct ledger_book *book = state;

	write_threads(book, MARK_DUE | MARK_STALE, sink);
	next_file(book, window);
	for (u64 i = 0; i < book->count; i++) {
		page_begin_file(&book->rows[i], written_of(book, i));
		book->marks[i] |= MARK_DUE;
	}
	page_begin_file(&book->other, &book->other_written);
}
