// SPDX-License-Identifier: Apache-2.0
/* The ledger's tables of a session; docs/session.md says what is in them. */
#include "book.h"

const struct table ledger_tables[LEDGER_TABLE_COUNT] = {
	[TABLE_THREADS] = {.name = "threads",
			   .about = "thread",
			   .columns = "id INTEGER PRIMARY KEY, pid INTEGER, "
				      "process_start_ns INTEGER, tid INTEGER, start_ns INTEGER, "
				      "begin_ns INTEGER, end_ns INTEGER, comm TEXT, "
				      "is_kernel INTEGER, is_dead INTEGER, threads INTEGER, "
				      "voluntary INTEGER, involuntary INTEGER, "
				      "kernel_voluntary INTEGER, kernel_involuntary INTEGER, "
				      "kernel_exec_ns INTEGER, kernel_delay_ns INTEGER, "
				      "missed INTEGER, unnamed INTEGER, account_ns INTEGER",
			   .width = 20},
	/* Each row is written once, so there is no key to keep: an index would double the cost. */
	[TABLE_LEDGER] = {.name = "ledger",
			  .about = "window, thread and cause",
			  .columns =
				  "window INTEGER, thread INTEGER, state INTEGER, "
				  "call INTEGER, object INTEGER, holder INTEGER, "
				  "waker INTEGER, waker_kind INTEGER, ns INTEGER, count INTEGER, "
				  "end_ns INTEGER",
			  .width = 11,
			  .object_columns = 1U << 4},
	[TABLE_RIVALS] = {.name = "rivals",
			  .about = "window, thread and thread that ran instead",
			  .columns = "window INTEGER, thread INTEGER, pid INTEGER, tid INTEGER, "
				     "comm TEXT, policy INTEGER, ns INTEGER",
			  .width = 7},
	[TABLE_LOOPS] = {.name = "loops",
			 .about = "window and thread with long turns of an event loop",
			 .columns = "window INTEGER, thread INTEGER, turns INTEGER, "
				    "long_turns INTEGER, long_ns INTEGER, max_ns INTEGER",
			 .width = 6},
	[TABLE_CHAINS] =
		{.name = "chains",
		 .about = "window, wait of a thread, thread that ended it, and what that one did",
		 .columns = "window INTEGER, thread INTEGER, state INTEGER, call INTEGER, "
			    "object INTEGER, culprit_pid INTEGER, culprit_tid INTEGER, "
			    "culprit_comm TEXT, part_state INTEGER, part_call INTEGER, "
			    "part_object INTEGER, part_culprit INTEGER, ns INTEGER",
		 .width = 13,
		 .object_columns = 1U << 4 | 1U << 10},
	[TABLE_THREAD_STATES] = {.name = "thread_states",
				 .about = "thread and state, of a long session: sums of ledger",
				 .columns = "thread INTEGER, state INTEGER, ns INTEGER, "
					    "count INTEGER",
				 .width = 4,
				 .totals_of = "ledger",
				 .totals = 2},
	[TABLE_THREAD_CAUSES] = {.name = "thread_causes",
				 .about = "thread and cause, of a long session: sums of ledger",
				 .columns = "thread INTEGER, state INTEGER, call INTEGER, "
					    "object INTEGER, holder INTEGER, waker INTEGER, "
					    "waker_kind INTEGER, ns INTEGER, count INTEGER",
				 .width = 9,
				 .object_columns = 1U << 3,
				 .totals_of = "ledger",
				 .totals = 2},
	[TABLE_WINDOW_STATES] = {.name = "window_states",
				 .about = "window and state, of a long session: sums of ledger",
				 .columns = "window INTEGER, state INTEGER, ns INTEGER, "
					    "count INTEGER",
				 .width = 4,
				 .totals_of = "ledger",
				 .totals = 2},
};
