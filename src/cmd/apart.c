// SPDX-License-Identifier: Apache-2.0
#include "apart.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/child.h"
#include "../base/log.h"
#include "../worker/privileges.h"
#include "cmd.h"

static void run_inside(int (*run)(const void *context), const void *context, int db_fd, int wal_fd)
{
	int err = child_leave_behind(db_fd, wal_fd);

	if (!err)
		err = privileges_drop();
	if (!err)
		err = child_die_with_parent(); /* after the change of user, which clears it */
	if (err) {
		log_error("cannot drop privileges: %s; run it as an ordinary user", strerror(-err));
		_exit(EXIT_FAILED);
	}
	_exit(cmd_check_stdout(run(context)));
}

int apart_run(int (*run)(const void *context), const void *context, int db_fd, int wal_fd)
{
	pid_t child, ended;
	int status = 0;

	signal(SIGCHLD, SIG_DFL); /* who ignores it cannot wait */
	fflush(NULL);
	child = fork();
	if (child == 0)
		run_inside(run, context, db_fd, wal_fd);
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
