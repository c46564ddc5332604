/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /tmp/perf-PID.map, by which JIT compilers publish the names of their code: "START SIZE name" per
 * line, hexadecimal. Written by the process that it is about: hostile, and mostly appended to while
 * we read: so only what was added is read. Owns the arrays. Runs in the unprivileged process.
 */
#ifndef DWELL_SYMBOLIZE_PERF_MAP_H
#define DWELL_SYMBOLIZE_PERF_MAP_H

#include <stddef.h>

#include "../../abi/types.h"

struct perf_map;

/* An empty one; NULL: no memory. */
struct perf_map *perf_map_create(void);
void perf_map_close(struct perf_map *map); /* NULL is allowed */

/*
 * Reads what was added to the file since the last time, or all of it if it is another file, or was
 * rewritten. Later lines replace earlier ones where they overlap. Lines for which the map would
 * need more than bytes_max of memory are counted instead. 0 or -errno; -EAGAIN: it was rewritten
 * again too soon, and is read when it is asked for later.
 */
int perf_map_update(struct perf_map *map, int fd, size_t bytes_max);

size_t perf_map_bytes(const struct perf_map *map); /* of memory; NULL is allowed */
u64 perf_map_refused(const struct perf_map *map);  /* lines that had no room, or were none */
u64 perf_map_unfit(const struct perf_map *map);	   /* those of them that had no room */
const char *perf_map_find(const struct perf_map *map, u64 address);

#endif
