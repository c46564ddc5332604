/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What unwinding lacked: tables that were too small for what was recorded, with the option that
 * raises the limit, and files that could not be read. Owns nothing. Called by the report's two
 * forms.
 */
#ifndef DWELL_REPORT_UNWIND_CAPACITY_H
#define DWELL_REPORT_UNWIND_CAPACITY_H

#include "digest.h"

struct unwind_capacity {
	u64 rows;		/* capacity of the table of rows; 0: no stack was unwound */
	u64 most;		/* rows in use at once, at most */
	u64 asked;		/* page loads that stacks asked for */
	u64 again;		/* of these, pages that had been evicted before */
	u64 refused;		/* of these, pages that did not fit */
	u64 evicted;		/* pages that were removed to load others */
	u64 files_or_processes; /* that did not fit into tables of fixed size */
	u64 hangs;		/* files whose file system did not answer in time */
	u64 unreachable;	/* files that could not be opened, these among them */
	u64 replaced;		/* symbolizer processes that had ended */
	u64 incomplete;		/* samples shown whose stack ends at a page that was not loaded */
	u64 samples;		/* of so many */
};

void unwind_capacity_find(const struct digest *digest, struct unwind_capacity *ret_capacity);

/* Warnings as a person reads them; false: there is none to print. */
bool unwind_capacity_rows(const struct unwind_capacity *capacity, char *ret_line, size_t size);
bool unwind_capacity_files(const struct unwind_capacity *capacity, char *ret_line, size_t size);
bool unwind_capacity_hangs(const struct unwind_capacity *capacity, char *ret_line, size_t size);
bool unwind_capacity_replaced(const struct unwind_capacity *capacity, char *ret_line, size_t size);

#endif
