/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Giving up capabilities, for good. Each thread has its own: these functions change the caller's.
 * Owns nothing. Called by every process and thread of dwell that needs fewer than it began with.
 */
#ifndef DWELL_BASE_CAPABILITIES_H
#define DWELL_BASE_CAPABILITIES_H

#include <stdbool.h>

#include "../../abi/types.h"

#define CAPABILITY(number) (1ULL << (number))

/* Keeps those of the set that the thread has; none can be inherited: 0 or -errno. */
int capabilities_keep(u64 set);

/* Are all of the set in force for this thread? */
bool capabilities_has(u64 set);

/* Whether only CAP_DAC_OVERRIDE lets it write into the folder of this file. */
bool capabilities_need_override(const char *path);

#endif
