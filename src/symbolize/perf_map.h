/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /tmp/perf-PID.map, by which JIT compilers tell the names of their code: "START SIZE name" per
 * line, hexadecimal. Written by the process that it is about: hostile. Owns the arrays. Runs in the
 * unprivileged process.
 */
#ifndef DWELL_SYMBOLIZE_PERF_MAP_H
#define DWELL_SYMBOLIZE_PERF_MAP_H

#include "../../abi/types.h"

struct perf_map;

/* Later lines replace earlier ones where they overlap: 0 or -errno. */
int perf_map_read(int fd, struct perf_map **ret_map);
void perf_map_close(struct perf_map *map);
size_t perf_map_bytes(const struct perf_map *map); /* of memory; NULL is allowed */
u64 perf_map_refused(const struct perf_map *map);  /* lines that did not fit, or were none */
const char *perf_map_find(const struct perf_map *map, u64 address);

#endif
