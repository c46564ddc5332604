/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One process looked at: its mappings, and those of its files that the worker does not know, opened
 * and handed over. Owns the disk cache of tables. Called by mappings.c only.
 */
#ifndef DWELL_ENGINE_MAPPINGS_SCAN_H
#define DWELL_ENGINE_MAPPINGS_SCAN_H

#include "../worker/unwinding.h"
#include "mappings.h"
#include "opener.h"
#include "table_cache.h"

struct mappings_scanner {
	struct worker *symbolizer;
	struct opener *opener;
	struct table_cache cache;

	struct mappings_listener *listeners; /* NULL: nobody */
};

void mappings_scanner_open(struct mappings_scanner *scanner, struct worker *symbolizer,
			   struct opener *opener);
void mappings_scanner_close(struct mappings_scanner *scanner);

/* The symbolizer writes its tables into the capture's maps: 0 or -errno. */
int mappings_give_maps(const struct capture *capture, struct worker *symbolizer,
		       const struct unwinding_wish *wish);

/*
 * 0 or -errno: -ESRCH if it is gone; -ESTALE if it has changed meanwhile; -EAGAIN if time is up:
 * some files more are known by now, so that it gets further next time. The batch goes along.
 */
int mappings_scan(struct mappings_scanner *scanner, struct unwinding_batch *batch, u32 pid,
		  u64 until_ns, struct unwinding_found *ret_found);

/* No process of this number has memory. */
bool mappings_is_gone(u32 pid);

/* What its compiler says of its code, if that has changed. */
void mappings_give_perf_map(struct mappings_scanner *scanner, u32 pid, struct target_map *map);

#endif
