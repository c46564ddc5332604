// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../signals/canary/canary.h"
#include "../../src/base/sandbox.h"
#include "../../src/base/clock.h"
#include "../../src/base/text.h"
#include "../../src/model/signal.h"
#include "../../src/worker/unwinding.h"

static ssize_t job_echo(int fd, const void *request, size_t size, void *reply, size_t room)
{
	(void)fd;
	if (size > room)
		return -EMSGSIZE;
	memcpy(reply, request, size);
	return (ssize_t)size;
}

static ssize_t job_read(int fd, const void *request, size_t size, void *reply, size_t room)
{
	(void)request;
	(void)size;
	return read(fd, reply, room);
}

static ssize_t job_lie(int fd, const void *request, size_t size, void *reply, size_t room)
{
	(void)fd;
	(void)request;
	(void)size;
	(void)reply;
	(void)room;
	return -ENOTRECOVERABLE;
}

static ssize_t job_status(int fd, const void *request, size_t size, void *reply, size_t room)
{
	(void)fd;
	(void)request;
	(void)size;
	return text_read_file("/proc/self/status", reply, room);
}

/* Until somebody lets it go on, through the descriptor. */
static ssize_t job_wait(int fd, const void *request, size_t size, void *reply, size_t room)
{
	(void)request;
	(void)size;
	(void)room;
	return read(fd, reply, 1);
}

enum { ECHO, READ, LIE, STATUS, WAIT };
static const worker_job jobs[] = {job_echo, job_read, job_lie, job_status, job_wait};

struct fixture {
	struct queue *queue;
	struct worker *worker;
};

static struct fixture fixture;

static int start(void **state)
{
	*state = &fixture;
	return queue_create(QUEUE_BYTES_MIN, &fixture.queue) ||
	       worker_start(fixture.queue, jobs, 5, &fixture.worker);
}

static int stop(void **state)
{
	(void)state;
	worker_stop(fixture.worker);
	queue_destroy(fixture.queue);
	return 0;
}

static void push(const struct rec_canary *record)
{
	assert_true(queue_push(fixture.queue, record, sizeof(*record), 1));
}

static void records_are_checked_and_counted(void **state)
{
	struct rec_canary record = {
		.hdr = {.type = SIG_CANARY,
			.version = SIG_VERSION_CANARY,
			.size = sizeof(record),
			.ts_ns = 1,
			.seq = 1},
		.token = 99,
		.value = 5,
	};
	struct queue_outcome outcome;
	struct canary_tally tally;

	(void)state;
	push(&record);
	record.value = 3;
	push(&record);
	record.hdr.ts_ns = 0;
	push(&record);
	record.hdr.ts_ns = 1;
	record.hdr.type = SIGNAL_LIMIT - 1;
	push(&record);
	queue_wake(fixture.queue);
	assert_int_equal(worker_signal_state(fixture.worker, SIG_CANARY, &tally, sizeof(tally)),
			 sizeof(tally));
	assert_int_equal(tally.count, 2);
	assert_int_equal(tally.token, 99);
	assert_int_equal(tally.best_value, 5);
	queue_outcome(fixture.queue, &outcome);
	assert_int_equal(outcome.accepted, 2);
	assert_int_equal(outcome.malformed, 1);
	assert_int_equal(outcome.unknown, 1);
}

static void jobs_answer_and_take_descriptors(void **state)
{
	char reply[64] = "";
	int fd;

	(void)state;
	assert_int_equal(worker_call(fixture.worker, ECHO, -1, "hello", 6, reply, sizeof(reply)),
			 6);
	assert_string_equal(reply, "hello");
	fd = open("/proc/version", O_RDONLY);
	assert_int_equal(worker_call(fixture.worker, READ, fd, NULL, 0, reply, 5), -EMSGSIZE);
	lseek(fd, 0, SEEK_SET);
	assert_true(worker_call(fixture.worker, READ, fd, NULL, 0, reply, sizeof(reply)) < 0);
	close(fd);
	assert_int_equal(worker_call(fixture.worker, LIE, -1, NULL, 0, reply, sizeof(reply)),
			 -ENOTRECOVERABLE);
	assert_int_equal(worker_call(fixture.worker, 77, -1, NULL, 0, reply, sizeof(reply)),
			 -ENOSYS);
}

static void worker_opens_no_file(void **state)
{
	char status[4096] = "";

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	if (!sandbox_landlock_version())
		skip(); /* a sanitizer opens files */
#endif
	assert_true(worker_call(fixture.worker, STATUS, -1, NULL, 0, status, sizeof(status)) < 0);
	assert_int_equal(worker_call(fixture.worker, ECHO, -1, "on", 3, status, sizeof(status)), 3);
}

static void worker_has_no_privilege(void **state)
{
	char status[4096] = "", path[64];
	unsigned long long caps = 1;
	const char *line;

	(void)state;
	assert_int_equal(worker_call(fixture.worker, ECHO, -1, "on", 3, status, sizeof(status)), 3);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)worker_pid(fixture.worker));
	assert_true(text_read_file(path, status, sizeof(status)) > 0);
	assert_non_null(line = strstr(status, "CapEff:"));
	assert_int_equal(sscanf(line, "CapEff: %llx", &caps), 1);
	assert_int_equal(caps, 0);
	assert_non_null(line = strstr(status, "CapPrm:"));
	assert_int_equal(sscanf(line, "CapPrm: %llx", &caps), 1);
	assert_int_equal(caps, 0);
	assert_non_null(strstr(status, "NoNewPrivs:\t1"));
	if (sandbox_has_filters())
		assert_non_null(strstr(status, "Seccomp:\t2"));
	assert_null(strstr(status, "Uid:\t0"));
}

struct interruption {
	int signal_fds[2];
	int worker_fds[2];
	int count;
};

static void on_ready(void *context)
{
	struct interruption *interruption = context;
	char byte;

	assert_int_equal(read(interruption->signal_fds[0], &byte, 1), 1);
	assert_int_equal(write(interruption->worker_fds[1], "x", 1), 1);
	interruption->count++;
}

/* The worker answers only because what was watched was heard meanwhile. */
static void others_are_heard_while_the_worker_is_waited_for(void **state)
{
	struct interruption interruption = {0};
	char reply[8];

	(void)state;
	assert_int_equal(pipe(interruption.signal_fds), 0);
	assert_int_equal(pipe(interruption.worker_fds), 0);
	worker_watch(fixture.worker, &(struct worker_meanwhile){.fd = interruption.signal_fds[0],
								.on_ready = on_ready,
								.context = &interruption});
	assert_int_equal(write(interruption.signal_fds[1], "x", 1), 1);
	assert_int_equal(worker_call(fixture.worker, WAIT, interruption.worker_fds[0], NULL, 0,
				     reply, sizeof(reply)),
			 1);
	assert_int_equal(interruption.count, 1);
	worker_watch(fixture.worker, &(struct worker_meanwhile){.fd = -1});
	for (int i = 0; i < 2; i++) {
		close(interruption.signal_fds[i]);
		close(interruption.worker_fds[i]);
	}
}

static void dead_worker_is_noticed(void **state)
{
	char reply[8];

	(void)state;
	kill(worker_pid(fixture.worker), SIGKILL);
	assert_true(worker_call(fixture.worker, ECHO, -1, "x", 1, reply, sizeof(reply)) < 0);
}

/* --- what is due meanwhile --- */

struct clockwork {
	u64 next_ns;
	u32 count;
	int worker_fd;
	ssize_t nested;
};

static u64 next_of(void *context)
{
	return ((struct clockwork *)context)->next_ns;
}

/* The third time, it lets the worker answer, and is not wanted any more. */
static void strike(void *context)
{
	struct clockwork *clockwork = context;
	char reply[8];

	clockwork->next_ns += 10 * NS_PER_MS;
	clockwork->nested = worker_call(fixture.worker, WAIT, -1, NULL, 0, reply, sizeof(reply));
	if (++clockwork->count < 3)
		return;
	worker_watch(fixture.worker, &(struct worker_meanwhile){.fd = -1});
	assert_int_equal(write(clockwork->worker_fd, "x", 1), 1);
}

static void what_is_due_happens_while_the_worker_is_waited_for(void **state)
{
	struct clockwork clockwork = {.next_ns = clock_now_ns() + 10 * NS_PER_MS};
	char reply[8];
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	clockwork.worker_fd = fds[1];
	worker_watch(fixture.worker,
		     &(struct worker_meanwhile){
			     .fd = -1, .due = next_of, .on_due = strike, .context = &clockwork});
	assert_int_equal(worker_call(fixture.worker, WAIT, fds[0], NULL, 0, reply, sizeof(reply)),
			 1);
	assert_int_equal(clockwork.count, 3);
	assert_int_equal(clockwork.nested, -EBUSY); /* one question at a time */
	close(fds[0]);
	close(fds[1]);
}

/* --- one that is replaced --- */

static void dead_worker_is_replaced(void **state)
{
	struct symbolize_counts counts;
	struct spawner_role role;
	struct spawner *spawner;
	struct worker *worker;
	pid_t before;

	(void)state;
	assert_int_equal(worker_make_role(WORKER_SYMBOLIZER, NULL, &role), 0);
	assert_int_equal(spawner_start(&role, 1, -1, &spawner), 0);
	assert_int_equal(worker_spawn(spawner, 0, &role, &worker), 0);
	assert_int_equal(worker_unwinding_counts(worker, &counts), 0);
	assert_false(worker_has_ended(worker));
	before = worker_pid(worker);
	assert_int_equal(kill(before, SIGKILL), 0);
	assert_true(worker_unwinding_counts(worker, &counts) < 0);
	assert_true(worker_has_ended(worker));
	assert_int_equal(worker_replace(worker), 0);
	assert_int_not_equal(worker_pid(worker), before);
	assert_false(worker_has_ended(worker));
	assert_int_equal(worker_unwinding_counts(worker, &counts), 0);
	worker_stop(worker);
	spawner_stop(spawner);
	worker_free_role(&role);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(records_are_checked_and_counted, start, stop),
		cmocka_unit_test_setup_teardown(jobs_answer_and_take_descriptors, start, stop),
		cmocka_unit_test_setup_teardown(worker_has_no_privilege, start, stop),
		cmocka_unit_test_setup_teardown(worker_opens_no_file, start, stop),
		cmocka_unit_test_setup_teardown(others_are_heard_while_the_worker_is_waited_for,
						start, stop),
		cmocka_unit_test_setup_teardown(dead_worker_is_noticed, start, stop),
		cmocka_unit_test_setup_teardown(what_is_due_happens_while_the_worker_is_waited_for,
						start, stop),
		cmocka_unit_test(dead_worker_is_replaced),
	};

	return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
