/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a session's large tables, one by one, of the part that was asked for: no table is in
 * memory. Only the ledger's are added up first, some LEDGER_ROWS_AT_ONCE of them at a time. Owns
 * nothing. Called by exporters.
 */
#ifndef DWELL_STORE_TIMELINE_ROWS_H
#define DWELL_STORE_TIMELINE_ROWS_H

#include "../model/signal.h"
#include "timeline.h"

#define LEDGER_ROWS_AT_ONCE 2000000 /* of the session's; SQLite sorts them in some 100 MB */

/* What a thread did in a window, by state: the sums over causes. */
struct ledger_row {
	const struct timeline_window *window;
	const struct timeline_thread *thread;
	u32 state;
	u64 ns, count;
	bool is_wanted; /* false: only told so that a caller can keep the thread's time */
};

/* Each gets its row and returns 0 or -errno. */
typedef int ledger_fn(const struct ledger_row *row, void *context);

/*
 * By window, then thread, then state; of windows outside the part too, with is_wanted false: 0 or
 * -errno, told.
 */
int timeline_ledger(const struct timeline *timeline, ledger_fn *on_row, void *context);

struct sample_row {
	const struct timeline_window *window;
	u64 pid, process_start_ns, tid, thread_start_ns;
	u32 kind, state, mode, stop;
	u64 stack; /* id; 0: none */
	u64 waker;
	u64 count, weight_ns;
};

typedef int sample_fn(const struct sample_row *row, void *context);
int timeline_samples(const struct timeline *timeline, sample_fn *on_row, void *context);

/* The values of a series in a window. */
struct series_values_row {
	const struct timeline_window *window;
	u64 signal; /* enum signal_id */
	const struct signal_view *view;
	u32 kind; /* of the view's */
	u64 pid, start_ns, detail, object, more;
	u64 count, sum, max;
	const char *buckets; /* as hist_parse() reads them */
};

typedef int series_fn(const struct series_values_row *row, void *context);

/* Those of signals and measures that this dwell does not know are left out, which is told. */
int timeline_series(const struct timeline *timeline, series_fn *on_row, void *context);

struct slow_row {
	const struct timeline_window *window;
	u64 begin_ns, end_ns;
	char signal[32], kind[32];
	u64 pid, start_ns, tid;
	u64 stack; /* id; 0: none */
	/* What the thread did meanwhile, as far as it is known. */
	u64 cpu_ns, runq_ns, lock_ns, disk_ns, net_ns, other_ns;
};

/* By process and thread, then begin. */
typedef int slow_fn(const struct slow_row *row, void *context);
int timeline_slow(const struct timeline *timeline, slow_fn *on_row, void *context);

#endif
