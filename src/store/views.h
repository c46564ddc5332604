/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The views of a session: the questions that people ask, declared once in views.def. The writer
 * stores them, for other SQL clients; `dwell query` makes its own from the same declarations, as a
 * file's may say anything. Owns nothing.
 */
#ifndef DWELL_STORE_VIEWS_H
#define DWELL_STORE_VIEWS_H

#include <sqlite3.h>
#include <stddef.h>

#include "windows.h"

struct session_view {
	const char *name;
	const char *about;     /* what one row is */
	const char *rows;      /* "FROM" what: where there are none, it is empty; "": always */
	const char *filled_by; /* what to do then */
	const char *sql;
};

extern const struct session_view session_views[];
extern const size_t session_view_count;

/* In the file, as a part of its schema: an SQLite code. */
int views_store(sqlite3 *db);

/*
 * For this connection alone. A table that the file lacks is empty, and a view that cannot be made,
 * as the session is of an older version, is left out. In a part of a session tables have the rows
 * of its windows: an SQLite code.
 */
int views_make(sqlite3 *db, const struct windows *part);

#endif
