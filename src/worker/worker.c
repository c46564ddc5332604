// SPDX-License-Identifier: Apache-2.0
#include "worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/child.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "../base/socket.h"
#include "../model/record.h"
#include "../model/signal.h"
#include "finding.h"
#include "privileges.h"
#include "session.h"
#include "unwinding.h"

#define CALL_TIMEOUT_MS 5000
#define STOP_GRACE_NS	(500 * NS_PER_MS)
#define BATCH_MAX	4096 /* records between two looks at the socket */

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

struct worker {
	struct child child;
	u32 serial;
	int watched_fd; /* -1: none */
	void (*on_ready)(void *context);
	void *context;
};

/* The worker's own side, in the forked process. */
struct inside {
	struct queue *queue;
	int sock;
	const worker_job *jobs;
	size_t job_count;
	struct stack_ids stack_ids;
	struct services services;
	void *states[SIGNAL_LIMIT];
	struct session_inside session;
	struct unwinding_inside unwinding;
	struct finding_inside finding;
};

static int make_services(struct inside *self)
{
	int err = unwinding_inside_open(&self->unwinding);

	if (err)
		return err;
	stack_ids_init(&self->stack_ids, STACK_IDS_MAX);
	self->services =
		(struct services){symbolize_resolver(self->unwinding.symbolize), &self->stack_ids};
	return 0;
}

static int make_states(struct inside *self)
{
	for (int id = 0; id < SIGNAL_LIMIT; id++) {
		if (!signal_rows[id].signal || !signal_rows[id].signal->state_size)
			continue;
		self->states[id] = calloc(1, signal_rows[id].signal->state_size);
		if (!self->states[id])
			return -ENOMEM;
		if (signal_rows[id].signal->open)
			signal_rows[id].signal->open(self->states[id], &self->services);
	}
	return 0;
}

static void process_one(struct inside *self, const void *data, size_t size)
{
	const struct rec_hdr *hdr;
	enum record_verdict verdict = record_check(data, size, &hdr);

	if (verdict == RECORD_OK)
		signal_rows[hdr->type].signal->on_record(self->states[hdr->type], hdr);
	queue_pop(self->queue, verdict, clock_now_ns());
}

/* At most max records; true if some may be left. */
static bool process_queue(struct inside *self, size_t max)
{
	const void *data;
	size_t size;

	for (size_t i = 0; i < max; i++) {
		if (!queue_peek(self->queue, &data, &size))
			return false;
		process_one(self, data, size);
	}
	return true;
}

/* All that is queued by now; what comes later would never end. */
static void process_queued(struct inside *self)
{
	u64 end = queue_end(self->queue);

	while (!queue_has_reached(self->queue, end) && process_queue(self, 1))
		;
}

/* A page of a signal's state; the first one waits for what is queued by now. */
struct state_page {
	u32 signal_id;
	u32 offset;
};

static ssize_t copy_signal_state(struct inside *self, const struct request *request, char *reply)
{
	struct state_page page;
	size_t size;

	memcpy(&page, request->bytes, sizeof(page));
	if (page.signal_id >= SIGNAL_LIMIT || !self->states[page.signal_id])
		return -EINVAL;
	size = signal_rows[page.signal_id].signal->state_size;
	if (page.offset >= size)
		return -EINVAL;
	if (page.offset == 0)
		process_queued(self);
	size -= page.offset;
	if (size > WORKER_MESSAGE_MAX)
		size = WORKER_MESSAGE_MAX;
	memcpy(reply, (char *)self->states[page.signal_id] + page.offset, size);
	return (ssize_t)size;
}

static int run_session_job(struct inside *self, const struct request *request, size_t size, int *fd)
{
	enum session_job job = (enum session_job)(request->job - SESSION_JOB_FIRST);

	if (job == SESSION_WINDOW)
		process_queued(self);
	return session_inside_run(&self->session, job, fd, request->bytes, size, self->states);
}

/* The reply's size or -errno. A descriptor that the job keeps becomes -1. */
static ssize_t run_job(struct inside *self, const struct request *request, size_t size, int *fd,
		       struct reply *reply)
{
	if (request->job == JOB_SIGNAL_STATE && size >= sizeof(struct state_page))
		return copy_signal_state(self, request, reply->bytes);
	if (request->job >= SESSION_JOB_FIRST &&
	    request->job < SESSION_JOB_FIRST + SESSION_JOB_COUNT)
		return run_session_job(self, request, size, fd);
	if (request->job >= UNWINDING_JOB_FIRST &&
	    request->job < UNWINDING_JOB_FIRST + UNWINDING_JOB_COUNT)
		return unwinding_inside_run(
			&self->unwinding, (enum unwinding_job)(request->job - UNWINDING_JOB_FIRST),
			fd, request->bytes, size, reply->bytes, sizeof(reply->bytes));
	if (request->job >= FINDING_JOB_FIRST &&
	    request->job < FINDING_JOB_FIRST + FINDING_JOB_COUNT)
		return finding_inside_run(&self->finding,
					  (enum finding_job)(request->job - FINDING_JOB_FIRST), fd,
					  request->bytes, size, reply->bytes, sizeof(reply->bytes));
	if (request->job < self->job_count)
		return self->jobs[request->job](*fd, request->bytes, size, reply->bytes,
						sizeof(reply->bytes));
	return -ENOSYS;
}

/* False when the parent is gone. */
static bool serve_request(struct inside *self)
{
	struct request request;
	struct reply reply = {0};
	int fd;
	ssize_t got = socket_receive(self->sock, &request, sizeof(request), &fd, -1);

	if (got < (ssize_t)REQUEST_HEAD)
		return false;
	reply.size = (s32)run_job(self, &request, (size_t)got - REQUEST_HEAD, &fd, &reply);
	if (fd >= 0)
		close(fd);
	reply.serial = request.serial;
	return !socket_send(self->sock, &reply,
			    REPLY_HEAD + (reply.size > 0 ? (size_t)reply.size : 0), -1);
}

static void loop(struct inside *self)
{
	struct pollfd ready[] = {
		{.fd = self->sock, .events = POLLIN},
		{.fd = queue_wake_fd(self->queue), .events = POLLIN},
	};
	bool more = false;

	for (;;) {
		if (poll(ready, 2, more ? 0 : -1) < 0 && errno != EINTR)
			return;
		if (ready[0].revents && !serve_request(self))
			return;
		if (ready[1].revents)
			queue_clear_wakes(self->queue);
		more = process_queue(self, BATCH_MAX);
	}
}

static void run_inside(int sock, void *context)
{
	struct inside *self = context;
	int err = privileges_drop();

	self->sock = sock;
	if (!err)
		err = child_die_with_parent();
	if (!err)
		err = make_services(self);
	if (!err)
		err = make_states(self);
	if (err) {
		log_error("cannot start the unprivileged worker: dropping privileges failed: %s; "
			  "run as root, or without any capability at all",
			  strerror(-err));
		return;
	}
	loop(self);
}

int worker_start(struct queue *queue, const worker_job *jobs, size_t job_count,
		 struct worker **ret_worker)
{
	struct inside inside = {.queue = queue, .jobs = jobs, .job_count = job_count};
	struct worker *worker = calloc(1, sizeof(*worker));
	int err;

	if (!worker)
		return -ENOMEM;
	err = child_start(&worker->child, run_inside, &inside, queue_wake_fd(queue));
	if (err) {
		free(worker);
		return err;
	}
	worker->watched_fd = -1;
	*ret_worker = worker;
	return 0;
}

void worker_watch(struct worker *worker, int fd, void (*on_ready)(void *context), void *context)
{
	worker->watched_fd = fd;
	worker->on_ready = on_ready;
	worker->context = context;
}

pid_t worker_pid(const struct worker *worker)
{
	return worker->child.pid;
}

/* Until there is a reply: 0, -ETIMEDOUT or -errno. */
static int wait_for_reply(struct worker *worker, int timeout_ms)
{
	u64 deadline = clock_now_ns() + (u64)timeout_ms * NS_PER_MS;

	for (;;) {
		struct pollfd ready[] = {
			{.fd = worker->child.sock, .events = POLLIN},
			{.fd = worker->watched_fd, .events = POLLIN},
		};
		u64 now = clock_now_ns();

		if (now >= deadline)
			return -ETIMEDOUT;
		if (poll(ready, 2, (int)((deadline - now) / NS_PER_MS) + 1) < 0 && errno != EINTR)
			return -errno;
		if (ready[0].revents)
			return 0;
		if (ready[1].revents)
			worker->on_ready(worker->context);
	}
}

/* One exchange: the reply's size or -errno. The worker may have been taken over: believe little. */
static ssize_t exchange(struct worker *worker, const struct request *out, size_t out_size, int fd,
			struct reply *in, int timeout_ms)
{
	int err = socket_send(worker->child.sock, out, out_size, fd);
	ssize_t got;

	if (!err)
		err = wait_for_reply(worker, timeout_ms);
	if (err)
		return err;
	got = socket_receive(worker->child.sock, in, sizeof(*in), NULL, 0);
	if (got <= 0)
		return got ? got : -EPIPE;
	if (got < (ssize_t)REPLY_HEAD || in->size > got - (ssize_t)REPLY_HEAD ||
	    in->serial != out->serial)
		return -EBADMSG;
	return 0;
}

ssize_t worker_call_within(struct worker *worker, size_t job, int fd, const void *request,
			   size_t request_size, void *reply, size_t reply_size, int timeout_ms)
{
	struct request out = {.job = (u32)job, .serial = ++worker->serial};
	struct reply in;
	ssize_t err;

	if (request_size > sizeof(out.bytes))
		return -EMSGSIZE;
	if (request_size)
		memcpy(out.bytes, request, request_size);
	err = exchange(worker, &out, REQUEST_HEAD + request_size, fd, &in, timeout_ms);
	if (err) {
		kill(worker->child.pid, SIGKILL); /* late, deaf or mad: it is not asked again */
		return err;
	}
	if (in.size < 0)
		return in.size;
	if ((size_t)in.size > reply_size)
		return -EMSGSIZE;
	if (in.size)
		memcpy(reply, in.bytes, (size_t)in.size);
	return in.size;
}

ssize_t worker_call(struct worker *worker, size_t job, int fd, const void *request,
		    size_t request_size, void *reply, size_t reply_size)
{
	return worker_call_within(worker, job, fd, request, request_size, reply, reply_size,
				  CALL_TIMEOUT_MS);
}

ssize_t worker_signal_state(struct worker *worker, int signal_id, void *state, size_t size)
{
	struct state_page page = {.signal_id = (u32)signal_id};

	while (page.offset < size) {
		ssize_t got = worker_call(worker, JOB_SIGNAL_STATE, -1, &page, sizeof(page),
					  (char *)state + page.offset, size - page.offset);

		if (got <= 0)
			return got ? got : -EBADMSG;
		page.offset += (u32)got;
	}
	return (ssize_t)size;
}

void worker_stop(struct worker *worker)
{
	if (!worker)
		return;
	child_stop(&worker->child, STOP_GRACE_NS);
	free(worker);
}
