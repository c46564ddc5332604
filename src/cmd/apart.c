// SPDX-License-Identifier: Apache-2.0
#include "apart.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../base/child.h"
#include "../base/log.h"
#include "../base/sandbox.h"
#include "../model/failure.h"
#include "../store/vfs.h"
#include "../symbolize/fetcher.h"
#include "../worker/privileges.h"
#include "cmd.h"

struct job {
	int (*run)(const void *context);
	const void *context;
	int db_fd, wal_fd;
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

static void run_inside(const struct job *job)
{
	int err = child_leave_behind(job->db_fd, job->wal_fd), status;

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

static int run_child(const struct job *job)
{
	pid_t child, ended;
	int status = 0;

	signal(SIGCHLD, SIG_DFL); /* who ignores it cannot wait */
	fflush(NULL);
	child = fork();
	if (child == 0)
		run_inside(job);
	if (child < 0) {
		log_error("cannot start the process that reads the session: %s; see ulimit -u and "
			  "the free memory",
			  strerror(errno));
		return EXIT_FAILED;
	}
	do
		ended = waitpid(child, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended == child && WIFEXITED(status))
		return WEXITSTATUS(status);
	log_error("the process that reads the session was ended by signal %d",
		  ended == child ? WTERMSIG(status) : 0);
	return EXIT_FAILED;
}

int apart_run(int (*run)(const void *context), const void *context, int db_fd, int wal_fd,
	      struct fetch_request *fetch)
{
	struct job job = {run, context, db_fd, wal_fd, fetch, NULL};
	int err = sandbox_notes_make(&job.notes), status;

	if (err) {
		log_error("cannot read the session: out of memory");
		return EXIT_FAILED;
	}
	status = run_child(&job);
	sandbox_report(job.notes, "process that reads the session");
	sandbox_notes_free(job.notes);
	return status;
}
