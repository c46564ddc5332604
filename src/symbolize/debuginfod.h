/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug files from the servers in DEBUGINFOD_URLS, by libdebuginfod, which is loaded when it is
 * first needed: dwell does not depend on it. Only called when a person asked for it: it tells
 * others what runs here. It writes to the cache of whoever it runs as (DEBUGINFOD_CACHE_PATH), so
 * it has no place in the worker; a child without privileges is the place for it. Owns nothing.
 */
#ifndef DWELL_SYMBOLIZE_DEBUGINFOD_H
#define DWELL_SYMBOLIZE_DEBUGINFOD_H

#include <stdbool.h>

#include "../../abi/types.h"

bool debuginfod_has_servers(void); /* does DEBUGINFOD_URLS name any? */

/*
 * The debug file of a build id: a descriptor, or -errno; -ENOENT: no server is set or has it, also
 * for an id that is none; -ETIMEDOUT: not within limit_ms (about: the library looks at the clock
 * once a second while nothing arrives); -ENOSYS: there is no libdebuginfod.so.1. A long wait is
 * told on stderr, with the name, which has to be fit to be shown.
 */
int debuginfod_fetch(const u8 *build_id, size_t build_id_size, const char *name, u64 limit_ms);

#endif
