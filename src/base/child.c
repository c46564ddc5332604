// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "clock.h"
#include "log.h"

#define KILL_WAIT_NS (2 * NS_PER_S)

void child_set_name(const char *name)
{
	prctl(PR_SET_NAME, name);
}

int child_die_with_parent(void)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL) ? -errno : 0;
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* What it does not need could be used against us: other files, and the terminal's input queue. */
int child_leave_behind(const int *keep_fds, size_t count)
{
	int keep[CHILD_KEEP_MAX], null = open("/dev/null", O_RDWR | O_CLOEXEC);
	unsigned int from = STDERR_FILENO + 1;

	if (count > CHILD_KEEP_MAX)
		return -E2BIG;
	if (setsid() < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0)
		return -errno;
	memcpy(keep, keep_fds, count * sizeof(*keep));
	qsort(keep, count, sizeof(*keep), by_number);
	for (size_t i = 0; i < count; i++) {
		unsigned int fd = (unsigned int)keep[i];

		if (keep[i] <= STDERR_FILENO)
			continue;
		if (fd > from && close_range(from, fd - 1, 0))
			return -errno;
		from = fd + 1;
	}
	return close_range(from, ~0u, 0) ? -errno : 0;
}

/* Nothing that it prints is a result. */
static int silence(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	return null < 0 || dup2(null, STDOUT_FILENO) < 0 ? -errno : 0;
}

/* A child that does not read must not hold us up. */
static int bound_sends(int sock)
{
	const struct timeval limit = {.tv_sec = 1};

	return setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) ? -errno : 0;
}

int child_start(struct child *ret_child, void (*run)(int sock, void *context), void *context,
		int keep_fd)
{
	int pair[2], err;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	pid = fork();
	if (pid == 0) {
		close(pair[0]);
		/* Ctrl-C goes to the whole group; the parent decides when this process ends. */
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
		signal(SIGPIPE, SIG_IGN);
		err = child_die_with_parent();
		if (!err)
			err = silence();
		if (!err)
			err = child_leave_behind((int[]){pair[1], keep_fd}, 2);
		if (err)
			log_error("cannot start a helper process: %s", strerror(-err));
		else
			run(pair[1], context);
		_exit(0);
	}
	err = pid < 0 ? -errno : bound_sends(pair[0]);
	close(pair[1]);
	if (err) {
		close(pair[0]);
		return err;
	}
	*ret_child = (struct child){.pid = pid, .sock = pair[0]};
	return 0;
}

void child_stop(struct child *child, u64 grace_ns)
{
	const struct timespec pause = {.tv_nsec = NS_PER_MS};
	u64 deadline = clock_now_ns() + grace_ns;

	close(child->sock);
	while (waitpid(child->pid, NULL, WNOHANG) == 0) {
		if (clock_now_ns() >= deadline)
			kill(child->pid, SIGKILL);
		if (clock_now_ns() >= deadline + KILL_WAIT_NS)
			return; /* stuck in the kernel, on a dead disk perhaps: init will reap it */
		nanosleep(&pause, NULL);
	}
}
