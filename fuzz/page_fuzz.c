// SPDX-License-Identifier: Apache-2.0
/*
 * The HTML report of a session file from anywhere: its parts are made of tables that the text
 * report does not read by time.
 */
#include <stdint.h>

#include "../src/page/page.h"
#include "session.h"

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
	sqlite3 *db = fuzz_session(data, size);

	if (!db)
		return 0;
	write_page(db, &whole);
	write_page(db, &slice);
	sqlite3_close(db);
	return 0;
}
