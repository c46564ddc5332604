/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session made of the bytes of an input, for fuzz targets that read one; session_fuzz.c has one
 * in files, as dwell opens it.
 */
#ifndef DWELL_FUZZ_SESSION_H
#define DWELL_FUZZ_SESSION_H

#include <sqlite3.h>
#include <stdint.h>
#include <string.h>

#include "../src/base/log.h"

/* The caller's to close. NULL: SQLite refuses it. What dwell says about it is not printed. */
static inline sqlite3 *fuzz_session(const uint8_t *data, size_t size)
{
	unsigned char *copy = size ? sqlite3_malloc64(size) : NULL;
	sqlite3 *db = NULL;

	log_set_level(LOG_QUIET);
	if (!copy)
		return NULL;
	memcpy(copy, data, size);
	if (sqlite3_open(":memory:", &db) != SQLITE_OK) {
		sqlite3_free(copy);
	} else if (sqlite3_deserialize(db, "main", copy, (sqlite3_int64)size, (sqlite3_int64)size,
				       SQLITE_DESERIALIZE_READONLY |
					       SQLITE_DESERIALIZE_FREEONCLOSE) == SQLITE_OK) {
		sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		return db;
	} /* else SQLite has freed the copy */
	sqlite3_close(db);
	return NULL;
}

#endif
