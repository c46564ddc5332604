/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who maps new code, as the kernel's perf events tell beside all samples: a number of a process for
 * each mapping of the host. Owns an event and a small ring per CPU. Called by commands, in the
 * privileged process.
 */
#ifndef DWELL_CAPTURE_SIDEBAND_H
#define DWELL_CAPTURE_SIDEBAND_H

#include <stddef.h>

#include "../../abi/types.h"

struct sideband;

/* epoll_fd is told to wake for each of its rings: 0 or -errno. */
int sideband_open(int epoll_fd, struct sideband **ret_sideband);
void sideband_close(struct sideband *sideband); /* NULL is allowed */

/* This CPU came online: its ring is opened anew, 0 or -errno. What its old one held is lost. */
int sideband_online(struct sideband *sideband, int cpu);

/* All that is there; pids are of dwell's own namespace. */
void sideband_take(struct sideband *sideband, void (*on_mapping)(void *context, u32 pid),
		   void *context);

/* Records for which a ring had no room, so far: somebody mapped something. */
u64 sideband_lost(const struct sideband *sideband);

#endif
