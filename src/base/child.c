// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

int child_die_with_parent(void)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL) ? -errno : 0;
}

int child_start(struct child *ret_child, void (*run)(int sock, void *context), void *context)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	pid = fork();
	if (pid == 0) {
		close(pair[0]);
		/* Ctrl-C goes to the whole group; the parent decides when this process ends. */
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		signal(SIGPIPE, SIG_IGN);
		if (!child_die_with_parent())
			run(pair[1], context);
		_exit(0);
	}
	close(pair[1]);
	if (pid < 0) {
		int err = -errno;

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
		nanosleep(&pause, NULL);
	}
}
