// SPDX-License-Identifier: Apache-2.0
/*
 * The report for a terminal of 80 columns: what works in a few lines, what does not with its
 * cause and remedy, equal causes told once.
 */
#include <stdio.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/version.h"
#include "doctor.h"

#define COLUMNS		 80
#define NAME_COLUMNS	 19
#define TEXT_COLUMN	 (7 + NAME_COLUMNS + 1)
#define SIGNAL_COLUMN	 27
#define LOSSES_SHOWN_MAX 4

struct page {
	FILE *out;
	bool color;
};

static const char *paint(const struct page *page, const char *code)
{
	return page->color ? code : "";
}

#define GREEN  "\033[32m"
#define YELLOW "\033[33m"
#define RED    "\033[31m"
#define BOLD   "\033[1m"
#define PLAIN  "\033[0m"

/* Columns, not bytes: the rest of a UTF-8 character takes no room. */
static int width(const char *text, size_t bytes)
{
	int columns = 0;

	for (size_t i = 0; i < bytes; i++)
		columns += (text[i] & 0xc0) != 0x80;
	return columns;
}

/* Words from column on, further lines indented alike. */
static int print_words(const struct page *page, int column, int indent, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, " ");
		int columns = width(text, length);

		if (column > indent && column + 1 + columns > COLUMNS) {
			fprintf(page->out, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', page->out);
			column++;
		}
		fwrite(text, 1, length, page->out);
		column += columns;
		text += length;
		text += strspn(text, " ");
	}
	return column;
}

static void print_field(const struct page *page, const char *label, const char *text)
{
	fprintf(page->out, "    %-10s ", label);
	print_words(page, 15, 15, text);
	fputc('\n', page->out);
}

static void print_checks(const struct page *page, const char *title, const struct check *checks,
			 size_t count)
{
	static const struct {
		const char *word, *color;
	} levels[] = {
		[CHECK_OK] = {"ok", GREEN},
		[CHECK_NOTE] = {"note", YELLOW},
		[CHECK_BAD] = {"bad", RED},
	};

	fprintf(page->out, "\n%s%s%s\n", paint(page, BOLD), title, paint(page, PLAIN));
	for (size_t i = 0; i < count; i++) {
		const struct check *check = &checks[i];

		fprintf(page->out, "  %s%-4s%s %-*s ", paint(page, levels[check->level].color),
			levels[check->level].word, paint(page, PLAIN), NAME_COLUMNS, check->name);
		print_words(page, TEXT_COLUMN, TEXT_COLUMN, check->text);
		fputc('\n', page->out);
		if (check->remedy[0]) {
			fprintf(page->out, "%*s→ ", TEXT_COLUMN, "");
			print_words(page, TEXT_COLUMN + 2, TEXT_COLUMN + 2, check->remedy);
			fputc('\n', page->out);
		}
	}
}

void doctor_print_checks(const char *title, const struct check *checks, size_t count, bool color,
			 FILE *out)
{
	const struct page page = {out, color};

	print_checks(&page, title, checks, count);
}

/* Those that this kernel does not have are one line. */
static void print_hazards(const struct page *page, const struct facts *facts)
{
	size_t others = 0;
	int column;

	fprintf(page->out,
		"\n%sHAZARDS%s of this kernel, by its version, and what dwell does about each\n",
		paint(page, BOLD), paint(page, PLAIN));
	for (size_t i = 0; i < hazard_count; i++) {
		const struct hazard *hazard = hazard_at(i);

		if (!hazard_applies(hazard, facts)) {
			others++;
			continue;
		}
		fprintf(page->out, "  %snote%s %-*s ", paint(page, YELLOW), paint(page, PLAIN),
			NAME_COLUMNS, hazard->name);
		print_words(page, TEXT_COLUMN, TEXT_COLUMN, hazard->what);
		fprintf(page->out, "\n%*s→ ", TEXT_COLUMN, "");
		print_words(page, TEXT_COLUMN + 2, TEXT_COLUMN + 2, hazard->guard);
		fputc('\n', page->out);
	}
	if (!others)
		return;
	fprintf(page->out, "  %sok%s   %-*s ", paint(page, GREEN), paint(page, PLAIN), NAME_COLUMNS,
		"not here");
	column = TEXT_COLUMN;
	for (size_t i = 0; i < hazard_count; i++) {
		const struct hazard *hazard = hazard_at(i);
		char text[128];

		if (hazard_applies(hazard, facts))
			continue;
		snprintf(text, sizeof(text), "%s (%s)%s", hazard->name, hazard->kernels,
			 --others ? "," : "");
		column = print_words(page, column, TEXT_COLUMN, text);
	}
	fputc('\n', page->out);
}

static size_t count_status(const struct doctor_report *report, enum status status)
{
	size_t count = 0;

	for (size_t i = 0; i < report->finding_count; i++)
		count += report->findings[i].status == status;
	return count;
}

/* The features that work, a paragraph per group. */
static void print_working(const struct page *page, const struct doctor_report *report)
{
	const char *group = "";
	int column = 0;

	for (size_t i = 0; i < report->finding_count; i++) {
		const struct finding *finding = &report->findings[i];

		if (finding->status != STATUS_OK)
			continue;
		if (strcmp(group, finding->feature->group)) {
			if (column)
				fputc('\n', page->out);
			group = finding->feature->group;
			fprintf(page->out, "  %sok%s   %-12s ", paint(page, GREEN),
				paint(page, PLAIN), group);
			column = 20;
		}
		column = print_words(page, column, 20, finding->feature->name);
	}
	if (column)
		fputc('\n', page->out);
}

static bool is_same_trouble(const struct finding *a, const struct finding *b)
{
	return a->status == b->status && a->gate == b->gate && a->cause.id == b->cause.id &&
	       !strcmp(a->cause.text, b->cause.text) &&
	       (a->status != STATUS_DEGRADED || a->feature == b->feature);
}

static const char *const failed_at[GATE_COUNT] = {
	[GATE_ENVIRONMENT] = "not tried",
	[GATE_LOAD] = "could not be loaded",
	[GATE_ATTACH] = "could not be attached",
	[GATE_DELIVERY] = "no record arrived",
};

/* All features with the trouble of finding i, or nothing if an earlier one told it. */
static void print_trouble(const struct page *page, const struct doctor_report *report, size_t i)
{
	const struct finding *first = &report->findings[i];
	bool degraded = first->status == STATUS_DEGRADED;
	size_t alike = 0;
	int column = 2;

	for (size_t k = 0; k < i; k++)
		if (is_same_trouble(&report->findings[k], first))
			return;
	fprintf(page->out, "\n  %s", paint(page, degraded ? YELLOW : RED));
	for (size_t k = i; k < report->finding_count; k++) {
		if (!is_same_trouble(&report->findings[k], first))
			continue;
		column = print_words(page, column, 2, report->findings[k].feature->name);
		alike++;
	}
	fprintf(page->out, "%s\n", paint(page, PLAIN));
	for (size_t k = i; k < report->finding_count && alike <= LOSSES_SHOWN_MAX; k++)
		if (is_same_trouble(&report->findings[k], first))
			print_field(page, k == i ? "loses" : "",
				    report->findings[k].feature->loses);
	if (degraded)
		print_field(page, "instead", first->feature->instead);
	fprintf(page->out, "    %-10s %s:", "because", failed_at[first->gate]);
	print_words(page, 16 + (int)strlen(failed_at[first->gate]), 15, first->cause.text);
	fputc('\n', page->out);
	print_field(page, "remedy", first->cause.remedy);
}

static void print_troubles(const struct page *page, const struct doctor_report *report,
			   enum status status, const char *title)
{
	if (!count_status(report, status))
		return;
	fprintf(page->out, "\n%s%s%s\n", paint(page, BOLD), title, paint(page, PLAIN));
	for (size_t i = 0; i < report->finding_count; i++)
		if (report->findings[i].status == status)
			print_trouble(page, report, i);
}

static void print_signal(const struct page *page, const struct signal_finding *finding)
{
	static const struct {
		const char *word, *color;
	} levels[STATUS_COUNT] = {
		[STATUS_OK] = {"ok", GREEN},
		[STATUS_DEGRADED] = {"note", YELLOW},
		[STATUS_UNAVAILABLE] = {"bad", RED},
	};
	const struct signal_view *view = finding->signal->view;
	char text[640];
	int column;

	fprintf(page->out, "  %s%-4s%s %-9s %-9s ", paint(page, levels[finding->status].color),
		levels[finding->status].word, paint(page, PLAIN), finding->name,
		cost_names[view->cost]);
	snprintf(text, sizeof(text), "%s%s%s", view->price ? view->price : "",
		 finding->hooks[0] || !finding->has_target ? "; hooks: " : "",
		 finding->has_target ? finding->hooks : "depend on the probe");
	print_words(page, SIGNAL_COLUMN, SIGNAL_COLUMN, text);
	fputc('\n', page->out);
	if (finding->cause.id == CAUSE_NONE)
		return;
	fprintf(page->out, "%*s", SIGNAL_COLUMN, "");
	column = print_words(page, SIGNAL_COLUMN, SIGNAL_COLUMN, "without");
	column = print_words(page, column, SIGNAL_COLUMN, finding->refused);
	fputc(':', page->out);
	print_words(page, column + 1, SIGNAL_COLUMN, finding->cause.text);
	if (finding->status == STATUS_UNAVAILABLE) {
		fprintf(page->out, "\n%*s→ ", SIGNAL_COLUMN, "");
		print_words(page, SIGNAL_COLUMN + 2, SIGNAL_COLUMN + 2, finding->cause.remedy);
	}
	fputc('\n', page->out);
}

static void print_signals(const struct page *page, const struct doctor_report *report)
{
	if (!report->signal_count)
		return;
	fprintf(page->out, "\n%sSIGNALS%s: for dwell record -s; what each costs, its hooks\n",
		paint(page, BOLD), paint(page, PLAIN));
	for (size_t i = 0; i < report->signal_count; i++)
		if (!report->signals[i].signal->view->is_not_offered)
			print_signal(page, &report->signals[i]);
	fputs("\n  for dwell trace\n", page->out);
	for (size_t i = 0; i < report->signal_count; i++)
		if (report->signals[i].signal->view->is_not_offered)
			print_signal(page, &report->signals[i]);
}

/* Where the environment forbids all: one cause for every feature. */
static void print_not_tried(const struct page *page, const struct doctor_report *report)
{
	const struct cause *cause = &report->findings[0].cause;

	fprintf(page->out, "\n%sNOT TRIED%s: all %zu features\n", paint(page, BOLD),
		paint(page, PLAIN), report->finding_count);
	print_field(page, "because", cause->text);
	print_field(page, "remedy", cause->remedy);
}

static void print_host_verdict(const struct page *page, const struct doctor_report *report)
{
	size_t wrong = 0;

	if (!report->host_count)
		return;
	for (size_t i = 0; i < report->host_count; i++) {
		if (report->host[i].level == CHECK_OK)
			continue;
		fprintf(page->out, "%s%s", wrong++ ? ", " : "Fix this host before you measure: ",
			report->host[i].name);
	}
	fputs(wrong ? ".\n" : "This host is ready for measurements.\n", page->out);
}

static void print_verdict(const struct page *page, const struct doctor_report *report)
{
	const char *verdict = report->core_works  ? "dwell works here"
			      : report->not_tried ? "dwell cannot run in this environment"
						  : "dwell cannot run here";

	fprintf(page->out, "%s%s%s: %zu of %zu features ok, %zu degraded, %zu unavailable.\n",
		paint(page, BOLD), verdict, paint(page, PLAIN), count_status(report, STATUS_OK),
		report->finding_count, count_status(report, STATUS_DEGRADED),
		count_status(report, STATUS_UNAVAILABLE));
	print_host_verdict(page, report);
}

static void print_details(const struct page *page, const struct doctor_report *report)
{
	print_checks(page, "ENVIRONMENT", report->environment, report->environment_count);
	print_hazards(page, &report->facts);
	if (report->host_count)
		print_checks(page, "HOST, before you measure on it", report->host,
			     report->host_count);
	if (report->not_tried) {
		print_not_tried(page, report);
		return;
	}
	if (count_status(report, STATUS_OK)) {
		fprintf(page->out,
			"\n%sWORKING%s: loaded, attached, fired, and the record arrived\n",
			paint(page, BOLD), paint(page, PLAIN));
		print_working(page, report);
	}
	print_troubles(page, report, STATUS_DEGRADED, "DEGRADED: a fallback works");
	print_troubles(page, report, STATUS_UNAVAILABLE, "UNAVAILABLE");
	print_signals(page, report);
	fprintf(page->out, "\n%llu test records sent, %llu lost; %.1f s.\n",
		(unsigned long long)report->pipeline.sent,
		(unsigned long long)health_lost(&report->pipeline),
		(double)report->took_ns / (double)NS_PER_S);
}

/* The verdict opens the report, and ends it where it would have scrolled away. */
void doctor_print_text(const struct doctor_report *report, bool color, bool brief, FILE *out)
{
	const struct page page = {out, color};

	if (!brief) {
		fprintf(out, "dwell %s on Linux %s, %s\n", DWELL_VERSION,
			report->facts.host.release, report->facts.host.machine);
		print_verdict(&page, report);
		print_details(&page, report);
	}
	print_verdict(&page, report);
}
