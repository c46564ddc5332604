// SPDX-License-Identifier: Apache-2.0
#include "socket.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union fd_message {
	struct cmsghdr align;
	char room[CMSG_SPACE(sizeof(int))];
};

int socket_send_now(int sock, const void *data, size_t size)
{
	for (;;) {
		if (send(sock, data, size, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
			return 0;
		if (errno != EINTR)
			return -errno;
	}
}

int socket_send(int sock, const void *data, size_t size, int fd)
{
	struct iovec part = {.iov_base = (void *)data, .iov_len = size};
	struct msghdr msg = {.msg_iov = &part, .msg_iovlen = 1};
	union fd_message control;

	if (fd >= 0) {
		memset(&control, 0, sizeof(control));
		msg.msg_control = control.room;
		msg.msg_controllen = sizeof(control.room);
		struct cmsghdr *header = CMSG_FIRSTHDR(&msg);

		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &fd, sizeof(int));
	}
	for (;;) {
		ssize_t sent = sendmsg(sock, &msg, MSG_NOSIGNAL);

		if (sent >= 0)
			return 0;
		if (errno != EINTR)
			return -errno;
	}
}

/* The one descriptor of a message. More than one was not asked for: all are closed. */
static int received_fd(struct msghdr *msg)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(msg);
	int fds[sizeof(union fd_message) / sizeof(int)];
	size_t count;

	if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
		return -1;
	count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(fds, CMSG_DATA(header), count * sizeof(int));
	if (count == 1)
		return fds[0];
	while (count)
		close(fds[--count]);
	return -1;
}

/* Until there is a message: 0, -ETIMEDOUT or -errno. */
static int wait_for_message(int sock, int timeout_ms)
{
	struct pollfd ready = {.fd = sock, .events = POLLIN};
	int n;

	do
		n = poll(&ready, 1, timeout_ms);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n ? 0 : -ETIMEDOUT;
}

/* Whoever waits for ever, or not at all, needs no call but the one that receives. */
ssize_t socket_receive(int sock, void *data, size_t size, int *ret_fd, int timeout_ms)
{
	struct iovec part = {.iov_base = data, .iov_len = size};
	union fd_message control;
	struct msghdr msg = {.msg_iov = &part, .msg_iovlen = 1};
	int err, flags = MSG_CMSG_CLOEXEC | (timeout_ms < 0 ? 0 : MSG_DONTWAIT);
	ssize_t got;

	if (ret_fd) {
		*ret_fd = -1;
		msg.msg_control = control.room;
		msg.msg_controllen = sizeof(control.room);
	}
	err = timeout_ms > 0 ? wait_for_message(sock, timeout_ms) : 0;
	if (err)
		return err;
	do
		got = recvmsg(sock, &msg, flags);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	if (ret_fd)
		*ret_fd = received_fd(&msg);
	if (!(msg.msg_flags & MSG_TRUNC))
		return got;
	if (ret_fd && *ret_fd >= 0) {
		close(*ret_fd);
		*ret_fd = -1;
	}
	return -EMSGSIZE;
}
