// SPDX-License-Identifier: Apache-2.0
#include "show.h"

#include <math.h>
#include <string.h>

#include "../base/figures.h"
#include "../base/utf8.h"
#include "../model/profile.h"
#include "../model/view.h"

#define TENFOLD	    9.995
#define TIME_MOST   1e18 /* ns: what files from anywhere make of it need not be a number */
#define STACK_CALLS 4
#define SHOWN_BYTES 1024

static const char *figure(double value, char *buf)
{
	char number[FIGURE_BYTES];

	if (value < 99.95)
		snprintf(buf, SHOW_BYTES, value < 9.995 ? "%.2f" : "%.1f", value);
	else if (value < 999999.5)
		snprintf(buf, SHOW_BYTES, "%s", figure_number((u64)(value + 0.5), number));
	else
		snprintf(buf, SHOW_BYTES, "%.2f M", value / 1e6);
	return buf;
}

const char *show_value(const struct diff *diff, const struct diff_line *line, double value,
		       char *buf)
{
	double size = fabs(value);
	char number[SHOW_BYTES];
	const char *sign = value < 0 ? "-" : "";

	(void)diff;
	if (line->key.measure == DIFF_TIMES || line->key.unit == UNIT_COUNT)
		snprintf(buf, SHOW_BYTES, "%s%.48s", sign, figure(size, number));
	else if (line->key.unit == UNIT_BYTES)
		snprintf(buf, SHOW_BYTES, "%s%.40s B", sign, figure(size, number));
	else if (size < 0.05) /* sums of floats are not exactly nothing */
		snprintf(buf, SHOW_BYTES, "0 ns");
	else if (size < 10)
		snprintf(buf, SHOW_BYTES, "%s%.1f ns", sign, size);
	else
		snprintf(buf, SHOW_BYTES, "%s%s", sign,
			 FIGURE_TIME(size < TIME_MOST ? (u64)size : (u64)TIME_MOST));
	return buf;
}

const char *show_percent(double share, char *buf)
{
	if (!isfinite(share))
		snprintf(buf, SHOW_BYTES, "new");
	else if (share >= TENFOLD)
		snprintf(buf, SHOW_BYTES, "x %.1f", share + 1);
	else
		snprintf(buf, SHOW_BYTES, "%+.*f %%", fabs(share) < 0.9995 ? 1 : 0, 100 * share);
	return buf;
}

const char *show_per(const struct diff *diff, const struct diff_line *line, char *buf)
{
	if (diff_is_value(line))
		*buf = '\0';
	else
		snprintf(buf, SHOW_BYTES, " per %.56s", diff->options.per.unit);
	return buf;
}

static const char *name_of(const struct diff *diff, u32 text, char *buf)
{
	utf8_escape(buf, SHOWN_BYTES, diff_text(diff, text));
	if (!*buf)
		snprintf(buf, SHOWN_BYTES, "(no name)");
	return buf;
}

/* "pages (pages.service)"; one name where both are the same */
static void process_text(const struct diff *diff, const struct diff_line *line, char *buf,
			 size_t size)
{
	char process[SHOWN_BYTES], service[SHOWN_BYTES];

	name_of(diff, line->key.process, process);
	name_of(diff, line->key.service, service);
	if (line->key.service && strcmp(process, service) != 0)
		snprintf(buf, size, "%.1000s (%.1000s)", process, service);
	else
		snprintf(buf, size, "%s", process);
}

static const char *kind_text(const struct diff_line *line)
{
	return line->key.kind == SAMPLE_CPU ? "CPU" : "blocked";
}

/* The innermost calls: a sentence has no room for more. */
static void cut_stack(char *name)
{
	char *at = name;

	for (int i = 0; at && i < STACK_CALLS; i++) {
		at = strstr(at, " < ");
		at = at ? at + 3 : NULL;
	}
	if (at)
		at[-3] = '\0';
}

/* The endpoint's own name is before that. */
static void cut_errors(char *name)
{
	size_t length = strlen(name), suffix = strlen(DIFF_ERRORS_SUFFIX);

	if (length > suffix && !strcmp(name + length - suffix, DIFF_ERRORS_SUFFIX))
		name[length - suffix] = '\0';
}

static void write_label(const struct diff *diff, const struct diff_line *line, char *buf,
			size_t size)
{
	const char *measure = diff_measure_names[line->key.measure];
	char name[SHOWN_BYTES], of[3 * SHOWN_BYTES];

	name_of(diff, line->key.name, name);
	switch ((enum diff_table)line->key.table) {
	case DIFF_LEDGER:
		snprintf(buf, size, "%s of all processes%s", name,
			 diff_is_filtered(diff) ? " that were chosen" : "");
		return;
	case DIFF_SERVICE:
		name_of(diff, line->key.service, of);
		snprintf(buf, size, "%s of %s %s", name, process_keys[diff->options.group_by].name,
			 of);
		return;
	case DIFF_PROCESS:
		process_text(diff, line, of, sizeof(of));
		snprintf(buf, size, "%s of %s", name, of);
		return;
	case DIFF_THREAD:
		process_text(diff, line, of, sizeof(of));
		snprintf(buf, size, "waits less CPU time of thread %s of %s", name, of);
		return;
	case DIFF_FUNCTION:
		name_of(diff, line->key.module, of);
		snprintf(buf, size, "%s %s time of %s (%s)", measure, kind_text(line), name, of);
		return;
	case DIFF_STACK:
		cut_stack(name);
		snprintf(buf, size, "%s time of the stack %s", kind_text(line), name);
		return;
	case DIFF_CALL:
		process_text(diff, line, of, sizeof(of));
		snprintf(buf, size, "%s %s of %s",
			 line->key.measure == DIFF_TIMES ? "calls of" : "time in", name, of);
		return;
	case DIFF_COUNT:
	case DIFF_LATENCY:
		name_of(diff, line->key.service, of);
		snprintf(buf, size, "%s of %s: %s", measure, of, name);
		return;
	case DIFF_REQUEST:
		process_text(diff, line, of, sizeof(of));
		if (line->key.kind == DIFF_REQUEST_ERRORS)
			cut_errors(name);
		snprintf(buf, size, "%s of %s of %s",
			 line->key.kind == DIFF_REQUEST_ERRORS ? "errors"
			 : line->key.measure == DIFF_TIMES     ? "requests"
							       : measure,
			 name, of);
		return;
	case DIFF_TABLES:
		break;
	}
	*buf = '\0';
}

/* Cut at a character's end: half of one is no UTF-8, and no JSON. */
void show_label(const struct diff *diff, const struct diff_line *line, char *buf, size_t size)
{
	char label[SHOW_LABEL_BYTES];

	write_label(diff, line, label, sizeof(label));
	utf8_copy(buf, size, label, sizeof(label));
}

void show_short(const struct diff *diff, const struct diff_line *line, char *buf, size_t size)
{
	const char *measure = diff_measure_names[line->key.measure];
	char name[SHOWN_BYTES], of[3 * SHOWN_BYTES];

	name_of(diff, line->key.name, name);
	switch ((enum diff_table)line->key.table) {
	case DIFF_LEDGER:
	case DIFF_STACK:
		snprintf(buf, size, "%s", name);
		return;
	case DIFF_SERVICE:
		name_of(diff, line->key.service, of);
		snprintf(buf, size, "%s  %s", name, of);
		return;
	case DIFF_PROCESS:
	case DIFF_THREAD:
		process_text(diff, line, of, sizeof(of));
		snprintf(buf, size, "%s  %s", name, of);
		return;
	case DIFF_FUNCTION:
		snprintf(buf, size, "%s  %s", measure, name);
		return;
	case DIFF_CALL:
		process_text(diff, line, of, sizeof(of));
		snprintf(buf, size, "%s  %s  %s", measure, name, of);
		return;
	case DIFF_COUNT:
	case DIFF_LATENCY:
		name_of(diff, line->key.service, of);
		snprintf(buf, size, "%s  %s: %s", measure, of, name);
		return;
	case DIFF_REQUEST:
		process_text(diff, line, of, sizeof(of));
		snprintf(buf, size, "%s  %s  %s", measure, name, of);
		return;
	case DIFF_TABLES:
		break;
	}
	*buf = '\0';
}
