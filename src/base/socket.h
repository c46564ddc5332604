/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between dwell's own processes over a SOCK_SEQPACKET pair, each with at most one
 * descriptor. Owns nothing. Called by the worker on both sides.
 */
#ifndef DWELL_BASE_SOCKET_H
#define DWELL_BASE_SOCKET_H

#include <stddef.h>
#include <sys/types.h>

/* fd is -1 for none: 0 or -errno. */
int socket_send(int sock, const void *data, size_t size, int fd);

/* The same without waiting: -EAGAIN if the other side has to read first. */
int socket_send_now(int sock, const void *data, size_t size);

/*
 * Waits at most timeout_ms (-1: for ever): bytes received, 0 when the peer is gone, -ETIMEDOUT,
 * -EMSGSIZE for a message larger than size, -errno. *ret_fd is -1 or the caller's to close; a
 * NULL ret_fd takes no descriptor, whatever was sent.
 */
ssize_t socket_receive(int sock, void *data, size_t size, int *ret_fd, int timeout_ms);

#endif
