// SPDX-License-Identifier: Apache-2.0
/*
 * The HTML report of a session file from anywhere: its parts are made of tables that the text
 * report does not read by time.
 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../src/base/log.h"
#include "../src/page/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_page(sqlite3 *db, const struct report_options *options)
{
	const struct page_session session = {
		.db = db, .options = options, .file = "x", .opens = true, .closes = true};
	FILE *out = fopen("/dev/null", "w");

	if (!out)
		return;
	html_page_write(&session, out);
	fclose(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct report_options whole = {0};
	static const struct report_options slice = {
		.part.kernel = true, .part.from_ns = 1, .part.to_ns = ~0ULL};
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
		write_page(db, &whole);
		write_page(db, &slice);
	}
	sqlite3_close(db);
	return 0;
}
