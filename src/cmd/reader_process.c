// SPDX-License-Identifier: Apache-2.0
#include "reader_process.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../base/child.h"
#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/memory.h"
#include "../base/sandbox.h"
#include "../model/failure.h"
#include "../store/vfs.h"
#include "../symbolize/fetcher.h"
#include "../worker/privileges.h"
#include "cmd.h"

struct job {
	int (*run)(const void *context);
	const void *context;
	const int *fds;
	size_t fd_count;
	struct fetch_request *fetch;
	struct sandbox_notes *notes;
};

/* What the sandbox does not allow any more. */
static int prepare(const struct job *job)
{
	tzset(); /* reads a file, as SQLite and Jansson do */
	vfs_prepare();
	json_object_seed(0);
	if (job->fetch && job->fetch->limit_ms)
		return fetcher_start(job->fetch->is_cache_private, &job->fetch->fetcher);
	return 0;
}

/* Of a command that measures, a child has the BPF maps, which are not its business. Without /proc
 * nobody measures. */
static int leave_parent(const struct job *job)
{
	int err = memory_leave_kernel_objects();

	if (err && err != -ENOENT)
		return err;
	return child_leave_behind(job->fds, job->fd_count);
}

static void run_inside(const struct job *job)
{
	int err = leave_parent(job), status;

	if (!err)
		err = privileges_drop();
	if (!err)
		err = child_die_with_parent(); /* after the change of user, which clears it */
	if (!err)
		err = prepare(job);
	if (err) {
		log_error("cannot make a process without privileges: %s%s", strerror(-err),
			  failure_may_pass(-err) ? "" : "; run it as an ordinary user");
		_exit(EXIT_FAILED);
	}
	err = sandbox_enter(SANDBOX_PARSER, job->notes);
	if (err) {
		log_error("cannot read the session: entering the sandbox failed: %s",
			  strerror(-err));
		_exit(EXIT_FAILED);
	}
	status = cmd_check_stdout(job->run(job->context));
	if (job->fetch)
		fetcher_stop(job->fetch->fetcher);
	_exit(status);
}

static int start_child(struct reader_process *reader, const struct job *job)
{
	signal(SIGCHLD, SIG_DFL); /* who ignores it cannot wait */
	fflush(NULL);
	reader->pid = fork();
	if (reader->pid == 0)
		run_inside(job);
	if (reader->pid > 0)
		return 0;
	log_error("cannot start the process that reads the session: %s; see ulimit -u and "
		  "the free memory",
		  strerror(errno));
	return EXIT_FAILED;
}

static int start(struct reader_process *ret_reader, struct job job)
{
	int status;

	*ret_reader = (struct reader_process){0};
	if (sandbox_notes_make(&job.notes)) {
		log_error("cannot read the session: out of memory");
		return EXIT_FAILED;
	}
	ret_reader->notes = job.notes;
	status = start_child(ret_reader, &job);
	if (status) {
		sandbox_notes_free(job.notes);
		*ret_reader = (struct reader_process){0};
	}
	return status;
}

int reader_process_start(struct reader_process *ret_reader, int (*run)(const void *context),
			 const void *context, int db_fd, int wal_fd, struct fetch_request *fetch)
{
	const int fds[] = {db_fd, wal_fd};

	return start(ret_reader, (struct job){run, context, fds, ARRAY_SIZE(fds), fetch, NULL});
}

bool reader_process_is_running(const struct reader_process *reader)
{
	siginfo_t info = {0};

	/* It stays until it is waited for. */
	return reader->pid &&
	       !waitid(P_PID, (id_t)reader->pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
	       !info.si_pid;
}

static int wait_for_child(pid_t child)
{
	int status = 0;
	pid_t ended;

	do
		ended = waitpid(child, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended == child && WIFEXITED(status))
		return WEXITSTATUS(status);
	log_error("the process that reads the session was ended by signal %d",
		  ended == child ? WTERMSIG(status) : 0);
	return EXIT_FAILED;
}

int reader_process_wait(struct reader_process *reader)
{
	int status = wait_for_child(reader->pid);

	sandbox_report(reader->notes, "process that reads the session");
	sandbox_notes_free(reader->notes);
	*reader = (struct reader_process){0};
	return status;
}

int reader_process_run(int (*run)(const void *context), const void *context, int db_fd, int wal_fd,
		       struct fetch_request *fetch)
{
	struct reader_process reader;
	int status = reader_process_start(&reader, run, context, db_fd, wal_fd, fetch);

	return status ? status : reader_process_wait(&reader);
}

int reader_process_start_all(struct reader_process *ret_reader, int (*run)(const void *context),
			     const void *context, const int *fds, size_t fd_count)
{
	return start(ret_reader, (struct job){run, context, fds, fd_count, NULL, NULL});
}

int reader_process_run_all(int (*run)(const void *context), const void *context, const int *fds,
			   size_t fd_count)
{
	struct reader_process reader;
	int status = reader_process_start_all(&reader, run, context, fds, fd_count);

	return status ? status : reader_process_wait(&reader);
}
