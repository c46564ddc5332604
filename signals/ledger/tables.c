// SPDX-License-Identifier: Apache-2.0
/* The ledger's tables of a session; docs/session.md says what is in them. */
#include "book.h"

const struct table ledger_tables[LEDGER_TABLE_COUNT] = {
	[TABLE_THREADS] =
		{.name = "threads",
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
			  .columns =
				  "window INTEGER, thread INTEGER, state INTEGER, "
				  "call INTEGER, object INTEGER, holder INTEGER, "
				  "waker INTEGER, waker_kind INTEGER, ns INTEGER, count INTEGER, "
				  "end_ns INTEGER",
			  .width = 11,
			  .object_columns = 1U << 4},
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
			  .width = 13,
			  .object_columns = 1U << 4 | 1U << 10},
};
