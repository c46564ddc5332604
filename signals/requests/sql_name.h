/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a statement of SQL does, and to which table: "SELECT accounts". Only keywords and
 * identifiers come out, never a literal. Called by the parsers of PostgreSQL and MySQL.
 */
#ifndef DWELL_REQUESTS_SQL_NAME_H
#define DWELL_REQUESTS_SQL_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "bytes.h"

enum sql_dialect { SQL_POSTGRESQL, SQL_MYSQL };

/*
 * is_whole: text is the whole statement. False: it does not begin with a known verb, and the name
 * is "(unknown statement)".
 */
bool sql_name(struct bytes text, bool is_whole, enum sql_dialect dialect, char *to, size_t size);

#endif
