// SPDX-License-Identifier: Apache-2.0
/*
 * One line of the ledger, opened: how much of it stacks explain, what has none, its causes, and the
 * hottest stacks.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "../base/utf8.h"
#include "stacks.h"
#include "text_stacks.h"
#include "why.h"

#define STACKS_SHOWN 5
#define WAKERS_SHOWN 2
#define CAUSES_SHOWN 5
#define FRAMES_SHOWN 24 /* of one stack: the innermost, and the outermost three */
#define FRAMES_LAST  3

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
		ret_told->threads += ns ? digest->threads[i].threads : 0;
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
static void print_told(const struct digest *digest, const struct page *page,
		       const struct told *told)
{
	u64 sampled_ns = told->stacks.weight_ns + told->bare.weight_ns;
	char line[256] = "";

	format_add(line, sizeof(line), "has stacks: %s samples (%s effective)",
		   NUMBER(told->stacks.count), EFFECTIVE(&told->stacks));
	print_share(page, told->stacks.weight_ns, told->ns, line);
	if (told->bare.count) {
		snprintf(line, sizeof(line),
			 "has samples (%s) without a stack: none could be taken",
			 NUMBER(told->bare.count));
		print_share(page, told->bare.weight_ns, told->ns, line);
	}
	if (sampled_ns <= told->ns) {
		print_share(page, told->ns - sampled_ns, told->ns,
			    digest->profile.all.count
				    ? "has no sample: too short, not ended yet, or by chance"
				    : "has no sample: the session has none of this state");
	} else {
		snprintf(line, sizeof(line),
			 "too much: samples stand for more than the ledger has, as chance has it");
		print_share(page, sampled_ns - told->ns, told->ns, line);
	}
	if (told->foreign.count) {
		snprintf(line, sizeof(line),
			 "beside it: %s samples taken while the ledger was in another state",
			 NUMBER(told->foreign.count));
		print_share(page, told->foreign.weight_ns, told->ns, line);
	}
}

static int print_causes(const struct digest *digest, const struct page *page, u64 whole)
{
	struct hash whys;
	int err = why_find(digest, &whys);
	size_t shown = 0;

	for (size_t i = 0; !err && i < whys.count && shown < CAUSES_SHOWN; i++) {
		const struct why *why = hash_item(&whys, i);
		const struct process *process = &digest->processes[why->cause.thread];
		char cause[CAUSE_BYTES], blame[CAUSE_BYTES], line[3 * CAUSE_BYTES] = "";

		if (!is_asked(digest, why->cause.state) || !why->cause.ns)
			continue;
		if (!shown++)
			page_heading(page, "CAUSES", " of it, by the ledger");
		format_cause(digest, &why->cause, cause, sizeof(cause));
		format_blame(digest, &why->cause, why->is_shared, blame, sizeof(blame));
		format_add(line, sizeof(line), "%s (%u): %s%s%s%s, %s x", ESCAPED(process->comm),
			   process->pid, ESCAPED(digest->state_names[why->cause.state]),
			   *cause ? " " : "", ESCAPED(cause), blame, NUMBER(why->cause.count));
		print_share(page, why->cause.ns, whole, line);
	}
	hash_free(&whys);
	return err;
}

static void print_frames(const struct digest *digest, const struct page *page, u64 stack, u32 stop,
			 int indent)
{
	const struct profile *profile = &digest->profile;
	struct profile_step steps[PROFILE_STEPS_MAX];
	size_t count = profile_steps(profile, stack, stop, steps);

	for (size_t i = 0; i < count; i++) {
		char name[2 * PROFILE_NAME_BYTES];
		const char *module;
		int room;

		if (count > FRAMES_SHOWN && i == FRAMES_SHOWN - FRAMES_LAST - 1) {
			size_t left = count - FRAMES_SHOWN + 1;

			fprintf(page->out, "%*s%s… %zu more calls%s\n", indent, "",
				page_ink(page, INK_FAINT), left, page_ink(page, INK_PLAIN));
			i += left - 1;
			continue;
		}
		module = profile_module_name(profile,
					     profile_function(profile, steps[i].function)->module);
		module = *module == '[' ? "" : ESCAPED(module); /* [k] and [jit] say it */
		room = page->columns - indent - (*module ? (int)utf8_columns(module) + 2 : 0);
		format_function(profile, steps[i].function, steps[i].is_inlined,
				room < 20 ? page->columns - indent : room, name, sizeof(name));
		fprintf(page->out, "%*s%s%s%s%s%s\n", indent, "", name, page_ink(page, INK_FAINT),
			*module && room >= 20 ? "  " : "", room >= 20 ? module : "",
			page_ink(page, INK_PLAIN));
	}
}

static int print_wakers(const struct digest *digest, const struct page *page,
			const struct hot_stack *stack)
{
	struct hash wakers;
	int err = stacks_wakers(&digest->profile, stack, &wakers);

	for (size_t i = 0; !err && i < wakers.count && i < WAKERS_SHOWN; i++) {
		const struct hot_waker *waker = hash_item(&wakers, i);
		char who[DIGEST_TEXT] = "", line[512];

		if (waker->tid)
			format_tid(digest, waker->tid, who, sizeof(who));
		else
			snprintf(who, sizeof(who), "%s", context_name(waker->kind));
		*line = '\0';
		format_add(line, sizeof(line), "woken by %s%s: %s of it, %s samples (%s effective)",
			   who, waker->stack ? ", at" : "",
			   SHARE(waker->sum.weight_ns, stack->sum.weight_ns),
			   NUMBER(waker->sum.count), EFFECTIVE(&waker->sum));
		fputs("      ", page->out);
		page_wrap(page, 6, 8, line);
		if (waker->stack)
			print_frames(digest, page, waker->stack, STOP_END, 8);
	}
	if (!err && wakers.count > WAKERS_SHOWN)
		fprintf(page->out, "      and by %zu more\n", wakers.count - WAKERS_SHOWN);
	hash_free(&wakers);
	return err;
}

static int print_stack(const struct digest *digest, const struct page *page,
		       const struct hot_stack *stack, u64 whole)
{
	const struct profile_process *process =
		hash_item(&digest->profile.processes, stack->process);
	char line[1024] = "";

	format_add(line, sizeof(line), "%s: %s samples (%s effective), %s, stack %016" PRIx64,
		   ESCAPED(profile_function_name(&digest->profile, process->function)),
		   NUMBER(stack->sum.count), EFFECTIVE(&stack->sum),
		   ESCAPED(digest->state_names[stack->state]), (uint64_t)stack->stack);
	print_share(page, stack->sum.weight_ns, whole, line);
	print_frames(digest, page, stack->stack, stack->stop, 4);
	return stack->kind == SAMPLE_BLOCKED ? print_wakers(digest, page, stack) : 0;
}

static int print_stacks(const struct digest *digest, const struct page *page, u64 whole)
{
	struct profile_sum rest = {0};
	struct hash stacks;
	size_t shown = 0, more = 0;
	int err = stacks_find(&digest->profile, -1, -1, &stacks);

	for (size_t i = 0; !err && i < stacks.count; i++) {
		const struct hot_stack *stack = hash_item(&stacks, i);

		if (!stack->stack ||
		    !profile_state_is_of_kind(digest->state_names[stack->state], stack->kind))
			continue;
		if (shown == STACKS_SHOWN) {
			more++;
			rest.count += stack->sum.count;
			rest.weight_ns += stack->sum.weight_ns;
			continue;
		}
		if (!shown++)
			page_heading(page, "STACKS",
				     " of it, hottest first; the innermost call on top");
		err = print_stack(digest, page, stack, whole);
	}
	if (!err && more)
		fprintf(page->out, "  %8s %7s  in %s more stacks, %s samples\n",
			DURATION(rest.weight_ns), COLUMN_SHARE(rest.weight_ns, whole), NUMBER(more),
			NUMBER(rest.count));
	hash_free(&stacks);
	return err;
}

int text_state(const struct digest *digest, const struct page *page)
{
	struct told told;
	char about[256] = "";
	int err;

	find_told(digest, &told);
	format_add(about, sizeof(about), " %s: %s by the ledger (%s of all threads' time)",
		   ESCAPED(digest->options->why), DURATION(told.ns),
		   SHARE(told.ns, account_sum(&digest->all)));
	format_add(about, sizeof(about), ", %s x, of %s thread%s", NUMBER(told.count),
		   NUMBER(told.threads), told.threads == 1 ? "" : "s");
	page_heading(page, "WHY", about);
	print_told(digest, page, &told);
	err = print_causes(digest, page, told.ns);
	return err ? err : print_stacks(digest, page, told.ns);
}
