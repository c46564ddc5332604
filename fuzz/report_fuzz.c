// SPDX-License-Identifier: Apache-2.0
/*
 * The report of a session file from anywhere: whatever its pages say.
 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../src/base/log.h"
#include "../src/report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void report(sqlite3 *db, const struct report_options *options)
{
	FILE *out = fopen("/dev/null", "w");

	if (!out)
		return;
	report_print(db, options, out);
	fclose(out);
}

static void report_all(sqlite3 *db)
{
	static const struct report_options ways[] = {
		{.threads = true, .part.kernel = true},
		{.json = true, .execs = true, .threads = true, .part.kernel = true},
		{.stacks = true, .part.kernel = true},
		{.why = "blocked", .part.kernel = true},
		{.signals = ~0ULL, .histograms = true, .part.kernel = true},
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		report(db, &ways[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *copy = size ? sqlite3_malloc64(size) : NULL;
	sqlite3 *db = NULL;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	log_set_level(LOG_QUIET);
	if (sqlite3_open(":memory:", &db) == SQLITE_OK &&
	    sqlite3_deserialize(db, "main", copy, (sqlite3_int64)size, (sqlite3_int64)size,
				SQLITE_DESERIALIZE_READONLY | SQLITE_DESERIALIZE_FREEONCLOSE) ==
		    SQLITE_OK) {
		sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		report_all(db);
	}
	sqlite3_close(db);
	return 0;
}
