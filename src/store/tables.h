/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a session that belong to no signal, and what marks a file as a session.
 * Owns nothing. Read by the writer, the reader, and by whoever sends rows to the writer.
 */
#ifndef DWELL_STORE_TABLES_H
#define DWELL_STORE_TABLES_H

#include <stdbool.h>

#include "../model/sink.h"

#define SESSION_APPLICATION_ID 0x4457454c /* "DWEL", in SQLite's header of the file */
#define SESSION_SCHEMA_MAJOR   1
#define SESSION_SCHEMA_MINOR   9
#define SESSION_USER_VERSION   (SESSION_SCHEMA_MAJOR * 1000 + SESSION_SCHEMA_MINOR)
#define SESSION_SCHEMA	       "dwell.session/1"

enum store_table {
	TABLE_META,
	TABLE_WINDOWS,
	TABLE_LOSSES,
	TABLE_HOOKS,
	TABLE_OVERHEAD,
	TABLE_STEPS,
	TABLE_COVERAGE,
	TABLE_CGROUP_LIMITS,
	TABLE_CGROUP_PROCESSES,
	TABLE_COUNTERS,
	TABLE_SPEED,
	TABLE_COUNT
};

#define HOOKS_IS_RARE	9  /* the column of hooks that is not sent: signals declare it */
#define STORE_WIDTH_MAX 11 /* columns of the widest of these */

extern const struct table store_tables[TABLE_COUNT];

/* Names for numbers: written whole when a session begins. */
struct name_row {
	s64 id;
	const char *name;
	const char *meaning;
};

struct dictionary {
	struct table table;
	const struct name_row *rows;
	size_t count;
};

#define DICTIONARY_COUNT 7

extern const struct dictionary store_dictionaries[DICTIONARY_COUNT];

/* Each table that this dwell declares, the store's own first, until it is false. */
typedef bool tables_fn(const struct table *table, void *context);
void tables_each(tables_fn *fn, void *context);

#endif
