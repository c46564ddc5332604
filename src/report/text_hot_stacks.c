// SPDX-License-Identifier: Apache-2.0
/* What the report itself says of stacks: how good they are, and where most of it was. */
#include <string.h>

#include "../base/utf8.h"
#include "../model/calltree.h"
#include "text_stacks.h"

#define HOT_SHOWN    3
#define HOT_SHARE    20 /* one in so many is worth a line */
#define HOT_CALLERS  8
#define NAME_COLUMNS 50

/*
 * "leaf ← caller ← …": callers as long as most of the leaf's samples came through them, and there
 * is room on two lines. Returns the weight of the path as it is printed.
 */
static u64 add_path(const struct profile *profile, const struct page *page, int at,
		    const struct calltree *tree, u32 index, char *line, size_t size)
{
	u64 most = calltree_node(tree, index)->sum.weight_ns / 2, weight = 0;
	size_t room = (size_t)page_room(page, 2 * (page->columns - at) - NAME_COLUMNS / 2);

	for (; index != PROFILE_NONE; index = calltree_node(tree, index)->first_child) {
		const struct calltree_node *node = calltree_node(tree, index);
		char name[2 * PROFILE_NAME_BYTES];

		if (node->sum.weight_ns < most)
			break;
		format_function(profile, node->function, node->is_inlined,
				page_room(page, NAME_COLUMNS), name, sizeof(name));
		if (*line && utf8_columns(line) + utf8_columns(name) + 3 > room) {
			format_add(line, size, " ← …");
			break;
		}
		format_add(line, size, "%s%s", *line ? " ← " : "", name);
		weight = node->sum.weight_ns;
	}
	return weight;
}

/* How much of the state ended in this function, and how much came on this path. */
static void print_hot(const struct profile *profile, const struct page *page,
		      const struct calltree *tree, u32 index, const struct profile_sum *whole)
{
	const struct calltree_node *node = calltree_node(tree, index);
	char line[2 * HOT_CALLERS * (NAME_COLUMNS * 4 + 16)] = "", effective[FORMAT_BYTES + 4] = "";
	u64 path;
	int at;

	if (!profile_is_even(whole))
		snprintf(effective, sizeof(effective), " (%s)", EFFECTIVE(&node->sum));
	at = 2 + 7 + 1 + 7 + 1 + 6 + (int)strlen(effective) + 2;
	path = add_path(profile, page, at, tree, index, line, sizeof(line));
	fprintf(page->out, "  %7s %7s %6s%s  ", COLUMN_SHARE(node->sum.weight_ns, whole->weight_ns),
		COLUMN_SHARE(path, whole->weight_ns), NUMBER(node->sum.count), effective);
	page_wrap(page, at, at + 2, line);
}

/* Of what takes most time, if it is not waiting for work. */
int text_hot(const struct digest *digest, const struct page *page)
{
	const struct profile *profile = &digest->profile;
	struct stack_group groups[STACK_GROUPS_MAX];
	const struct stack_group *group = &groups[0];
	const char *state;
	struct calltree tree;
	char about[256] = "";
	u32 index;
	int err;

	if (!stacks_groups(profile, groups))
		return 0;
	err = calltree_init(&tree);
	for (size_t i = 0; !err && i < profile->samples.count; i++) {
		const struct profile_sample *sample = hash_item(&profile->samples, i);

		if (sample->kind == group->kind && sample->state == group->state)
			calltree_add_callers(&tree, profile, sample, HOT_CALLERS);
	}
	if (!err)
		err = calltree_sort(&tree, profile, false);
	state = ESCAPED(digest->state_names[group->state]);
	format_add(about, sizeof(about),
		   " of %s, as shares of its samples: all that end in this function, those on "
		   "this path; samples%s of the function; more: --why %s",
		   state, profile_is_even(&group->sum) ? "" : " (effective)", state);
	if (!err)
		page_heading(page, "HOT STACKS", about);
	index = err ? PROFILE_NONE : calltree_node(&tree, 0)->first_child;
	for (size_t i = 0; index != PROFILE_NONE && i < page_rows(digest, HOT_SHOWN); i++) {
		const struct calltree_node *node = calltree_node(&tree, index);

		if (i && node->sum.weight_ns < group->sum.weight_ns / HOT_SHARE)
			break;
		print_hot(profile, page, &tree, index, &group->sum);
		index = node->next;
	}
	calltree_free(&tree);
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
			format_add(line, sizeof(line), " %s %s,", profile_kind_name(kind),
				   SAMPLES(&sum));
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
