/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `dwell query --list`: each view and table of a session, what one row of it is, its columns, and
 * how it is filled where it is empty. Owns nothing. Called by query.c.
 */
#ifndef DWELL_CMD_QUERY_LIST_H
#define DWELL_CMD_QUERY_LIST_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

/* With the views made (src/store/views.h). Text is as wide as columns says: an SQLite code. */
int query_list(sqlite3 *db, bool is_json, int columns, FILE *out);

#endif
