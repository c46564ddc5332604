// SPDX-License-Identifier: Apache-2.0
/* A few lines when all is well; more only for what is wrong. */
#include <inttypes.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../model/signal.h"
#include "quality.h"
#include "text_stacks.h"
#include "unwind_capacity.h"

#define LINE_BYTES  4096
#define STEPS_SHOWN 5
#define LABEL	    "label." /* how keys of meta begin that are a person's own */

#define BRIEF_WARNINGS 3 /* on the first screen */

/* What is wrong stands out. Only some of the warnings may be wanted: those from `from` to `to`. */
struct warner {
	const struct page *page;
	size_t from, to, count;
};

static void warn(struct warner *warner, const char *text)
{
	const struct page *page = warner->page;
	size_t number = warner->count++;

	if (number < warner->from || number >= warner->to)
		return;
	fprintf(page->out, "  %s!%s ", page_ink(page, INK_WARN), page_ink(page, INK_PLAIN));
	page_wrap(page, 4, 4, text);
}

static void print_fact(const struct page *page, const char *text)
{
	fputs("  ", page->out);
	page_wrap(page, 2, 2, text);
}

/* Above stacks the ledger's checks, its costs and its hooks are news only if they are bad. */
static bool is_brief(const struct digest *digest)
{
	const struct report_options *options = digest->options;

	return options->stacks || options->why || options->signals;
}

/* One line when all is well. */
static void print_window(const struct digest *digest, const struct quality *quality,
			 const struct page *page)
{
	char line[LINE_BYTES] = "";
	bool is_clean = !quality->closure_error_ns && !quality->lost;

	fprintf(page->out, "%squality:%s", page_ink(page, INK_STRONG), page_ink(page, INK_PLAIN));
	format_add(line, sizeof(line), " %s thread%s; parts - wall = %s%" PRIu64 " ns%s%s",
		   NUMBER(quality->threads), quality->threads == 1 ? "" : "s",
		   page_ink(page, is_clean ? INK_GOOD : INK_WARN),
		   (uint64_t)quality->closure_error_ns, page_ink(page, INK_PLAIN),
		   digest->is_slice ? " in the whole session" : "");
	format_add(line, sizeof(line), "; unattributed %s; lost %s",
		   DURATION(quality->unattributed_ns), NUMBER(quality->lost));
	if (quality->missed)
		format_add(line, sizeof(line), "; missed switches %s", NUMBER(quality->missed));
	if (quality->unnamed)
		format_add(line, sizeof(line), "; unnamed waits %s", NUMBER(quality->unnamed));
	page_wrap(page, (int)strlen("quality:"), 2, line);
}

/* Times as a share of the threads' wall: 2 us of 3 us would say nothing. */
static void add_checks(char *line, const struct quality *quality)
{
	bool are_equal = true, has_faults = false;

	for (size_t i = 0; i < quality->check_count; i++) {
		const struct check *check = &quality->checks[i];
		s64 difference = check_difference(check);
		double share = quality->session_wall_ns ? 100.0 * (double)difference /
								  (double)quality->session_wall_ns
							: 0;

		if (!strcmp(check->unit, "ns"))
			format_add(line, LINE_BYTES, "%s %+.2f %%, ", check->name,
				   share > -0.005 && share < 0.005 ? 0 : share);
		else if (difference)
			format_add(line, LINE_BYTES, "%s %+" PRId64 ", ", check->name,
				   (int64_t)difference);
		has_faults |= !strcmp(check->unit, "faults");
		are_equal &= !difference || !strcmp(check->unit, "ns");
	}
	if (are_equal)
		format_add(line, LINE_BYTES, "switches%s equal, ", has_faults ? " and faults" : "");
}

static void add_wrong(char *line, const struct check *check)
{
	bool is_time = !strcmp(check->unit, "ns");

	format_add(line, LINE_BYTES, "%s: ours %s, the kernel's %s", check->name,
		   is_time ? DURATION(check->ours) : NUMBER(check->ours),
		   is_time ? DURATION(check->kernels) : NUMBER(check->kernels));
	if (check->tolerance)
		format_add(line, LINE_BYTES, " (difference above %s)",
			   is_time ? DURATION(check->tolerance) : NUMBER(check->tolerance));
	format_add(line, LINE_BYTES, "; ");
}

static void print_checks(const struct quality *quality, const struct page *page)
{
	char line[LINE_BYTES] = "checked against the kernel: ";

	add_checks(line, quality);
	line[strlen(line) - 2] = '\0';
	print_fact(page, line);
}

static void warn_of_checks(const struct digest *digest, const struct quality *quality,
			   struct warner *warner)
{
	char wrong[LINE_BYTES] = "";

	for (size_t i = 0; i < quality->check_count; i++) {
		if (!check_is_within(&quality->checks[i]))
			add_wrong(wrong, &quality->checks[i]);
	}
	if (*wrong && !digest->is_slice) {
		wrong[strlen(wrong) - 2] = '\0';
		warn(warner, wrong);
	}
}

static const char *loss_meaning(const char *cause)
{
	const char *meaning = signal_loss_meaning(cause);

	for (int i = 0; i < LOSS_COUNT; i++)
		if (!strcmp(loss_names[i], cause))
			return loss_meanings[i];
	return meaning ? meaning : "a cause that this dwell does not know";
}

static void warn_of_losses(const struct digest *digest, struct warner *warner)
{
	for (size_t i = 0; i < digest->losses.count; i++) {
		const struct loss_row *loss = hash_item(&digest->losses, i);
		char line[LINE_BYTES] = "";

		if (!loss->count)
			continue;
		format_add(line, sizeof(line), "lost %s (%s): %s", NUMBER(loss->count),
			   ESCAPED(loss->cause), loss_meaning(loss->cause));
		warn(warner, line);
	}
}

/* The hook that does the work of one that could not be used; NULL: none does. */
static const char *stand_in_of(const struct digest *digest, const char *name)
{
	for (size_t i = 0; i < digest->hook_count; i++)
		if (digest->hooks[i].is_attached && !strcmp(digest->hooks[i].fallback_of, name))
			return digest->hooks[i].name;
	return NULL;
}

/* One that does another's work is a fact, not a fault; a hook for which nobody does is one. */
static void print_hooks(const struct digest *digest, const struct page *page)
{
	char instead[LINE_BYTES] = "";

	for (size_t i = 0; i < digest->hook_count; i++) {
		const struct hook *hook = &digest->hooks[i];
		const char *stand_in = stand_in_of(digest, hook->name);

		if (hook->is_attached || !*hook->failure || !stand_in)
			continue;
		format_add(instead, sizeof(instead), "%s%s instead of %s",
			   *instead ? ", " : "hooks: ", ESCAPED(stand_in), ESCAPED(hook->name));
	}
	if (*instead)
		print_fact(page, instead);
}

static void warn_of_hooks(const struct digest *digest, struct warner *warner)
{
	char silent[LINE_BYTES] = "", line[LINE_BYTES];

	for (size_t i = 0; i < digest->hook_count; i++) {
		const struct hook *hook = &digest->hooks[i];

		if (hook->is_attached && hook->is_counted && !hook->events && !hook->is_rare)
			format_add(silent, sizeof(silent), " %s", ESCAPED(hook->name));
		if (hook->is_attached || !*hook->failure || stand_in_of(digest, hook->name))
			continue;
		*line = '\0';
		format_add(line, sizeof(line), "not attached: %s: %s", ESCAPED(hook->name),
			   ESCAPED(hook->failure));
		warn(warner, line);
	}
	if (*silent) {
		*line = '\0';
		format_add(line, sizeof(line), "attached but silent:%s", silent);
		warn(warner, line);
	}
}

/* An interrupt may be the next event of the very program that it interrupts: nobody sees it. */
static void warn_of_misses(const struct digest *digest, struct warner *warner)
{
	char line[LINE_BYTES] = "skipped by the kernel, as they came while the same program ran:";
	bool is_any = false;

	for (size_t i = 0; i < digest->hook_count; i++) {
		const struct hook *hook = &digest->hooks[i];

		if (!hook->misses)
			continue;
		format_add(line, sizeof(line), "%s %s of %s", is_any ? "," : "",
			   NUMBER(hook->misses), ESCAPED(hook->name));
		is_any = true;
	}
	if (is_any)
		warn(warner, line);
}

static void warn_of_unwind_capacity(const struct digest *digest, struct warner *warner)
{
	bool (*const sentences[])(const struct unwind_capacity *, char *,
				  size_t) = {unwind_capacity_rows, unwind_capacity_files,
					     unwind_capacity_hangs, unwind_capacity_replaced};
	struct unwind_capacity capacity;
	char line[LINE_BYTES];

	unwind_capacity_find(digest, &capacity);
	for (size_t i = 0; i < ARRAY_SIZE(sentences); i++)
		if (sentences[i](&capacity, line, sizeof(line)))
			warn(warner, line);
}

static void warn_of_steps(const struct digest *digest, struct warner *warner)
{
	for (size_t i = 0; i < digest->step_count && i < STEPS_SHOWN; i++) {
		const struct step *step = &digest->steps[i];
		char line[LINE_BYTES] = "";

		format_add(line, sizeof(line), "overhead limit, at %s: %s",
			   DURATION(step->ts_ns > digest->start_ns ? step->ts_ns - digest->start_ns
								   : 0),
			   ESCAPED(step->what));
		if (*step->why)
			format_add(line, sizeof(line), " (%s)", ESCAPED(step->why));
		warn(warner, line);
	}
	if (digest->step_count > STEPS_SHOWN) {
		char line[LINE_BYTES] = "";

		format_add(line, sizeof(line), "overhead limit: and %zu more step%s",
			   digest->step_count - STEPS_SHOWN,
			   digest->step_count == STEPS_SHOWN + 1 ? "" : "s");
		warn(warner, line);
	}
}

/* What does not cover all of the session, and how far what does was thinned. */
static void warn_of_covers(const struct digest *digest, struct warner *warner)
{
	char line[LINE_BYTES] = "", thinned[LINE_BYTES] = "";

	for (size_t i = 0; i < digest->cover_count; i++) {
		const struct cover *cover = &digest->covers[i];

		if (digest_partial_cover(digest, cover->part))
			format_add(line, sizeof(line), "%s%s %.1f of %.1f s",
				   *line ? ", " : "not the whole time is covered: ",
				   ESCAPED(cover->part), (double)cover->covered_ns / 1e9,
				   (double)cover->total_ns / 1e9);
		if (cover->thinned > 1)
			format_add(thinned, sizeof(thinned), "%s%s to 1/%s",
				   *thinned ? ", " : "thinned at times by the overhead limit: ",
				   ESCAPED(cover->part), NUMBER(cover->thinned));
	}
	if (*thinned)
		format_add(line, sizeof(line),
			   "%s%s (sums stay right: weights tell what was left "
			   "out)",
			   *line ? "; " : "", thinned);
	if (*line)
		warn(warner, line);
}

static void warn_of_cpus(const struct digest *digest, struct warner *warner)
{
	u64 count = digest_meta_number(digest, "cpus_came_online");
	char line[LINE_BYTES] = "";

	format_add(line, sizeof(line),
		   "CPUs came online %s time%s: they have no samples for up to %s in all",
		   NUMBER(count), count == 1 ? "" : "s",
		   DURATION(digest_meta_number(digest, "cpu_gap_ns")));
	if (digest_meta_number(digest, "cpu_failure"))
		format_add(line, sizeof(line), ", and no CPU has any after that");
	if (count)
		warn(warner, line);
}

/* What the person who recorded it wanted to be remembered. */
static void print_labels(const struct digest *digest, const struct page *page)
{
	const char *note = digest_meta(digest, "note");
	char line[LINE_BYTES] = "";

	for (size_t i = 0; i < digest->meta.count; i++) {
		const struct meta_row *row = hash_item(&digest->meta, i);

		if (!strncmp(row->key, LABEL, strlen(LABEL)))
			format_add(line, sizeof(line), "%s%s=%s",
				   *line ? ", " : "labels: ", ESCAPED(row->key + strlen(LABEL)),
				   ESCAPED(row->value));
	}
	if (*note)
		format_add(line, sizeof(line), "%snote: %s", *line ? "; " : "", ESCAPED(note));
	if (!*line)
		return;
	fputs("  ", page->out);
	page_wrap(page, 2, 2, line);
}

/* What of the session is shown: whole windows, so perhaps more than was asked for. */
static void print_slice(const struct digest *digest, const struct page *page)
{
	char line[LINE_BYTES] = "";

	format_add(line, sizeof(line), "slice: from %s to %s, %s whole window%s",
		   DURATION(digest->begin_ns - digest->start_ns),
		   DURATION(digest->end_ns - digest->start_ns), NUMBER(digest->window_count),
		   digest->window_count == 1 ? "" : "s");
	fputs("  ", page->out);
	page_wrap(page, 2, 2, line);
}

/* All of them, the worst first. Steps of the overhead limit are told apart: they are details. */
static void warn_of_all(const struct digest *digest, const struct quality *quality,
			struct warner *warner)
{
	if (digest->is_killed)
		warn(warner, "the session has no end: its writer was killed, or its disk was full; "
			     "data after the last window is missing");
	if (quality->closure_error_ns)
		warn(warner, "the parts do not sum to the wall clock: do not trust the shares");
	warn_of_unwind_capacity(digest, warner);
	warn_of_checks(digest, quality, warner);
	warn_of_losses(digest, warner);
	warn_of_hooks(digest, warner);
	warn_of_misses(digest, warner);
	warn_of_covers(digest, warner);
	warn_of_cpus(digest, warner);
}

void text_quality(const struct digest *digest, const struct page *page)
{
	struct warner warner = {.page = page, .to = ~(size_t)0};
	struct quality quality;

	quality_find(digest, &quality);
	text_head(digest, page);
	print_window(digest, &quality, page);
	if (digest->is_slice)
		print_slice(digest, page);
	if (!is_brief(digest)) {
		print_checks(&quality, page);
		text_overhead(digest, page);
	}
	if (!digest->options->signals)
		text_stacks_quality(digest, page);
	print_labels(digest, page);
	if (!is_brief(digest))
		print_hooks(digest, page);
	warn_of_all(digest, &quality, &warner);
	warn_of_steps(digest, &warner);
}

void text_quality_brief(const struct digest *digest, const struct page *page)
{
	struct warner warner = {.page = page, .to = BRIEF_WARNINGS};
	struct quality quality;

	quality_find(digest, &quality);
	print_window(digest, &quality, page);
	if (digest->is_slice)
		print_slice(digest, page);
	print_labels(digest, page);
	warn_of_all(digest, &quality, &warner);
	if (warner.count > warner.to)
		fprintf(page->out, "  %s!%s and %zu more warnings, under QUALITY below\n",
			page_ink(page, INK_WARN), page_ink(page, INK_PLAIN),
			warner.count - warner.to);
}

void text_quality_details(const struct digest *digest, const struct page *page)
{
	struct warner warner = {.page = page, .from = BRIEF_WARNINGS, .to = ~(size_t)0};
	struct warner steps = {.page = page, .to = ~(size_t)0};
	struct quality quality;

	quality_find(digest, &quality);
	page_heading(page, "QUALITY", ": how far this can be trusted");
	print_checks(&quality, page);
	text_overhead(digest, page);
	text_stacks_quality(digest, page);
	print_hooks(digest, page);
	warn_of_all(digest, &quality, &warner);
	warn_of_steps(digest, &steps);
}
