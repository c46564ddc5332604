// SPDX-License-Identifier: Apache-2.0
#include "target_command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/descriptors.h"
#include "../base/log.h"
#include "../base/exit_status.h"

static int check_program(const char *path)
{
	struct stat info;

	if (stat(path, &info))
		return -errno;
	return S_ISREG(info.st_mode) && !access(path, X_OK) ? 0 : -EACCES;
}

/* A program that may not be run is as good as none while there are more places to look in. */
static int search_path(const char *program)
{
	const char *places = getenv("PATH");
	int result = -ENOENT;

	if (!places)
		places = "/bin:/usr/bin";
	for (;;) {
		int length = (int)strcspn(places, ":"), err;
		char path[PATH_MAX];

		if (snprintf(path, sizeof(path), "%.*s%s%s", length, places, length ? "/" : "",
			     program) < (int)sizeof(path)) {
			err = check_program(path);
			if (!err)
				return 0;
			result = err == -EACCES ? err : result;
		}
		if (!places[length])
			return result;
		places += length + 1;
	}
}

int target_find(const char *program)
{
	int err = strchr(program, '/') ? check_program(program) : search_path(program);

	if (err)
		log_error("cannot run '%s': %s", program, strerror(-err));
	return err;
}

/* In the child: waits until it is followed, then becomes the command. */
static void become_command(int wait_fd, int refused_fd, char **argv,
			   const struct inherited *inherited)
{
	ssize_t told;
	char go;

	/* What dwell ignores, holds back or raised, the command must not. */
	descriptors_restore();
	signal(SIGPIPE, SIG_DFL);
	sigaction(SIGCHLD, &inherited->child, NULL);
	sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
	if (read(wait_fd, &go, 1) != 1)
		_exit(EXIT_FAILED); /* dwell gave up */
	execvp(argv[0], argv);
	log_error("cannot run '%s': %s", argv[0], strerror(errno));
	told = write(refused_fd, "", 1);
	_exit(told == 1 ? EXIT_CANNOT_EXEC : EXIT_FAILED);
}

static void close_pair(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

int target_hold(struct target *ret_target, char **argv, const struct inherited *inherited)
{
	int go[2], refused[2], err;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(refused, O_CLOEXEC | O_NONBLOCK)) {
		err = -errno;
		close_pair(go);
		return err;
	}
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		become_command(go[0], refused[1], argv, inherited);
	}
	if (pid < 0) {
		err = -errno;
		close_pair(go);
		close_pair(refused);
		return err;
	}
	close(go[0]);
	close(refused[1]);
	*ret_target = (struct target){.pid = pid, .go_fd = go[1], .refused_fd = refused[0]};
	return 0;
}

int target_let_go(struct target *target)
{
	int err;

	do
		err = write(target->go_fd, "", 1) == 1 ? 0 : -errno;
	while (err == -EINTR);
	close(target->go_fd);
	target->go_fd = -1;
	return err;
}

static void note_end(struct target *target, int status)
{
	char byte;

	target->pid = 0;
	target->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	target->is_refused = read(target->refused_fd, &byte, 1) == 1;
	close(target->refused_fd);
	target->refused_fd = -1;
}

bool target_has_ended(struct target *target)
{
	int status = 0;
	pid_t got;

	if (!target->pid)
		return true;
	got = waitpid(target->pid, &status, WNOHANG);
	if (got != target->pid && !(got < 0 && errno == ECHILD))
		return false;
	note_end(target, got < 0 ? W_EXITCODE(EXIT_FAILED, 0) : status);
	return true;
}

void target_leave(struct target *target)
{
	if (target->refused_fd >= 0)
		close(target->refused_fd);
	target->refused_fd = -1;
	if (!target->pid || target->go_fd < 0)
		return;
	close(target->go_fd);
	kill(target->pid, SIGKILL);
	waitpid(target->pid, NULL, 0);
	*target = (struct target){.go_fd = -1, .refused_fd = -1};
}
