// SPDX-License-Identifier: Apache-2.0
#include "spawner.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../abi/types.h"
#include "capabilities.h"
#include "child.h"
#include "cleanup.h"
#include "clock.h"
#include "log.h"
#include "sandbox.h"
#include "socket.h"

#define SPAWN_TIMEOUT_MS 2000 /* a fork on a host without free memory takes its time */
#define STOP_GRACE_NS	 (100 * NS_PER_MS)

struct spawner {
	struct child child;
	const struct spawner_role *roles;
	size_t role_count;
	int keep_fd;
	struct sandbox_notes *notes; /* what was refused to itself */
};

struct spawned {
	s32 pid; /* or -errno */
};

/* --- inside --- */

static void run_helper(const struct spawner *spawner, const struct spawner_role *role, int sock)
{
	int err = child_die_with_parent();

	if (!err) /* the spawner's own socket is not the helper's */
		err = child_leave_behind((int[]){sock, spawner->keep_fd}, 2);
	if (!err)
		err = capabilities_keep(role->capabilities);
	if (err)
		log_error("cannot start a helper process: %s", strerror(-err));
	else
		role->run(sock, role->context);
	_exit(0);
}

/* A helper that the caller cannot be told about is of no use: the caller is told why instead. */
static int answer_caller(int sock, struct spawned *answer, int pid_fd)
{
	int err = socket_send(sock, answer, sizeof(*answer), pid_fd);

	if (!err)
		return 0;
	if (pid_fd >= 0)
		syscall(SYS_pidfd_send_signal, pid_fd, SIGKILL, NULL, 0);
	answer->pid = err;
	return socket_send(sock, answer, sizeof(*answer), -1);
}

static u64 all_capabilities(const struct spawner *spawner)
{
	u64 all = CAPABILITY(CAP_KILL); /* its end ends helpers of another user, too */

	for (size_t i = 0; i < spawner->role_count; i++)
		all |= spawner->roles[i].capabilities;
	return all;
}

static int confine(const struct spawner *spawner)
{
	int err = capabilities_keep(all_capabilities(spawner));

	if (!err)
		err = sandbox_enter(SANDBOX_PRIVILEGED, spawner->notes);
	if (err)
		log_error("cannot start the process that starts others: dropping the privileges "
			  "that it does not need failed: %s",
			  strerror(-err));
	return err;
}

/*
 * Nobody waits for helpers: they vanish when they end. Only a new one has to stay until it has a
 * file descriptor, however soon it ends: its number could be another process's by then.
 */
static pid_t start_helper(const struct spawner *spawner, const struct spawner_role *role, int sock,
			  int *ret_pid_fd)
{
	pid_t pid;

	signal(SIGCHLD, SIG_DFL);
	pid = fork();
	if (pid == 0)
		run_helper(spawner, role, sock);
	if (pid < 0) {
		pid = -errno;
	} else {
		*ret_pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
		if (*ret_pid_fd < 0) {
			int err = -errno;

			kill(pid, SIGKILL);
			pid = err;
		}
	}
	signal(SIGCHLD, SIG_IGN);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		; /* those that ended meanwhile */
	return pid;
}

static void serve(int sock, void *context)
{
	const struct spawner *spawner = context;
	u32 role;
	int helper_sock;

	child_set_name("dwell-spawner");
	if (confine(spawner))
		return;
	while (socket_receive(sock, &role, sizeof(role), &helper_sock, -1) == sizeof(role)) {
		struct spawned answer = {.pid = -EINVAL};
		int pid_fd = -1;

		if (role < spawner->role_count && helper_sock >= 0)
			answer.pid =
				start_helper(spawner, &spawner->roles[role], helper_sock, &pid_fd);
		if (helper_sock >= 0)
			close(helper_sock);
		if (answer_caller(sock, &answer, pid_fd))
			return; /* whoever asked sees the end at once */
		if (pid_fd >= 0)
			close(pid_fd);
	}
}

/* --- outside --- */

int spawner_start(const struct spawner_role *roles, size_t role_count, int keep_fd,
		  struct spawner **ret_spawner)
{
	struct spawner *spawner = calloc(1, sizeof(*spawner));
	int err;

	if (!spawner)
		return -ENOMEM;
	spawner->roles = roles;
	spawner->role_count = role_count;
	spawner->keep_fd = keep_fd;
	err = sandbox_notes_make(&spawner->notes);
	if (!err)
		err = child_start(&spawner->child, serve, spawner, keep_fd);
	if (err) {
		sandbox_notes_free(spawner->notes);
		free(spawner);
		return err;
	}
	*ret_spawner = spawner;
	return 0;
}

pid_t spawner_pid(const struct spawner *spawner)
{
	return spawner->child.pid;
}

static int ask(struct spawner *spawner, u32 role, int helper_sock, struct helper *ret_helper)
{
	struct spawned answer;
	int err = socket_send(spawner->child.sock, &role, sizeof(role), helper_sock);
	ssize_t got = err ? err
			  : socket_receive(spawner->child.sock, &answer, sizeof(answer),
					   &ret_helper->pid_fd, SPAWN_TIMEOUT_MS);

	if (got != sizeof(answer))
		return got < 0 ? (int)got : -EPIPE;
	ret_helper->pid = answer.pid;
	return answer.pid < 0 ? answer.pid : 0;
}

void helper_kill(struct helper *helper)
{
	if (helper->pid_fd >= 0) {
		syscall(SYS_pidfd_send_signal, helper->pid_fd, SIGKILL, NULL, 0);
		close(helper->pid_fd);
	}
	if (helper->sock >= 0)
		close(helper->sock);
	*helper = (struct helper){.sock = -1, .pid_fd = -1};
}

void helper_end(struct helper *helper, u64 grace_ns)
{
	struct pollfd ended = {.fd = helper->pid_fd, .events = POLLIN};

	if (helper->sock >= 0)
		close(helper->sock);
	helper->sock = -1;
	if (helper->pid_fd >= 0)
		poll(&ended, 1, (int)(grace_ns / NS_PER_MS));
	helper_kill(helper);
}

int spawner_spawn(struct spawner *spawner, size_t role, struct helper *ret_helper)
{
	const struct timeval send_limit = {.tv_usec = 100000};
	struct helper helper = {.sock = -1, .pid_fd = -1};
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	err = ask(spawner, (u32)role, pair[1], &helper);
	close(pair[1]);
	helper.sock = pair[0];
	/* One that does not read must not hold us up. */
	if (!err &&
	    setsockopt(helper.sock, SOL_SOCKET, SO_SNDTIMEO, &send_limit, sizeof(send_limit)))
		err = -errno;
	if (err) {
		helper_kill(&helper); /* it may live already */
		return err;
	}
	*ret_helper = helper;
	return 0;
}

void spawner_stop(struct spawner *spawner)
{
	if (!spawner)
		return;
	child_stop(&spawner->child, STOP_GRACE_NS);
	sandbox_report(spawner->notes, "process that starts others");
	sandbox_notes_free(spawner->notes);
	free(spawner);
}
