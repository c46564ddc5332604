/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One process while it is looked at: its mappings, and the files among them as they become known.
 * Owns the two lists, and rows that were just built. Called by symbolize.
 */
#ifndef DWELL_SYMBOLIZE_SCAN_H
#define DWELL_SYMBOLIZE_SCAN_H

#include "modules.h"
#include "proc_maps.h"
#include "processes.h"

#define SCAN_MAPPINGS_MAX (1u << UNWIND_MAPPINGS_STEPS)

struct scan_file {
	u32 mapping; /* the first one of it */
	u32 module;  /* 0: not known yet */
	bool is_jit; /* no program, but memory that has the form of a file */
};

struct scan {
	u32 tgid; /* 0: none */
	struct proc_mapping *mappings;
	u32 *file_of; /* of each mapping; those without have SCAN_NO_FILE */
	u32 count;
	struct scan_file *files;
	u32 file_count;
	u64 cut; /* processes with more mappings than are looked at */

	struct row_table rows; /* of file rows_file, until they are on disk */
	u32 rows_file, rows_module;
};

#define SCAN_NO_FILE 0xffffffffU

int scan_init(struct scan *scan);
void scan_free(struct scan *scan);

/* How many files, or -errno. */
int scan_read(struct scan *scan, u32 tgid, int maps_fd);

const struct proc_mapping *scan_mapping_of(const struct scan *scan, u32 file); /* NULL: no such */

/* Does the process have code that is in no file? */
bool scan_has_jit(const struct scan *scan);

/* What each mapping is, as far as it is known: how many. There is room for SCAN_MAPPINGS_MAX. */
u32 scan_result(const struct scan *scan, const struct modules *modules,
		const struct unwind_tables *tables, u32 vdso, u32 jit, struct mapped *ret_mappings);

#endif
