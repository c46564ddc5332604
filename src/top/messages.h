/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the processes of top say on stderr while the screen is in use: it becomes a line of status
 * there, and is printed when the terminal is free again. Owns the pipe and the lines. Called by
 * top.c; with --batch nothing of it is used.
 */
#ifndef DWELL_TOP_MESSAGES_H
#define DWELL_TOP_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/types.h"

#define MESSAGES_KEPT 20
#define MESSAGE_BYTES 1024

struct messages {
	int fd;	       /* of the pipe, to read; -1: there is none */
	int stderr_fd; /* as it was, while it is the pipe; -1: it is not */
	char partial[MESSAGE_BYTES];
	size_t length;
	char kept[MESSAGES_KEPT][MESSAGE_BYTES]; /* the newest */
	u64 count;				 /* of all that there were */
};

/* From here on stderr is the pipe, of this process and of those that it forks: 0 or -errno. */
int messages_open(struct messages *messages);

/* In a forked process: it keeps stderr only. */
void messages_leave(struct messages *messages);

int messages_fd(const struct messages *messages);

/* The next line that is complete, without waiting: false if there is none. */
bool messages_read(struct messages *messages, char *ret_line, size_t size);

void messages_add(struct messages *messages, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The terminal is free: stderr is as it was, and what was kept is printed there. */
void messages_end(struct messages *messages);

#endif
