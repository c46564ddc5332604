// SPDX-License-Identifier: Apache-2.0
/* A plan as a person reads it: what is measured, each hook with what it costs, memory. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../model/signal.h"
#include "../report/format.h"
#include "plan.h"

#define COLUMNS	    80
#define LABEL_WIDTH 11
#define HOOK_WIDTH  28 /* of a program's name */
#define MAPS_SHOWN  8
#define LINE_BYTES  1024

/* --- what is measured --- */

static void print_labelled(const struct page *page, const char *label, const char *text)
{
	fprintf(page->out, "  %-*s", LABEL_WIDTH, label);
	page_wrap(page, 2 + LABEL_WIDTH, 2 + LABEL_WIDTH, text);
}

static void describe_tasks(const struct engine_options *options, char *to, size_t size)
{
	char chosen[SELECT_TEXT_BYTES];

	if (options->command) {
		snprintf(to, size, "the command '%s', and its children",
			 ESCAPED(options->command[0]));
		return;
	}
	select_describe(&options->selection, chosen, sizeof(chosen));
	snprintf(to, size, "%s",
		 options->selection.all ? "every task of the host" : ESCAPED(chosen));
}

static void describe_stacks(const struct plan *plan, char *to, size_t size)
{
	u64 min_block_ns = plan->config.live.min_block_ns;

	if (!plan->has_stacks)
		snprintf(to, size, "none");
	else if (plan->freq)
		snprintf(to, size,
			 "%u samples a second on each CPU; waits of %s or more, and some "
			 "shorter ones",
			 plan->freq, DURATION(min_block_ns));
	else
		snprintf(to, size, "waits of %s or more, and some shorter ones",
			 DURATION(min_block_ns));
}

static void list_signals(u64 signals, char *to, size_t size)
{
	int used = snprintf(to, size, "%s", signals ? "" : "none");

	for (int id = 1; id < SIGNAL_LIMIT && (size_t)used < size; id++)
		if (signals >> id & 1)
			used += snprintf(to + used, size - (size_t)used, "%s%s", *to ? ", " : "",
					 signal_rows[id].name);
}

static void print_choice(const struct plan *plan, const struct engine_options *options,
			 const struct page *page)
{
	char text[2 * SELECT_TEXT_BYTES];

	describe_tasks(options, text, sizeof(text));
	print_labelled(page, "tasks", text);
	snprintf(text, sizeof(text), "%s%s%s",
		 plan->tier == TIER_B ? "B: the scheduler, system calls and page faults"
				      : "A: the scheduler only",
		 plan->tier_why ? ", as " : "", plan->tier_why ? plan->tier_why : "");
	print_labelled(page, "tier", text);
	describe_stacks(plan, text, sizeof(text));
	print_labelled(page, "stacks", text);
	list_signals(plan->config.signals, text, sizeof(text));
	print_labelled(page, "signals", text);
	if (plan->overhead_limit > 0)
		snprintf(text, sizeof(text), "%.3g %% of the host's CPU time for dwell itself",
			 100 * plan->overhead_limit);
	else
		snprintf(text, sizeof(text), "none for what dwell itself costs");
	print_labelled(page, "limit", text);
}

/* --- hooks --- */

static void describe_hook(const struct plan_hook *hook, char *to, size_t size)
{
	switch (hook->state) {
	case PLAN_ATTACHED:
		snprintf(to, size, "%s", hook->place);
		return;
	case PLAN_IN_PLACE:
		snprintf(to, size, "%s, instead of %s", hook->place, hook->other);
		return;
	case PLAN_IF_REFUSED:
		snprintf(to, size, "%s, if %s cannot be attached", hook->place, hook->other);
		return;
	case PLAN_NOT_NEEDED:
		snprintf(to, size, "only if %s is refused", hook->other);
		return;
	case PLAN_REFUSED:
		snprintf(to, size, "left out: %s", hook->reason);
		return;
	}
}

/* One that was chosen has a class as well, by which people choose. */
static void describe_cost(const struct signal *signal, char *to, size_t size)
{
	if (signal->view)
		snprintf(to, size, "%s: %s", cost_names[signal->view->cost],
			 signal->view->price ? signal->view->price : "not known");
	else
		snprintf(to, size, "%s", signal->price ? signal->price : "not known");
}

/* In the order of the plan, which has all hooks of a signal together. */
static void print_hooks(const struct plan_outlook *outlook, const struct page *page)
{
	char text[LINE_BYTES];
	int signal = -1;

	for (size_t i = 0; i < outlook->hook_count; i++) {
		const struct plan_hook *hook = &outlook->hooks[i];

		if (hook->signal != signal) {
			signal = hook->signal;
			fprintf(page->out, "\n%-*s", 2 + LABEL_WIDTH, signal_rows[signal].name);
			describe_cost(signal_rows[signal].signal, text, sizeof(text));
			page_wrap(page, 2 + LABEL_WIDTH, 2 + LABEL_WIDTH, text);
		}
		describe_hook(hook, text, sizeof(text));
		fprintf(page->out, "  %-*s", HOOK_WIDTH, hook->program);
		page_wrap(page, 2 + HOOK_WIDTH, 2 + HOOK_WIDTH, text);
	}
}

/* --- memory --- */

static int by_bytes(const void *a, const void *b)
{
	u64 x = ((const struct capture_map *)a)->bytes, y = ((const struct capture_map *)b)->bytes;

	return (x < y) - (x > y);
}

static void print_memory(const struct plan_outlook *outlook, const struct page *page)
{
	struct capture_map maps[PLAN_MAPS_MAX];
	u64 all = 0, rest = 0;
	char text[LINE_BYTES];

	memcpy(maps, outlook->maps, sizeof(maps));
	qsort(maps, outlook->map_count, sizeof(*maps), by_bytes);
	for (size_t i = 0; i < outlook->map_count; i++) {
		all += maps[i].bytes;
		rest += i < MAPS_SHOWN ? 0 : maps[i].bytes;
	}
	snprintf(text, sizeof(text), "Memory: %s in the kernel for %zu maps", BYTES(all),
		 outlook->map_count);
	if (outlook->thread_bytes)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 ", and about %s for each measured thread", BYTES(outlook->thread_bytes));
	snprintf(text + strlen(text), sizeof(text) - strlen(text),
		 "; a queue of %s in user space. The largest maps:", BYTES(PLAN_QUEUE_BYTES));
	page_wrap(page, 0, 0, text);
	for (size_t i = 0; i < outlook->map_count && i < MAPS_SHOWN; i++)
		fprintf(page->out, "  %-*s%10s\n", HOOK_WIDTH, maps[i].name, BYTES(maps[i].bytes));
	if (outlook->map_count > MAPS_SHOWN)
		fprintf(page->out, "  %-*s%10s\n", HOOK_WIDTH, "all others", BYTES(rest));
}

void plan_print(const struct plan *plan, const struct plan_outlook *outlook,
		const struct engine_options *options, FILE *out)
{
	const struct page page = {.out = out, .columns = COLUMNS};

	page_wrap(&page, 0, 0,
		  "The plan of this measurement. It was not begun: no hook is attached, no file "
		  "written.");
	fputc('\n', out);
	print_choice(plan, options, &page);
	fputc('\n', out);
	page_wrap(
		&page, 0, 0,
		"Hooks, by what they measure, with the expected cost, as it was measured on a test "
		"machine. The kernel may still refuse one when it is loaded.");
	print_hooks(outlook, &page);
	fputc('\n', out);
	print_memory(outlook, &page);
}
