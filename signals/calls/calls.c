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

static const struct table_sums calls_sums[] = {
	{.table = {.name = "calls_sums",
		   .about = "thread and system call, of a long session: sums of calls",
		   .columns =
			   "thread_tid INTEGER, thread_start_ns INTEGER, thread_begin_ns INTEGER, "
			   "call INTEGER, count INTEGER, failed INTEGER, cpu_ns INTEGER, "
			   "total_ns INTEGER",
		   .width = 8,
		   .sums_of = "calls"},
	 .keys = (1U << 5) - (1U << 1), /* columns 1 to 4 */
	 .sums = (1U << 9) - (1U << 5),
	 .max = 65536},
};

static const struct table tables[] = {
	[TABLE_CALLS] = {.name = "calls",
			 .about = "window, thread and system call (Tier B)",
			 .columns = THREAD_COLUMNS "call INTEGER, count INTEGER, failed INTEGER, "
						   "cpu_ns INTEGER, total_ns INTEGER",
			 .width = 9,
			 .sums = calls_sums,
			 .sums_count = ARRAY_SIZE(calls_sums)},
	[TABLE_FAULTS] = {.name = "faults",
			  .about = "window and thread (Tier B)",
			  .columns = THREAD_COLUMNS "begun INTEGER, ended INTEGER, failed INTEGER",
			  .width = 7},
};

/* --- places --- */

static u32 hash_of(const struct calls_row *row)
{
	return index_hash(row->thread_start_ns, row->tid, row->begin_ns);
}

static bool is_same_thread(const struct calls_row *a, const struct calls_row *b)
{
	return a->tid == b->tid && a->thread_start_ns == b->thread_start_ns &&
	       a->begin_ns == b->begin_ns;
}

static struct index_slot *find_slot(struct calls_book *book, const struct calls_row *row)
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
		if (!book->rows[place].is_pending &&
		    book->rows[place].last_window + 1 < book->window)
			return place;
	}
	return CALLS_ROWS_MAX;
}

/* There is always one: a thread has at most CALLS_MAX. */
static struct calls_entry *take_entry(struct calls_book *book, u32 *ret_link)
{
	struct calls_entry *entry;

	*ret_link = book->entry_free ? book->entry_free : ++book->entry_count;
	entry = &book->entries[*ret_link - 1];
	if (book->entry_free)
		book->entry_free = entry->next;
	*entry = (struct calls_entry){0};
	return entry;
}

static void free_entries(struct calls_book *book, struct calls_row *row)
{
	while (row->first) {
		u32 link = row->first;
		struct calls_entry *entry = &book->entries[link - 1];

		row->first = entry->next;
		entry->next = book->entry_free;
		book->entry_free = link;
	}
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
	free_entries(book, &book->rows[place]);
	book->evicted++;
	return place;
}

/* The row of a record's thread, made if there was none; NULL: no place is free. */
static struct calls_row *row_of(struct calls_book *book, const struct rec_calls *record)
{
	struct calls_row row = {.thread_start_ns = record->thread_start_ns,
				.begin_ns = record->begin_ns,
				.tid = record->hdr.tid};
	struct index_slot *slot = find_slot(book, &row);
	u64 place;

	if (slot->place)
		return &book->rows[slot->place - 1];
	place = take_place(book);
	if (place == CALLS_ROWS_MAX)
		return NULL;
	slot = find_slot(book, &row); /* it may have moved */
	*slot = (struct index_slot){.hash = hash_of(&row), .place = (u32)place + 1};
	book->rows[place] = row;
	return &book->rows[place];
}

/* --- records --- */

/* Of this call; NULL: the thread has CALLS_MAX others, which no kernel says. */
static struct calls_entry *entry_of(struct calls_book *book, struct calls_row *row, u16 call)
{
	u32 *link = &row->first;
	struct calls_entry *entry;

	for (size_t i = 0; i < CALLS_MAX; i++) {
		if (!*link) {
			entry = take_entry(book, link);
			entry->now.call = call;
			return entry;
		}
		entry = &book->entries[*link - 1];
		if (entry->now.call == call)
			return entry;
		link = &entry->next;
	}
	return NULL;
}

static void on_record(void *state, const struct rec_hdr *header)
{
	const struct rec_calls *record = (const struct rec_calls *)header;
	struct calls_book *book = state;
	struct calls_row *row = row_of(book, record);

	if (!row) {
		book->turned_away++;
		return;
	}
	for (size_t i = 0; i < CALLS_MAX; i++) {
		const struct call_cost *cost = &record->calls[i];
		struct calls_entry *entry = cost->call ? entry_of(book, row, cost->call) : NULL;

		if (entry)
			entry->now = *cost;
	}
	row->other = record->other;
	row->faults[FAULTS_BEGUN] = record->faults_begun;
	row->faults[FAULTS_ENDED] = record->faults_ended;
	row->faults[FAULTS_FAILED] = record->faults_failed;
	row->last_window = book->window;
	row->is_pending = 1;
	row->is_last = record->is_last != 0;
}

/* --- the session --- */

static void resume(void *state, const struct resumed *resumed)
{
	struct calls_book *book = state;

	book->resumed_ns = resumed->end_ns;
}

static void write_call(const struct calls_row *row, const struct call_cost *now,
		       struct call_cost *told, u64 window, struct sink *sink)
{
	u32 count = carry_count(now->count, &told->count);
	struct cell cells[] = {
		cell_number(window),
		cell_number(row->tid),
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

static void write_faults(struct calls_row *row, u64 window, struct sink *sink)
{
	struct cell cells[4 + FAULTS_COUNT] = {
		cell_number(window),
		cell_number(row->tid),
		cell_number(row->thread_start_ns),
		cell_number(row->begin_ns),
	};
	bool is_more = false;

	for (size_t i = 0; i < FAULTS_COUNT; i++) {
		u64 more = carry_one(row->faults[i], &row->faults_told[i], ~0ULL);

		cells[4 + i] = cell_number(more);
		is_more |= more != 0;
	}
	if (is_more)
		sink->add(sink, &tables[TABLE_FAULTS], cells);
}

static void flush_row(struct calls_book *book, struct calls_row *row, u64 window, struct sink *sink)
{
	struct sink nowhere = sink_nowhere();

	/* The session is continued, and has some of this: how much is not known. */
	if (!row->is_told && row->begin_ns < book->resumed_ns)
		sink = &nowhere;
	row->is_told = 1;
	for (u32 link = row->first; link; link = book->entries[link - 1].next) {
		struct calls_entry *entry = &book->entries[link - 1];

		write_call(row, &entry->now, &entry->told, window, sink);
	}
	write_call(row, &row->other, &row->other_told, window, sink);
	write_faults(row, window, sink);
	row->is_pending = 0;
}

/* The last row takes the place that becomes free, so that the rows stay dense. */
static void remove_row(struct calls_book *book, u64 place)
{
	u64 last = --book->count;

	index_free(book->index, CALLS_INDEX_MAX,
		   index_of_place(book->index, CALLS_INDEX_MAX, hash_of(&book->rows[place]),
				  (u32)place));
	free_entries(book, &book->rows[place]);
	if (place == last)
		return;
	index_of_place(book->index, CALLS_INDEX_MAX, hash_of(&book->rows[last]), (u32)last)->place =
		(u32)place + 1;
	book->rows[place] = book->rows[last];
}

static void flush(void *state, u64 window, struct sink *sink)
{
	struct calls_book *book = state;
	u64 i = 0;

	while (i < book->count) {
		if (book->rows[i].is_pending)
			flush_row(book, &book->rows[i], window, sink);
		if (book->rows[i].is_last)
			remove_row(book, i); /* another one is at i now */
		else
			i++;
	}
	book->window = window + 1;
}

static const struct probe probes[] = {
	{.program = "calls_enter", .maps = {PROBE_ACCOUNTS}},
	{.program = "calls_exit", .maps = {PROBE_ACCOUNTS, "calls_tasks"}},
	{.program = "calls_fault_user",
	 .is_rare = true,
	 .is_optional = true,
	 .maps = {PROBE_ACCOUNTS}},
	{.program = "calls_fault_kernel",
	 .is_rare = true,
	 .is_optional = true,
	 .maps = {PROBE_ACCOUNTS}},
	{.program = "calls_fault_end",
	 .is_rare = true,
	 .kind = PROBE_PERF,
	 .is_optional = true,
	 .perf_type = PERF_TYPE_SOFTWARE,
	 .perf_config = PERF_COUNT_SW_PAGE_FAULTS_MIN,
	 .perf_period = 1,
	 .maps = {PROBE_ACCOUNTS}},
	{.program = "calls_fault_end",
	 .is_rare = true,
	 .kind = PROBE_PERF,
	 .is_optional = true,
	 .perf_type = PERF_TYPE_SOFTWARE,
	 .perf_config = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
	 .perf_period = 1,
	 .maps = {PROBE_ACCOUNTS}},
	{.program = "calls_signal", .is_rare = true, .is_optional = true, .maps = {PROBE_ACCOUNTS}},
	{.program = "calls_last", .is_rare = true, .maps = {PROBE_ACCOUNTS, "calls_tasks"}},
	{.program = "calls_rows",
	 .kind = PROBE_ITER,
	 .run = RUN_EACH_WINDOW,
	 .maps = {PROBE_ACCOUNTS, "calls_tasks", "calls_scratch"}},
	{.program = "calls_turn",
	 .is_rare = true,
	 .kind = PROBE_ITER,
	 .run = RUN_AFTER_SWITCH,
	 .maps = {PROBE_ACCOUNTS}},
};

static const struct signal_loss losses[] = {
	{"calls_no_place",
	 "more threads made system calls than the limit: their calls are missing, or counted in a "
	 "later window",
	 offsetof(struct calls_book, turned_away)},
	{"calls_evicted",
	 "an inactive thread was evicted for another: if it continues, its system calls are "
	 "counted in a second row",
	 offsetof(struct calls_book, evicted)},
};

static u64 row_events(const struct rec_hdr *row)
{
	return ((const struct rec_calls *)row)->recent;
}

static const char *const maps_with_task_storage[] = {"calls_tasks", NULL};

const struct signal signal_calls = {
	.about = "system calls of each thread, and what they cost",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.maps_with_task_storage = maps_with_task_storage,
	.role = ROLE_SPLIT,
	.price = "0.3 to 0.4 us per system call of a target thread, 0.2 us per page fault",
	.row_events = row_events,
	.state_size = sizeof(struct calls_book),
	.on_record = on_record,
	.tables = tables,
	.table_count = ARRAY_SIZE(tables),
	.flush = flush,
	.resume = resume,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
};
