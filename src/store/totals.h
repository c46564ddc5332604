/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums of a large table, written beside it when a session ends (struct table, totals_of): who
 * asks for all of a session need not read all of it. Only where they are small against the
 * file; else the table stays empty, and views read the large one. Owns nothing. Called by the
 * writer.
 */
#ifndef DWELL_STORE_TOTALS_H
#define DWELL_STORE_TOTALS_H

#include <sqlite3.h>

#include "../model/sink.h"

#define TOTALS_WIDTH_MAX 12
#define TOTALS_ROWS_MIN	 100000 /* a table with fewer rows is read in a moment */
#define TOTALS_SHARE	 50	/* sums take up one byte in so many of the file, at most */

/*
 * Fills one table, by deadline_ns of CLOCK_MONOTONIC: an SQLite code. SQLITE_OK also where it was
 * left empty, for one of the reasons above.
 */
int totals_fill(sqlite3 *db, const struct table *table, u64 deadline_ns);

#endif
