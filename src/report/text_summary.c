// SPDX-License-Identifier: Apache-2.0
/*
 * The first screen: what was measured, how good it is, what dominates, who uses the CPUs, and what
 * is slow. It lays out findings; it computes none.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/memory_stream.h"
#include "text.h"
#include "verdict.h"

#define SCREEN_LINES 40
#define ALIKE_SHOWN  3
#define LINES_LEAST  3	/* findings have, whatever stands above them */
#define LINES_ENOUGH 8	/* for findings, where they leave no room for what follows them */
#define LEFT_LINES   2	/* for those that are left out */
#define LEFT_MAX     16 /* of them are looked at */

static void print_verdict(const struct digest *digest, const struct page *page,
			  const struct verdict *verdict)
{
	(void)digest;
	fputc('\n', page->out);
	for (size_t i = 0; i < verdict->count; i++)
		if (*verdict->sentences[i])
			page_wrap(page, 0, 0, verdict->sentences[i]);
}

static bool is_in_verdict(const struct verdict *verdict, const struct finding *finding)
{
	for (size_t i = 0; i < verdict->count; i++)
		if (verdict->of[i] == finding)
			return true;
	return false;
}

static int count_lines(const char *text)
{
	int lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

/* A line each about the host as a whole. */
static const char *const facts[] = {"pressure", "network", "idle"};

static int fact_lines(const struct digest *digest, const struct page *page)
{
	const struct page counted = {.columns = page->columns};
	int lines = 0;

	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		const struct finding *fact = findings_by_id(digest->findings, facts[i]);

		if (fact)
			lines += page_wrap(&counted, 2, 4, fact->sentence);
	}
	return lines;
}

static void print_finding(const struct page *page, const struct finding *finding)
{
	bool is_problem = finding->severity == SEVERITY_PROBLEM;

	fprintf(page->out, "  %s%s%s ", page_ink(page, is_problem ? INK_WARN : INK_FAINT),
		is_problem ? "*" : "-", page_ink(page, INK_PLAIN));
	page_wrap(page, 4, 4, finding->sentence);
}

/* How many of the same kind come before it, among those that the text has. */
static int alike_before(const struct findings *findings, size_t index)
{
	int count = 0;

	for (size_t i = 0; i < index; i++)
		count += !findings->of[i].is_told &&
			 !strcmp(findings->of[i].id, findings->of[index].id);
	return count;
}

static const struct evidence *first_of(const struct finding *finding, const char *name,
				       const char *unit)
{
	for (size_t i = 0; i < finding->evidence_count; i++) {
		const struct evidence *evidence = &finding->evidence[i];

		if ((!name || !strcmp(evidence->name, name)) && !strcmp(evidence->unit, unit))
			return evidence;
	}
	return NULL;
}

/* A finding in a few words: whose it is, its id, its time, and for what. */
static void add_brief(const struct finding *finding, char *text, size_t size)
{
	const struct evidence *time = first_of(finding, NULL, "ns");
	const struct evidence *what = first_of(finding, "peer", "ns");

	if (!what)
		what = first_of(finding, "object", "ns");
	if (*finding->subject.comm) /* else it is the host's */
		format_add(text, size, " %s", ESCAPED(finding->subject.comm));
	format_add(text, size, " %s", finding->id);
	if (time)
		format_add(text, size, " %s", DURATION((u64)time->value));
	if (what && *what->what && strncmp(what->what, "0x", 2) != 0) /* an address says nothing */
		format_add(text, size, ", %s", ESCAPED(what->what));
	format_add(text, size, ";");
}

/* Findings for which there are no lines: how many, and as many names as two lines have room for. */
static void print_left(const struct page *page, const struct finding *const *left, size_t named,
		       size_t count)
{
	const struct page counted = {.columns = page->columns};
	char text[SENTENCE_BYTES] = "", longer[SENTENCE_BYTES] = "";

	if (!count)
		return;
	format_add(text, sizeof(text), "and %s more (--json);", NUMBER(count));
	format_add(longer, sizeof(longer), "and %s more (--json), next:", NUMBER(count));
	for (size_t i = 0; i < named; i++) {
		add_brief(left[i], longer, sizeof(longer));
		if (page_wrap(&counted, 2, 2, longer) > LEFT_LINES)
			break;
		memcpy(text, longer, sizeof(text));
	}
	text[strlen(text) - 1] = '.'; /* not ; after the last one */
	fputs("  ", page->out);
	page_wrap(page, 2, 2, text);
}

/* As many as the screen has lines for, but few of one kind: others matter too. */
static void print_findings(const struct digest *digest, const struct page *page,
			   const struct verdict *verdict, int lines)
{
	const struct page counted = {.columns = page->columns};
	const struct findings *findings = digest->findings;
	const struct finding *left[LEFT_MAX];
	size_t shown = 0, named = 0, left_count = 0;

	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->of[i];
		int needs = page_wrap(&counted, 4, 4, finding->sentence);

		if (finding->severity == SEVERITY_INFO || finding->is_told ||
		    is_in_verdict(verdict, finding) || finding_is_opening(finding))
			continue;
		if (needs > lines ||
		    (alike_before(findings, i) >= ALIKE_SHOWN && !digest->options->top)) {
			/* A chain explains a wait, which is named. */
			if (named < LEFT_MAX && strcmp(finding->id, "chain") != 0)
				left[named++] = finding;
			left_count++;
			continue;
		}
		lines -= needs;
		if (!shown++)
			page_heading(page, "FINDINGS", ", most time lost first");
		print_finding(page, finding);
	}
	print_left(page, left, named, left_count);
	if (!shown)
		fputc('\n', page->out);
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		const struct finding *fact = findings_by_id(findings, facts[i]);

		if (!fact)
			continue;
		fputs("  ", page->out);
		page_wrap(page, 2, 4, fact->sentence);
	}
}

int text_first(const struct digest *digest, const struct page *page)
{
	struct memory_stream above;
	struct page top = *page;
	struct verdict verdict;
	int lines;

	if (memory_stream_open(&above))
		return -ENOMEM;
	top.out = above.out;
	verdict_find(digest, &verdict);
	text_head(digest, &top);
	text_quality_brief(digest, &top);
	print_verdict(digest, &top, &verdict);
	if (!digest_is_of_one(digest) && !digest->options->threads && !digest->options->group_by)
		text_host(digest, &top);
	if (memory_stream_end(&above))
		return -ENOMEM;
	fputs(above.text, page->out);
	/* A blank line, the heading, and what names those that are left. */
	lines = SCREEN_LINES - count_lines(above.text) - 2 - LEFT_LINES;
	memory_stream_free(&above);
	/* Facts of the host come last: they may be on the next screen. */
	if (lines > LINES_ENOUGH) {
		lines -= fact_lines(digest, page);
		lines = lines > LINES_ENOUGH ? lines : LINES_ENOUGH;
	}
	print_findings(digest, page, &verdict, lines > LINES_LEAST ? lines : LINES_LEAST);
	return 0;
}
