// SPDX-License-Identifier: Apache-2.0
/*
 * A session file from anywhere, compared with itself: whatever its pages say.
 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../src/base/log.h"
#include "../src/diff/diff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare(sqlite3 *db, const char *per, size_t run_count)
{
	struct diff_options options = {.force = true, .fail_over = 0, .run_count = run_count};
	static struct diff diff;
	FILE *out = fopen("/dev/null", "w");
	int err = diff_parse_per(per, &options.per);

	if (!out)
		return;
	if (!err)
		err = diff_init(&diff, &options);
	for (size_t i = 0; !err && i < run_count; i++)
		err = diff_survey(&diff, db, i >= run_count / 2, "session");
	if (!err)
		err = diff_choose(&diff);
	for (size_t i = 0; !err && i < run_count; i++)
		err = diff_read(&diff, db, i >= run_count / 2, "session", 0,
				i % 2 ? 1000000000 : 0);
	if (!err)
		err = diff_judge(&diff);
	if (!err) {
		diff_print_text(&diff, out);
		diff_print_json(&diff, out);
	}
	diff_free(&diff);
	fclose(out);
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
		compare(db, "wall", 2);
		compare(db, "syscalls:accept4", 3);
	}
	sqlite3_close(db);
	return 0;
}
