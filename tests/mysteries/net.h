/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets on the loopback interface, for the mysteries. */
#ifndef DWELL_TESTS_NET_H
#define DWELL_TESTS_NET_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static inline struct sockaddr_in local_address(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	return address;
}

static inline int bound(int type, int port)
{
	struct sockaddr_in address = local_address(port);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)))
		abort();
	return fd;
}

static inline int listening(int port, int backlog)
{
	int fd = bound(SOCK_STREAM, port);

	if (listen(fd, backlog))
		abort();
	return fd;
}

static inline int connected(int type, int port)
{
	struct sockaddr_in address = local_address(port);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		return -1;
	}
	return fd;
}

static inline void no_delay(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* All of it; whether it succeeded */
static inline int read_all(int fd, char *buffer, size_t size)
{
	size_t got = 0;
	ssize_t n;

	while (got < size && (n = read(fd, buffer + got, size - got)) > 0)
		got += (size_t)n;
	return got == size;
}

#endif
