// SPDX-License-Identifier: Apache-2.0
/* A comparison for a terminal: what changed first, then its tables. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "../../abi/ids.h"
#include "../base/figures.h"
#include "../base/utf8.h"
#include "../store/process_filter.h"
#include "show.h"

#define COLUMNS_USUAL  80
#define COLUMNS_LEAST  60
#define NUMBERS_WIDTH  50 /* of a row, before its name */
#define ROWS_USUAL     5  /* of a table; all that changed, up to twice as many */
#define NAMES_SHOWN    3  /* runs of a side */
#define SAME_CHANGE    0.15
#define ROW_NAME_BYTES 2048
#define ONSETS_SHOWN   6

struct output {
	const struct diff *diff;
	FILE *out;
	int columns;
};

static const char *bold(const struct output *output)
{
	return output->diff->options.color ? "\033[1m" : "";
}

static const char *plain(const struct output *output)
{
	return output->diff->options.color ? "\033[0m" : "";
}

/* A number and its unit stay on one line. */
static size_t word_length(const char *text)
{
	static const char *const units[] = {"%", "s", "ms", "us", "ns", "M"};
	size_t length = strcspn(text, " ");

	for (size_t i = 0; length && i < sizeof(units) / sizeof(units[0]); i++) {
		const char *next = text + length + (text[length] == ' ');
		size_t size = strcspn(next, " .,:;)");

		if (isdigit((unsigned char)text[length - 1]) && size == strlen(units[i]) &&
		    !strncmp(next, units[i], size))
			return length + 1 + strcspn(next, " ");
	}
	return length;
}

/* A paragraph, wrapped; the first line begins with mark. */
static void paragraph(const struct output *output, const char *mark, const char *text)
{
	int at = fprintf(output->out, "%s", mark), indent = at;
	bool is_first = true;

	while (*text) {
		size_t length = word_length(text);
		char word[DIFF_TEXT_BYTES];
		int width;

		snprintf(word, sizeof(word), "%.*s", (int)length, text);
		width = (int)utf8_columns(word);
		if (!is_first && at + 1 + width > output->columns) {
			fprintf(output->out, "\n%*s", indent, "");
			at = indent;
			is_first = true;
		}
		at += fprintf(output->out, "%s", is_first ? "" : " ") + width;
		fputs(word, output->out);
		is_first = false;
		text += length + strspn(text + length, " ");
	}
	fputc('\n', output->out);
}

/* --- the head --- */

static void side(const struct output *output, int which)
{
	const struct diff *diff = output->diff;
	char text[ROW_NAME_BYTES] = "", name[DIFF_TEXT_BYTES];
	size_t all = 0;
	double seconds = 0;

	for (size_t r = 0; r < diff->run_count; r++) {
		const struct diff_run *run = &diff->runs[r];

		if (run->side != which)
			continue;
		utf8_escape(name, sizeof(name), run->name);
		if (all++ < NAMES_SHOWN)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
				 *text ? ", " : "", name);
		seconds += (double)(run->end_ns - run->begin_ns) / 1e9;
	}
	if (all > NAMES_SHOWN)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " and %zu more",
			 all - NAMES_SHOWN);
	snprintf(text + strlen(text), sizeof(text) - strlen(text),
		 all > 1 ? " (%.1f s in %zu runs)" : " (%.1f s)", seconds, all);
	paragraph(output, which ? "  B  " : "  A  ", text);
}

static void head(const struct output *output)
{
	const struct diff *diff = output->diff;

	fprintf(output->out, "%sdwell diff%s, per %s%s\n", bold(output), plain(output),
		diff->options.per.unit,
		diff->options.per.kind == DIFF_PER_WALL ? " of wall time" : "");
	side(output, 0);
	side(output, 1);
	if (diff_is_filtered(diff)) {
		char filter[DIFF_TEXT_BYTES];

		process_filter_text(&diff->options.processes, filter, sizeof(filter));
		paragraph(output, "  of ", filter);
	}
	for (size_t i = 0; i < diff->warning_count; i++) {
		char text[2 * DIFF_TEXT_BYTES];

		utf8_escape(text, sizeof(text), diff->warnings[i].text);
		paragraph(output, "  ! ", text);
	}
}

static void verdict(const struct output *output)
{
	const struct diff *diff = output->diff;
	const char *material = FIGURE_TIME((u64)diff->material);
	char text[DIFF_TEXT_BYTES];

	fprintf(output->out, "\n%sWHAT CHANGED%s\n", bold(output), plain(output));
	for (size_t i = 0; i < diff->sentence_count; i++)
		paragraph(output, "  - ", diff->sentences[i]);
	if (diff->whole_runs)
		snprintf(text, sizeof(text),
			 "%zu lines tested: %zu changed, %zu unchanged (within %.1f %% or %s), %zu "
			 "inconclusive. Runs were exchanged between the sides.",
			 diff->tested, diff->by_verdict[DIFF_CHANGED],
			 diff->by_verdict[DIFF_UNCHANGED], 100 * diff->bound, material,
			 diff->by_verdict[DIFF_INCONCLUSIVE]);
	else
		snprintf(text, sizeof(text),
			 "%zu lines tested: %zu changed (by more than %.0f %%), %zu unchanged "
			 "(within %.0f %% or %s), %zu inconclusive. %s.",
			 diff->tested, diff->by_verdict[DIFF_CHANGED], 100 * diff->floor,
			 diff->by_verdict[DIFF_UNCHANGED], 100 * diff->bound, material,
			 diff->by_verdict[DIFF_INCONCLUSIVE],
			 diff->run_count > 2 ? "9 runs a side or more can show smaller changes"
					     : "One run a side: how runs differ by themselves was "
					       "not measured");
	paragraph(output, "    ", text);
}

/* --- tables --- */

struct table {
	const char *heading, *about;
	u32 tables; /* bits of enum diff_table */
	u32 kind;   /* of samples; ANY_KIND */
	bool changed_only;
};

#define ANY_KIND 0xff

static const struct table tables[] = {
	{"WHERE THE TIME WENT", "states of all threads", 1 << DIFF_LEDGER, ANY_KIND, false},
	{"SERVICES", "states by service", 1 << DIFF_SERVICE, ANY_KIND, false},
	{"PROCESSES", "states by process name", 1 << DIFF_PROCESS, ANY_KIND, false},
	{"FUNCTIONS ON A CPU", "from samples; total: with what they called", 1 << DIFF_FUNCTION,
	 SAMPLE_CPU, false},
	{"FUNCTIONS THAT WAIT", "from samples of waits", 1 << DIFF_FUNCTION, SAMPLE_BLOCKED, false},
	{"SYSTEM CALLS AND COUNTS", "how often, and for how long", 1 << DIFF_CALL | 1 << DIFF_COUNT,
	 ANY_KIND, false},
	{"REQUESTS", "by endpoint: how many, errors, latency", 1 << DIFF_REQUEST, ANY_KIND, false},
	{"LATENCIES", "of signals", 1 << DIFF_LATENCY, ANY_KIND, false},
	{"THREADS", "waits less CPU time", 1 << DIFF_THREAD, ANY_KIND, false},
	{"STACKS", "innermost function first", 1 << DIFF_STACK, ANY_KIND, true},
};

/* Of what did not change, totals of callers would only repeat each other. */
static bool is_of(const struct table *table, const struct diff_line *line)
{
	return table->tables >> line->key.table & 1 &&
	       (table->kind == ANY_KIND || table->kind == line->key.kind) &&
	       (line->verdict == DIFF_CHANGED ||
		(!table->changed_only && line->key.measure != DIFF_TOTAL));
}

/*
 * A caller's total changes with what it calls: the same change is not shown again. Nor is a total
 * that is no more than the function's own time.
 */
static bool is_shown_already(const struct diff_line *line, const struct diff_line *const *shown,
			     size_t count)
{
	if (line->key.table != DIFF_FUNCTION || line->key.measure != DIFF_TOTAL)
		return false;
	for (size_t i = 0; i < count; i++) {
		bool is_same = shown[i]->key.name == line->key.name;
		double theirs = line->verdict == DIFF_CHANGED ? shown[i]->effect : shown[i]->pooled;
		double ours = line->verdict == DIFF_CHANGED ? line->effect : line->pooled;

		if ((is_same || line->verdict == DIFF_CHANGED) &&
		    shown[i]->verdict == line->verdict &&
		    fabs(theirs - ours) <= SAME_CHANGE * fabs(ours))
			return true;
	}
	return false;
}

/*
 * A wider table with as many lines as that of processes says nothing that this one does not. Groups
 * that were asked for are shown.
 */
static bool repeats_processes(const struct diff *diff, enum diff_table table)
{
	size_t wider = 0, processes = 0;

	if (table == DIFF_SERVICE && diff->options.group_by != PROCESS_KEY_SERVICE)
		return false;
	for (size_t i = 0; i < diff->order_count; i++) {
		wider += diff->order[i]->key.table == table;
		processes += diff->order[i]->key.table == DIFF_PROCESS;
	}
	return wider == processes;
}

static const char *mde_text(const struct diff_line *line, char *buf)
{
	if (!isfinite(line->mde))
		snprintf(buf, SHOW_BYTES, "none");
	else if (line->scale <= 0)
		snprintf(buf, SHOW_BYTES, "-");
	else if (line->mde / line->scale >= 9.995)
		snprintf(buf, SHOW_BYTES, ">999 %%");
	else
		snprintf(buf, SHOW_BYTES, "%.*f %%", line->mde / line->scale < 0.0995 ? 1 : 0,
			 100 * line->mde / line->scale);
	return buf;
}

static const char *half_text(const struct diff_line *line, char *buf)
{
	double half = line->scale > 0 ? (line->high - line->low) / 2 / line->scale : HUGE_VAL;

	if (half >= 9.995)
		snprintf(buf, SHOW_BYTES, "-");
	else
		snprintf(buf, SHOW_BYTES, "+-%.*f %%", half < 0.0995 ? 1 : 0, 100 * half);
	return buf;
}

static void row(const struct output *output, const struct diff_line *line)
{
	static const char marks[] = {
		[DIFF_INCONCLUSIVE] = '?', [DIFF_UNCHANGED] = '=', [DIFF_CHANGED] = '*'};
	bool is_changed = line->verdict == DIFF_CHANGED;
	char name[ROW_NAME_BYTES], mde[SHOW_BYTES], half[SHOW_BYTES];
	int room = output->diff->options.whole ? ROW_NAME_BYTES : output->columns - NUMBERS_WIDTH;

	show_short(output->diff, line, name, sizeof(name));
	fprintf(output->out, "%s%c %9s %9s %8s %9s %7s  ", is_changed ? bold(output) : "",
		marks[line->verdict], SHOW_VALUE(output->diff, line, line->rate[0]),
		SHOW_VALUE(output->diff, line, line->rate[1]), SHOW_PERCENT(line->relative),
		half_text(line, half), mde_text(line, mde));
	if ((int)utf8_columns(name) > room) {
		size_t bytes = 0;

		for (int columns = 0; columns < room - 1 && name[bytes]; columns++)
			for (bytes++; (name[bytes] & 0xc0) == 0x80;)
				bytes++;
		name[bytes] = '\0';
		fprintf(output->out, "%s…", name);
	} else {
		fputs(name, output->out);
	}
	fprintf(output->out, "%s\n", is_changed ? plain(output) : "");
}

static void print_table(const struct output *output, const struct table *table)
{
	const struct diff *diff = output->diff;
	size_t usual = diff->options.top ? diff->options.top : ROWS_USUAL;
	size_t most = diff->options.top ? diff->options.top : 2 * ROWS_USUAL;
	const struct diff_line *shown[256];
	size_t count = 0, changed = 0, repeated = 0;

	most = most < 256 ? most : 256;
	for (size_t i = 0; i < diff->order_count; i++) {
		const struct diff_line *line = diff->order[i];

		if (!is_of(table, line))
			continue;
		changed += line->verdict == DIFF_CHANGED;
		if (is_shown_already(line, shown, count)) {
			repeated += line->verdict == DIFF_CHANGED;
			continue;
		}
		if (count < (line->verdict == DIFF_CHANGED ? most : usual))
			shown[count++] = line;
	}
	if (!count)
		return;
	if (table->tables == 1 << DIFF_SERVICE && diff->options.group_by != PROCESS_KEY_SERVICE)
		fprintf(output->out, "\n%sGROUPS%s  states by %s\n", bold(output), plain(output),
			process_keys[diff->options.group_by].name);
	else
		fprintf(output->out, "\n%s%s%s  %s\n", bold(output), table->heading, plain(output),
			table->about);
	for (size_t i = 0; i < count; i++)
		row(output, shown[i]);
	if (repeated)
		fprintf(output->out, "  callers with the same change: %zu (--json has them)\n",
			repeated);
	else if (changed > count)
		fprintf(output->out, "  %zu more changed (--top %zu)\n", changed - count, changed);
}

/* --- order of onset --- */

static void onsets(const struct output *output)
{
	const struct diff *diff = output->diff;
	double after = -1;

	if (!diff->has_onsets || !diff->by_verdict[DIFF_CHANGED])
		return;
	fprintf(output->out, "\n%sORDER OF ONSET%s  first window, since the session's start\n",
		bold(output), plain(output));
	for (int printed = 0; printed < ONSETS_SHOWN; printed++) {
		const struct diff_line *next = NULL;
		char label[ROW_NAME_BYTES], text[ROW_NAME_BYTES];
		size_t together = 0;

		for (size_t i = 0; i < diff->order_count; i++) {
			const struct diff_line *line = diff->order[i];

			if (line->onset_s <= after || line->key.table == DIFF_STACK)
				continue;
			if (!next || line->onset_s < next->onset_s)
				next = line;
		}
		if (!next)
			break;
		for (size_t i = 0; i < diff->order_count; i++)
			together += diff->order[i]->onset_s == next->onset_s &&
				    diff->order[i]->key.table != DIFF_STACK;
		show_label(diff, next, label, sizeof(label));
		if (together > 1)
			snprintf(text, sizeof(text), "%.1500s, and %zu more in the same window",
				 label, together - 1);
		else
			snprintf(text, sizeof(text), "%.1500s", label);
		snprintf(label, sizeof(label), "  %6.1f s  ", next->onset_s);
		paragraph(output, label, text);
		after = next->onset_s;
	}
}

int diff_print_text(const struct diff *diff, FILE *out)
{
	struct output output = {diff, out, diff->options.columns};

	if (output.columns < COLUMNS_LEAST)
		output.columns = output.columns ? COLUMNS_LEAST : COLUMNS_USUAL;
	head(&output);
	verdict(&output);
	fprintf(out, "\n  %s%9s %9s %8s %9s %7s%s\n", bold(&output), "A", "B", "change", "95 %",
		"MDE", plain(&output));
	fputs("  * changed, = unchanged, ? inconclusive; MDE: change that is found in 4 of 5\n",
	      out);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (!(tables[i].tables & (1 << DIFF_LEDGER | 1 << DIFF_SERVICE)) ||
		    !repeats_processes(diff, tables[i].tables == 1 << DIFF_LEDGER ? DIFF_LEDGER
										  : DIFF_SERVICE))
			print_table(&output, &tables[i]);
	onsets(&output);
	return 0;
}
