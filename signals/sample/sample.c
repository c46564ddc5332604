// SPDX-License-Identifier: Apache-2.0
#include "sample.h"

#include <stdbool.h>

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"
#include "probes.h"

static const struct table_sums samples_sums[] = {
	{.table =
		 {.name = "samples_sums",
		  .about = "thread, kind, state and stack, of a long session: sums of samples",
		  .columns =
			  "pid INTEGER, process_start_ns INTEGER, tid INTEGER, thread_start_ns "
			  "INTEGER, "
			  "kind INTEGER, state INTEGER, mode INTEGER, stack INTEGER, stop INTEGER, "
			  "waker INTEGER, waker_kind INTEGER, waker_stack INTEGER, count INTEGER, "
			  "weight_ns INTEGER, ns INTEGER, mismatches INTEGER, squares REAL",
		  .width = 17,
		  .sums_of = "samples"},
	 .keys = (1U << 13) - (1U << 1), /* columns 1 to 12 */
	 .sums = (1U << 17) - (1U << 13),
	 .squares_of = 14,
	 .squares_by = 13,
	 .max = 65536},
	{.table = {.name = "stack_sums",
		   .about = "kind of sample and stack, of a long session: sums of samples",
		   .columns = "kind INTEGER, stack INTEGER, count INTEGER, weight_ns INTEGER",
		   .width = 4,
		   .sums_of = "samples"},
	 .keys = 1U << 5 | 1U << 8,
	 .sums = 1U << 13 | 1U << 14,
	 .max = 65536},
};

static const struct table tables[] = {
	{.name = "samples",
	 .about = "window, thread, kind, state and stack",
	 .columns = "window INTEGER, pid INTEGER, process_start_ns INTEGER, tid INTEGER, "
		    "thread_start_ns INTEGER, kind INTEGER, state INTEGER, mode INTEGER, "
		    "stack INTEGER, stop INTEGER, waker INTEGER, waker_kind INTEGER, "
		    "waker_stack INTEGER, count INTEGER, weight_ns INTEGER, ns INTEGER, "
		    "mismatches INTEGER",
	 .width = 17,
	 .sums = samples_sums,
	 .sums_count = ARRAY_SIZE(samples_sums)},
};

static void open_book(void *state, const struct services *services)
{
	struct sample_book *book = state;

	book->ids = services->stack_ids;
	hash_init(&book->rows, sizeof(struct sample_row), sizeof(struct sample_key),
		  SAMPLE_ROWS_MAX);
	hash_init(&book->held, sizeof(struct sample_row), sizeof(struct sample_key),
		  SAMPLE_HELD_MAX);
}

static void release(void *state)
{
	struct sample_book *book = state;

	hash_free(&book->rows);
	hash_free(&book->held);
}

static bool is_possible(const struct rec_sample *sample)
{
	return sample->kind < SAMPLE_KIND_COUNT && sample->state < STATE_COUNT &&
	       sample->mode <= MODE_KERNEL && sample->stop < STOP_COUNT &&
	       sample->waker_kind < WAKER_KIND_COUNT;
}

static void on_record(void *state, const struct rec_hdr *record)
{
	const struct rec_sample *sample = (const struct rec_sample *)record;
	const struct sample_key key = {
		.start_ns = record->start_ns,
		.thread_start_ns = sample->thread_start_ns,
		.stack = sample->stack,
		.waker_stack = sample->waker_stack,
		.tgid = record->tgid,
		.tid = record->tid,
		.waker = sample->waker,
		.waker_kind = sample->waker_kind,
		.kind = sample->kind,
		.state = sample->state,
		.mode = sample->mode,
		.stop = sample->stop,
	};
	struct sample_book *book = state;
	struct sample_row *row;

	if (!is_possible(sample)) {
		book->refused++;
		return;
	}
	row = hash_add(&book->rows, &key);
	if (!row) {
		book->turned_away++;
		return;
	}
	row->count++;
	row->weight_ns += sample->weight_ns;
	row->ns += sample->ns;
	row->mismatches += sample->is_mismatch != 0;
}

/* 0 is no stack, and known. */
static bool find_stack(const struct sample_book *book, u64 key, u64 *ret_stack)
{
	*ret_stack = 0;
	return !key || stack_ids_find(book->ids, key, ret_stack);
}

/* False, and nothing is written, if a stack is not known and it can wait for it. */
static bool write_row(struct sample_book *book, const struct sample_row *row, u64 window,
		      bool can_wait, struct sink *sink)
{
	const struct sample_key *key = &row->key;
	u64 stack, waker_stack;
	bool is_known = find_stack(book, key->stack, &stack);

	is_known &= find_stack(book, key->waker_stack, &waker_stack);
	if (!is_known && can_wait)
		return false;
	book->unknown += is_known ? 0 : row->count;
	const struct cell cells[] = {
		cell_number(window),
		cell_number(key->tgid),
		cell_number(key->start_ns),
		cell_number(key->tid),
		cell_number(key->thread_start_ns),
		cell_number(key->kind),
		cell_number(key->state),
		cell_number(key->mode),
		cell_number(stack),
		cell_number(key->stop),
		cell_number(key->waker),
		cell_number(key->waker_kind),
		cell_number(waker_stack),
		cell_number(row->count),
		cell_number(row->weight_ns),
		cell_number(row->ns),
		cell_number(row->mismatches),
	};

	sink->add(sink, &tables[0], cells);
	return true;
}

/* Has it wait for the next window's end; false if there is no place. */
static bool hold(struct sample_book *book, const struct sample_row *row, u64 window)
{
	struct sample_row *held = hash_add(&book->held, &row->key);

	if (!held)
		return false;
	*held = *row;
	held->window = window;
	return true;
}

/* A stack that has not come within a window is lost. */
static void write_held(struct sample_book *book, struct sink *sink)
{
	for (size_t i = 0; i < book->held.count; i++) {
		const struct sample_row *row = hash_item(&book->held, i);

		write_row(book, row, row->window, false, sink);
	}
	hash_clear(&book->held);
}

static void flush(void *state, u64 window, struct sink *sink)
{
	struct sample_book *book = state;

	write_held(book, sink);
	for (size_t i = 0; i < book->rows.count; i++) {
		const struct sample_row *row = hash_item(&book->rows, i);

		if (!write_row(book, row, window, true, sink) && !hold(book, row, window))
			write_row(book, row, window, false, sink);
	}
	hash_clear(&book->rows);
}

/* Those that wait for their stack go to the next file, whose first window gets them. */
static void renew(void *state, u64 window, struct sink *sink)
{
	struct sample_book *book = state;

	(void)sink;
	for (size_t i = 0; i < book->held.count; i++)
		((struct sample_row *)hash_item(&book->held, i))->window = window;
}

static void close_book(void *state, struct sink *sink)
{
	write_held(state, sink);
}

static const struct signal_loss losses[] = {
	{"sample_no_place", "more different samples in a window than the limit: these are missing",
	 offsetof(struct sample_book, turned_away)},
	{"sample_no_stack", "samples whose stack was lost or did not fit: they have no stack",
	 offsetof(struct sample_book, unknown)},
	{"sample_refused", "a sample of an unknown kind, state or mode",
	 offsetof(struct sample_book, refused)},
};

static const struct signal_rate rates[] = {
	{offsetof(struct live_config, block_stacks), 0},
	{offsetof(struct live_config, min_block_ns), 1000000000000},
};

const struct signal signal_sample = {
	.about = "samples: a thread's state and stack",
	.probes = sample_probes,
	.probe_count = SAMPLE_PROBE_COUNT,
	.role = ROLE_STACKS,
	.rates = rates,
	.rate_count = ARRAY_SIZE(rates),
	.price = "about 4 us in the kernel and 7 us in dwell per stack taken; its hooks at "
		 "switches are in the figure of ledger",
	.state_size = sizeof(struct sample_book),
	.open = open_book,
	.release = release,
	.on_record = on_record,
	.tables = tables,
	.table_count = ARRAY_SIZE(tables),
	.flush = flush,
	.close = close_book,
	.renew = renew,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
};
