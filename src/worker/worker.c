// SPDX-License-Identifier: Apache-2.0
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/blocked_read.h"
#include "../base/child.h"
#include "../base/clock.h"
#include "../base/socket.h"
#include "privileges.h"
#include "worker_inside.h"

#define CALL_TIMEOUT_MS 5000
#define STOP_GRACE_NS	(500 * NS_PER_MS)
#define STALL_NS	(2 * NS_PER_S) /* in one read of a file system that may never answer */
#define STALL_LOOK_NS	(250 * NS_PER_MS)

struct worker {
	struct child child;	 /* if it was forked here */
	struct spawner *spawner; /* else; NULL: it was */
	size_t place;		 /* in the spawner's table */
	struct helper helper;
	int sock;
	pid_t pid;
	const struct worker_setup *setup;
	struct worker_setup own_setup; /* if it was forked here */
	u32 serial;
	int failure;		  /* -errno of the exchange that failed; 0: it answers */
	bool is_asked;		  /* a reply is waited for */
	struct blocked_read read; /* that it was in when last looked at */
	u64 read_since_ns, looked_ns;
	struct worker_stall stall; /* that it was ended in */
	struct worker_meanwhile meanwhile;
};

static const char *worker_name(const struct worker *worker)
{
	static const char *const names[] = {
		[WORKER_WHOLE] = "worker process",
		[WORKER_INGEST] = "ingest process",
		[WORKER_SYMBOLIZER] = "symbolizer process",
	};

	return names[worker->setup->kind];
}

/* --- start --- */

int worker_start(struct queue *queue, const worker_job *jobs, size_t job_count,
		 struct worker **ret_worker)
{
	struct worker *worker = calloc(1, sizeof(*worker));
	struct worker_setup *setup;
	int err;

	if (!worker)
		return -ENOMEM;
	setup = &worker->own_setup;
	*setup = (struct worker_setup){.queue = queue, .jobs = jobs, .job_count = job_count};
	err = sandbox_notes_make(&setup->notes);
	if (!err)
		err = child_start(&worker->child, worker_run_inside, setup, queue_wake_fd(queue));
	if (err) {
		sandbox_notes_free(setup->notes);
		free(worker);
		return err;
	}
	worker->setup = setup;
	worker->sock = worker->child.sock;
	worker->pid = worker->child.pid;
	worker->meanwhile.fd = -1;
	worker->stall.pid_fd = -1;
	*ret_worker = worker;
	return 0;
}

int worker_make_role(enum worker_kind kind, struct queue *queue, struct spawner_role *ret_role)
{
	struct worker_setup *setup = calloc(1, sizeof(*setup));
	int err = setup ? sandbox_notes_make(&setup->notes) : -ENOMEM;

	if (err) {
		free(setup);
		return err;
	}
	setup->kind = kind;
	setup->queue = queue;
	*ret_role = (struct spawner_role){
		.run = worker_run_inside,
		.context = setup,
		.capabilities = privileges_to_drop(),
	};
	return 0;
}

void worker_free_role(struct spawner_role *role)
{
	struct worker_setup *setup = role->context;

	if (setup)
		sandbox_notes_free(setup->notes);
	free(setup);
	*role = (struct spawner_role){0};
}

static int fork_again(struct worker *worker)
{
	int err = spawner_spawn(worker->spawner, worker->place, &worker->helper);

	if (err)
		return err;
	worker->sock = worker->helper.sock;
	worker->pid = worker->helper.pid;
	worker->failure = 0;
	worker->read = (struct blocked_read){0};
	return 0;
}

int worker_spawn(struct spawner *spawner, size_t place, const struct spawner_role *role,
		 struct worker **ret_worker)
{
	struct worker *worker = calloc(1, sizeof(*worker));
	int err;

	if (!worker)
		return -ENOMEM;
	worker->spawner = spawner;
	worker->place = place;
	worker->setup = role->context;
	worker->meanwhile.fd = -1;
	worker->stall.pid_fd = -1;
	err = fork_again(worker);
	if (err) {
		free(worker);
		return err;
	}
	*ret_worker = worker;
	return 0;
}

int worker_replace(struct worker *worker)
{
	if (!worker->spawner)
		return -ENOTSUP;
	sandbox_report(worker->setup->notes, worker_name(worker));
	helper_kill(&worker->helper);
	worker->sock = -1;
	worker->pid = 0;
	return fork_again(worker);
}

/* --- what becomes of it --- */

void worker_watch(struct worker *worker, const struct worker_meanwhile *meanwhile)
{
	worker->meanwhile = *meanwhile;
}

bool worker_has_ended(const struct worker *worker)
{
	struct pollfd ended = {.fd = worker->helper.pid_fd, .events = POLLIN};

	if (worker->failure)
		return true;
	return worker->spawner && (ended.fd < 0 || poll(&ended, 1, 0) > 0);
}

int worker_failure(const struct worker *worker)
{
	return worker->failure;
}

pid_t worker_pid(const struct worker *worker)
{
	return worker->pid;
}

static u64 due_of(const struct worker_meanwhile *meanwhile)
{
	return meanwhile->due ? meanwhile->due(meanwhile->context) : ~0ULL;
}

/* What is due, and when the next thing is, at the latest then. It may end the watching. */
static u64 do_due(struct worker *worker, u64 latest)
{
	const struct worker_meanwhile *meanwhile = &worker->meanwhile;
	u64 next;

	if (clock_now_ns() >= due_of(meanwhile))
		meanwhile->on_due(meanwhile->context);
	next = due_of(meanwhile);
	return next < latest ? next : latest;
}

/* --- one that reads files may wait for ever --- */

static void end_at_once(struct worker *worker)
{
	if (worker->spawner)
		helper_kill(&worker->helper);
	else
		kill(worker->pid, SIGKILL);
}

/* The kernel may keep it: so its descriptor tells when it is gone. */
static void note_stall(struct worker *worker)
{
	if (worker->stall.pid_fd >= 0)
		close(worker->stall.pid_fd);
	worker->stall.dev = worker->read.dev;
	worker->stall.pid_fd = fcntl(worker->helper.pid_fd, F_DUPFD_CLOEXEC, 0);
}

/* True: it has been in one and the same read for STALL_NS. */
static bool is_stalled(struct worker *worker)
{
	u64 now_ns = clock_now_ns();
	struct blocked_read read;

	if (worker->setup->kind != WORKER_SYMBOLIZER || now_ns - worker->looked_ns < STALL_LOOK_NS)
		return false;
	worker->looked_ns = now_ns;
	read = blocked_read_of(worker->pid);
	if (!read.dev || read.dev != worker->read.dev || read.position != worker->read.position) {
		worker->read = read;
		worker->read_since_ns = now_ns;
		return false;
	}
	if (now_ns - worker->read_since_ns < STALL_NS)
		return false;
	note_stall(worker);
	return true;
}

bool worker_end_stalled(struct worker *worker)
{
	if (worker->failure || worker->is_asked || !is_stalled(worker))
		return false;
	end_at_once(worker);
	worker->failure = -ETIMEDOUT;
	return true;
}

struct worker_stall worker_take_stall(struct worker *worker)
{
	struct worker_stall stall = worker->stall;

	worker->stall = (struct worker_stall){.pid_fd = -1};
	return stall;
}

/* --- calls --- */

static u64 next_look(const struct worker *worker, u64 latest)
{
	u64 look_ns = worker->looked_ns + STALL_LOOK_NS;

	return worker->setup->kind == WORKER_SYMBOLIZER && look_ns < latest ? look_ns : latest;
}

/* Until there is a reply: 0, -ETIMEDOUT or -errno. */
static int wait_for_reply(struct worker *worker, int timeout_ms)
{
	u64 deadline = clock_now_ns() + (u64)timeout_ms * NS_PER_MS;

	for (;;) {
		u64 next = next_look(worker, do_due(worker, deadline)), now = clock_now_ns();
		struct pollfd ready[] = {
			{.fd = worker->sock, .events = POLLIN},
			{.fd = worker->meanwhile.fd, .events = POLLIN},
		};
		int left_ms = next > now ? (int)((next - now) / NS_PER_MS) + 1 : 0;

		if (poll(ready, 2, left_ms) < 0 && errno != EINTR)
			return -errno;
		if (ready[0].revents)
			return 0;
		if (ready[1].revents)
			worker->meanwhile.on_ready(worker->meanwhile.context);
		if (clock_now_ns() >= deadline || is_stalled(worker))
			return -ETIMEDOUT;
	}
}

/* One exchange: the reply's size or -errno. The worker may have been taken over: believe little. */
static ssize_t exchange(struct worker *worker, const struct request *out, size_t out_size, int fd,
			struct reply *in, int timeout_ms)
{
	int err = socket_send(worker->sock, out, out_size, fd);
	ssize_t got;

	worker->is_asked = true;
	if (!err)
		err = wait_for_reply(worker, timeout_ms);
	worker->is_asked = false;
	if (err)
		return err;
	got = socket_receive(worker->sock, in, sizeof(*in), NULL, 0);
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

	if (worker->failure)
		return worker->failure;
	if (worker->is_asked)
		return -EBUSY;
	if (request_size > sizeof(out.bytes))
		return -EMSGSIZE;
	if (request_size)
		memcpy(out.bytes, request, request_size);
	err = exchange(worker, &out, REQUEST_HEAD + request_size, fd, &in, timeout_ms);
	sandbox_report(worker->setup->notes, worker_name(worker));
	if (err) {
		end_at_once(worker); /* late, deaf or mad: it is not asked again */
		worker->failure = (int)err;
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
	if (worker->spawner)
		helper_end(&worker->helper, STOP_GRACE_NS);
	else
		child_stop(&worker->child, STOP_GRACE_NS);
	sandbox_report(worker->setup->notes, worker_name(worker));
	if (!worker->spawner)
		sandbox_notes_free(worker->own_setup.notes);
	if (worker->stall.pid_fd >= 0)
		close(worker->stall.pid_fd);
	free(worker);
}
