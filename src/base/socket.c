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

static int received_fd(struct msghdr *msg)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(msg);
	int fd = -1;

	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(header), sizeof(int));
	return fd;
}

ssize_t socket_receive(int sock, void *data, size_t size, int *ret_fd, int timeout_ms)
{
	struct pollfd ready = {.fd = sock, .events = POLLIN};
	struct iovec part = {.iov_base = data, .iov_len = size};
	union fd_message control;
	struct msghdr msg = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	ssize_t got;
	int n;

	*ret_fd = -1;
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
	*ret_fd = received_fd(&msg);
	if (msg.msg_flags & MSG_TRUNC) {
		if (*ret_fd >= 0)
			close(*ret_fd);
		*ret_fd = -1;
		return -EMSGSIZE;
	}
	return got;
}
