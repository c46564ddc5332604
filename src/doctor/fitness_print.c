// SPDX-License-Identifier: Apache-2.0
/* The fitness of a session as text, and as JSON: docs/doctor-session.schema.json describes it. */
#include "../base/utf8.h"
#include "../base/version.h"
#include "fitness.h"

static const struct {
	const char *name, *words;
} verdicts[FITNESS_VERDICTS] = {
	[FITNESS_FIT] = {"fit", "fit to conclude from"},
	[FITNESS_LIMITED] = {"fit_with_limits", "fit to conclude from, with limits"},
	[FITNESS_NOT] = {"not_fit", "not fit to conclude from"},
};

static size_t count_level(const struct fitness_report *report, int level)
{
	size_t count = 0;

	for (size_t i = 0; i < report->check_count; i++)
		count += (int)report->checks[i].level == level;
	return count;
}

static void print_verdict(const struct fitness_report *report, bool color, FILE *out)
{
	char name[512];

	utf8_escape(name, sizeof(name), report->session);
	fprintf(out, "%s%s: %s%s: %zu ok, %zu to note, %zu bad.\n", color ? "\033[1m" : "", name,
		verdicts[report->verdict].words, color ? "\033[0m" : "",
		count_level(report, CHECK_OK), count_level(report, CHECK_NOTE),
		count_level(report, CHECK_BAD));
}

void fitness_print(const struct fitness_report *report, bool color, bool brief, FILE *out)
{
	/* The verdict opens the report, and ends it where it would have scrolled away. */
	if (!brief) {
		print_verdict(report, color, out);
		doctor_print_checks("SESSION, before you conclude from it", report->checks,
				    report->check_count, color, out);
		fputc('\n', out);
	}
	print_verdict(report, color, out);
}

static double share_of_common(const struct fitness *fitness)
{
	u64 whole = fitness->stack_weight;

	return whole ? (double)fitness->stability.common_weight / (double)whole : 0;
}

json_t *fitness_to_json(const struct fitness_report *report)
{
	const struct fitness *fitness = report->fitness;
	const struct fitness_stability *stability = &fitness->stability;
	char name[512], run_id[64];

	utf8_escape(name, sizeof(name), report->session);
	utf8_escape(run_id, sizeof(run_id), fitness->run_id);
	return json_pack("{s:s, s:s, s:s, s:o, s:s, s:o, s:{s:I, s:I, s:f, s:I, s:I, s:I}}",
			 "schema", "dwell.doctor-session/1", "version", DWELL_VERSION, "session",
			 name, "run_id", *run_id ? json_string(run_id) : json_null(), "verdict",
			 verdicts[report->verdict].name, "checks",
			 doctor_checks_to_json(report->checks, report->check_count), "stability",
			 "functions", (json_int_t)stability->functions, "common",
			 (json_int_t)stability->common, "common_share", share_of_common(fitness),
			 "samples_even", (json_int_t)stability->samples[0], "samples_odd",
			 (json_int_t)stability->samples[1], "cpu_samples",
			 (json_int_t)fitness->cpu_samples);
}
