// SPDX-License-Identifier: Apache-2.0
/*
 * The report of a session file from anywhere: whatever its pages say.
 */
#include <stdint.h>

#include "../src/config/compare.h"
#include "../src/doctor/fitness.h"
#include "../src/report/report.h"
#include "session.h"

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
		{.requests = true, .slowest = 5, .part.kernel = true},
		{.signals = ~0ULL, .histograms = true, .part.kernel = true},
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		report(db, &ways[i]);
}

/* `dwell doctor FILE`. */
static void judge(sqlite3 *db)
{
	struct fitness_report fitness_report;
	struct fitness fitness;

	if (fitness_read(db, &fitness))
		return;
	fitness_judge("fuzz", &fitness, &fitness_report);
	json_decref(fitness_to_json(&fitness_report));
}

static void ignore(void *context, const char *text)
{
	(void)context;
	(void)text;
}

/* `dwell record --like FILE`. */
static void compare(sqlite3 *db)
{
	static struct session_facts *facts, *none;
	struct comparison comparison;

	if (!facts) {
		facts = session_facts_make();
		none = session_facts_make();
	}
	facts->size = facts->cut = 0;
	if (!session_facts_read(db, facts)) {
		compare_facts(facts, none, ignore, NULL, &comparison);
		compare_facts(facts, facts, ignore, NULL, &comparison);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	sqlite3 *db = fuzz_session(data, size);

	if (!db)
		return 0;
	report_all(db);
	judge(db);
	compare(db);
	sqlite3_close(db);
	return 0;
}
