/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of diff_read() share: the session that is being read, and adding to lines. The
 * parts are one file each: tasks and the ledger, samples, system calls, series. Owns what it has
 * of a session, until that is read.
 */
#ifndef DWELL_DIFF_READING_H
#define DWELL_DIFF_READING_H

#include "../store/query.h"
#include "../store/windows.h"
#include "diff.h"

#define READING_TASKS_MAX 500000

/* A process or a thread of a session, by names that other sessions have too. */
struct reading_process {
	u64 pid, start_ns; /* the key */
	u32 comm, service;
	bool is_left_out; /* the kernel's, or not asked for */
	u32 group;	  /* of the ledger: 1 + index; 0: not looked up yet */
};

struct reading_thread {
	u64 id; /* the key */
	u64 begin_ns;
	u32 process; /* index */
	u32 comm;
	bool is_left_out;
	s64 last_window; /* of its rows in the ledger so far */
	s64 span_first;	 /* its row of last_window covers from here on */
	bool has_row;
	u32 line; /* number; 0: not looked up yet */
};

struct reading {
	struct diff *diff;
	struct diff_run *run;
	sqlite3 *db;
	struct session_part part; /* which processes are compared */
	u64 *starts;		  /* of all windows of the session, by id from first_id on */
	s64 first_id;
	size_t start_count;
	struct hash processes, threads;
	bool is_survey; /* of sums over all windows, as one bin: survey.c */
};

#define READING_WINDOWS_MAX 1000000

int reading_init_tasks(struct reading *reading); /* 0 or -errno, told */
void reading_free_tasks(struct reading *reading);

/*
 * Rows of a table by window; in a survey the sums of it, in a window 0. columns without the window,
 * which is put first. sums: the name of the sums, without "_sums".
 */
int reading_rows(struct reading *reading, const char *table, const char *sums, const char *columns,
		 query_row_fn *on_row, void *context);

/* The bin of a window, or -1 if it is not in the part that is compared. */
int reading_bin(const struct reading *reading, s64 window);

/* A text's number; 0 if there is none, or no more room. */
u32 reading_text(struct reading *reading, const char *text);
u32 reading_column(struct reading *reading, sqlite3_stmt *row, int column);

/*
 * The line of this key, new or not; NULL: no more room, or *err is -ENOMEM. value is what it is
 * asked for: without room, that is counted.
 */
struct diff_line *reading_line(struct reading *reading, const struct diff_key *key, double value,
			       int *err);

/*
 * The same as a number that stays valid, for loops over rows: 1 + the line's index, or
 * READING_NO_ROOM, of which the caller counts all but the first value; 0: *err.
 */
#define READING_NO_ROOM (~0U)
u32 reading_line_number(struct reading *reading, const struct diff_key *key, double value,
			int *err);

/*
 * Of a mean's line: events, and histograms for its percentiles, as far as there is room. 0 or
 * -ENOMEM. Lines may move: it is where the line is now.
 */
int reading_make_events(struct reading *reading, struct diff_line **line);

/* To the mean of this key, and its percentiles: values of a bin. */
int reading_add_mean(struct reading *reading, const struct diff_key *key, const struct hist *hist,
		     int bin, u64 count, u64 sum);

/* By pid and start; NULL: not known. */
const struct reading_process *reading_process(const struct reading *reading, u64 pid, u64 start_ns);

/* Whose rows count? NULL: of nobody, or of a process that is not known. */
static inline bool reading_leaves_out(const struct reading *reading,
				      const struct reading_process *process)
{
	return process ? process->is_left_out : reading->part.chosen && !reading->is_survey;
}

/* The parts, each 0 or -errno, told. */
int reading_facts(struct reading *reading);
int reading_tasks(struct reading *reading);
int reading_ledger(struct reading *reading);
int reading_calls(struct reading *reading);
int reading_samples(struct reading *reading);
int reading_series(struct reading *reading);
int reading_requests(struct reading *reading);

#endif
