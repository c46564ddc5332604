/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One SELECT that a person typed, over a session and its views. It reads, and ends: after a time,
 * after so many rows, with so much memory. Owns nothing. Called by `dwell query`, in the process
 * that has no privilege, since the file is foreign.
 */
#ifndef DWELL_STORE_SQL_H
#define DWELL_STORE_SQL_H

#include <sqlite3.h>
#include <stdbool.h>

#include "../../abi/types.h"

#define SQL_MEMORY_BYTES (1LL << 30) /* that SQLite may use, for sorting above all */

struct sql_limits {
	u64 time_ns;
	u64 rows;
};

struct sql_reading {
	u64 rows;
	bool is_cut; /* there were more */
};

/* Called before the first row, and for each one: 0, or -errno, told. */
typedef int sql_fn(sqlite3_stmt *row, void *context);

/*
 * With the views made (views.h). hint is what to do where the SQL is wrong: 0, -EINVAL for wrong
 * SQL or -errno, told.
 */
int sql_run(sqlite3 *db, const char *text, const struct sql_limits *limits, const char *hint,
	    sql_fn *on_columns, sql_fn *on_row, void *context, struct sql_reading *ret_reading);

#endif
