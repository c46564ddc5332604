/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports as text, held against those that were good before. For tests of reports.
 */
#ifndef DWELL_TESTS_GOLDEN_H
#define DWELL_TESTS_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/base/utf8.h"
#include "../../src/report/report.h"
#include "unit.h"

/* The report as text, for the caller to free; NULL if it was refused. */
static inline char *report(sqlite3 *db, struct report_options options)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int err = report_print(db, &options, out);

	fclose(out);
	if (!err)
		return text;
	free(text);
	return NULL;
}

static inline void is_fit_for_a_terminal(const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		_cleanup_free_ char *line = strndup(text, length);

		if (utf8_columns(line) > 80)
			fail_msg("%zu columns: %s", utf8_columns(line), line);
		for (size_t i = 0; i < length; i++)
			assert_true((unsigned char)text[i] >= 0x20);
		text += length + (text[length] == '\n');
	}
}

/* UPDATE=1 writes it anew. */
static inline void reads_as_file(const char *path, const char *text)
{
	_cleanup_free_ char *expected = calloc(1, 65536);
	FILE *file;

	assert_non_null(text);
	is_fit_for_a_terminal(text);
	if (getenv("UPDATE")) {
		file = fopen(path, "w");
		assert_non_null(file);
		fputs(text, file);
		fclose(file);
	}
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(fread(expected, 1, 65535, file) > 0);
	fclose(file);
	assert_string_equal(text, expected);
}

static inline void reads_as_before(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "tests/golden/report-%s.txt", name);
	reads_as_file(path, text);
}

#endif
