// SPDX-License-Identifier: Apache-2.0
#include "calls.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>

#include "../../src/base/carry.h"
#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"

#define THREAD_COLUMNS                                                                             \
	"window INTEGER, thread_tid INTEGER, thread_start_ns INTEGER, thread_begin_ns INTEGER, "

enum { TABLE_CALLS, TABLE_FAULTS };

static const struct table tables[] = {
	[TABLE_CALLS] = {.name = "calls",
			 .columns = THREAD_COLUMNS "call INTEGER, count INTEGER, failed INTEGER, "
						   "cpu_ns INTEGER, total_ns INTEGER",
			 .width = 9},
	[TABLE_FAULTS] = {.name = "faults",
			  .columns = THREAD_COLUMNS "begun INTEGER, ended INTEGER, failed INTEGER",
			  .width = 7},
};

static u32 hash_of(const struct rec_calls *row)
{
	return index_hash(row->thread_start_ns, row->hdr.tid, row->begin_ns);
}

static bool is_same_thread(const struct rec_calls *a, const struct rec_calls *b)
{
	return a->hdr.tid == b->hdr.tid && a->thread_start_ns == b->thread_start_ns &&
	       a->begin_ns == b->begin_ns;
}

static struct index_slot *find_slot(struct calls_book *book, const struct rec_calls *row)
{
	u32 hash = hash_of(row);
	struct index_slot *slot = index_start(book->index, CALLS_INDEX_MAX, hash);

	while (slot->place &&
	       (slot->hash != hash || !is_same_thread(&book->rows[slot->place - 1], row)))
		slot = index_next(book->index, CALLS_INDEX_MAX, slot);
	return slot;
}

/*
 * A hand goes round, and stops at a thread that said nothing in this window or the last. Its place,
 * or CALLS_ROWS_MAX if there is none: what is not yet written is never given up.
 */
static u64 silent_place(struct calls_book *book)
{
	for (u64 i = 0; i < CALLS_ROWS_MAX; i++) {
		u64 place = book->hand;

		book->hand = (book->hand + 1) % CALLS_ROWS_MAX;
		if (!book->told[place].is_pending &&
		    book->told[place].last_window + 1 < book->window)
			return place;
	}
	return CALLS_ROWS_MAX;
}

/* CALLS_ROWS_MAX: none is free. */
static u64 take_place(struct calls_book *book)
{
	u64 place = book->count;

	if (place < CALLS_ROWS_MAX) {
		book->count++;
		return place;
	}
	place = silent_place(book);
	if (place == CALLS_ROWS_MAX)
		return place;
	index_free(book->index, CALLS_INDEX_MAX,
		   index_of_place(book->index, CALLS_INDEX_MAX, hash_of(&book->rows[place]),
				  (u32)place));
	book->evicted++;
	return place;
}

static void on_record(void *state, const struct rec_hdr *record)
{
	const struct rec_calls *row = (const struct rec_calls *)record;
	struct calls_book *book = state;
	struct index_slot *slot = find_slot(book, row);
	u64 place = slot->place;

	if (place) {
		place--;
	} else {
		place = take_place(book);
		if (place == CALLS_ROWS_MAX) {
			book->turned_away++;
			return;
		}
		slot = find_slot(book, row); /* it may have moved */
		*slot = (struct index_slot){.hash = hash_of(row), .place = (u32)place + 1};
		book->told[place] = (struct calls_told){0};
	}
	book->rows[place] = *row;
	book->told[place].last_window = book->window;
	book->told[place].is_pending = 1;
}

static struct call_cost *told_of(struct calls_told *told, u16 call)
{
	struct call_cost *unused = NULL;

	for (size_t i = 0; i < CALLS_MAX; i++) {
		if (told->calls[i].call == call)
			return &told->calls[i];
		if (!unused && !told->calls[i].call)
			unused = &told->calls[i];
	}
	if (unused)
		unused->call = call;
	return unused;
}

static void write_call(const struct rec_calls *row, const struct call_cost *now,
		       struct call_cost *told, u64 window, struct sink *sink)
{
	u32 count = carry_count(now->count, &told->count);
	struct cell cells[] = {
		cell_number(window),
		cell_number(row->hdr.tid),
		cell_number(row->thread_start_ns),
		cell_number(row->begin_ns),
		cell_number(now->call),
		cell_number(count),
		cell_number(carry_count(now->failed, &told->failed)),
		cell_number(carry_one(now->cpu_ns, &told->cpu_ns, ~0ULL)),
		cell_number(carry_one(now->total_ns, &told->total_ns, ~0ULL)),
	};

	if (count || cells[7].number || cells[8].number)
		sink->add(sink, &tables[TABLE_CALLS], cells);
}

static void write_faults(const struct rec_calls *row, struct calls_told *told, u64 window,
			 struct sink *sink)
{
	struct cell cells[] = {
		cell_number(window),
		cell_number(row->hdr.tid),
		cell_number(row->thread_start_ns),
		cell_number(row->begin_ns),
		cell_number(carry_one(row->faults_begun, &told->faults_begun, ~0ULL)),
		cell_number(carry_one(row->faults_ended, &told->faults_ended, ~0ULL)),
		cell_number(carry_one(row->faults_failed, &told->faults_failed, ~0ULL)),
	};

	if (cells[4].number || cells[5].number || cells[6].number)
		sink->add(sink, &tables[TABLE_FAULTS], cells);
}

static void flush_row(const struct rec_calls *row, struct calls_told *told, u64 window,
		      struct sink *sink)
{
	for (size_t i = 0; i < CALLS_MAX; i++) {
		const struct call_cost *now = &row->calls[i];
		struct call_cost *before = now->call ? told_of(told, now->call) : NULL;

		if (before)
			write_call(row, now, before, window, sink);
	}
	write_call(row, &row->other, &told->other, window, sink);
	write_faults(row, told, window, sink);
	told->is_pending = 0;
}

/* The last row takes the place that becomes free, so that the rows stay dense. */
static void remove_row(struct calls_book *book, u64 place)
{
	u64 last = --book->count;

	index_free(book->index, CALLS_INDEX_MAX,
		   index_of_place(book->index, CALLS_INDEX_MAX, hash_of(&book->rows[place]),
				  (u32)place));
	if (place == last)
		return;
	index_of_place(book->index, CALLS_INDEX_MAX, hash_of(&book->rows[last]), (u32)last)->place =
		(u32)place + 1;
	book->rows[place] = book->rows[last];
	book->told[place] = book->told[last];
}

static void flush(void *state, u64 window, struct sink *sink)
{
	struct calls_book *book = state;
	u64 i = 0;

	while (i < book->count) {
		if (book->told[i].is_pending)
			flush_row(&book->rows[i], &book->told[i], window, sink);
		if (book->rows[i].is_last)
			remove_row(book, i); /* another one is at i now */
		else
			i++;
	}
	book->window = window + 1;
}

#define ACCOUNTS "ledger_tasks", "ledger_pids", "ledger_cpus", "split_off"

static const struct probe probes[] = {
	{.program = "calls_enter", .maps = {ACCOUNTS}},
	{.program = "calls_exit", .maps = {ACCOUNTS, "calls_tasks"}},
	{.program = "calls_fault_user", .is_rare = true, .is_optional = true, .maps = {ACCOUNTS}},
	{.program = "calls_fault_kernel", .is_rare = true, .is_optional = true, .maps = {ACCOUNTS}},
	{.program = "calls_fault_end",
	 .is_rare = true,
	 .kind = PROBE_PERF,
	 .is_optional = true,
	 .perf_type = PERF_TYPE_SOFTWARE,
	 .perf_config = PERF_COUNT_SW_PAGE_FAULTS_MIN,
	 .perf_period = 1,
	 .maps = {ACCOUNTS}},
	{.program = "calls_fault_end",
	 .is_rare = true,
	 .kind = PROBE_PERF,
	 .is_optional = true,
	 .perf_type = PERF_TYPE_SOFTWARE,
	 .perf_config = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
	 .perf_period = 1,
	 .maps = {ACCOUNTS}},
	{.program = "calls_signal", .is_rare = true, .is_optional = true, .maps = {ACCOUNTS}},
	{.program = "calls_last", .is_rare = true, .maps = {ACCOUNTS, "calls_tasks"}},
	{.program = "calls_rows",
	 .kind = PROBE_ITER,
	 .maps = {ACCOUNTS, "calls_tasks", "calls_scratch"}},
	{.program = "calls_stop", .is_rare = true, .kind = PROBE_ITER, .maps = {ACCOUNTS}},
};

static const struct signal_loss losses[] = {
	{"calls_no_place",
	 "more threads made system calls than there are places: theirs are missing, or told again "
	 "when they come",
	 offsetof(struct calls_book, turned_away)},
	{"calls_evicted",
	 "a silent thread made place for another: if it goes on, its system calls are told twice",
	 offsetof(struct calls_book, evicted)},
};

const struct signal signal_calls = {
	.about = "system calls of each thread, and what they cost",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.state_size = sizeof(struct calls_book),
	.on_record = on_record,
	.tables = tables,
	.table_count = ARRAY_SIZE(tables),
	.flush = flush,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
};
