// SPDX-License-Identifier: Apache-2.0
/*
 * The verdict of a comparison in one to three sentences: the line that costs most, the function in
 * it, and what was done more often or took longer. Each says a line's own numbers, and no cause.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "../model/state.h"
#include "show.h"

#define SENTENCE_LABEL 220

/* A system call, or a function that waits, in which a thread has nothing to do. */
static bool is_pause(const struct diff *diff, const struct diff_line *line)
{
	static const char *const names[] = {"clock_nanosleep", "nanosleep", "poll",	"ppoll",
					    "epoll_",	       "select",    "pselect6", "wait4",
					    "waitid",	       "pause",	    "__poll",	"__select"};
	bool is_wait = line->key.table == DIFF_CALL ||
		       ((line->key.table == DIFF_FUNCTION || line->key.table == DIFF_STACK) &&
			line->key.kind != SAMPLE_CPU);

	for (size_t i = 0; is_wait && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(diff_text(diff, line->key.name), names[i], strlen(names[i])))
			return line->key.measure != DIFF_TIMES;
	return false;
}

bool diff_is_cpu_state(const struct diff *diff, const struct diff_line *line)
{
	return !strncmp(diff_text(diff, line->key.name), "cpu", 3);
}

bool diff_is_slack(const struct diff *diff, const struct diff_line *line)
{
	static const int slack[] = {STATE_UNATTRIBUTED,	   STATE_BLOCKED_IDLE,
				    STATE_BLOCKED_POLL,	   STATE_BLOCKED_SLEEP,
				    STATE_BLOCKED_STOPPED, STATE_BLOCKED_CHILD};

	if (line->key.table > DIFF_PROCESS)
		return is_pause(diff, line);
	for (size_t i = 0; i < sizeof(slack) / sizeof(slack[0]); i++)
		if (!strcmp(diff_text(diff, line->key.name), state_names[slack[i]]))
			return true;
	return false;
}

static void say(struct diff *diff, const struct diff_line *line, const char *label)
{
	char *to = diff->sentences[diff->sentence_count++], per[SHOW_BYTES];

	show_per(diff, line, per);
	snprintf(to, DIFF_TEXT_BYTES, "%s %s from %s to %s%s: %s (95 %% interval %s to %s).", label,
		 line->effect > 0 ? "rose" : "fell", SHOW_VALUE(diff, line, line->rate[0]),
		 SHOW_VALUE(diff, line, line->rate[1]), per, SHOW_PERCENT(line->relative),
		 isfinite(line->relative_low) ? SHOW_PERCENT(line->relative_low)
					      : SHOW_VALUE(diff, line, line->low),
		 isfinite(line->relative_high) ? SHOW_PERCENT(line->relative_high)
					       : SHOW_VALUE(diff, line, line->high));
	/* A state's own name stays as it is. */
	if (line->key.table > DIFF_PROCESS)
		*to = (char)toupper((unsigned char)*to);
}

static void say_line(struct diff *diff, const struct diff_line *line)
{
	char label[SENTENCE_LABEL];

	show_label(diff, line, label, sizeof(label));
	say(diff, line, label);
}

/* Is it one of the ledger's, and worth the first sentence? Lines are in the order of their cost. */
static const struct diff_line *first_of(const struct diff *diff, enum diff_table table,
					bool slack_too)
{
	for (size_t i = 0; i < diff->order_count; i++) {
		const struct diff_line *line = diff->order[i];

		if (line->verdict == DIFF_CHANGED && line->key.table == table &&
		    (slack_too || !diff_is_slack(diff, line)))
			return line;
	}
	return NULL;
}

static const struct diff_line *top_of_ledger(const struct diff *diff)
{
	const enum diff_table tables[] = {DIFF_PROCESS, DIFF_SERVICE, DIFF_LEDGER};

	for (int slack = 0; slack < 2; slack++)
		for (size_t i = 0; i < 3; i++) {
			const struct diff_line *line = first_of(diff, tables[i], slack);

			if (line)
				return line;
		}
	return NULL;
}

/* Did it go the same way as the first sentence's line, if there is one? */
static bool goes_along(const struct diff_line *line, const struct diff_line *ledger)
{
	return line->verdict == DIFF_CHANGED &&
	       (!ledger || (line->effect > 0) == (ledger->effect > 0));
}

/*
 * Where in the code: on a CPU a function's own time, else its total. Of a wait the stack, as the
 * innermost functions only say how it waits.
 */
static const struct diff_line *top_code(const struct diff *diff, const struct diff_line *ledger,
					bool is_cpu)
{
	const struct {
		enum diff_table table;
		enum diff_measure measure;
	} wanted[2][3] = {
		{{DIFF_STACK, DIFF_SELF}, {DIFF_FUNCTION, DIFF_SELF}, {DIFF_FUNCTION, DIFF_TOTAL}},
		{{DIFF_FUNCTION, DIFF_SELF}, {DIFF_FUNCTION, DIFF_TOTAL}, {DIFF_STACK, DIFF_SELF}},
	};

	for (size_t w = 0; w < 3; w++)
		for (size_t i = 0; i < diff->order_count; i++) {
			const struct diff_line *line = diff->order[i];

			if (line->key.table == (u32)wanted[is_cpu][w].table &&
			    line->key.measure == (u32)wanted[is_cpu][w].measure &&
			    (line->key.kind == SAMPLE_CPU) == is_cpu && goes_along(line, ledger) &&
			    !diff_is_slack(diff, line))
				return line;
		}
	return NULL;
}

/* That of the ledger's line; without one, on a CPU first. */
static const struct diff_line *code_of(const struct diff *diff, const struct diff_line *ledger)
{
	const struct diff_line *cpu = NULL;

	if (ledger)
		return top_code(diff, ledger, diff_is_cpu_state(diff, ledger));
	cpu = top_code(diff, NULL, true);
	return cpu ? cpu : top_code(diff, NULL, false);
}

/* A call that was made more often is told by its count, not by the time that follows from it. */
static bool is_told_by_count(const struct diff *diff, const struct diff_line *line)
{
	struct diff_key key = line->key;
	const struct diff_line *count;

	if (line->key.table != DIFF_CALL || line->key.measure != DIFF_TIME)
		return false;
	key.measure = DIFF_TIMES;
	count = hash_find(&diff->lines, &key);
	return count && count->is_tested && count->verdict == DIFF_CHANGED;
}

static const struct diff_line *top_event(const struct diff *diff, const struct diff_line *ledger)
{
	for (size_t i = 0; i < diff->order_count; i++) {
		const struct diff_line *line = diff->order[i];

		if (goes_along(line, ledger) && line->key.table >= DIFF_CALL &&
		    line->key.measure <= DIFF_MEAN && !is_told_by_count(diff, line) &&
		    !diff_is_load(line) && !diff_is_slack(diff, line))
			return line;
	}
	return NULL;
}

/* Nothing changed: what could have been seen, by the largest line that has an answer. */
static void say_nothing(struct diff *diff)
{
	char *to = diff->sentences[diff->sentence_count++], label[SENTENCE_LABEL];
	const struct diff_line *largest = NULL;

	snprintf(to, DIFF_TEXT_BYTES,
		 "No line changed: of %zu that were tested, %zu are unchanged and %zu are "
		 "inconclusive.",
		 diff->tested, diff->by_verdict[DIFF_UNCHANGED],
		 diff->by_verdict[DIFF_INCONCLUSIVE]);
	for (size_t i = 0; i < diff->order_count; i++) {
		const struct diff_line *line = diff->order[i];

		if (line->key.table <= DIFF_PROCESS && diff_is_cpu_state(diff, line) &&
		    isfinite(line->mde) && line->scale > 0 &&
		    (!largest || line->pooled > largest->pooled ||
		     (line->pooled == largest->pooled && line->key.table > largest->key.table)))
			largest = line;
	}
	if (!largest)
		return;
	show_label(diff, largest, label, sizeof(label));
	to = diff->sentences[diff->sentence_count++];
	if (largest->reason == DIFF_BY_SIZE)
		snprintf(to, DIFF_TEXT_BYTES,
			 "The largest CPU cost, %s, is unchanged: it differs by less than %s%s.",
			 label, SHOW_VALUE(diff, largest, largest->bound),
			 show_per(diff, largest, (char[SHOW_BYTES]){0}));
	else
		snprintf(to, DIFF_TEXT_BYTES,
			 "The largest CPU cost, %s, is %s: %s (95 %% interval %s to %s); a change "
			 "of %.1f %% would have been found.",
			 label, diff_verdict_names[largest->verdict],
			 SHOW_PERCENT(largest->relative), SHOW_PERCENT(largest->relative_low),
			 SHOW_PERCENT(largest->relative_high), 100 * largest->mde / largest->scale);
}

void diff_write_sentences(struct diff *diff)
{
	const struct diff_line *ledger = top_of_ledger(diff);
	const struct diff_line *code = code_of(diff, ledger);
	const struct diff_line *event = top_event(diff, ledger);

	if (ledger)
		say_line(diff, ledger);
	if (code)
		say_line(diff, code);
	if (event)
		say_line(diff, event);
	if (!diff->sentence_count && diff->by_verdict[DIFF_CHANGED])
		say_line(diff, diff->order[0]);
	if (!diff->sentence_count)
		say_nothing(diff);
}
