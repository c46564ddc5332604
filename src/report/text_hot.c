// SPDX-License-Identifier: Apache-2.0
/* What the report itself says of stacks: how good they are, and the hottest in a line each. */
#include <string.h>

#include "../base/utf8.h"
#include "stacks.h"
#include "text_stacks.h"

#define HOT_SHOWN 3

/* "leaf ← caller ← …", as much of it as there is room for. */
static void print_line(const struct digest *digest, const struct page *page,
		       const struct hot_stack *stack, int room)
{
	const struct profile *profile = &digest->profile;
	struct profile_step steps[PROFILE_STEPS_MAX];
	size_t count = profile_steps(profile, stack->stack, stack->stop, steps);
	char line[4096] = "", cut[4096];

	for (size_t i = 0; i < count && strlen(line) < sizeof(line) / 2; i++)
		format_add(line, sizeof(line), "%s%s%s", i ? " ← " : "",
			   ESCAPED(profile_function_name(profile, steps[i].function)),
			   function_suffix(profile, steps[i].function, steps[i].is_inlined));
	format_cut(line, room, cut, sizeof(cut));
	fprintf(page->out, "%s\n", cut);
}

/* Of what takes most time, if it is not waiting for work. */
int text_hot(const struct digest *digest, const struct page *page)
{
	const struct profile *profile = &digest->profile;
	struct stack_group groups[STACK_GROUPS_MAX];
	const struct stack_group *group = &groups[0];
	char about[256] = "";
	struct hash stacks;
	int err;

	if (!stacks_groups(profile, groups))
		return 0;
	err = stacks_find(profile, (int)group->kind, (int)group->state, &stacks);
	format_add(about, sizeof(about), " of %s: share, samples (effective); more: --why %s",
		   ESCAPED(digest->state_names[group->state]),
		   ESCAPED(digest->state_names[group->state]));
	page_heading(page, "HOT STACKS", about);
	for (size_t i = 0; !err && i < stacks.count && i < HOT_SHOWN; i++) {
		const struct hot_stack *stack = hash_item(&stacks, i);
		const struct profile_process *process =
			hash_item(&profile->processes, stack->process);
		char name[DIGEST_TEXT];
		int at;

		format_cut(profile_text(profile, process->comm), 15, name, sizeof(name));
		at = fprintf(page->out, "  %7s %6s (%s)  ",
			     COLUMN_SHARE(stack->sum.weight_ns, group->sum.weight_ns),
			     NUMBER(stack->sum.count), EFFECTIVE(&stack->sum));
		fprintf(page->out, "%s: ", name);
		print_line(digest, page, stack, page->columns - at - (int)utf8_columns(name) - 2);
	}
	hash_free(&stacks);
	return err;
}

void text_stacks_quality(const struct digest *digest, const struct page *page)
{
	const struct profile *profile = &digest->profile;
	char line[2048] = "";

	if (!profile->all.count && !profile->kernel.count && !profile->no_room.count)
		return; /* none were taken */
	format_add(line, sizeof(line), "stacks:");
	for (u32 kind = 0; kind < PROFILE_KINDS; kind++) {
		struct profile_sum sum = {0};

		for (size_t i = 0; i < profile->samples.count; i++) {
			const struct profile_sample *sample = hash_item(&profile->samples, i);

			if (sample->kind == kind)
				profile_sum_add(&sum, sample);
		}
		if (sum.count)
			format_add(line, sizeof(line), " %s %s samples (%s effective),",
				   profile_kind_name(kind), NUMBER(sum.count), EFFECTIVE(&sum));
	}
	format_add(line, sizeof(line), " %s complete",
		   COLUMN_SHARE(profile->complete, profile->all.count));
	for (u32 i = 0; i < PROFILE_STOPS; i++)
		if (profile->by_stop[i])
			format_add(line, sizeof(line), ", %s %s", ESCAPED(profile->stop_names[i]),
				   NUMBER(profile->by_stop[i]));
	if (profile->no_stack)
		format_add(line, sizeof(line), ", no stack %s", NUMBER(profile->no_stack));
	if (profile->damaged)
		format_add(line, sizeof(line), ", damaged %s", NUMBER(profile->damaged));
	format_add(line, sizeof(line), "; ledger mismatches %s", NUMBER(profile->mismatches));
	if (profile->kernel.count)
		format_add(line, sizeof(line), "; without %s of the kernel's own (--kernel)",
			   NUMBER(profile->kernel.count));
	fputs("  ", page->out);
	page_wrap(page, 2, 2, line);
	if (!profile->no_room.count && !profile->frames_no_room && !profile->stacks_no_room)
		return;
	fprintf(page->out, "  %s!%s ", page_ink(page, INK_WARN), page_ink(page, INK_PLAIN));
	*line = '\0';
	format_add(line, sizeof(line), "too many: %s samples, %s stacks and %s frames are left out",
		   NUMBER(profile->no_room.count), NUMBER(profile->stacks_no_room),
		   NUMBER(profile->frames_no_room));
	page_wrap(page, 4, 4, line);
}
