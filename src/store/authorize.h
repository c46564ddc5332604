/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What SQL that a person typed may do with a session: read. SQLite asks here for each table,
 * column and function when it prepares a statement. Owns the list of the file's tables. Called by
 * sql.c.
 */
#ifndef DWELL_STORE_AUTHORIZE_H
#define DWELL_STORE_AUTHORIZE_H

#include <sqlite3.h>

struct authorizer;

/*
 * From here on, the connection reads the file's own tables, temporary views and tables that are
 * there, and calls functions that compute: 0 or an SQLite code. authorize_end() frees it, and all
 * is allowed again.
 */
int authorize_begin(sqlite3 *db, struct authorizer **ret_authorizer);
void authorize_end(struct authorizer *authorizer);

/* What was refused last, in words: "" if nothing was. Valid until authorize_end(). */
const char *authorize_refusal(const struct authorizer *authorizer);

#endif
