// SPDX-License-Identifier: Apache-2.0
#include "../../src/base/cleanup.h"
#include "book.h"
#include "wait_table.h"

#define ACCOUNTS "ledger_tasks", "ledger_pids", "ledger_cpus", "split_off"

static const struct probe probes[] = {
	{.program = "ledger_switch",
	 .maps = {"ledger_waits", ACCOUNTS, "ledger_sums", "ledger_blank", "object_ids"},
	 .fills = {{ledger_waits, WAIT_TABLE_MAX}, {ledger_waits_compat, WAIT_TABLE_MAX}}},
	{.program = "ledger_waking", .maps = {ACCOUNTS}},
	{.program = "ledger_wakeup_new", .is_rare = true, .maps = {ACCOUNTS}},
	{.program = "ledger_softirq_entry", .is_optional = true, .maps = {ACCOUNTS}},
	{.program = "ledger_softirq_exit", .is_optional = true, .maps = {ACCOUNTS}},
	{.program = "ledger_irq_entry", .is_rare = true, .is_optional = true, .maps = {ACCOUNTS}},
	{.program = "ledger_irq_exit", .is_rare = true, .is_optional = true, .maps = {ACCOUNTS}},
	{.program = "ledger_work_entry", .is_rare = true, .is_optional = true, .maps = {ACCOUNTS}},
	{.program = "ledger_work_exit", .is_rare = true, .is_optional = true, .maps = {ACCOUNTS}},
	{.program = "ledger_timer_entry", .is_optional = true, .maps = {ACCOUNTS}},
	{.program = "ledger_timer_exit", .is_optional = true, .maps = {ACCOUNTS}},
	{.program = "ledger_newtask", .is_rare = true, .maps = {ACCOUNTS, "ledger_blank_task"}},
	{.program = "ledger_fork",
	 .is_rare = true,
	 .is_optional = true,
	 .maps = {ACCOUNTS, "ledger_blank_task"}},
	{.program = "ledger_exec",
	 .is_rare = true,
	 .maps = {ACCOUNTS, "ledger_sums", "ledger_blank", "ledger_blank_task"}},
	{.program = "ledger_rename",
	 .is_rare = true,
	 .is_optional = true,
	 .maps = {ACCOUNTS, "ledger_blank_task"}},
	{.program = "ledger_cgroup",
	 .is_rare = true,
	 .is_optional = true,
	 .maps = {ACCOUNTS, "ledger_blank_task"}},
	{.program = "ledger_seed",
	 .kind = PROBE_ITER,
	 .maps = {"ledger_waits", ACCOUNTS, "object_ids", "ledger_blank_task"}},
	{.program = "ledger_rows", .kind = PROBE_ITER, .maps = {ACCOUNTS, "ledger_scratch"}},
};

static const struct signal_loss losses[] = {
	{"ledger_no_place",
	 "more threads live than the book has places: their time is missing until one is free, or "
	 "they end",
	 offsetof(struct ledger_book, turned_away)},
};

const struct signal signal_ledger = {
	.about = "where every nanosecond of each thread went",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.state_size = sizeof(struct ledger_book),
	.on_record = book_on_record,
	.tables = ledger_tables,
	.table_count = ARRAY_SIZE(ledger_tables),
	.flush = book_flush,
	.close = book_close,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
};
