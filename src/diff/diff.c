// SPDX-License-Identifier: Apache-2.0
#include "diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/log.h"
#include "../store/query.h"
#include "reading.h"

#define TEXT_MAX (64u << 20)

const char *const diff_table_names[DIFF_TABLES] = {
	[DIFF_LEDGER] = "ledger",   [DIFF_SERVICE] = "service",	  [DIFF_PROCESS] = "process",
	[DIFF_THREAD] = "thread",   [DIFF_FUNCTION] = "function", [DIFF_STACK] = "stack",
	[DIFF_CALL] = "syscall",    [DIFF_COUNT] = "count",	  [DIFF_LATENCY] = "latency",
	[DIFF_REQUEST] = "request",
};

const char *const diff_measure_names[DIFF_MEASURES] = {
	[DIFF_TIME] = "time", [DIFF_SELF] = "self", [DIFF_TOTAL] = "total", [DIFF_TIMES] = "count",
	[DIFF_MEAN] = "mean", [DIFF_P50] = "p50",   [DIFF_P95] = "p95",	    [DIFF_P99] = "p99",
};

const char *const diff_verdict_names[3] = {
	[DIFF_INCONCLUSIVE] = "inconclusive",
	[DIFF_UNCHANGED] = "unchanged",
	[DIFF_CHANGED] = "changed",
};

const char *const diff_reason_names[DIFF_REASONS] = {
	[DIFF_BY_TEST] = "test",
	[DIFF_BY_SIZE] = "too small to matter",
	[DIFF_FEW_WINDOWS] = "too few windows",
	[DIFF_FEW_EVENTS] = "too few events",
	[DIFF_DRIFTS] = "drifts within a run",
	[DIFF_RUNS_OVERLAP] = "runs overlap",
	[DIFF_OTHERS] = "disturbed by other processes",
	[DIFF_STOLEN] = "disturbed by the hypervisor",
	[DIFF_SPEED] = "the speed of the CPUs can explain it",
};

int diff_init(struct diff *diff, const struct diff_options *options)
{
	*diff = (struct diff){.options = *options};
	strings_init(&diff->strings, TEXT_MAX);
	hash_init(&diff->lines, sizeof(struct diff_line), sizeof(struct diff_key), DIFF_LINES_MAX);
	return 0;
}

void diff_free(struct diff *diff)
{
	for (size_t i = 0; i < diff->lines.count; i++) {
		struct diff_line *line = hash_item(&diff->lines, i);

		free(line->values);
		free(line->events);
		if (line->owns_buckets)
			free(line->buckets);
	}
	hash_free(&diff->lines);
	strings_free(&diff->strings);
	for (size_t i = 0; i < diff->run_count; i++) {
		free(diff->runs[i].facts);
		free(diff->runs[i].bin_of);
	}
	free(diff->order);
}

/* --- windows and bins --- */

static int on_window(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	s64 id = sqlite3_column_int64(row, 0);
	u64 begin_ns = query_count(row, 1), end_ns = query_count(row, 2);
	size_t at;
	int bin;

	if (!reading->start_count)
		reading->first_id = id;
	if (id < reading->first_id || (u64)id - (u64)reading->first_id >= READING_WINDOWS_MAX)
		return -ENOMEM;
	at = (size_t)(id - reading->first_id);
	for (; reading->start_count <= at; reading->start_count++)
		reading->starts[reading->start_count] = begin_ns;
	bin = reading_bin(reading, id);
	if (bin >= 0 && end_ns > begin_ns) {
		struct diff_bin *to = &reading->diff->bins[bin];

		if (to->wall_s == 0)
			to->begin_s = begin_ns > reading->run->started_ns
					      ? (double)(begin_ns - reading->run->started_ns) / 1e9
					      : 0;
		to->wall_s += (double)(end_ns - begin_ns) / 1e9;
	}
	return 0;
}

/* Neighbouring windows share a bin where there are more than bins. */
static int make_bins(struct reading *reading)
{
	struct diff *diff = reading->diff;
	struct diff_run *run = reading->run;
	size_t most = DIFF_BINS_MAX / diff->options.run_count;

	run->bin_count = run->window_count < most ? run->window_count : most;
	run->first_bin = diff->bin_count;
	run->bin_of = calloc(run->window_count, sizeof(*run->bin_of));
	reading->starts = calloc(READING_WINDOWS_MAX, sizeof(*reading->starts));
	if (!run->bin_of || !reading->starts)
		return -ENOMEM;
	for (size_t i = 0; i < run->window_count; i++)
		run->bin_of[i] = (u16)(i * run->bin_count / run->window_count);
	diff->bin_count += run->bin_count;
	return query_table(reading->db, "windows", "id, begin_ns, end_ns", "id", on_window,
			   reading);
}

static int choose_windows(struct reading *reading)
{
	struct diff_run *run = reading->run;
	struct windows windows = {
		.from_ns = run->from_ns, .to_ns = run->to_ns, .start_ns = run->started_ns};
	int err = windows_read(reading->db, &windows);

	if (err)
		return err;
	if (!windows.count) {
		log_error("cannot compare %s: no window of the session is in %s", run->name,
			  windows.is_slice ? "the part that was asked for" : "it");
		return -ENODATA;
	}
	if ((u64)windows.last - (u64)windows.first >= READING_WINDOWS_MAX)
		return -ENOMEM;
	run->first_window = windows.first;
	run->last_window = windows.last;
	run->window_count = (size_t)(windows.last - windows.first) + 1;
	run->begin_ns = windows.begin_ns;
	run->end_ns = windows.end_ns > windows.begin_ns ? windows.end_ns : windows.begin_ns;
	return make_bins(reading);
}

int diff_read(struct diff *diff, sqlite3 *db, int side, const char *name, u64 from_ns, u64 to_ns)
{
	struct diff_run *run = &diff->runs[diff->run_count];
	struct reading reading = {.diff = diff, .run = run, .db = db};
	int (*const parts[])(struct reading * reading) = {
		reading_facts, choose_windows,	reading_tasks,	reading_ledger,
		reading_calls, reading_samples, reading_series, reading_requests,
	};
	int err;

	if (diff->run_count == DIFF_RUNS_MAX || diff->run_count == diff->options.run_count)
		return -E2BIG;
	diff->run_count++;
	*run = (struct diff_run){
		.side = side, .name = name, .from_ns = from_ns, .to_ns = to_ns, .least_covered = 1};
	err = reading_init_tasks(&reading);
	for (size_t i = 0; !err && i < sizeof(parts) / sizeof(parts[0]); i++)
		err = parts[i](&reading);
	free(reading.starts);
	reading_free_tasks(&reading);
	if (!err && diff->strings.was_short)
		err = -ENOMEM;
	if (err == -ENOMEM)
		log_error("not enough memory to compare %s: take a part of it, as FILE@10s-20s",
			  name);
	return err;
}
