/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that only forks helper processes. A helper that hangs or dies is replaced while the
 * measurement goes on, and the process that measures has threads and maps of the kernel by then: a
 * child of it would inherit them. The spawner is forked before any of that exists, and has no other
 * work, so that it never hangs. Its helpers end with it, and it ends with its parent. Owns its
 * process. Called by src/engine.
 */
#ifndef DWELL_BASE_SPAWNER_H
#define DWELL_BASE_SPAWNER_H

#include <sys/types.h>

#include "../../abi/types.h"

struct spawner;

/*
 * What a helper does with its end of a socket pair; it exits when this returns. The context is as
 * it was when the spawner was started.
 */
struct spawner_role {
	void (*run)(int sock, void *context);
	void *context;
	u64 capabilities; /* that it begins with (capabilities.h) */
};

/*
 * Forks. Call it before the process has threads: 0 or -errno. Neither it nor a helper can start a
 * program. keep_fd (-1: none) stays open in all of them.
 */
int spawner_start(const struct spawner_role *roles, size_t role_count, int keep_fd,
		  struct spawner **ret_spawner);
pid_t spawner_pid(const struct spawner *spawner);

struct helper {
	pid_t pid;
	int sock;   /* the other end is the helper's */
	int pid_fd; /* readable when it has ended */
};

/* 0 or -errno. */
int spawner_spawn(struct spawner *spawner, size_t role, struct helper *ret_helper);

/*
 * Kills the helper and closes its descriptors. Does not wait: one that hangs in the kernel ends
 * when the kernel lets it.
 */
void helper_kill(struct helper *helper);

/* Closes its socket, and gives it so long to end by itself: what it writes is complete then. */
void helper_end(struct helper *helper, u64 grace_ns);

/* Ends the spawner, and with it the helpers; reports what its sandbox refused. NULL is allowed. */
void spawner_stop(struct spawner *spawner);

#endif
