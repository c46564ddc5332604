// SPDX-License-Identifier: Apache-2.0
/* The unprivileged process: it takes records, and jobs. */
#include "worker_inside.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
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
#include "cgroup_paths.h"
#include "finding.h"
#include "privileges.h"
#include "session.h"
#include "unwinding.h"

#define BATCH_MAX 4096 /* records between two looks at the sockets */

/* The worker's own side, in the forked process. */
struct inside {
	const struct worker_setup *setup;
	struct queue *queue;
	int sock;
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

/* Whoever continues a session learns what it has before any record comes. */
static bool takes_records(const struct inside *self)
{
	return self->setup->kind == WORKER_WHOLE ||
	       (self->session.file.writer && !self->session.is_held);
}

/* At most max records; true if some may be left. */
static bool process_queue(struct inside *self, size_t max)
{
	const void *data;
	size_t size;

	if (!takes_records(self))
		return false;
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

static ssize_t run_session_job(struct inside *self, const struct request *request, size_t size,
			       int *fd, struct reply *reply)
{
	enum session_job job = (enum session_job)(request->job - SESSION_JOB_FIRST);
	ssize_t got;

	if (job == SESSION_WINDOW)
		process_queued(self);
	got = session_inside_run(&self->session, job, fd, request->bytes, size, reply->bytes,
				 self->states);
	if (job == SESSION_WINDOW)
		symbolize_send_questions(self->unwinding.symbolize);
	if (job == SESSION_WINDOW && self->setup->kind == WORKER_WHOLE)
		symbolize_reclaim(self->unwinding.symbolize, clock_now_ns());
	return got;
}

static ssize_t run_cgroup_job(struct inside *self, const struct request *request, size_t size,
			      struct reply *reply)
{
	enum cgroup_job job = (enum cgroup_job)(request->job - CGROUP_JOB_FIRST);

	if (job == CGROUP_WANTED)
		process_queued(self);
	return cgroup_inside_run(job, request->bytes, size, reply->bytes, sizeof(reply->bytes),
				 self->states);
}

/* The reply's size or -errno. A descriptor that the job keeps becomes -1. */
static ssize_t run_job(struct inside *self, const struct request *request, size_t size, int *fd,
		       struct reply *reply)
{
	if (request->job == JOB_SIGNAL_STATE && size >= sizeof(struct state_page))
		return copy_signal_state(self, request, reply->bytes);
	if (request->job >= SESSION_JOB_FIRST &&
	    request->job < SESSION_JOB_FIRST + SESSION_JOB_COUNT)
		return run_session_job(self, request, size, fd, reply);
	if (request->job >= CGROUP_JOB_FIRST && request->job < CGROUP_JOB_FIRST + CGROUP_JOB_COUNT)
		return run_cgroup_job(self, request, size, reply);
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
	if (request->job < self->setup->job_count)
		return self->setup->jobs[request->job](*fd, request->bytes, size, reply->bytes,
						       sizeof(reply->bytes));
	return -ENOSYS;
}

/* False when the parent is gone. */
static bool serve_request(struct inside *self)
{
	struct request request;
	struct reply reply = {0};
	int fd, err;
	ssize_t got = socket_receive(self->sock, &request, sizeof(request), &fd, -1);

	if (got < (ssize_t)REQUEST_HEAD)
		return false;
	reply.size = (s32)run_job(self, &request, (size_t)got - REQUEST_HEAD, &fd, &reply);
	if (fd >= 0)
		close(fd);
	reply.serial = request.serial;
	err = socket_send(self->sock, &reply,
			  REPLY_HEAD + (reply.size > 0 ? (size_t)reply.size : 0), -1);
	if (err && err != -EPIPE && err != -ECONNRESET)
		log_error("the worker process ends: it cannot answer: %s", strerror(-err));
	unwinding_inside_rest(&self->unwinding);
	return !err;
}

/*
 * Facts come one by one, thousands in a burst, and a wake-up costs more than what it brings: after
 * some of them, the next are left to gather. A record that needs one has it read at once.
 */
#define FACTS_PAUSE_NS (5 * NS_PER_MS)

static int pause_ms(u64 until_ns)
{
	u64 now_ns = clock_now_ns();

	return now_ns < until_ns ? (int)((until_ns - now_ns) / NS_PER_MS) + 1 : 0;
}

/* Takes records; where a name is known only to the symbolizer, that is asked, and not waited for.
 */
static void take_records(struct inside *self)
{
	struct symbolize *symbolize = self->unwinding.symbolize;
	struct pollfd ready[] = {
		{.fd = self->sock, .events = POLLIN},
		{.fd = queue_wake_fd(self->queue), .events = POLLIN},
		{.events = POLLIN},
	};
	u64 facts_ns = 0; /* not before then */
	bool more = false;

	for (;;) {
		int left_ms = pause_ms(facts_ns);

		ready[2].fd = left_ms ? -1 : symbolize_facts_fd(symbolize);
		if (poll(ready, 3, more ? 0 : left_ms ? left_ms : -1) < 0 && errno != EINTR)
			return;
		if (ready[0].revents && !serve_request(self))
			return;
		if (ready[1].revents)
			queue_clear_wakes(self->queue);
		if (ready[2].revents) {
			symbolize_take_facts(symbolize);
			facts_ns = clock_now_ns() + FACTS_PAUSE_NS;
		}
		more = process_queue(self, BATCH_MAX);
		symbolize_send_due_questions(symbolize);
	}
}

/* Requests first: a process that begins needs its tables sooner than a function its name. */
static void read_files(struct inside *self)
{
	struct symbolize *symbolize = self->unwinding.symbolize;
	struct pollfd ready[] = {
		{.fd = self->sock, .events = POLLIN},
		{.events = POLLIN},
	};
	bool more = false;

	for (;;) {
		ready[1].fd = symbolize_questions_fd(symbolize);
		if (poll(ready, 2, more ? 0 : -1) < 0 && errno != EINTR)
			return;
		if (ready[0].revents && !serve_request(self))
			return;
		symbolize_take_questions(symbolize);
		more = symbolize_answer_one(symbolize);
		if (!more)
			symbolize_reclaim(symbolize, clock_now_ns());
	}
}

/*
 * Large blocks are mapped and given back one by one. By default glibc raises its threshold up to 32
 * MB as such blocks are freed, and what is freed then stays between others: tables come and go
 * here.
 */
static void bound_heap(void)
{
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

static int prepare(struct inside *self)
{
	int err = make_services(self);

	if (!err && self->setup->kind != WORKER_SYMBOLIZER)
		err = make_states(self);
	if (!err)
		session_inside_prepare();
	self->session.symbolize = self->unwinding.symbolize;
	return err;
}

static const char *const names[] = {
	[WORKER_WHOLE] = "dwell-worker",
	[WORKER_INGEST] = "dwell-ingest",
	[WORKER_SYMBOLIZER] = "dwell-symbolize",
};

void worker_run_inside(int sock, void *context)
{
	struct inside self = {.setup = context, .sock = sock};
	int err = privileges_drop();

	child_set_name(names[self.setup->kind]);
	bound_heap();
	if (!err)
		err = child_die_with_parent();
	if (err == -EPERM) {
		log_error("cannot start the unprivileged worker: dropping privileges failed: %s; "
			  "run as root, or without any capability at all",
			  strerror(-err));
		return;
	}
	self.queue = self.setup->queue;
	if (!err)
		err = prepare(&self);
	if (err) {
		log_error("cannot start the unprivileged worker: %s; free some memory",
			  strerror(-err));
		return;
	}
	err = sandbox_enter(SANDBOX_PARSER, self.setup->notes);
	if (err) {
		log_error("cannot start the unprivileged worker: entering its sandbox failed: %s",
			  strerror(-err));
		return;
	}
	if (self.setup->kind == WORKER_SYMBOLIZER) {
		read_files(&self);
		return;
	}
	queue_take_over(self.queue);
	take_records(&self);
}
