/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A forked helper process on the other end of a SOCK_SEQPACKET pair. It outlives nobody: the
 * end of the parent, or of the socket, is its end. Called by the worker and the doctor.
 */
#ifndef DWELL_BASE_CHILD_H
#define DWELL_BASE_CHILD_H

#include <stddef.h>
#include <sys/types.h>

#include "../../abi/types.h"

struct child {
	pid_t pid;
	int sock;
};

/*
 * run() gets its end of the pair; when it returns, the child exits. Of all that was open it has
 * that, keep_fd (-1: none) and stderr, and it has left the terminal. Fork before any thread.
 */
int child_start(struct child *ret_child, void (*run)(int sock, void *context), void *context,
		int keep_fd);

/*
 * In a forked process: leaves the terminal and all that is open but stdout, stderr and these, at
 * most CHILD_KEEP_MAX (-1: none); stdin is empty. 0 or -errno.
 */
#define CHILD_KEEP_MAX 256
int child_leave_behind(const int *keep_fds, size_t count);

/* As the process list shows the caller: at most 15 bytes. */
void child_set_name(const char *name);

/* The parent's death kills the caller. To be repeated after a change of user, which clears it. */
int child_die_with_parent(void);

/* Closes the socket, gives it so long to end by itself, then kills it, and waits for a bit. */
void child_stop(struct child *child, u64 grace_ns);

#endif
