/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPUs that come online, as the kernel announces them (uevents): an event per CPU, such as a
 * sampling clock, ends with its CPU, and does not come back with it. Owns nothing but the socket
 * that it returns. Called by the capture.
 */
#ifndef DWELL_CAPTURE_HOTPLUG_H
#define DWELL_CAPTURE_HOTPLUG_H

#include <stdbool.h>

#include "../../abi/types.h"

int hotplug_open(void); /* a descriptor or -errno */

/* The CPU that a message says is online now; -1: it says something else. */
int hotplug_parse(const char *message);

/* The next CPU that came online: its number; -ENOBUFS: some were missed; -EAGAIN: there is none. */
int hotplug_next(int fd);

#endif
