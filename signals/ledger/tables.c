// SPDX-License-Identifier: Apache-2.0
/* The ledger's tables of a session; docs/session.md says what is in them. */
#include "../../src/base/cleanup.h"
#include "../../src/base/clock.h"
#include "book.h"

#define COLUMN(i) (1U << (i))

static const struct table_sums ledger_sums[] = {
	{.table = {.name = "ledger_sums",
		   .about = "thread and cause, of a long session: sums of ledger",
		   .columns = "thread INTEGER, state INTEGER, call INTEGER, object INTEGER, "
			      "holder INTEGER, waker INTEGER, waker_kind INTEGER, ns INTEGER, "
			      "count INTEGER",
		   .width = 9,
		   .sums_of = "ledger"},
	 .keys = COLUMN(8) - COLUMN(1), /* 1 to 7 */
	 .sums = COLUMN(8) | COLUMN(9),
	 .max = 131072},
	{.table = {.name = "window_sums",
		   .about = "window and state, of a long session: sums of ledger",
		   .columns = "window INTEGER, state INTEGER, ns INTEGER, count INTEGER, "
			      "steps INTEGER",
		   .width = 5,
		   .sums_of = "ledger"},
	 .keys = COLUMN(0) | COLUMN(2),
	 .sums = COLUMN(8) | COLUMN(9),
	 .max = 4096,
	 .window_ns = NS_PER_S},
};

static const struct table_sums rivals_sums[] = {
	{.table = {.name = "rivals_sums",
		   .about = "thread and thread that ran instead, of a long session: sums of rivals",
		   .columns =
			   "thread INTEGER, pid INTEGER, tid INTEGER, comm TEXT, policy INTEGER, "
			   "ns INTEGER",
		   .width = 6,
		   .sums_of = "rivals"},
	 .keys = COLUMN(6) - COLUMN(1), /* 1 to 5 */
	 .texts = COLUMN(4),
	 .sums = COLUMN(6),
	 .max = 32768},
};

static const struct table_sums chains_sums[] = {
	{.table = {.name = "chains_sums",
		   .about = "wait of a thread and what who ended it did, of a long session: sums "
			    "of chains",
		   .columns = "thread INTEGER, state INTEGER, call INTEGER, object INTEGER, "
			      "culprit_pid INTEGER, culprit_tid INTEGER, culprit_comm TEXT, "
			      "part_state INTEGER, part_call INTEGER, part_object INTEGER, "
			      "part_culprit INTEGER, ns INTEGER",
		   .width = 12,
		   .sums_of = "chains"},
	 .keys = COLUMN(12) - COLUMN(1), /* 1 to 11 */
	 .texts = COLUMN(7),
	 .sums = COLUMN(12),
	 .max = 32768},
};

const struct table ledger_tables[LEDGER_TABLE_COUNT] = {
	[TABLE_THREADS] =
		{.name = "threads",
		 .about = "thread",
		 .columns = "id INTEGER PRIMARY KEY, pid INTEGER, "
			    "process_start_ns INTEGER, tid INTEGER, start_ns INTEGER, "
			    "begin_ns INTEGER, end_ns INTEGER, comm TEXT, "
			    "is_kernel INTEGER, is_dead INTEGER, threads INTEGER, "
			    "voluntary INTEGER, involuntary INTEGER, "
			    "kernel_voluntary INTEGER, kernel_involuntary INTEGER, "
			    "kernel_exec_ns INTEGER, kernel_delay_ns INTEGER, "
			    "missed INTEGER, unnamed INTEGER, account_ns INTEGER",
		 .width = 20,
		 /* A sum of ended threads (begin_ns is 0) has only what its own file has. */
		 .continued =
			 "(id) DO UPDATE SET end_ns = CASE begin_ns WHEN 0 THEN end_ns + "
			 "excluded.end_ns ELSE "
			 "excluded.end_ns END, threads = CASE begin_ns WHEN 0 THEN threads + "
			 "excluded.threads ELSE "
			 "threads END, comm = excluded.comm, is_dead = excluded.is_dead, "
			 "voluntary = voluntary + excluded.voluntary, "
			 "involuntary = involuntary + excluded.involuntary, "
			 "kernel_voluntary = kernel_voluntary + excluded.kernel_voluntary, "
			 "kernel_involuntary = kernel_involuntary + excluded.kernel_involuntary, "
			 "kernel_exec_ns = kernel_exec_ns + excluded.kernel_exec_ns, "
			 "kernel_delay_ns = kernel_delay_ns + excluded.kernel_delay_ns, "
			 "missed = missed + excluded.missed, unnamed = unnamed + excluded.unnamed"},
	/* Each row is written once, so there is no key to keep: an index would double the cost. */
	[TABLE_LEDGER] = {.name = "ledger",
			  .about = "window, thread and cause",
			  .columns =
				  "window INTEGER, thread INTEGER, state INTEGER, "
				  "call INTEGER, object INTEGER, holder INTEGER, "
				  "waker INTEGER, waker_kind INTEGER, ns INTEGER, count INTEGER, "
				  "end_ns INTEGER",
			  .width = 11,
			  .object_columns = COLUMN(4),
			  .sums = ledger_sums,
			  .sums_count = ARRAY_SIZE(ledger_sums)},
	[TABLE_RIVALS] = {.name = "rivals",
			  .about = "window, thread and thread that ran instead",
			  .columns = "window INTEGER, thread INTEGER, pid INTEGER, tid INTEGER, "
				     "comm TEXT, policy INTEGER, ns INTEGER",
			  .width = 7,
			  .sums = rivals_sums,
			  .sums_count = ARRAY_SIZE(rivals_sums)},
	[TABLE_LOOPS] = {.name = "loops",
			 .about = "window and thread with long turns of an event loop",
			 .columns = "window INTEGER, thread INTEGER, turns INTEGER, "
				    "long_turns INTEGER, long_ns INTEGER, max_ns INTEGER",
			 .width = 6},
	[TABLE_CHAINS] = {.name = "chains",
			  .about = "window, wait of a thread, thread that ended it, and what "
				   "that one did",
			  .columns = "window INTEGER, thread INTEGER, state INTEGER, call INTEGER, "
				     "object INTEGER, culprit_pid INTEGER, culprit_tid INTEGER, "
				     "culprit_comm TEXT, part_state INTEGER, part_call INTEGER, "
				     "part_object INTEGER, part_culprit INTEGER, ns INTEGER",
			  .width = 13,
			  .object_columns = COLUMN(4) | COLUMN(10),
			  .sums = chains_sums,
			  .sums_count = ARRAY_SIZE(chains_sums)},
};
