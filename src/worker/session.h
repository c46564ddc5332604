/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session as the worker writes it. The first part is for commands, who send descriptors and
 * rows; the second is the worker's own. What the worker answers is an errno and nothing more.
 */
#ifndef DWELL_WORKER_SESSION_H
#define DWELL_WORKER_SESSION_H

#include "../../abi/records.h"
#include "../store/rows.h"
#include "worker.h"

#define SIGNAL_LOSSES_MAX 4 /* of one signal */

/*
 * Both files are empty and stay the caller's; neither may grow beyond bytes_max (0: as the disk and
 * ulimit allow). 0 or -errno, told.
 */
int worker_session_open(struct worker *worker, int db_fd, int wal_fd, u64 bytes_max);

/* Rows of the store's own tables; they belong to the window that ends next: 0 or -errno. */
int worker_session_rows(struct worker *worker, const struct rows *rows);

/*
 * Processes all that is queued now, and writes what every signal has to say of this window, in
 * one transaction with the rows that were sent: 0 or -errno.
 */
int worker_session_window(struct worker *worker, u64 window, u64 begin_ns, u64 end_ns);

/* Leaves one complete file: 0, or -errno if the -wal is still needed. */
int worker_session_close(struct worker *worker);

/* Inside the worker. */
enum session_job { SESSION_WAL, SESSION_OPEN, SESSION_ROWS, SESSION_WINDOW, SESSION_CLOSE };
#define SESSION_JOB_FIRST 0xffff0000u
#define SESSION_JOB_COUNT (SESSION_CLOSE + 1)

struct writer;

struct session_inside {
	struct writer *writer; /* NULL: no session is open */
	int db_fd;	       /* 0: none; standard files are never sessions */
	int wal_fd;
	u64 window;					   /* the last one that was written */
	u64 told_losses[SIGNAL_LIMIT][SIGNAL_LOSSES_MAX];  /* that the session has */
	u64 begun_losses[SIGNAL_LIMIT][SIGNAL_LOSSES_MAX]; /* those when that window began */
};

/* Runs one job with the signals' states: 0 or -errno. A descriptor that it keeps becomes -1. */
int session_inside_run(struct session_inside *session, enum session_job job, int *fd,
		       const void *request, size_t size, void *const states[]);

#endif
