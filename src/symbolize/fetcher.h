/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that asks debuginfod's servers: it needs files and the network, which the process
 * that parses what they send must not have. It hands over descriptors. Owns its cache, if that is
 * private. Called by who reads a session, before it enters its sandbox.
 */
#ifndef DWELL_SYMBOLIZE_FETCHER_H
#define DWELL_SYMBOLIZE_FETCHER_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/types.h"

struct fetcher;

/* With a private cache in a folder that is removed at the end, or the user's: 0 or -errno. */
int fetcher_start(bool is_cache_private, struct fetcher **ret_fetcher);

/* As debuginfod_fetch(), in that process. */
int fetcher_fetch(struct fetcher *fetcher, const u8 *build_id, size_t build_id_size,
		  const char *name, u64 limit_ms);

/* Ends it, and waits until a private cache is gone. NULL is allowed. */
void fetcher_stop(struct fetcher *fetcher);

#endif
