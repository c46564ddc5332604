/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a process waits for a file system that may never answer: FUSE, NFS, what lies above them.
 * Asks the kernel alone, which does not ask that file system. Called by whoever waits for a process
 * that reads other programs' files.
 */
#ifndef DWELL_BASE_BLOCKED_READ_H
#define DWELL_BASE_BLOCKED_READ_H

#include <stdbool.h>
#include <sys/types.h>

#include "../../abi/types.h"

/* Which read it is: while these stay the same, it is the same one. */
struct blocked_read {
	u64 dev;      /* of the file; 0: it waits for none that may hang, or this is not known */
	u64 position; /* in its memory and in the file, as one number */
};

/* A file on a block device does not hang without the host's doing so. */
bool blocked_read_may_hang(u64 dev);

struct blocked_read blocked_read_of(pid_t pid);

#endif
