/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the two sides of a worker: worker.c, which asks, and worker_inside.c, which is the
 * unprivileged process. Nobody else includes this.
 */
#ifndef DWELL_WORKER_INSIDE_H
#define DWELL_WORKER_INSIDE_H

#include <stddef.h>

#include "../base/sandbox.h"
#include "worker.h"

/* What goes over the socket: the job's number, then its own bytes. */
struct request {
	u32 job;
	u32 serial; /* echoed by the reply, so that none is taken for another's */
	char bytes[WORKER_MESSAGE_MAX];
};

struct reply {
	s32 size; /* of bytes, or -errno */
	u32 serial;
	char bytes[WORKER_MESSAGE_MAX];
};

#define REQUEST_HEAD	 offsetof(struct request, bytes)
#define REPLY_HEAD	 offsetof(struct reply, bytes)
#define JOB_SIGNAL_STATE 0xffffffffu /* built in; the rest are the caller's table */

/* A page of a signal's state; the first one waits for what is queued by now. */
struct state_page {
	u32 signal_id;
	u32 offset;
};

/* What the process is made of; it is there when it is forked. */
struct worker_setup {
	enum worker_kind kind;
	struct queue *queue;	     /* NULL: it takes no records */
	struct sandbox_notes *notes; /* what its sandbox refused */
	const worker_job *jobs;
	size_t job_count;
};

/* Drops all privileges, and answers until the socket is closed. */
void worker_run_inside(int sock, void *setup);

#endif
