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

#define SIGNAL_LOSSES_MAX 8 /* of one signal */

/*
 * Both files are empty and stay the caller's; neither may grow beyond bytes_max (0: as the disk and
 * ulimit allow). 0 or -errno, told.
 */
int worker_session_open(struct worker *worker, int db_fd, int wal_fd, u64 bytes_max);

/* What a file has: it goes on with that window, at that time. */
struct session_extent {
	u64 next_window;
	u64 end_ns;
	u64 is_empty; /* it has no window yet, nor what was sent with the first one */
};

/* A file of a recording: when it began, with which window, and whether it is the first one. */
struct session_begin {
	u64 bytes_max; /* as of worker_session_open() */
	u64 begin_ns;
	u64 window;
	u64 is_first_file;
};

/*
 * The same for files that a worker has left that is gone: the session goes on after its last
 * window. Records are taken when worker_session_continue() says so, once the worker knows what it
 * needs for them. 0 or -errno, told.
 */
int worker_session_resume(struct worker *worker, int db_fd, int wal_fd,
			  const struct session_begin *begin, struct session_extent *ret_extent);
int worker_session_continue(struct worker *worker);

/* Rows of the store's own tables; they belong to the window that ends next: 0 or -errno. */
int worker_session_rows(struct worker *worker, const struct rows *rows);

/*
 * Processes all that is queued now, and writes what every signal has to say of this window, in
 * one transaction with the rows that were sent: 0 or -errno.
 */
int worker_session_window(struct worker *worker, u64 window, u64 begin_ns, u64 end_ns,
			  bool ends_file);

/* Leaves one complete file: 0, or -errno if the -wal is still needed. */
int worker_session_close(struct worker *worker);

/*
 * --- a recording in several files ---
 *
 * While a session is open, worker_session_open() opens the next file of it. After a window that
 * ends_file, which the next file must follow, worker_session_rotate() goes on there. The old file
 * is one that worker_session_finish() makes complete: that may take long, and the queue is not read
 * meanwhile. If a file cannot be opened, nothing has changed. 0 or -errno.
 */
int worker_session_rotate(struct worker *worker);
int worker_session_finish(struct worker *worker);

/* Inside the worker: session_inside.c. */
enum session_job {
	SESSION_WAL,
	SESSION_OPEN,
	SESSION_RESUME,
	SESSION_CONTINUE,
	SESSION_ROWS,
	SESSION_WINDOW,
	SESSION_ROTATE,
	SESSION_FINISH,
	SESSION_CLOSE
};
#define SESSION_JOB_FIRST 0xffff0000u
#define SESSION_JOB_COUNT (SESSION_CLOSE + 1)

/* What comes with SESSION_WINDOW. */
struct window_request {
	u64 window;
	u64 begin_ns;
	u64 end_ns;
	u64 ends_file;
};

struct symbolize;
struct writer;

struct session_file {
	struct writer *writer; /* NULL: it is not open */
	int db_fd;	       /* 0: none; standard files are never sessions */
	int wal_fd;
};

struct session_inside {
	struct symbolize *symbolize;			   /* that has the names */
	struct session_file file;			   /* that is written */
	struct session_file next;			   /* ready to be */
	struct session_file old;			   /* that was, and is not complete yet */
	bool is_held;					   /* no records are taken yet */
	u64 window;					   /* the last one that was written */
	u64 told_losses[SIGNAL_LIMIT][SIGNAL_LOSSES_MAX];  /* that the session has */
	u64 begun_losses[SIGNAL_LIMIT][SIGNAL_LOSSES_MAX]; /* those when that window began */
};

/* Before the worker enters its sandbox. */
void session_inside_prepare(void);

/*
 * Runs one job with the signals' states: the reply's size, of WORKER_MESSAGE_MAX at most, or
 * -errno. A descriptor that it keeps becomes -1.
 */
ssize_t session_inside_run(struct session_inside *session, enum session_job job, int *fd,
			   const void *request, size_t size, void *reply, void *const states[]);

#endif
