// SPDX-License-Identifier: Apache-2.0
/*
 * One line of the ledger, opened: how much of it stacks explain, what has none, its causes, and the
 * hottest stacks.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "../base/utf8.h"
#include "text_stacks.h"
#include "why.h"

#define STACKS_SHOWN 5
#define WAKERS_SHOWN 2
#define CAUSES_SHOWN 5
#define FRAMES_SHOWN 24 /* of one stack: the innermost, and the outermost three */
#define FRAMES_LAST  3
#define KERNEL_SHOWN 3 /* the kernel's own: how it waits is seldom what is asked */

/* What the ledger says of a state, or of all that begin with its name. */
struct told {
	u64 ns, count, threads;
	struct profile_sum stacks;  /* samples with a stack */
	struct profile_sum bare;    /* samples without one */
	struct profile_sum foreign; /* samples that the ledger has elsewhere: not in these */
};

static bool is_asked(const struct digest *digest, int state)
{
	return profile_state_fits(digest->options->why, digest->state_names[state]);
}

static void find_told(const struct digest *digest, struct told *ret_told)
{
	*ret_told = (struct told){0};
	for (int i = 0; i < STATE_LIMIT; i++) {
		ret_told->ns += is_asked(digest, i) ? digest->all.ns[i] : 0;
		ret_told->count += is_asked(digest, i) ? digest->all.count[i] : 0;
	}
	for (size_t i = 0; i < digest->thread_count; i++) {
		struct account account;
		u64 ns = 0;

		if (!digest_shows(digest, &digest->threads[i]))
			continue;
		thread_account(digest, &digest->threads[i], &account);
		for (int state = 0; state < STATE_LIMIT; state++)
			ns += is_asked(digest, state) ? account.ns[state] : 0;
		ret_told->threads += ns ? thread_number(&digest->threads[i]) : 0;
	}
	for (size_t i = 0; i < digest->profile.samples.count; i++) {
		const struct profile_sample *sample = hash_item(&digest->profile.samples, i);
		bool is_of_kind =
			profile_state_is_of_kind(digest->state_names[sample->state], sample->kind);

		profile_sum_add(!is_of_kind	? &ret_told->foreign
				: sample->stack ? &ret_told->stacks
						: &ret_told->bare,
				sample);
	}
}

static void print_share(const struct page *page, u64 ns, u64 whole, const char *what)
{
	int at = fprintf(page->out, "  %8s %7s  ", DURATION(ns), COLUMN_SHARE(ns, whole));

	page_wrap(page, at, at + 2, what);
}

/* What is explained, and what is not: never hidden. */
static void print_told(const struct page *page, const struct told *told)
{
	u64 sampled_ns = told->stacks.weight_ns + told->bare.weight_ns;
	char line[256] = "";

	format_add(line, sizeof(line), "has stacks: %s", SAMPLES(&told->stacks));
	if (told->stacks.count)
		print_share(page, told->stacks.weight_ns, told->ns, line);
	if (told->bare.count) {
		snprintf(line, sizeof(line),
			 "has samples (%s) without a stack: none could be taken",
			 NUMBER(told->bare.count));
		print_share(page, told->bare.weight_ns, told->ns, line);
	}
	if (sampled_ns <= told->ns)
		print_share(page, told->ns - sampled_ns, told->ns,
			    sampled_ns ? "has no sample: too short, not ended, or not sampled"
				       : "has no sample: the session has none of this state");
	else
		print_share(page, sampled_ns - told->ns, told->ns, "overestimate (sampling error)");
	if (told->foreign.count) {
		snprintf(line, sizeof(line),
			 "in addition: %s taken while the ledger had another state",
			 SAMPLES(&told->foreign));
		print_share(page, told->foreign.weight_ns, told->ns, line);
	}
}

static int print_causes(const struct digest *digest, const struct page *page, u64 whole)
{
	struct hash whys;
	int err = why_find(digest, &whys);
	size_t shown = 0;

	why_sort(&whys);

	for (size_t i = 0; !err && i < whys.count && shown < page_rows(digest, CAUSES_SHOWN); i++) {
		const struct why *why = hash_item(&whys, i);
		const struct process *process = &digest->processes[why->cause.thread];
		char cause[CAUSE_BYTES], blame[CAUSE_BYTES], line[3 * CAUSE_BYTES] = "";

		if (!is_asked(digest, why->cause.state) || !why->cause.ns)
			continue;
		if (!shown++)
			page_heading(page, "CAUSES", " of it, by the ledger");
		format_cause(digest, &why->cause, cause, sizeof(cause));
		why_blame(digest, why, blame, sizeof(blame));
		format_add(line, sizeof(line), "%s (%u): %s%s%s%s, %s x", ESCAPED(process->comm),
			   process->pid, ESCAPED(digest->state_names[why->cause.state]),
			   *cause ? " " : "", ESCAPED(cause), blame, NUMBER(why->cause.count));
		print_share(page, why->cause.ns, whole, line);
	}
	hash_free(&whys);
	return err;
}

static void print_frame(const struct profile *profile, const struct page *page,
			const struct profile_step *step, size_t times, int indent)
{
	const char *module = ESCAPED(function_module(profile, step->function));
	int room = page->columns - indent - (*module ? (int)utf8_columns(module) + 2 : 0);
	char name[2 * PROFILE_NAME_BYTES], again[FORMAT_BYTES] = "";

	if (times > 1)
		snprintf(again, sizeof(again), "  %zu x", times);
	room -= (int)strlen(again);
	if (room < 20) {
		module = "";
		room = page->columns - indent - (int)strlen(again);
	}
	format_function(profile, step->function, step->is_inlined, page_room(page, room), name,
			sizeof(name));
	fprintf(page->out, "%*s%s%s%s%s%s%s\n", indent, "", name, page_ink(page, INK_FAINT),
		*module ? "  " : "", module, again, page_ink(page, INK_PLAIN));
}

/* Calls of a function by itself are one, with their number: how many there are then. */
static size_t fold_recursion(struct profile_step *steps, size_t count, u32 *times)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		if (left && steps[left - 1].function == steps[i].function) {
			times[left - 1]++;
			continue;
		}
		times[left] = 1;
		steps[left++] = steps[i];
	}
	return left;
}

/* How many steps from here on are left out, to be told in one line. */
static size_t left_out(const struct profile *profile, const struct profile_step *steps,
		       size_t count, size_t i)
{
	size_t kernel = 0;

	while (kernel < count &&
	       profile_function(profile, steps[kernel].function)->look == FUNCTION_KERNEL)
		kernel++;
	if (i == KERNEL_SHOWN && kernel > KERNEL_SHOWN + 1 && kernel < count)
		return kernel - KERNEL_SHOWN;
	if (count > FRAMES_SHOWN && i == FRAMES_SHOWN - FRAMES_LAST - 1)
		return count - FRAMES_SHOWN + 1;
	return 0;
}

static void print_frames(const struct digest *digest, const struct page *page, u64 stack, u32 stop,
			 int indent)
{
	const struct profile *profile = &digest->profile;
	struct profile_step steps[PROFILE_STEPS_MAX];
	u32 times[PROFILE_STEPS_MAX];
	size_t count = profile_steps(profile, stack, stop, steps);

	count = fold_recursion(steps, count, times);
	for (size_t i = 0; i < count; i++) {
		size_t left = left_out(profile, steps, count, i);

		if (!left) {
			print_frame(profile, page, &steps[i], times[i], indent);
			continue;
		}
		fprintf(page->out, "%*s%s… %zu more calls%s%s\n", indent, "",
			page_ink(page, INK_FAINT), left, i == KERNEL_SHOWN ? " [k]" : "",
			page_ink(page, INK_PLAIN));
		i += left - 1;
	}
}

static int print_wakers(const struct digest *digest, const struct page *page,
			const struct alike_stacks *stack)
{
	struct hash wakers;
	int err = stacks_wakers_alike(&digest->profile, stack, &wakers);

	for (size_t i = 0; !err && i < wakers.count && i < WAKERS_SHOWN; i++) {
		const struct hot_waker *waker = hash_item(&wakers, i);
		bool has_stack = waker->stack && waker->tid; /* an interrupt's is of whom it hit */
		char who[DIGEST_TEXT] = "", line[512];

		if (waker->tid)
			format_tid(digest, waker->tid, who, sizeof(who));
		else
			snprintf(who, sizeof(who), "%s", context_name(waker->kind));
		*line = '\0';
		format_add(line, sizeof(line), "woken by %s%s: %s of it, %s", who,
			   has_stack ? ", at" : "",
			   SHARE(waker->sum.weight_ns, stack->sum.weight_ns), SAMPLES(&waker->sum));
		fputs("      ", page->out);
		page_wrap(page, 6, 8, line);
		if (has_stack)
			print_frames(digest, page, waker->stack, STOP_END, 8);
	}
	if (!err && wakers.count > WAKERS_SHOWN)
		fprintf(page->out, "      and by %zu more\n", wakers.count - WAKERS_SHOWN);
	hash_free(&wakers);
	return err;
}

static int print_stack(const struct digest *digest, const struct page *page,
		       const struct alike_stacks *stack, u64 whole)
{
	const struct profile_process *process =
		hash_item(&digest->profile.processes, stack->process);
	char line[1024] = "";

	if (stack->is_many)
		format_add(line, sizeof(line), "%s, several processes",
			   profile_text(&digest->profile, stack->comm));
	else
		format_add(line, sizeof(line), "%s",
			   profile_function_name(&digest->profile, process->function));
	if (strcmp(digest->options->why, digest->state_names[stack->state]) != 0)
		format_add(line, sizeof(line), ", %s", digest->state_names[stack->state]);
	format_add(line, sizeof(line), ": %s, stack %016" PRIx64, SAMPLES(&stack->sum),
		   (uint64_t)stack->stack);
	print_share(page, stack->sum.weight_ns, whole, ESCAPED(line));
	print_frames(digest, page, stack->stack, stack->stop, 4);
	return stack->kind == SAMPLE_BLOCKED ? print_wakers(digest, page, stack) : 0;
}

static int print_stacks(const struct digest *digest, const struct page *page, u64 whole)
{
	struct profile_sum rest = {0};
	struct hash stacks;
	size_t shown = 0, more = 0;
	int err = stacks_find_alike(&digest->profile, &stacks);

	for (size_t i = 0; !err && i < stacks.count; i++) {
		const struct alike_stacks *stack = hash_item(&stacks, i);

		if (!profile_state_is_of_kind(digest->state_names[stack->state], stack->kind))
			continue;
		if (shown == page_rows(digest, STACKS_SHOWN)) {
			more++;
			rest.count += stack->sum.count;
			rest.weight_ns += stack->sum.weight_ns;
			rest.squares += stack->sum.squares;
			continue;
		}
		if (!shown++)
			page_heading(
				page, "STACKS",
				" of it, by samples, hottest first; the innermost call on top");
		err = print_stack(digest, page, stack, whole);
	}
	if (!err && more) {
		char line[256] = "";

		format_add(line, sizeof(line), "in %s more stack%s: %s", NUMBER(more),
			   more == 1 ? "" : "s", SAMPLES(&rest));
		print_share(page, rest.weight_ns, whole, line);
	}
	hash_free(&stacks);
	return err;
}

int text_state(const struct digest *digest, const struct page *page)
{
	struct told told;
	char about[256] = "";
	int err;

	find_told(digest, &told);
	if (!told.ns && !told.stacks.count) {
		format_add(about, sizeof(about), " %s: no thread was in it",
			   ESCAPED(digest->options->why));
		page_heading(page, "WHY", about);
		return 0;
	}
	format_add(about, sizeof(about), " %s: %s by the ledger (%.2f threads on average)",
		   ESCAPED(digest->options->why), DURATION(told.ns),
		   digest_span(digest) ? (double)told.ns / (double)digest_span(digest) : 0);
	format_add(about, sizeof(about), ", %s x, of %s thread%s", NUMBER(told.count),
		   NUMBER(told.threads), told.threads == 1 ? "" : "s");
	page_heading(page, "WHY", about);
	print_told(page, &told);
	err = print_causes(digest, page, told.ns);
	return err ? err : print_stacks(digest, page, told.stacks.weight_ns);
}
