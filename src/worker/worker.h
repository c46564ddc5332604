/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unprivileged process: it takes records from the queue, and parses what others wrote
 * (files come as descriptors over a socket pair). It has no capability, no way to get one,
 * and ends with its parent. Started by commands before anything is loaded.
 */
#ifndef DWELL_WORKER_WORKER_H
#define DWELL_WORKER_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "../base/spawner.h"
#include "../model/queue.h"

#define WORKER_MESSAGE_MAX 4096

/*
 * A job that runs in the worker when worker_call() names it by its place in the table.
 * fd is -1 or the file to read, closed afterwards. Returns the reply's size or -errno.
 */
typedef ssize_t (*worker_job)(int fd, const void *request, size_t request_size, void *reply,
			      size_t reply_size);

struct worker;

/* Forks one that does it all. Must be called before the process has threads. */
int worker_start(struct queue *queue, const worker_job *jobs, size_t job_count,
		 struct worker **ret_worker);

/*
 * --- in two processes, each of which can be replaced while the other works ---
 *
 * Ingest takes records and writes the session; the symbolizer reads files. The spawner forks them:
 * their roles are made before it is started, and are to be freed after it was stopped.
 */
enum worker_kind {
	WORKER_WHOLE,
	WORKER_INGEST,
	WORKER_SYMBOLIZER,
};

/* The queue is NULL for the symbolizer. 0 or -errno. */
int worker_make_role(enum worker_kind kind, struct queue *queue, struct spawner_role *ret_role);
void worker_free_role(struct spawner_role *role);

/* role: its place in the spawner's table, and what is there. 0 or -errno. */
int worker_spawn(struct spawner *spawner, size_t place, const struct spawner_role *role,
		 struct worker **ret_worker);

/* Another process instead of one that failed: 0 or -errno. It knows nothing of what that knew. */
int worker_replace(struct worker *worker);

pid_t worker_pid(const struct worker *worker);

/* 0 while it answers; else -errno of the first call that got no answer. It is not asked again. */
int worker_failure(const struct worker *worker);

/* It has died, or was ended as it did not answer. */
bool worker_has_ended(const struct worker *worker);

/*
 * A symbolizer that waits in one read, of a file system that may never answer, for two seconds is
 * ended: within a call, or here where none is under way. True if it was.
 */
bool worker_end_stalled(struct worker *worker);

/* In which read it was ended. The kernel may keep it nevertheless, as long as that takes. */
struct worker_stall {
	u64 dev;    /* of the file */
	int pid_fd; /* readable when the process has ended; -1: it was not ended so */
};

/* Once; the descriptor is the caller's. */
struct worker_stall worker_take_stall(struct worker *worker);

/*
 * What else happens while a reply is waited for: this descriptor is watched, and when it can be
 * read, on_ready() is called, which must read it, or end the watching with a descriptor of -1; and
 * on_due() is called at due(), which is asked again each time. Either may be NULL. A call to the
 * same worker from within them is refused with -EBUSY.
 */
struct worker_meanwhile {
	int fd;
	void (*on_ready)(void *context);
	u64 (*due)(void *context);
	void (*on_due)(void *context);
	void *context;
};

void worker_watch(struct worker *worker, const struct worker_meanwhile *meanwhile);

/* Runs one job: the reply's size or -errno; -EPIPE when the worker is gone, -ETIMEDOUT. */
ssize_t worker_call(struct worker *worker, size_t job, int fd, const void *request,
		    size_t request_size, void *reply, size_t reply_size);

/* The same for one that may take longer. */
ssize_t worker_call_within(struct worker *worker, size_t job, int fd, const void *request,
			   size_t request_size, void *reply, size_t reply_size, int timeout_ms);

/* Processes all that is queued now, then copies the first size bytes of a signal's state: size or
 * -errno. */
ssize_t worker_signal_state(struct worker *worker, int signal_id, void *state, size_t size);

/* Ends the worker, at once if it does not answer. NULL is allowed. */
void worker_stop(struct worker *worker);

#endif
