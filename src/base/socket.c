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

ssize_t socket_receive(int sock, void *data, size_t size, int *ret_fd, int timeout_ms)
{
	struct pollfd ready = {.fd = sock, .events = POLLIN};
	struct iovec part = {.iov_base = data, .iov_len = size};
	union fd_message control;
	struct msghdr msg = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t got;
	int n;

	if (ret_fd) {
		*ret_fd = -1;
		msg.msg_control = control.room;
		msg.msg_controllen = sizeof(control.room);
	}
	do
		n = poll(&ready, 1, timeout_ms);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n == 0)
		return -ETIMEDOUT;
	got = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	if (got < 0)
		return -errno;
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
