// SPDX-License-Identifier: Apache-2.0
/*
 * A session file from anywhere, compared with itself: whatever its pages say.
 */
#include <stdint.h>

#include "../src/diff/diff.h"
#include "session.h"

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
	sqlite3 *db = fuzz_session(data, size);

	if (!db)
		return 0;
	compare(db, "wall", 2);
	compare(db, "syscalls:accept4", 3);
	compare(db, "requests", 2);
	sqlite3_close(db);
	return 0;
}
