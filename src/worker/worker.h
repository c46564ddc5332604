/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unprivileged process: it takes records from the queue, and parses what others wrote
 * (files come as descriptors over a socket pair). It has no capability, no way to get one,
 * and ends with its parent. Started by commands before anything is loaded.
 */
#ifndef DWELL_WORKER_WORKER_H
#define DWELL_WORKER_WORKER_H

#include <stddef.h>
#include <sys/types.h>

#include "../model/queue.h"

#define WORKER_MESSAGE_MAX 4096

/*
 * A job that runs in the worker when worker_call() names it by its place in the table.
 * fd is -1 or the file to read, closed afterwards. Returns the reply's size or -errno.
 */
typedef ssize_t (*worker_job)(int fd, const void *request, size_t request_size, void *reply,
			      size_t reply_size);

struct worker;

/* Forks. Must be called before the process has threads. */
int worker_start(struct queue *queue, const worker_job *jobs, size_t job_count,
		 struct worker **ret_worker);
pid_t worker_pid(const struct worker *worker);

/*
 * While a reply is waited for, this descriptor is watched too: when it can be read, on_ready() is
 * called, and must read it, or end the watching with a descriptor of -1.
 */
void worker_watch(struct worker *worker, int fd, void (*on_ready)(void *context), void *context);

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
