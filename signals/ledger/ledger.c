// SPDX-License-Identifier: Apache-2.0
#include "ledger.h"

#include <stdbool.h>

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"
#include "wait_table.h"

static u32 hash_of(const struct rec_ledger *row)
{
	u64 mix = (row->thread_start_ns ^ ((u64)row->hdr.tid << 32)) * 0x9e3779b97f4a7c15ULL;

	return (u32)(mix >> 40) & (LEDGER_INDEX_MAX - 1);
}

static bool is_same_thread(const struct rec_ledger *a, const struct rec_ledger *b)
{
	return a->hdr.tid == b->hdr.tid && a->thread_start_ns == b->thread_start_ns;
}

/* The place in the index where the thread is, or where it would be. */
static u32 *find_slot(struct ledger_book *book, const struct rec_ledger *row)
{
	u32 at = hash_of(row);

	while (book->index[at] && !is_same_thread(&book->rows[book->index[at] - 1], row))
		at = (at + 1) & (LEDGER_INDEX_MAX - 1);
	return &book->index[at];
}

static void fold(struct ledger_book *book, const struct rec_ledger *row)
{
	book->folded++;
	for (int i = 0; i < STATE_COUNT; i++)
		book->other.ns[i] += row->ns[i];
	book->other.end_ns += row->end_ns - row->begin_ns; /* from begin_ns 0: the wall */
}

static void on_record(void *state, const struct rec_hdr *record)
{
	const struct rec_ledger *row = (const struct rec_ledger *)record;
	struct ledger_book *book = state;
	u32 *slot = find_slot(book, row);

	if (!*slot && book->count == LEDGER_ROWS_MAX) {
		fold(book, row);
		return;
	}
	if (!*slot)
		*slot = (u32)++book->count;
	/* A thread is read while it lives, and tells its end: the last word holds. */
	if (!(book->rows[*slot - 1].flags & LEDGER_LAST))
		book->rows[*slot - 1] = *row;
}

#define ACCOUNTS "ledger_tasks", "ledger_pids", "ledger_cpus", "split_off"

static const struct probe probes[] = {
	{.program = "ledger_switch",
	 .maps = {"ledger_waits", ACCOUNTS, "ledger_sums", "ledger_blank", "object_ids"},
	 .fill = ledger_waits,
	 .fill_count = WAIT_TABLE_MAX},
	{.program = "ledger_waking", .maps = {ACCOUNTS}},
	{.program = "ledger_wakeup", .maps = {ACCOUNTS}},
	{.program = "ledger_wakeup_new", .maps = {ACCOUNTS}},
	{.program = "ledger_softirq_entry", .is_optional = true, .maps = {ACCOUNTS}},
	{.program = "ledger_softirq_exit", .is_optional = true, .maps = {ACCOUNTS}},
	{.program = "ledger_irq_entry", .is_optional = true, .maps = {ACCOUNTS}},
	{.program = "ledger_irq_exit", .is_optional = true, .maps = {ACCOUNTS}},
	{.program = "ledger_timer_entry", .is_optional = true, .maps = {ACCOUNTS}},
	{.program = "ledger_timer_exit", .is_optional = true, .maps = {ACCOUNTS}},
	{.program = "ledger_newtask", .maps = {ACCOUNTS, "ledger_blank_task"}},
	{.program = "ledger_exec",
	 .maps = {ACCOUNTS, "ledger_sums", "ledger_blank", "ledger_blank_task"}},
	{.program = "ledger_rename", .is_optional = true, .maps = {ACCOUNTS, "ledger_blank_task"}},
	{.program = "ledger_cgroup", .is_optional = true, .maps = {ACCOUNTS, "ledger_blank_task"}},
	{.program = "ledger_seed",
	 .kind = PROBE_ITER,
	 .maps = {"ledger_waits", ACCOUNTS, "object_ids", "ledger_blank_task"},
	 .fill = ledger_waits_compat,
	 .fill_count = WAIT_TABLE_MAX},
	{.program = "ledger_rows", .kind = PROBE_ITER, .maps = {ACCOUNTS, "ledger_scratch"}},
};

const struct signal signal_ledger = {
	.about = "where every nanosecond of each thread went",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.state_size = sizeof(struct ledger_book),
	.on_record = on_record,
};
