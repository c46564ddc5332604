// SPDX-License-Identifier: Apache-2.0
/* A section for each signal that was chosen. */
#include "text_signals.h"

#include <inttypes.h>
#include <string.h>

#include "../base/cleanup.h"
#include "histogram_modes.h"
#include "format_value.h"

#define MEASURES_APART	 2  /* more of them share a table, in the report */
#define ESTIMATES_MAX	 16 /* measures: those of all signals are 11 */
#define HISTOGRAMS_SHOWN 10 /* of single series, of each measure */

static void print_line(const struct page *page, const char *mark, const char *text)
{
	char escaped[4 * REMARK_BYTES];
	int at = fprintf(page->out, "  %s", mark);

	page_wrap(page, at, 4, format_escaped(text, escaped, sizeof(escaped)));
}

static void print_heading(const struct page *page, const struct measured *of)
{
	char heading[64], about[512] = "";

	snprintf(heading, sizeof(heading), "SIGNAL %s", of->name);
	format_add(about, sizeof(about), ": %s; cost: %s", of->signal->about,
		   cost_names[of->view->cost]);
	if (of->view->price)
		format_add(about, sizeof(about), ", %s", of->view->price);
	page_heading(page, heading, about);
}

static void print_measure(const struct page *page, const struct measured *of, u32 kind)
{
	const struct series_kind *about = &of->view->kinds[kind];
	const struct hist *all = &of->measures[kind].all;
	char line[512] = "";

	format_add(line, sizeof(line), "%s", about->name);
	if (about->about)
		format_add(line, sizeof(line), " (%s)", about->about);
	format_add(line, sizeof(line), ": %s", VALUE(UNIT_COUNT, all->count));
	if (!text_is_tally(about->unit, all))
		format_add(line, sizeof(line), ", %s in sum", VALUE(about->unit, all->sum));
	print_line(page, "", line);
}

static void print_own_histograms(const struct digest *digest, const struct page *page,
				 const struct measured *of, u32 kind)
{
	size_t shown = 0;

	for (size_t i = 0; i < of->alike_count && shown < HISTOGRAMS_SHOWN; i++) {
		const struct series_row *row = of->alike[i].row;
		char name[SIGNALS_NAME_BYTES];

		if (row->key.kind != kind || !row->hist.count)
			continue;
		series_row_text(digest, of, row, name, sizeof(name));
		fputc('\n', page->out);
		print_line(page, "", *name ? name : "all");
		text_histogram(digest, page, of, kind, &row->hist);
		shown++;
	}
}

static size_t series_of_kind(const struct measured *of, u32 kind)
{
	size_t count = 0;

	for (size_t i = 0; i < of->alike_count; i++)
		count += of->alike[i].row->key.kind == kind && of->alike[i].row->hist.count;
	return count;
}

static void print_histograms(const struct digest *digest, const struct page *page,
			     const struct measured *of, u32 kind)
{
	const struct hist *all = &of->measures[kind].all;
	char said[REMARK_BYTES];
	struct modes modes;

	if ((!digest->options->signals && !digest->options->histograms) ||
	    text_is_tally(of->view->kinds[kind].unit, all))
		return;
	fputc('\n', page->out);
	print_line(page, "", "all together");
	text_histogram(digest, page, of, kind, all);
	modes_find(all, &modes);
	/* All system calls together are of as many kinds as there are calls; and of one series
	 * alone, what it says itself will do. */
	if (modes_are_kinds(&modes) && series_of_kind(of, kind) > 1 &&
	    of->view->kinds[kind].unit == UNIT_NS && of->view->detail.kind != FIELD_SYSCALL) {
		modes_say(&modes, said, sizeof(said));
		print_line(page, "- ", said);
	}
	if (digest->options->histograms)
		print_own_histograms(digest, page, of, kind);
}

static u64 unmatched_of(const struct measured *of)
{
	u64 all = 0;

	for (size_t i = 0; i < of->view->kind_count; i++)
		all += of->measures[i].orphan_starts + of->measures[i].orphan_ends +
		       of->measures[i].expired;
	return all;
}

/* What has no partner, and how much of all that is. */
static void print_unmatched(const struct digest *digest, const struct page *page,
			    const struct measured *of)
{
	u64 starts = 0, ends = 0, expired = 0, count = 0, all = unmatched_of(of);
	char line[512] = "";

	for (size_t i = 0; i < of->view->kind_count; i++) {
		starts += of->measures[i].orphan_starts;
		ends += of->measures[i].orphan_ends;
		expired += of->measures[i].expired;
		count += of->measures[i].all.count;
	}
	if (!all && !digest->options->signals)
		return;
	if (!all) {
		print_line(page, "", "unmatched: none");
		return;
	}
	format_add(line, sizeof(line), "unmatched: %s (%s): ", NUMBER(all),
		   SHARE(all, all + count));
	format_add(line, sizeof(line),
		   "starts replaced by another start %s, ends without a start %s, starts without "
		   "an end within --pair-limit %s",
		   NUMBER(starts), NUMBER(ends), NUMBER(expired));
	print_line(page, "", line);
}

static void print_share(const struct page *page, const struct measured *of)
{
	const struct series_share *share = &of->share;
	char line[512] = "";

	if (share->folded) {
		format_add(line, sizeof(line), "(other): %s value%s in keys beyond the limit of %s",
			   NUMBER(share->folded), share->folded == 1 ? "" : "s",
			   NUMBER(share->limit));
		print_line(page, "", line);
	}
	*line = '\0';
	if (share->lost)
		format_add(line, sizeof(line), "lost: %s value%s, as the table was full; ",
			   NUMBER(share->lost), share->lost == 1 ? "" : "s");
	if (share->unpaired)
		format_add(line, sizeof(line), "%s start%s not stored, as the table was full; ",
			   NUMBER(share->unpaired), share->unpaired == 1 ? "" : "s");
	if (share->slow_unspoken)
		format_add(line, sizeof(line),
			   "%s slow event%s not listed: more than the limit per second; ",
			   NUMBER(share->slow_unspoken),
			   share->slow_unspoken == 1 ? " is" : "s are");
	if (*line) {
		line[strlen(line) - 2] = '\0';
		print_line(page, "! ", line);
	}
}

static void print_measures(const struct digest *digest, const struct page *page,
			   const struct measured *of)
{
	for (u32 kind = 0; kind < of->view->kind_count; kind++) {
		if (!of->measures[kind].all.count)
			continue;
		print_measure(page, of, kind);
		text_series(digest, page, of, kind);
		print_histograms(digest, page, of, kind);
	}
}

/* How much of the time it covers, if that is not all. */
static void print_cover(const struct digest *digest, const struct page *page,
			const struct measured *of)
{
	const struct cover *cover = digest_partial_cover(digest, of->name);
	char line[256] = "";

	if (!cover)
		return;
	format_add(line, sizeof(line),
		   "covers %.1f of %.1f s: off for the rest to limit the overhead; raise "
		   "--max-overhead",
		   (double)cover->covered_ns / 1e9, (double)cover->total_ns / 1e9);
	print_line(page, "! ", line);
}

static void print_nothing(const struct digest *digest, const struct page *page,
			  const struct measured *of)
{
	char line[256] = "nothing was measured";

	/* Of a probe that somebody chose, and that nobody came to. */
	if (of->view->is_not_offered && !unmatched_of(of))
		format_add(
			line, sizeof(line),
			": no target process reached it in %s; check the symbol name and the file",
			DURATION(digest->end_ns - digest->begin_ns));
	print_line(page, "", line);
}

/* Above what is longer than a screen, below what is not. */
static void print_remarks(const struct page *page, const struct measured *of)
{
	for (size_t i = 0; i < of->remarks.count; i++)
		print_line(page, "- ", of->remarks.text[i]);
}

static void print_signal(const struct digest *digest, const struct page *page,
			 const struct measured *of)
{
	bool is_short = !digest->options->signals && !digest->options->histograms;

	print_heading(page, of);
	if (!is_short)
		print_remarks(page, of);
	if (is_short && text_measures(of) > MEASURES_APART)
		text_series_mixed(digest, page, of);
	else
		print_measures(digest, page, of);
	print_cover(digest, page, of);
	if (!text_measures(of))
		print_nothing(digest, page, of);
	if (is_short)
		print_remarks(page, of);
	print_unmatched(digest, page, of);
	print_share(page, of);
	text_lists(digest, page, of);
	text_slow(digest, page, of);
}

/* ", but for those of a and b, estimated from samples": which they are, of what is shown. */
static void add_estimates(const struct signals *signals, char *line, size_t size)
{
	const char *names[ESTIMATES_MAX];
	size_t count = 0;

	for (size_t i = 0; i < signals->count; i++)
		for (size_t k = 0; k < signals->of[i].view->kind_count; k++)
			if ((signals->of[i].view->estimates >> k & 1) &&
			    signals->of[i].measures[k].all.count && count < ARRAY_SIZE(names))
				names[count++] = signals->of[i].view->kinds[k].name;
	for (size_t i = 0; i < count; i++)
		format_add(line, size, "%s%s",
			   !i		   ? ", but for those of "
			   : i + 1 < count ? ", "
					   : " and ",
			   names[i]);
	if (count)
		format_add(line, size, ", which are estimated from samples");
}

static void print_doubts(const struct digest *digest, const struct page *page)
{
	const struct signals *signals = &digest->signals;
	char line[512] = "";
	size_t measures = 0;

	for (size_t i = 0; i < signals->count; i++)
		measures += text_measures(&signals->of[i]);
	if (measures) {
		format_add(line, sizeof(line),
			   "Percentiles are within %.1f %%; counts, totals and maxima are exact",
			   100 * HIST_ERROR);
		add_estimates(signals, line, sizeof(line));
		format_add(line, sizeof(line), ".");
	}
	if (signals->kernel)
		format_add(line, sizeof(line),
			   " Without %s value%s of the kernel's own (--kernel).",
			   NUMBER(signals->kernel), signals->kernel == 1 ? "" : "s");
	if (signals->unknown)
		format_add(line, sizeof(line),
			   " %s series are of signals that this dwell does not know.",
			   NUMBER(signals->unknown));
	if (signals->damaged)
		format_add(line, sizeof(line), " Of %s row%s the buckets are damaged.",
			   NUMBER(signals->damaged), signals->damaged == 1 ? "" : "s");
	if (!*line)
		return;
	fputc('\n', page->out);
	page_wrap(page, 0, 2, *line == ' ' ? line + 1 : line);
}

/* What dwell trace found is in one of its two signals: by stack, or not. */
static bool is_elsewhere(const struct signals *signals, const struct measured *of)
{
	if (!of->view->is_not_offered || text_measures(of))
		return false;
	for (size_t i = 0; i < signals->count; i++)
		if (signals->of[i].view->is_not_offered && text_measures(&signals->of[i]))
			return true;
	return false;
}

void text_signals(const struct digest *digest, const struct page *page)
{
	for (size_t i = 0; i < digest->signals.count; i++)
		if (!is_elsewhere(&digest->signals, &digest->signals.of[i]))
			print_signal(digest, page, &digest->signals.of[i]);
	if (digest->signals.count)
		print_doubts(digest, page);
	else if (digest->options->signals)
		fputs("\nThe session has no signals of these: dwell record -s measures them, and "
		      "dwell\nreport without --signal shows those that it has.\n",
		      page->out);
}
